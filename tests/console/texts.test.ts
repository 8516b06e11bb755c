// The languages of the console: every text exists in each, in its own words, with its own plurals.

import { afterAll, describe, expect, test } from 'vitest';
import { type Language, languages, showLanguage, texts } from '../../console/src/language.ts';
import { expiryOf, momentOf, sizeOf, spanOf, whenOf, whenWithin } from '../../console/src/words.ts';

afterAll(() => showLanguage('en'));

const tags = Object.keys(languages) as Language[];
const others = tags.filter((tag) => tag !== 'en');

/** Texts that may be equal to the English ones: names, and words that both languages have. */
const shared: Readonly<Record<string, string>> = {
  de:
    'ltr Version Name Tags Links Uploads Bucket Buckets PDF Video Audio Markdown Text JSON Cycles ' +
    'Front F2 / ?',
  es: 'ltr Bucket Buckets PDF Audio Markdown JSON Cycles F2 / ? No',
};
const alsoShared = ['↑ ↓', 'Ctrl A', 'Escape'];

/** Messages that are equal, because both languages have their words. */
const equalMessages: Readonly<Record<string, readonly string[]>> = {
  de: ['state.version: Version 2'],
  es: ['words.bytes: 2 bytes', 'file.sizeInBytes: 2 (2 bytes)'],
};
/** Messages whose noun has one form in the language. */
const sameForms: Readonly<Record<string, readonly string[]>> = {
  de: ['words.bytes', 'state.cents'],
  es: [],
};

type Message = (...values: unknown[]) => string;

/** Returns the texts and messages by their places, such as `files.empty`. */
function leaves(value: unknown, place = ''): (readonly [place: string, leaf: unknown])[] {
  if (typeof value !== 'object' || value === null) return [[place, value]];
  return Object.entries(value).flatMap(([name, inner]) =>
    leaves(inner, place === '' ? name : `${place}.${name}`),
  );
}

async function leavesOf(tag: Language): Promise<ReadonlyMap<string, unknown>> {
  const loaded = await languages[tag].load();
  return new Map(leaves(loaded.texts));
}

function isMessage(leaf: unknown): leaf is Message {
  return typeof leaf === 'function';
}

/** Returns the message with the number in place of every value. */
function withCount(message: Message, count: number): string {
  return String(message(...Array.from({ length: message.length }, () => count)));
}

describe.each(others)('the texts in %s', (tag) => {
  test('have the places and the values of the English ones', async () => {
    const shape = async (of: Language) =>
      [...(await leavesOf(of))].map(([place, leaf]) =>
        isMessage(leaf) ? `${place}(${leaf.length})` : place,
      );
    expect(await shape(tag)).toEqual(await shape('en'));
  });

  test('differ from the English ones, and contain no English words', async () => {
    const english = await leavesOf('en');
    const allowed = new Set([...(shared[tag]?.split(' ') ?? []), ...alsoShared]);
    const equal: string[] = [];
    for (const [place, leaf] of await leavesOf(tag)) {
      const said = isMessage(leaf) ? withCount(leaf, 2) : String(leaf);
      const inEnglish = english.get(place);
      const original = isMessage(inEnglish) ? withCount(inEnglish, 2) : String(inEnglish);
      const isSame = said === original && /\p{L}/u.test(said) && !allowed.has(said);
      const hasEnglish = /\b(?:the|of|and|with|your|this|files?|folders?|delete[ds]?)\b/i.test(
        said,
      );
      if (isSame || hasEnglish) equal.push(`${place}: ${said}`);
    }
    expect(equal).toEqual(equalMessages[tag] ?? []);
  });

  test('have another form for one and for two where English has', async () => {
    const english = await leavesOf('en');
    const withoutNumber = (message: Message, count: number) =>
      withCount(message, count).replaceAll(String(count), '#');
    const same: string[] = [];
    for (const [place, leaf] of await leavesOf(tag)) {
      const original = english.get(place);
      if (!isMessage(leaf) || !isMessage(original)) continue;
      const isPlural = withoutNumber(original, 1) !== withoutNumber(original, 2);
      if (isPlural && withoutNumber(leaf, 1) === withoutNumber(leaf, 2)) same.push(place);
    }
    expect(same).toEqual(sameForms[tag] ?? []);
  });
});

test.each(tags)('no text in %s is empty or lacks a value', async (tag) => {
  const empty: string[] = [];
  for (const [place, leaf] of await leavesOf(tag)) {
    const said = isMessage(leaf) ? [0, 1, 2, 1_200].map((count) => withCount(leaf, count)) : [leaf];
    const isBad = (text: unknown) =>
      typeof text !== 'string' || text.trim() === '' || /undefined|NaN|\[object| {2}/.test(text);
    if (said.some(isBad)) empty.push(`${place}: ${said}`);
  }
  expect(empty).toEqual([]);
});

test.each([
  [
    'en',
    ['no files', '1 file', '2 files', '12,000 files'],
    'no entries moved to a.',
    '1 entry moved to a.',
  ],
  [
    'de',
    ['Keine Dateien', '1 Datei', '2 Dateien', '12.000 Dateien'],
    'Keine Einträge nach a verschoben.',
    '1 Eintrag nach a verschoben.',
  ],
  [
    'es',
    ['Ningún archivo', '1 archivo', '2 archivos', '12.000 archivos'],
    'Ningún elemento movido a a.',
    '1 elemento movido a a.',
  ],
] as const)('counts in %s have the right forms', async (tag, counts, none, one) => {
  await showLanguage(tag);
  const { files, moving } = texts();
  expect([0, 1, 2, 12_000].map((count) => files.count(count))).toEqual(counts);
  expect(moving.moved(0, 'a')).toBe(none);
  expect(moving.moved(1, 'a')).toBe(one);
});

const now = Date.parse('2026-06-01T12:00:00Z');

test.each([
  ['en', '3.4 MB', '2 hours ago', 'May 3, 2026', 'May 3, 2026', 'expires in 3 days', '40 seconds'],
  [
    'de',
    '3,4 MB',
    'vor 2 Stunden',
    '3. Mai 2026',
    'am 3. Mai 2026',
    'läuft in 3 Tagen ab',
    '40 Sekunden',
  ],
  [
    'es',
    '3,4 MB',
    'hace 2 horas',
    '3 may 2026',
    'el 3 may 2026',
    'caduca dentro de 3 días',
    '40 segundos',
  ],
] as const)('sizes and times in %s', async (tag, size, ago, date, onDate, expiry, span) => {
  await showLanguage(tag);
  const before = (milliseconds: number) => new Date(now - milliseconds).toISOString();
  expect(sizeOf(3_400_000)).toBe(size);
  expect(whenOf(before(2 * 3_600_000), now)).toBe(ago);
  expect(whenOf('2026-05-03T12:00:00Z', now)).toBe(date);
  expect(whenWithin('2026-05-03T12:00:00Z', now)).toBe(onDate);
  expect(expiryOf(before(-3 * 86_400_000), now)).toBe(expiry);
  expect(spanOf(40_000)).toBe(span);
  expect(momentOf('2026-05-03T12:00:00Z')).toContain('2026');
});
