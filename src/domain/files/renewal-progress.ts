// Buckets whose files get other certified answers, see site-renewal.ts. The progress is in the
// directory:
//
//   14 | bucket id | 0 | path of the last processed file    -> 0

import { concatBytes } from '../../lib/bytes.ts';
import { decodeUtf8, encodeUtf8 } from '../../lib/text.ts';
import { entriesUnder } from '../../storage/index-ranges.ts';
import type { Stores } from '../shared/stores.ts';

const kind = 14;

export interface Progress {
  readonly bucketId: string;
  /** '' before the first file. */
  readonly path: string;
}

function progressKey({ bucketId, path }: Progress): Uint8Array {
  return concatBytes(Uint8Array.of(kind), encodeUtf8(`${bucketId}\0${path}`));
}

/** Returns the progress of the bucket's renewal or, without a bucket id, of any renewal. */
export function findProgress({ directory }: Stores, bucketId?: string): Progress | undefined {
  const scope = concatBytes(
    Uint8Array.of(kind),
    encodeUtf8(bucketId === undefined ? '' : `${bucketId}\0`),
  );
  const [entry] = entriesUnder(directory, { scope, limit: 1 });
  if (entry === undefined) return undefined;
  const [id = '', path = ''] = (decodeUtf8(entry.key.subarray(1)) ?? '').split('\0');
  return { bucketId: id, path };
}

export function saveProgress({ directory }: Stores, progress: Progress): void {
  directory.insert(progressKey(progress), 0n);
}

export function removeProgress({ directory }: Stores, progress: Progress): void {
  directory.remove(progressKey(progress));
}

/** Starts at the first file, also if an earlier renewal is running. */
export function startRenewal(stores: Stores, bucketId: string): void {
  forgetRenewal(stores, bucketId);
  saveProgress(stores, { bucketId, path: '' });
  stores.heap.hasNewRenewal = true;
}

/** Removes the progress of a deleted bucket. */
export function forgetRenewal(stores: Stores, bucketId: string): void {
  const progress = findProgress(stores, bucketId);
  if (progress !== undefined) removeProgress(stores, progress);
}
