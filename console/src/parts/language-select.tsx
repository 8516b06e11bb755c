// The choice of the language. Uploads go on, because the page is only drawn again.

import { chooseLanguage, type Language, language, languages, texts } from '../language.ts';
import { tell } from '../notices.ts';

export function LanguageSelect() {
  const choose = (select: HTMLSelectElement) => {
    chooseLanguage(select.value as Language).catch(() => {
      select.value = language();
      tell(texts().page.unloaded, { isFailure: true });
    });
  };
  return (
    <select
      aria-label={texts().page.language}
      value={language()}
      onChange={({ currentTarget }) => choose(currentTarget)}
    >
      {Object.entries(languages).map(([tag, { name }]) => (
        <option key={tag} value={tag} lang={tag}>
          {name}
        </option>
      ))}
    </select>
  );
}
