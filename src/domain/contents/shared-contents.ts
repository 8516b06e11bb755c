// Contents that several records share: a copy and its source, each a file or a former version. Each
// record has its own wrapped key; the bytes are freed with the last record. In the directory:
//
//   6 | content u64, big-endian    -> number of records that share it; absent for one

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

/** Counts one more record of the content. */
export function shareContent({ directory }: Stores, contentId: number): void {
  const key = entryKey(contentId);
  directory.insert(key, (directory.find(key) ?? 1n) + 1n);
}

/** Counts one record less; returns true if it was the last. */
function unshareContent({ directory }: Stores, contentId: number): boolean {
  const key = entryKey(contentId);
  const count = directory.find(key);
  if (count === undefined) return true;
  if (count > 2n) directory.insert(key, count - 1n);
  else directory.remove(key);
  return false;
}

/**
 * Releases the content of a removed record: erases the record's key at once, which makes its copy
 * unreadable, and frees the bytes step by step when no record is left. If a damaged record names
 * the content of another record, nothing is erased.
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

/** Returns the number of records that share the content. */
export function sharesOf({ directory }: Stores, contentId: number): number {
  return Number(directory.find(entryKey(contentId)) ?? 1n);
}
