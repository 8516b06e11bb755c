// Buckets: named spaces of files with an owner. Counts of a bucket are kept in its record.

import { bytesEqual } from '../lib/bytes.ts';
import { encodeUtf8 } from '../lib/text.ts';
import { RecordReader, RecordWriter } from '../storage/codec.ts';
import { type Call, type Caller, isAnonymous } from './caller.ts';
import { parseBucketId } from './names.ts';
import { Refusal } from './refusal.ts';
import type { Stores } from './stores.ts';

export interface Bucket {
  readonly id: string;
  /** Principal of the creator. */
  readonly owner: Uint8Array;
  readonly isPublic: boolean;
  readonly createdAtNs: bigint;
  readonly updatedAtNs: bigint;
  readonly fileCount: number;
  readonly byteCount: number;
  readonly openUploadCount: number;
}

// 0: version 1 | owner (length, bytes) | flags u8: 1 public | created u64 | updated u64
//    | files u64 | bytes u64 | open uploads u32
const version = 1;

function encodeBucket(bucket: Bucket): Uint8Array {
  return new RecordWriter(version)
    .bytes(bucket.owner)
    .u8(bucket.isPublic ? 1 : 0)
    .u64(bucket.createdAtNs)
    .u64(bucket.updatedAtNs)
    .u64(bucket.fileCount)
    .u64(bucket.byteCount)
    .u32(bucket.openUploadCount)
    .finish([]);
}

function decodeBucket(id: string, bytes: Uint8Array): Bucket {
  const reader = new RecordReader(bytes);
  return {
    id,
    owner: reader.bytes(),
    isPublic: (reader.u8() & 1) === 1,
    createdAtNs: reader.u64(),
    updatedAtNs: reader.u64(),
    fileCount: reader.integer(),
    byteCount: reader.integer(),
    openUploadCount: reader.u32(),
  };
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

export function saveBucket(stores: Stores, bucket: Bucket): void {
  stores.buckets.set(encodeUtf8(bucket.id), encodeBucket(bucket));
}

/** For controllers of the canister. */
export function createBucket(stores: Stores, call: Call, name: string): Bucket {
  const id = parseBucketId(name);
  if (!call.caller.isController) {
    throw new Refusal(
      'AccessDenied',
      'Only a controller of the canister creates buckets: call with the identity that deployed it.',
    );
  }
  if (findBucket(stores, id) !== undefined) {
    throw new Refusal('BucketExists', `The bucket ${id} exists already: choose another id.`);
  }
  const bucket: Bucket = {
    id,
    owner: call.caller.principal,
    isPublic: true,
    createdAtNs: call.nowNs,
    updatedAtNs: call.nowNs,
    fileCount: 0,
    byteCount: 0,
    openUploadCount: 0,
  };
  saveBucket(stores, bucket);
  return bucket;
}

export function ownsBucket(caller: Caller, bucket: Bucket): boolean {
  return (
    caller.isController || (!isAnonymous(caller) && bytesEqual(caller.principal, bucket.owner))
  );
}
