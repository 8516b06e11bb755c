// Entries of a front's directory about buckets of its volumes. A key consists of a kind (u8) and
// texts joined by NUL, which neither ids nor origins contain.

import { concatBytes } from '../../lib/bytes.ts';
import { decodeUtf8, encodeUtf8 } from '../../lib/text.ts';
import { entriesUnder } from '../../storage/index-ranges.ts';
import type { IndexEntry, OrderedIndex } from '../../storage/ordered-index.ts';
import type { IdRange } from '../shared/heap-state.ts';

export function keyOf(kind: number, ...texts: string[]): Uint8Array {
  return concatBytes(Uint8Array.of(kind), encodeUtf8(texts.join('\0')));
}

export function textsOf({ key }: IndexEntry): string[] {
  return (decodeUtf8(key.subarray(1)) ?? '').split('\0');
}

/** Returns the first entry whose key continues these texts. */
export function firstAfter(
  index: OrderedIndex,
  kind: number,
  ...texts: string[]
): IndexEntry | undefined {
  return entriesUnder(index, { scope: keyOf(kind, ...texts, ''), limit: 1 })[0];
}

/** The entries of a kind whose first text is the volume's id, and whose second is a bucket's. */
interface OfVolume {
  readonly kind: number;
  readonly volumeId: string;
}

export function countOfVolume(index: OrderedIndex, { kind, volumeId }: OfVolume): number {
  return index.rank(endOf(kind, volumeId)) - index.rank(keyOf(kind, volumeId, ''));
}

/** Follows all entries of the volume. */
function endOf(kind: number, volumeId: string): Uint8Array {
  return concatBytes(keyOf(kind, volumeId, ''), Uint8Array.of(0xff));
}

/** Returns the texts of the volume's entries for the buckets in the range. */
export function textsOfVolume(
  index: OrderedIndex,
  { kind, volumeId }: OfVolume,
  { after, through }: IdRange,
): string[][] {
  // No id contains byte 1, so this key follows directly after the entries of the id.
  const keyAfter = (id: string) => keyOf(kind, volumeId, `${id}\x01`);
  const start = index.rank(keyAfter(after));
  const end = index.rank(through === undefined ? endOf(kind, volumeId) : keyAfter(through));
  const entries = end > start ? index.read(start, end - start) : [];
  return entries.map(textsOf);
}
