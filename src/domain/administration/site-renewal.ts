// Renews the files of a bucket that became a site or ceased to be one, or was a site of release
// 0.2.0, so that each gets its new header fields and addresses, a bounded step per message. Until
// then a file is served as before. The progress is in the directory:
//
//   14 | bucket id | 0 | path of the last processed file    -> 0

import { concatBytes } from '../../lib/bytes.ts';
import { decodeUtf8, encodeUtf8 } from '../../lib/text.ts';
import { upgradedChunksPerMessage, upgradedFilesPerMessage } from '../../limits.ts';
import { entriesUnder } from '../../storage/index-ranges.ts';
import { type Bucket, findBucket, saveBucket } from '../buckets/buckets.ts';
import { fileMapKey } from '../files/file-layout.ts';
import { findFile } from '../files/file-records.ts';
import { renewLeaves } from '../files/leaf-renewal.ts';
import { publishMissing } from '../files/site-publication.ts';
import { unlessDamaged } from '../keys/wrapped-keys.ts';
import { pathsAfter } from '../listing/file-index.ts';
import { leavesVersionOf } from '../shared/publication.ts';
import type { Stores } from '../shared/stores.ts';

const kind = 14;

interface Progress {
  readonly bucketId: string;
  /** '' before the first file. */
  readonly path: string;
}

function progressKey({ bucketId, path }: Progress): Uint8Array {
  return concatBytes(Uint8Array.of(kind), encodeUtf8(`${bucketId}\0${path}`));
}

/** Returns the progress of the bucket's renewal or, without a bucket id, of any renewal. */
function findProgress({ directory }: Stores, bucketId?: string): Progress | undefined {
  const scope = concatBytes(
    Uint8Array.of(kind),
    encodeUtf8(bucketId === undefined ? '' : `${bucketId}\0`),
  );
  const [entry] = entriesUnder(directory, { scope, limit: 1 });
  if (entry === undefined) return undefined;
  const [id = '', path = ''] = (decodeUtf8(entry.key.subarray(1)) ?? '').split('\0');
  return { bucketId: id, path };
}

/** Starts at the first file, also if an earlier renewal is running. */
export function startRenewal(stores: Stores, bucketId: string): void {
  forgetRenewal(stores, bucketId);
  stores.directory.insert(progressKey({ bucketId, path: '' }), 0n);
}

/** Removes the progress of a deleted bucket. */
export function forgetRenewal(stores: Stores, bucketId: string): void {
  const progress = findProgress(stores, bucketId);
  if (progress !== undefined) stores.directory.remove(progressKey(progress));
}

/** Runs one bounded step; true while more is left. The root keys must be available. */
export function renewSites(stores: Stores, nowNs: bigint): boolean {
  const progress = findProgress(stores);
  if (progress === undefined) return false;
  stores.directory.remove(progressKey(progress));
  const bucket = findBucket(stores, progress.bucketId);
  if (bucket !== undefined) {
    const path = renewFiles(stores, bucket, { after: progress.path, nowNs });
    if (path === undefined) endRenewal(stores, bucket);
    else stores.directory.insert(progressKey({ bucketId: bucket.id, path }), 0n);
  }
  return true;
}

/** Returns the path of the last processed file; `undefined` after the bucket's last file. */
function renewFiles(
  stores: Stores,
  bucket: Bucket,
  { after, nowNs }: { readonly after: string; readonly nowNs: bigint },
): string | undefined {
  const range = { bucketId: bucket.id, path: after };
  let last: string | undefined;
  let chunks = 0;
  for (const path of pathsAfter(stores, range, upgradedFilesPerMessage)) {
    if (chunks >= upgradedChunksPerMessage) break;
    unlessDamaged(() => {
      chunks += renewFile(stores, bucket, { path, nowNs });
    });
    last = path;
  }
  return last;
}

/** Returns the number of chunks that it read. A damaged file stays unchanged. */
function renewFile(
  stores: Stores,
  bucket: Bucket,
  { path, nowNs }: { readonly path: string; readonly nowNs: bigint },
): number {
  const bytes = stores.records.get(fileMapKey(bucket.id, path));
  const isDone = findFile(stores, bucket.id, path)?.leavesVersion === leavesVersionOf(bucket);
  if (bytes === undefined || isDone) return 0;
  return renewLeaves(stores, bucket, { path, bytes, nowNs }).file.chunkCount;
}

function endRenewal(stores: Stores, bucket: Bucket): void {
  const renewed = { ...bucket, isRenewing: false };
  saveBucket(stores, renewed, bucket);
  publishMissing(stores, renewed);
}
