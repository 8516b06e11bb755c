// The key of a content, which is one stored version of a file: random, wrapped by the bucket's key,
// and erased together with the version. It encrypts the segments and seals the file's record.

import { concatBytes, emptyBytes } from '../../lib/bytes.ts';
import { type Stores, seekContentId } from '../shared/stores.ts';
import { type BucketKeys, currentBucketKey, findBucketKey } from './bucket-keys.ts';
import { freshBytes, openContentKey, wrapContentKey } from './content-key-calls.ts';
import {
  eraseWrappedKey,
  keyBytes,
  openWrappedKey,
  rewrapKey,
  wrapKey,
  wrappedKeyIds,
} from './wrapped-keys.ts';

/** Identifies the sealed key of a content. */
export interface SealedContent {
  readonly contentId: number;
  readonly keySlot: number;
}

/**
 * Creates a content and its key, which the caller wipes after use. Refuses, before it writes, while
 * no key can be made.
 */
export function createContent(
  stores: Stores,
  bucket: BucketKeys,
): { readonly content: SealedContent; readonly key: Uint8Array } {
  // Both can refuse, so they must precede the first write
  const fresh = stores.secrets.random(freshBytes);
  const { id: contentId, take } = seekContentId(stores);
  const slot = wrapFileKey(stores, bucket, { contentId, fresh });
  take();
  const keySlot = stores.keySlots.add(slot);
  const key = fresh.slice(0, keyBytes);
  fresh.fill(0);
  return { content: { contentId, keySlot }, key };
}

/** Adds a slot for the content's key, wrapped by that bucket's key. */
export function addFileKey(
  stores: Stores,
  bucket: BucketKeys,
  content: { readonly contentId: number; readonly key: Uint8Array },
): number {
  const { contentId, key } = content;
  const fresh = concatBytes(key, stores.secrets.random(freshBytes - keyBytes));
  const slot = wrapFileKey(stores, bucket, { contentId, fresh });
  fresh.fill(0);
  return stores.keySlots.add(slot);
}

/** Returns the slot of the key. `fresh`: the key, followed by a nonce. */
function wrapFileKey(
  stores: Stores,
  bucket: BucketKeys,
  { contentId, fresh }: { readonly contentId: number; readonly fresh: Uint8Array },
): Uint8Array {
  const slot = wrapContentKey(stores, bucket, { contentId, fresh });
  if (slot !== undefined) return slot;
  const wrapper = currentBucketKey(stores, bucket);
  const [key, nonce] = [fresh.subarray(0, keyBytes), fresh.subarray(keyBytes)];
  const wrapped = wrapKey(wrapper, { owner: ownerOf(contentId), key, nonce });
  wrapper.key.fill(0);
  return wrapped;
}

function ownerOf(contentId: number) {
  return { id: contentId, name: emptyBytes };
}

/** Calls `use` with the content's key and wipes it afterwards. */
export function withFileKey<T>(
  stores: Stores,
  content: SealedContent & { readonly bucket: BucketKeys },
  use: (key: Uint8Array) => T,
): T {
  const { bucket } = content;
  const opened: Uint8Array[] = [];
  const wrapper = (id: number) => {
    const found = findBucketKey(stores, bucket, id);
    if (found !== undefined) opened.push(found.key);
    return found;
  };
  try {
    const owner = ownerOf(content.contentId);
    const key =
      openContentKey(stores, bucket, content) ??
      openWrappedKey(stores, content.keySlot, { owner, wrapper });
    opened.push(key);
    return use(key);
  } finally {
    for (const key of opened) key.fill(0);
  }
}

/** Wraps the content's key with the bucket's current key in place of the former one. */
export function rewrapFileKey(stores: Stores, bucket: BucketKeys, content: SealedContent): void {
  const from = findBucketKey(stores, bucket, bucket.formerKeyId);
  const to = currentBucketKey(stores, bucket);
  if (from !== undefined) {
    rewrapKey(stores, content.keySlot, { owner: ownerOf(content.contentId), from, to });
    from.key.fill(0);
  }
  to.key.fill(0);
}

/** Whether the slot still has the content's key: not after its file was replaced or deleted. */
export function hasFileKey(stores: Stores, content: SealedContent): boolean {
  return wrappedKeyIds(stores, content.keySlot)?.ownerId === content.contentId;
}

/** Erases the key; returns false if the slot belongs to another content. */
export function eraseFileKey(stores: Stores, content: SealedContent): boolean {
  return eraseWrappedKey(stores, content.keySlot, content.contentId);
}
