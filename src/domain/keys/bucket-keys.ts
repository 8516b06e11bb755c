// The key of a bucket: random, wrapped by the root key; it wraps the keys of the bucket's files.
// During a rotation a bucket has two keys, and both decrypt.

import { present } from '../../lib/assert.ts';
import { encodeUtf8 } from '../../lib/text.ts';
import { nextContentId, type Stores } from '../shared/stores.ts';
import { currentRootKey, type RootKey, rootKeyOf } from './root-keys.ts';
import {
  addWrappedKey,
  eraseWrappedKey,
  keyBytes,
  openWrappedKey,
  rewrapKey,
  unlessDamaged,
  type WrappingKey,
  wrappedKeyIds,
} from './wrapped-keys.ts';

/** The fields of a bucket's record about its keys. */
export interface BucketKeys {
  readonly id: string;
  /** Number of the key that wraps new file keys. */
  readonly keyId: number;
  readonly keySlot: number;
  /** The previous key, until all file keys are wrapped again; else 0. */
  readonly formerKeyId: number;
  readonly formerKeySlot: number;
}

/** Creates, wraps and stores a new key for the bucket. */
export function createBucketKey(
  stores: Stores,
  bucketId: string,
): { readonly keyId: number; readonly keySlot: number } {
  const root = currentRootKey(stores);
  const key = stores.secrets.random(keyBytes);
  const keyId = nextContentId(stores);
  const owner = { id: keyId, name: encodeUtf8(bucketId) };
  const wrapper = rootWrapper(root);
  const keySlot = addWrappedKey(stores, wrapper, { owner, key });
  key.fill(0);
  return { keyId, keySlot };
}

/** Returns the key that wraps new file keys. The caller wipes it. */
export function currentBucketKey(stores: Stores, bucket: BucketKeys): WrappingKey {
  return present(findBucketKey(stores, bucket, bucket.keyId), 'current key of a bucket');
}

/** Returns the bucket's key with that id, current or former. The caller wipes it. */
export function findBucketKey(
  stores: Stores,
  bucket: BucketKeys,
  keyId: number,
): WrappingKey | undefined {
  const slot = slotOf(bucket, keyId);
  if (slot === undefined) {
    return undefined;
  }
  const owner = { id: keyId, name: encodeUtf8(bucket.id) };
  return { id: keyId, key: openWrappedKey(stores, slot, { owner, wrapper: rootWrappers(stores) }) };
}

function slotOf(bucket: BucketKeys, keyId: number): number | undefined {
  if (keyId === bucket.keyId) {
    return bucket.keySlot;
  }
  return keyId === bucket.formerKeyId && keyId !== 0 ? bucket.formerKeySlot : undefined;
}

/** The id is negative, so that it differs from the id of every bucket key. */
function rootWrapper(root: RootKey): WrappingKey {
  return { id: -root.version, key: root.key };
}

function rootWrappers(stores: Stores): (id: number) => WrappingKey | undefined {
  return (id) => {
    const root = rootKeyOf(stores, -id);
    return root && rootWrapper(root);
  };
}

/** Wraps the bucket's keys with the current root key. */
export function rewrapBucketKeys(stores: Stores, bucket: BucketKeys): void {
  const to = currentRootKey(stores);
  for (const keyId of [bucket.keyId, bucket.formerKeyId]) {
    const slot = keyId === 0 ? undefined : slotOf(bucket, keyId);
    const wrapperId = slot === undefined ? undefined : wrappedKeyIds(stores, slot)?.wrapperId;
    const from = wrapperId === undefined ? undefined : rootKeyOf(stores, -wrapperId);
    if (slot !== undefined && from !== undefined && from.version !== to.version) {
      const owner = { id: keyId, name: encodeUtf8(bucket.id) };
      unlessDamaged(() =>
        rewrapKey(stores, slot, { owner, from: rootWrapper(from), to: rootWrapper(to) }),
      );
    }
  }
}

/** Erases the keys of a deleted bucket. */
export function eraseBucketKeys(stores: Stores, bucket: BucketKeys): void {
  eraseWrappedKey(stores, bucket.keySlot, bucket.keyId);
  if (bucket.formerKeyId !== 0) {
    eraseWrappedKey(stores, bucket.formerKeySlot, bucket.formerKeyId);
  }
}
