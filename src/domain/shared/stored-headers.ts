// Values of the header fields that are stored with a file: a list in the order of
// storedHeaderNames; '' for an absent field.

import { storedHeaderNames } from '../../../packages/wire/src/stored-headers.ts';
import { storedHeaderLengthMax } from '../../limits.ts';
import { quote } from './names.ts';
import { Refusal } from './refusal.ts';

export const cacheControlPlace = storedHeaderNames.indexOf('Cache-Control');
export const dispositionPlace = storedHeaderNames.indexOf('Content-Disposition');

/** One value per name. */
export type StoredHeaders = readonly string[];

export const noStoredHeaders: StoredHeaders = storedHeaderNames.map(() => '');

/** Adds empty values for names that the storing version did not know. */
export function allStoredHeaders(known: readonly string[]): StoredHeaders {
  const isAll = known.length === storedHeaderNames.length;
  return isAll ? known : [...known, ...noStoredHeaders.slice(known.length)];
}

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
        `A file can only store the headers ${lowerNames.join(', ')}; got ${quote(name)}.`,
      );
    }
    stored[place] = parseStoredHeader(lowerNames[place] ?? '', value);
  }
  return stored;
}

/** Checks a field that is later served unchanged. */
export function parseStoredHeader(name: string, value: string): string {
  if (value.length > storedHeaderLengthMax || !/^[\t -~]*$/.test(value)) {
    throw new Refusal(
      'InvalidArgument',
      `The stored header ${name} must have at most ${storedHeaderLengthMax} visible ASCII characters.`,
    );
  }
  return value.trim();
}
