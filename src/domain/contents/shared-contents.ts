// Contents that several records have: copies, and versions that were made from one another. Each
// has a wrapped key of its own; the bytes go with the last. In the directory:
//
//   6 | content u64, big-endian    -> how many records have it; absent for one

import { concatBytes } from '../../lib/bytes.ts';
import { u64Key } from '../../storage/codec.ts';
import { eraseFileKey, type SealedContent } from '../keys/file-keys.ts';
import type { Stores } from '../shared/stores.ts';
import { discardContent } from './contents.ts';
import { dropDigestTable } from './digest-tables.ts';

const kind = Uint8Array.of(6);

function entryKey(contentId: number): Uint8Array {
  return concatBytes(kind, u64Key(contentId));
}

/** One record more has the content. */
export function shareContent({ directory }: Stores, contentId: number): void {
  const key = entryKey(contentId);
  directory.insert(key, (directory.find(key) ?? 1n) + 1n);
}

/** One record less has the content; true when that was the last. */
function unshareContent({ directory }: Stores, contentId: number): boolean {
  const key = entryKey(contentId);
  const count = directory.find(key);
  if (count === undefined) return true;
  if (count > 2n) directory.insert(key, count - 1n);
  else directory.remove(key);
  return false;
}

/**
 * For a record that goes: its key is erased at once, so that it opens nothing any more; with the
 * last one the bytes go, step by step. A damaged record may name what is another's: that stays.
 */
export function releaseContent(
  stores: Stores,
  content: SealedContent & { readonly chunkCount: number },
): void {
  if (!eraseFileKey(stores, content)) return;
  const { contentId, chunkCount } = content;
  if (!unshareContent(stores, contentId)) return;
  if (chunkCount > 1) dropDigestTable(stores, contentId);
  discardContent(stores, content);
}

/** How many records have it. */
export function sharesOf({ directory }: Stores, contentId: number): number {
  return Number(directory.find(entryKey(contentId)) ?? 1n);
}
