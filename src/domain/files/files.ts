// Operations on one file for callers with a right: its record, a range of its bytes, its deletion.
// withPublicFile() reads public files for anybody.

import { chunkBytesMax } from '../../../packages/wire/src/limits.ts';
import { type Bucket, findBucket } from '../buckets/buckets.ts';
import { chargeWork } from '../rights/key-budgets.ts';
import { authorize, type Grant, requireBypassRight, type SentKey } from '../rights/rights.ts';
import type { Call } from '../shared/caller.ts';
import { parseBucketId, parseFilePath, quote } from '../shared/names.ts';
import {
  checkUnmodifiedSince,
  checkWritePreconditions,
  type WritePreconditions,
} from '../shared/preconditions.ts';
import { Refusal } from '../shared/refusal.ts';
import type { Stores } from '../shared/stores.ts';
import { leavesOfRenewal } from './bulk-work.ts';
import {
  entityTag,
  type FileRecord,
  findFile,
  type OpenFile,
  readFile,
  removeFile,
  withOpenFile,
} from './file-records.ts';
import { requireRetirable } from './version-records.ts';

export interface FileName {
  readonly bucket: string;
  readonly path: string;
  readonly apiKey: SentKey;
}

/** Returns the file's bucket to callers who may read it; anybody may read a public one. */
export function readableBucket(stores: Stores, call: Call, name: FileName): Bucket {
  const { bucket, path, apiKey } = name;
  const found = apiKey === undefined ? findBucket(stores, parseBucketId(bucket)) : undefined;
  return found?.isPublic
    ? found
    : authorize(stores, call, { bucket, path, permission: 'read', apiKey }).bucket;
}

export function refuseMissing(bucket: Bucket, path: string): never {
  throw new Refusal('NoSuchFile', `File ${quote(path)} does not exist in bucket ${bucket.id}.`);
}

/** Calls `use` with a file, for callers who may read the bucket, and wipes its key afterwards. */
export function withReadableFile<T extends object>(
  stores: Stores,
  { call, ...request }: FileName & { readonly call: Call },
  use: (opened: OpenFile) => T,
): T {
  const bucket = readableBucket(stores, call, request);
  const path = parseFilePath(request.path);
  return withOpenFile(stores, { bucket, path }, use) ?? refuseMissing(bucket, path);
}

/** Returns the file's record, for callers who may read the bucket. */
export function getFile(stores: Stores, call: Call, request: FileName): FileRecord {
  return withReadableFile(stores, { call, ...request }, ({ file }) => file);
}

/**
 * Returns at most 1,900,000 bytes from `offset` on, fewer at the end of the file and none if
 * `offset` is its size. Refuses an offset beyond the size with InvalidRange and a length above the
 * limit with EntityTooLarge.
 */
export function readFilePart(stores: Stores, call: Call, request: FileName & FilePart): Uint8Array {
  return withReadableFile(stores, { call, ...request }, (opened) => {
    return readFile(stores, opened, partAsked(opened.file, request));
  });
}

export interface FilePart {
  readonly offset: bigint;
  readonly length: bigint;
}

export function partAsked(file: FileRecord, { offset, length }: FilePart) {
  if (length > BigInt(chunkBytesMax)) {
    throw new Refusal(
      'EntityTooLarge',
      `One call reads at most ${chunkBytesMax} bytes; got a length of ${length}.`,
      { limit: chunkBytesMax },
    );
  }
  if (offset > BigInt(file.size)) {
    throw new Refusal('InvalidRange', `Offset ${offset} is beyond the file's ${file.size} bytes.`, {
      size: file.size,
    });
  }
  const start = Number(offset);
  return { start, end: Math.min(file.size, start + Number(length)) };
}

export type FileDeletion = FileName & {
  readonly conditions: WritePreconditions;
  /** For owners: deletes the file also while it is retained in governance mode. */
  readonly bypassesGovernance?: boolean | undefined;
};

/** Refuses what deleteFile() would refuse; changes nothing. */
export function checkDeletion(
  stores: Stores,
  call: Call,
  request: FileDeletion,
): { readonly bucket: Bucket; readonly file: FileRecord; readonly key: Grant['key'] } {
  const { conditions, bypassesGovernance, ...name } = request;
  const grant = authorize(stores, call, { ...name, permission: 'delete' });
  const { bucket, key: apiKey } = grant;
  if (bypassesGovernance)
    requireBypassRight(stores, call, { bypassesGovernance, claim: { ...name, apiKey } });
  const path = parseFilePath(request.path);
  const found = findFile(stores, bucket.id, path) ?? refuseMissing(bucket, path);
  checkWritePreconditions(entityTag(found), conditions);
  checkUnmodifiedSince(found.updatedAtNs, conditions);
  const release = { nowNs: call.nowNs, bypassesGovernance };
  return { ...grant, file: requireRetirable(bucket, found, release) };
}

/** Deletes the file, or makes it a former version if the bucket stores versions. */
export function deleteFile(stores: Stores, call: Call, request: FileDeletion): void {
  const { bucket, file, key } = checkDeletion(stores, call, request);
  const left = removeFile(stores, bucket, file, call.nowNs);
  chargeWork(stores, call, { key, leaves: leavesOfRenewal(left, file.path) });
}
