// Texts that a terminal only shows. Output passes through here where it is written.

/** Control characters, and format characters such as those that change a text's direction. */
const acting = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/** A terminal must not act on texts of others: names, times, ids, messages. */
export function printable(text: string): string {
  return text.replace(acting, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `\\u{${code.toString(16)}}`;
  });
}

/** Lines that this program has made; whatever else a terminal would act on is escaped. */
export function printableLines(text: string): string {
  return text.replace(/[^\n\t]+/g, printable);
}

/** The same JSON, in which nothing acts on a terminal. */
export function printableJson(json: string): string {
  return json.replace(/[^\n]+/g, (line) =>
    line.replace(acting, (character) => {
      const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
      return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
    }),
  );
}
