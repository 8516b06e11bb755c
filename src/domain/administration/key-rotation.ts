// Rotation of keys. A new key replaces the old one, and each message wraps a bounded number of keys
// again with the new one; both keys work until all are wrapped. File bytes are not rewritten. The
// progress is in stable memory, so rotation continues after an upgrade.

import { encodeUtf8 } from '../../lib/text.ts';
import {
  rotatedBucketsPerMessage,
  rotatedSlotsPerMessage,
  rotatingBucketCountMax,
} from '../../limits.ts';
import { RecordReader, RecordWriter } from '../../storage/codec.ts';
import { slotBytes } from '../../storage/erasable-slots.ts';
import { bucketIdsAfter } from '../buckets/bucket-directory.ts';
import { type Bucket, findBucket, saveBucket } from '../buckets/buckets.ts';
import { createBucketKey, currentBucketKey, rewrapBucketKeys } from '../keys/bucket-keys.ts';
import { rewrapFileKey } from '../keys/file-keys.ts';
import {
  finishRootRotation,
  hasNextRootKey,
  isRootRotating,
  type RootKeySource,
  startRootRotation,
} from '../keys/root-keys.ts';
import { eraseWrappedKey, unlessDamaged } from '../keys/wrapped-keys.ts';
import { ownedBucket } from '../rights/ownership.ts';
import { type Call, requireController } from '../shared/caller.ts';
import { Refusal } from '../shared/refusal.ts';
import type { Stores } from '../shared/stores.ts';

interface Progress {
  /** Next key slot to process, and the end of the range. */
  readonly slot: number;
  readonly slotEnd: number;
  /** The last bucket whose keys the new root key wraps; '' before the first one. */
  readonly bucket: string;
  /** Buckets with two keys. */
  readonly buckets: readonly string[];
}

// 0: version 2 | slot u64 | slot end u64 | texts: bucket, buckets; in the meta map
//
// Version 1 had the bucket's position and a count, both u32, before the texts, and no bucket there.
// A position says nothing about the buckets before it, so the pass over the buckets begins anew.
const version = 2;
const positionVersion = 1;
const positionBytes = 8;
const metaKey = 'keyRotation';
const idle: Progress = { slot: 1, slotEnd: 1, bucket: '', buckets: [] };

function readProgress(stores: Stores): Progress {
  const stored = stores.meta.get(encodeUtf8(metaKey));
  if (stored === undefined) {
    return idle;
  }
  const reader = new RecordReader(stored, version, positionVersion);
  const slots = { slot: reader.integer(), slotEnd: reader.integer() };
  if (reader.version === positionVersion) {
    const buckets = reader.skip(positionBytes).texts();
    return { ...slots, bucket: '', buckets: buckets.filter((id) => id !== '') };
  }
  const [bucket = '', ...buckets] = reader.texts();
  return { ...slots, bucket, buckets };
}

function saveProgress(stores: Stores, progress: Progress): void {
  const { slot, slotEnd, bucket, buckets } = progress;
  const writer = new RecordWriter(version).u64(slot).u64(slotEnd);
  stores.meta.set(encodeUtf8(metaKey), writer.finish([bucket, ...buckets]));
}

/**
 * Starts the rotation of a bucket's key. New files use the new key at once; keys of existing files
 * are wrapped again step by step. For owners.
 */
export function rotateBucketKey(stores: Stores, call: Call, name: string): void {
  const bucket = ownedBucket(stores, call, name);
  const progress = readProgress(stores);
  if (bucket.formerKeyId !== 0 || progress.buckets.length >= rotatingBucketCountMax) {
    throw new Refusal(
      'SlowDown',
      `The key of bucket ${bucket.id} cannot be rotated yet: an earlier rotation is running. Try ` +
        'again in a few minutes.',
    );
  }
  const { keyId: formerKeyId, keySlot: formerKeySlot } = bucket;
  const key = createBucketKey(stores, bucket.id);
  saveBucket(stores, { ...bucket, ...key, formerKeyId, formerKeySlot }, bucket);
  // Starts over at the first slot, because a bucket may have joined in the middle of a pass.
  const turn = { slot: 1, slotEnd: stores.keySlots.end() };
  saveProgress(stores, { ...progress, ...turn, buckets: [...progress.buckets, bucket.id] });
}

