// Ranges of an ordered index: keys with a common beginning, and keys whose time has come.

import { concatBytes } from '../lib/bytes.ts';
import type { IndexEntry, OrderedIndex } from './ordered-index.ts';

/** Follows every key that continues the preceding bytes in UTF-8. */
const afterUtf8 = Uint8Array.of(0xff);

interface Range {
  /** The common beginning of the keys; the next byte is never 0xff. */
  readonly scope: Uint8Array;
  /** Only keys from this one on; ignored if it precedes the range. */
  readonly first?: Uint8Array;
  readonly limit: number;
}

/** Returns the entries in order. */
export function entriesUnder(index: OrderedIndex, { scope, first, limit }: Range): IndexEntry[] {
  const begin = index.rank(scope);
  const start = first === undefined ? begin : Math.max(begin, index.rank(first));
  const count = Math.min(limit, index.rank(concatBytes(scope, afterUtf8)) - start);
  return count <= 0 ? [] : index.read(start, count);
}

const timeStart = 1;
const nameStart = 9;

/** Returns the earliest time of keys of the form of dueNames(). */
export function firstDueNs(index: OrderedIndex, kind: number): bigint | undefined {
  const [entry] = index.read(index.rank(Uint8Array.of(kind)), 1);
  if (entry?.key[0] !== kind) return undefined;
  return new DataView(entry.key.buffer, entry.key.byteOffset).getBigUint64(timeStart);
}

/**
 * Returns names from keys of the form `kind u8 | time u64, big-endian | name` whose time has come,
 * the earliest first.
 */
export function dueNames(
  index: OrderedIndex,
  due: { readonly kind: number; readonly nowNs: bigint },
  limit: number,
): Uint8Array[] {
  const entries = index.read(index.rank(Uint8Array.of(due.kind)), limit).filter(({ key }) => {
    if (key[0] !== due.kind) return false;
    return new DataView(key.buffer, key.byteOffset).getBigUint64(timeStart) <= due.nowNs;
  });
  return entries.map(({ key }) => key.subarray(nameStart));
}
