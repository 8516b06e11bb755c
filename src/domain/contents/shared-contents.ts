// Contents that several records share: a copy and its source, each a file or a former version. Each
// record has its own wrapped key; the bytes are freed with the last record. In the directory:
//
//   6 | content u64, big-endian                  -> number of records that share it
//   6 | content u64 | thumbnail u32, big-endian  -> number of records that share its thumbnail
//
// Entries are absent for one record.

import { concatBytes } from '../../lib/bytes.ts';
import { u64Key } from '../../storage/codec.ts';
import { eraseFileKey, hasFileKey, type SealedContent } from '../keys/file-keys.ts';
import type { Stores } from '../shared/stores.ts';
import { discardContent } from './contents.ts';
import { dropDigestTable } from './digest-tables.ts';
import { discardThumbnail, type Thumbnail } from './thumbnails.ts';

const kind = Uint8Array.of(6);

interface Shared {
  readonly contentId: number;
  readonly thumbnail?: Thumbnail | undefined;
}

function entryKey(contentId: number): Uint8Array {
  return concatBytes(kind, u64Key(contentId));
}

function thumbnailEntryKey(contentId: number, { index }: Thumbnail): Uint8Array {
  return concatBytes(entryKey(contentId), u64Key(index).subarray(4));
}

/** Counts one more record of the content, and of its thumbnail if the record has one. */
export function shareContent({ directory }: Stores, { contentId, thumbnail }: Shared): void {
  const keys = [entryKey(contentId)];
  if (thumbnail !== undefined) keys.push(thumbnailEntryKey(contentId, thumbnail));
  for (const key of keys) directory.insert(key, (directory.find(key) ?? 1n) + 1n);
}

/** Counts one record less; returns true if it was the last. */
function unshare({ directory }: Stores, key: Uint8Array): boolean {
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
  content: SealedContent & Shared & { readonly chunkCount: number },
): void {
  if (!eraseFileKey(stores, content)) return;
  const { contentId, chunkCount } = content;
  freeThumbnail(stores, content);
  if (!unshare(stores, entryKey(contentId))) return;
  if (chunkCount > 1) dropDigestTable(stores, contentId);
  discardContent(stores, content);
}

/**
 * Frees the thumbnail of a record that is removed or gets another one, unless other records share
 * it. Changes nothing if a damaged record names the content of another one.
 */
export function releaseThumbnail(stores: Stores, content: SealedContent & Shared): void {
  if (content.thumbnail !== undefined && hasFileKey(stores, content)) {
    freeThumbnail(stores, content);
  }
}

function freeThumbnail(stores: Stores, { contentId, thumbnail }: Shared): void {
  if (thumbnail === undefined) return;
  if (!unshare(stores, thumbnailEntryKey(contentId, thumbnail))) return;
  discardThumbnail(stores, contentId, thumbnail);
}

/** Returns the number of records that share the content. */
export function sharesOf({ directory }: Stores, contentId: number): number {
  return Number(directory.find(entryKey(contentId)) ?? 1n);
}