/**
 * Starts the rotation of the root key. The new one comes from `source`, or by default from the
 * present key's source. For controllers.
 */
export function rotateRootKey(
  stores: Stores,
  call: Call,
  source: RootKeySource | undefined,
  proxyByDefault?: string,
): void {
  requireController(call);
  startRootRotation(stores, source, proxyByDefault);
  saveProgress(stores, { ...readProgress(stores), bucket: '' });
}

/** Whether some key may still be wrapped by a key that rotation will remove. */
export function isRotating(stores: Stores): boolean {
  return isRootRotating(stores) || readProgress(stores).buckets.length > 0;
}

/** Runs one bounded step of the rotations; true while more is left. */
export function continueRotation(stores: Stores): boolean {
  const progress = readProgress(stores);
  if (progress.buckets.length > 0) {
    rewrapFileKeys(stores, progress);
    return true;
  }
  return hasNextRootKey(stores) && rewrapBuckets(stores, progress);
}

function rewrapFileKeys(stores: Stores, progress: Progress): void {
  const buckets = progress.buckets.flatMap((id) => findBucket(stores, id) ?? []);
  const byFormerKey = new Map(buckets.map((bucket) => [bucket.formerKeyId, bucket]));
  const count = Math.min(rotatedSlotsPerMessage, progress.slotEnd - progress.slot);
  const ids = new Float64Array(stores.keySlots.readMany(progress.slot, count).buffer);
  const stride = slotBytes / ids.BYTES_PER_ELEMENT;
  for (let index = 0; index < count; index++) {
    const bucket = byFormerKey.get(ids[index * stride] ?? 0);
    if (bucket !== undefined) {
      const contentId = ids[index * stride + 1] ?? 0;
      unlessDamaged(() =>
        rewrapFileKey(stores, bucket, { contentId, keySlot: progress.slot + index }),
      );
    }
  }
  const slot = progress.slot + count;
  if (slot < progress.slotEnd) {
    saveProgress(stores, { ...progress, slot });
    return;
  }
  for (const bucket of buckets) unlessDamaged(() => forgetFormerKey(stores, bucket));
  saveProgress(stores, { ...progress, slot: 1, slotEnd: 1, buckets: [] });
}

/** Keeps the former key if the new one cannot be decrypted: then only the former one wraps keys. */
function forgetFormerKey(stores: Stores, bucket: Bucket): void {
  currentBucketKey(stores, bucket).key.fill(0);
  eraseWrappedKey(stores, bucket.formerKeySlot, bucket.formerKeyId);
  saveBucket(stores, { ...bucket, formerKeyId: 0, formerKeySlot: 0 }, bucket);
}

/**
 * Wraps the keys of the next buckets with the new root key; returns false after the last bucket.
 * One pass is enough: it begins after the new root key has arrived, which wraps the keys of every
 * later bucket, and it proceeds by id, because creations and deletions shift positions.
 */
function rewrapBuckets(stores: Stores, progress: Progress): boolean {
  const ids = bucketIdsAfter(stores.directory, progress.bucket, rotatedBucketsPerMessage);
  for (const id of ids) {
    const bucket = findBucket(stores, id);
    if (bucket !== undefined) rewrapBucketKeys(stores, bucket);
  }
  const last = ids[rotatedBucketsPerMessage - 1];
  if (last === undefined) finishRootRotation(stores);
  saveProgress(stores, { ...progress, bucket: last ?? '' });
  return last !== undefined;
}
