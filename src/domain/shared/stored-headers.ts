// The header fields that are stored with a file and served with it, beside its type. Their values
// stand in one list, each at the place of its name; '' for none.

import { storedHeaderLengthMax } from '../../limits.ts';
import { quote } from './names.ts';
import { Refusal } from './refusal.ts';

export const storedHeaderNames = [
  'Cache-Control',
  'Content-Disposition',
  'Content-Encoding',
  'Content-Language',
] as const;

/** The index of Cache-Control's value in the list. */
export const cacheControlPlace = 0;
export const dispositionPlace = 1;

/** As many values as there are names. */
export type StoredHeaders = readonly string[];

export const noStoredHeaders: StoredHeaders = storedHeaderNames.map(() => '');

/** Names and values of fields that are to be stored. */
export type SentHeaders = readonly (readonly [name: string, value: string])[];

const lowerNames = storedHeaderNames.map((name) => name.toLowerCase());

export function parseStoredHeaders(headers: SentHeaders | undefined): StoredHeaders {
  const stored = [...noStoredHeaders];
  for (const [name, value] of headers ?? []) {
    const place = lowerNames.indexOf(name.toLowerCase());
    if (place < 0) {
      throw new Refusal(
        'InvalidArgument',
        `Headers stored with a file are ${lowerNames.join(', ')}; got ${quote(name)}.`,
      );
    }
    stored[place] = parseStoredHeader(lowerNames[place] ?? '', value);
  }
  return stored;
}

/** A field that is served again as it came. */
export function parseStoredHeader(name: string, value: string): string {
  if (value.length > storedHeaderLengthMax || !/^[\t -~]*$/.test(value)) {
    throw new Refusal(
      'InvalidArgument',
      `The header ${name} is stored only with at most ${storedHeaderLengthMax} visible ASCII characters.`,
    );
  }
  return value.trim();
}
