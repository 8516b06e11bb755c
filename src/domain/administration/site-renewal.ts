// Renews the files of a bucket that became a site or ceased to be one, got another `_headers`, or
// was a site of release 0.2.0, so that each gets its new header fields and addresses, a bounded
// step per message. Until then a file is served as before.

import { upgradedChunksPerMessage, upgradedFilesPerMessage } from '../../limits.ts';
import { type Bucket, findBucket, saveBucket } from '../buckets/buckets.ts';
import { fileMapKey } from '../files/file-layout.ts';
import { findFile } from '../files/file-records.ts';
import { renewLeaves } from '../files/leaf-renewal.ts';
import { findProgress, removeProgress, saveProgress } from '../files/renewal-progress.ts';
import { hasLeaves, wantedLeaves } from '../files/site-header-records.ts';
import { publishMissing } from '../files/site-publication.ts';
import { unlessDamaged } from '../keys/wrapped-keys.ts';
import { pathsAfter } from '../listing/file-index.ts';
import type { Stores } from '../shared/stores.ts';

/** Runs one bounded step; true while more is left. The root keys must be available. */
export function renewSites(stores: Stores, nowNs: bigint): boolean {
  const progress = findProgress(stores);
  if (progress === undefined) return false;
  removeProgress(stores, progress);
  const bucket = findBucket(stores, progress.bucketId);
  if (bucket !== undefined) {
    const path = renewFiles(stores, bucket, { after: progress.path, nowNs });
    // The step may have renewed `_headers`, whose rules begin again from the first file
    if (findProgress(stores, bucket.id) !== undefined) return true;
    if (path === undefined) endRenewal(stores, bucket);
    else saveProgress(stores, { bucketId: bucket.id, path });
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
  const file = findFile(stores, bucket.id, path);
  if (bytes === undefined || file === undefined) return 0;
  if (hasLeaves(file, wantedLeaves(stores, bucket, path))) return 0;
  return renewLeaves(stores, bucket, { path, bytes, nowNs }).file.chunkCount;
}

function endRenewal(stores: Stores, bucket: Bucket): void {
  const renewed = { ...bucket, isRenewing: false };
  saveBucket(stores, renewed, bucket);
  publishMissing(stores, renewed);
}
