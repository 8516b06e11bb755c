// Paths of a bucket's files that begin with a prefix, in the order of names from a place on.

import { concatBytes } from '../../lib/bytes.ts';
import { encodeUtf8 } from '../../lib/text.ts';
import { filePathBytesMax } from '../../limits.ts';
import type { Stores } from '../shared/stores.ts';
import { nameKey, nameKeyHeadBytes, scopeOf } from './file-index.ts';

export interface PrefixPlace {
  readonly bucketId: string;
  /** To the letter; the empty one is every path's. */
  readonly prefix: string;
  /** Only paths behind this one; '' stands before all. */
  readonly after: string;
}

/** No UTF-8 has this byte: it comes after every path with the prefix before it. */
const afterUtf8 = Uint8Array.of(0xff);

/** UTF-8 of so many paths at most, and whether there are more behind them. */
export function pathsWithPrefix(
  { index }: Stores,
  { bucketId, prefix, after }: PrefixPlace,
  limit: number,
): { readonly paths: readonly Uint8Array[]; readonly hasMore: boolean } {
  const scope = scopeOf(bucketId, '');
  const start = encodeUtf8(prefix);
  const behind = encodeUtf8(`${after}\0`);
  if (start.length > filePathBytesMax || behind.length > filePathBytesMax + 1) {
    return { paths: [], hasMore: false };
  }
  const first = index.rank(nameKey(scope, start));
  const next = after === '' ? first : Math.max(first, index.rank(nameKey(scope, behind)));
  const end = index.rank(nameKey(scope, concatBytes(start, afterUtf8)));
  const count = Math.max(0, Math.min(limit, end - next));
  const entries = count === 0 ? [] : index.read(next, count);
  const head = scope.length + nameKeyHeadBytes;
  return { paths: entries.map(({ key }) => key.subarray(head)), hasMore: next + count < end };
}
