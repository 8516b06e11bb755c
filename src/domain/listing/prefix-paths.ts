// Paths of a bucket's files that begin with a prefix, by name, after a given path.

import { concatBytes } from '../../lib/bytes.ts';
import { encodeUtf8 } from '../../lib/text.ts';
import { filePathBytesMax } from '../../limits.ts';
import type { Stores } from '../shared/stores.ts';
import { nameKey, nameKeyHeadBytes, scopeOf } from './file-index.ts';

export interface PrefixPlace {
  readonly bucketId: string;
  /** Compared exactly; '' matches every path. */
  readonly prefix: string;
  /** Only paths after this one; '' comes before all. */
  readonly after: string;
}

/** UTF-8 never contains this byte, so the key follows every path with the prefix. */
const afterUtf8 = Uint8Array.of(0xff);

/** Returns how many paths begin with the prefix, without reading them. */
export function countWithPrefix(stores: Stores, bucketId: string, prefix: string): number {
  const { first, end } = ranksOf(stores, bucketId, prefix);
  return end - first;
}

/** Returns the range of the index with the paths that begin with the prefix. */
function ranksOf({ index }: Stores, bucketId: string, prefix: string) {
  const scope = scopeOf(bucketId, '');
  const start = encodeUtf8(prefix);
  if (start.length > filePathBytesMax) return { first: 0, end: 0 };
  const first = index.rank(nameKey(scope, start));
  return { first, end: index.rank(nameKey(scope, concatBytes(start, afterUtf8))) };
}

/** Returns UTF-8 of the first paths up to the limit, and whether more follow. */
export function pathsWithPrefix(
  stores: Stores,
  { bucketId, prefix, after }: PrefixPlace,
  limit: number,
): { readonly paths: readonly Uint8Array[]; readonly hasMore: boolean } {
  const { index } = stores;
  const scope = scopeOf(bucketId, '');
  const behind = encodeUtf8(`${after}\0`);
  if (behind.length > filePathBytesMax + 1) return { paths: [], hasMore: false };
  const { first, end } = ranksOf(stores, bucketId, prefix);
  const next = after === '' ? first : Math.max(first, index.rank(nameKey(scope, behind)));
  const count = Math.max(0, Math.min(limit, end - next));
  const entries = count === 0 ? [] : index.read(next, count);
  const head = scope.length + nameKeyHeadBytes;
  return { paths: entries.map(({ key }) => key.subarray(head)), hasMore: next + count < end };
}
