// The language of the page: the user's choice, or else the first language of the browser that the
// page has. Only the texts of that language are loaded.

import { signal } from '@preact/signals';
import type { Texts } from './texts/en.ts';

/** Each language names itself. */
export const languages = {
  de: { name: 'Deutsch', load: () => import('./texts/de.ts') },
  en: { name: 'English', load: () => import('./texts/en.ts') },
  es: { name: 'Español', load: () => import('./texts/es.ts') },
} as const;

export type Language = keyof typeof languages;

const settingName = 'efs-language';

const shown = signal<{ readonly language: Language; readonly texts: Texts } | undefined>(undefined);
let loading: Promise<unknown> | undefined;

/** Returns the texts. A view that calls this while it renders changes with the language. */
export function texts(): Texts {
  if (shown.value === undefined) throw new Error('The texts are not loaded.');
  return shown.value.texts;
}

export function language(): Language {
  return shown.value?.language ?? 'en';
}

/** Returns the texts, for messages before the first view. */
export async function loadedTexts(): Promise<Texts> {
  if (shown.value === undefined) await loading;
  return texts();
}

/** Loads the texts; the language that was asked for last is shown. */
export function showLanguage(next: Language): Promise<void> {
  const own = load(next, () => loading === own);
  loading = own;
  return own;
}

/**
 * Shows the first language, or English if its texts do not arrive. Returns whether it is the first
 * language.
 */
export function showFirstLanguage(): Promise<boolean> {
  const isWanted = () => loading === own;
  const own: Promise<boolean> = load(firstLanguage(), isWanted).then(
    () => true,
    async () => {
      await load('en', isWanted);
      return false;
    },
  );
  loading = own;
  return own;
}

async function load(next: Language, isWanted: () => boolean): Promise<void> {
  const loaded = await languages[next].load();
  if (isWanted()) shown.value = { language: next, texts: loaded.texts };
}

/** Describes the language and its direction to the browser. */
export function describeLanguage(): void {
  if (shown.value === undefined) return;
  const { documentElement: page } = document;
  page.lang = shown.value.language;
  page.dir = shown.value.texts.direction;
}

export function isRightToLeft(): boolean {
  return document.documentElement.dir === 'rtl';
}

/** Shows the language, and again when the page is opened in this browser. */
export async function chooseLanguage(next: Language): Promise<void> {
  await showLanguage(next);
  localStorage.setItem(settingName, next);
}

function firstLanguage(): Language {
  const wanted = [localStorage.getItem(settingName), ...navigator.languages];
  const known = wanted.map((tag) => tag?.split('-', 1)[0]?.toLowerCase() ?? '');
  return known.find(isLanguage) ?? 'en';
}

function isLanguage(tag: string): tag is Language {
  return Object.hasOwn(languages, tag);
}
