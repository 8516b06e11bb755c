// Buckets: named spaces of files with an owner. Counts of a bucket are kept in its record.

import { encodeUtf8 } from '../lib/text.ts';
import { bucketCountMax } from '../limits.ts';
import { RecordReader, RecordWriter } from '../storage/codec.ts';
import { mayCreateBuckets } from './bucket-creators.ts';
import { noteBucket } from './bucket-directory.ts';
import { type BucketKeys, createBucketKey } from './bucket-keys.ts';
import { changeTotals, readTotals } from './bucket-totals.ts';
import type { Call } from './caller.ts';
import { parseBucketId } from './names.ts';
import { Refusal } from './refusal.ts';
import type { Stores } from './stores.ts';

export interface Bucket extends BucketKeys {
  readonly id: string;
  /** Principal of the creator. */
  readonly owner: Uint8Array;
  readonly isPublic: boolean;
  readonly createdAtNs: bigint;
  readonly updatedAtNs: bigint;
  readonly fileCount: number;
  readonly byteCount: number;
  readonly openUploadCount: number;
  /** Announced sizes of the open uploads: they count towards the quota. */
  readonly openUploadByteCount: number;
  /** How many bytes it may hold; unlimited when absent. */
  readonly quotaBytes?: number | undefined;
}

// 0: version 4 | owner (length, bytes) | flags u8: 1 public, 2 quota | created u64 | updated u64
//    | files u64 | bytes u64 | open uploads u32 | bytes of open uploads u64 | quota u64
//    | key id u64 | key slot u64 | former key id u64 | former key slot u64
const version = 4;

function encodeBucket(bucket: Bucket): Uint8Array {
  return new RecordWriter(version)
    .bytes(bucket.owner)
    .u8((bucket.isPublic ? 1 : 0) | (bucket.quotaBytes === undefined ? 0 : 2))
    .u64(bucket.createdAtNs)
    .u64(bucket.updatedAtNs)
    .u64(bucket.fileCount)
    .u64(bucket.byteCount)
    .u32(bucket.openUploadCount)
    .u64(bucket.openUploadByteCount)
    .u64(bucket.quotaBytes ?? 0)
    .u64(bucket.keyId)
    .u64(bucket.keySlot)
    .u64(bucket.formerKeyId)
    .u64(bucket.formerKeySlot)
    .finish([]);
}

function decodeBucket(id: string, bytes: Uint8Array): Bucket {
  const reader = new RecordReader(bytes);
  const owner = reader.bytes();
  const flags = reader.u8();
  const head = {
    id,
    owner,
    isPublic: (flags & 1) === 1,
    createdAtNs: reader.u64(),
    updatedAtNs: reader.u64(),
    fileCount: reader.integer(),
    byteCount: reader.integer(),
    openUploadCount: reader.u32(),
    openUploadByteCount: reader.integer(),
  };
  const quotaBytes = reader.integer();
  const keys = {
    keyId: reader.integer(),
    keySlot: reader.integer(),
    formerKeyId: reader.integer(),
    formerKeySlot: reader.integer(),
  };
  return { ...head, ...keys, quotaBytes: (flags & 2) === 2 ? quotaBytes : undefined };
}

export function findBucket(stores: Stores, id: string): Bucket | undefined {
  const bytes = stores.buckets.get(encodeUtf8(id));
  return bytes === undefined ? undefined : decodeBucket(id, bytes);
}

/** The bucket of that name; refuses a malformed name and an unknown one. */
export function getBucket(stores: Stores, name: string): Bucket {
  const id = parseBucketId(name);
  const bucket = findBucket(stores, id);
  if (bucket === undefined) {
    throw new Refusal('NoSuchBucket', `There is no bucket ${id}. Bucket ids are case-sensitive.`);
  }
  return bucket;
}

/** In place of the former record, if there is one. The totals follow the bucket's counts. */
export function saveBucket(stores: Stores, bucket: Bucket, old: Bucket | undefined): void {
  stores.buckets.set(encodeUtf8(bucket.id), encodeBucket(bucket));
  changeTotals(stores, {
    buckets: old === undefined ? 1 : 0,
    files: bucket.fileCount - (old?.fileCount ?? 0),
    bytes: bucket.byteCount - (old?.byteCount ?? 0),
  });
}

/** For controllers of the canister and for those that they allow. The creator owns the bucket. */
export function createBucket(stores: Stores, call: Call, name: string): Bucket {
  const id = parseBucketId(name);
  if (!mayCreateBuckets(stores, call.caller)) {
    throw new Refusal(
      'AccessDenied',
      'Only controllers of the canister and principals that they allow create buckets: call with the ' +
        'identity that deployed it, or have it call updateAccess.',
    );
  }
  if (findBucket(stores, id) !== undefined) {
    throw new Refusal('BucketExists', `The bucket ${id} exists already: choose another id.`);
  }
  if (readTotals(stores).buckets >= bucketCountMax) {
    throw new Refusal('QuotaExceeded', `There are ${bucketCountMax} buckets: delete one first.`, {
      limit: bucketCountMax,
    });
  }
  const bucket: Bucket = {
    id,
    ...createBucketKey(stores, id),
    formerKeyId: 0,
    formerKeySlot: 0,
    owner: call.caller.principal,
    isPublic: true,
    createdAtNs: call.nowNs,
    updatedAtNs: call.nowNs,
    fileCount: 0,
    byteCount: 0,
    openUploadCount: 0,
    openUploadByteCount: 0,
    quotaBytes: undefined,
  };
  saveBucket(stores, bucket, undefined);
  noteBucket(stores.directory, id);
  noteBucket(stores.directory, id, bucket.owner);
  stores.publication.show(id, bucket.isPublic);
  return bucket;
}
