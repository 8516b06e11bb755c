// User metadata of a file, besides its type, tags and headers: names and values that its record
// stores and shows, but that are never sent as header fields.

import { encodeUtf8, hasControlCharacter } from '../../lib/text.ts';
import { metadataBytesMax, metadataCountMax, metadataNameLengthMax } from '../../limits.ts';
import { quote } from './names.ts';
import { Refusal } from './refusal.ts';

/** Names and values; each name occurs once. */
export type Metadata = readonly (readonly [name: string, value: string])[];

const namePattern = new RegExp(`^[A-Za-z0-9._-]{1,${metadataNameLengthMax}}$`);

/** Returns the pairs to store; refuses invalid pairs with InvalidArgument. */
export function parseMetadata(pairs: Metadata): Metadata {
  if (pairs.length > metadataCountMax) {
    throw new Refusal(
      'InvalidArgument',
      `A file has at most ${metadataCountMax} pairs of metadata; got ${pairs.length}.`,
    );
  }
  const names = new Set<string>();
  for (const [name, value] of pairs) {
    if (!namePattern.test(name) || names.has(name)) {
      throw new Refusal(
        'InvalidArgument',
        `A name of metadata must have 1 to ${metadataNameLengthMax} characters of A-Z a-z 0-9 . _ - and occur once; ` +
          `got ${quote(name)}.`,
      );
    }
    if (value.length > metadataBytesMax || hasControlCharacter(value) || !value.isWellFormed()) {
      throw new Refusal(
        'InvalidArgument',
        `The value of metadata ${quote(name)} must be Unicode without control characters, of at ` +
          `most ${metadataBytesMax} bytes.`,
      );
    }
    names.add(name);
  }
  const bytes = encodeUtf8(pairs.flat().join('')).length;
  if (bytes > metadataBytesMax) {
    throw new Refusal(
      'InvalidArgument',
      `The metadata of a file has at most ${metadataBytesMax} bytes of UTF-8; got ${bytes}.`,
      { limit: metadataBytesMax, size: bytes },
    );
  }
  return pairs;
}

/** Returns the first pairs, except those whose names recur later, followed by the later ones. */
export function mergeMetadata(first: Metadata, later: Metadata): Metadata {
  const names = new Set(later.map(([name]) => name));
  return parseMetadata([...first.filter(([name]) => !names.has(name)), ...later]);
}

/** Returns the pairs in a record's texts from index `start` on. */
export function pairsOf(texts: readonly string[], start: number): Metadata {
  const pairs: [string, string][] = [];
  for (let at = start; at < texts.length; at += 2)
    pairs.push([texts[at] ?? '', texts[at + 1] ?? '']);
  return pairs;
}
