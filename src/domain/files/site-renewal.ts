// Renews the files of a bucket that became a site or ceased to be one, got another `_headers`, or
// was a site of release 0.2.0, so that each gets its new header fields and addresses, a bounded
// step per message. Until then a file is served as before.

import { upgradedChunksPerMessage, upgradedFilesPerMessage } from '../../limits.ts';
import { type Bucket, findBucket, saveBucket } from '../buckets/buckets.ts';
import { unlessDamaged } from '../keys/wrapped-keys.ts';
import { pathsAfter } from '../listing/file-index.ts';
import type { Stores } from '../shared/stores.ts';
import { renewedFileLeaves } from './bulk-work.ts';
import { fileMapKey } from './file-layout.ts';
import { findFile } from './file-records.ts';
import { renewLeaves } from './leaf-renewal.ts';
import { findProgress, type Progress, removeProgress, saveProgress } from './renewal-progress.ts';
import { hasLeaves, wantedLeaves } from './site-header-records.ts';
import { publishMissing } from './site-publication.ts';

/** Runs one bounded step; true while more is left. The root keys must be available. */
export function renewSites(stores: Stores, nowNs: bigint): boolean {
  const progress = findProgress(stores);
  if (progress === undefined) return false;
  renewStep(stores, progress, nowNs);
  return true;
}

/** Renews the files of one bucket in this message, up to an amount of work in leaves. */
export function renewSite(
  stores: Stores,
  bucketId: string,
  { nowNs, leavesMax }: { readonly nowNs: bigint; readonly leavesMax: number },
): void {
  for (let leaves = 0; leaves < leavesMax; ) {
    const progress = findProgress(stores, bucketId);
    if (progress === undefined) return;
    leaves += renewStep(stores, progress, nowNs);
  }
}

/** Returns the work of the step in leaves, see bulk-work.ts. */
function renewStep(stores: Stores, progress: Progress, nowNs: bigint): number {
  removeProgress(stores, progress);
  const bucket = findBucket(stores, progress.bucketId);
  if (bucket === undefined) return 0;
  const { last, leaves } = renewFiles(stores, bucket, { after: progress.path, nowNs });
  // The step may have renewed `_headers`, whose rules begin again from the first file
  if (findProgress(stores, bucket.id) !== undefined) return leaves;
  if (last === undefined) endRenewal(stores, bucket);
  else saveProgress(stores, { bucketId: bucket.id, path: last });
  return leaves;
}

interface RenewedFiles {
  /** The last processed file; `undefined` after the bucket's last file. */
  readonly last: string | undefined;
  readonly leaves: number;
}

function renewFiles(
  stores: Stores,
  bucket: Bucket,
  { after, nowNs }: { readonly after: string; readonly nowNs: bigint },
): RenewedFiles {
  const range = { bucketId: bucket.id, path: after };
  let last: string | undefined;
  let chunks = 0;
  let files = 0;
  for (const path of pathsAfter(stores, range, upgradedFilesPerMessage)) {
    if (chunks >= upgradedChunksPerMessage) break;
    unlessDamaged(() => {
      chunks += renewFile(stores, bucket, { path, nowNs });
    });
    files += 1;
    last = path;
  }
  return { last, leaves: files * renewedFileLeaves + chunks };
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
