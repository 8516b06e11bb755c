// A bucket of another service as the target of a mirror.

import { likelyChunkBytes } from '../../../client/src/bytes/digest.ts';
import { isStorageError } from '../../../client/src/storage-error.ts';
import type { FileRecord } from '../../../client/src/types/files.ts';
import { chunkBytesMin } from '../../../wire/src/limits.ts';
import { notesOf, requireTag } from './apply-plans.ts';
import { allStates, type Side, statesOf } from './bucket-states.ts';
import type { MirrorJob, MirrorTarget, OpenedVersion } from './mirror-job.ts';
import { moveLarge } from './moved-files.ts';

export function serviceTarget(side: Side): MirrorTarget {
  const { storage, bucket, signal } = side;
  return {
    name: bucket,
    async begin() {},
    allStates: () => allStates(side),
    statesOf: (paths, concurrency) => statesOf(side, paths, { concurrency }),
    moveLarge: (job, changed) => moveLarge(job, side, changed),
    async erase(path, version) {
      await storage.versions.erase({ bucket, path, version, signal }).catch(unlessMissing);
    },
    async restore(path, version) {
      await storage.versions.restore({ bucket, path, version, signal });
    },
    async change(_, path, { contentType, tags, metadata = {} }) {
      await storage.change({ bucket, path }, { contentType, tags, metadata, signal });
    },
    storeSmall: (files, concurrency) => storage.uploadAll(files, { bucket, concurrency, signal }),
    storeLarge: (job, opened) => storeLarge(job, side, opened),
    removeAll: (paths) => storage.removeAll({ bucket, paths, signal }),
  };
}

/** A former version may have expired meanwhile. */
function unlessMissing(error: unknown): void {
  if (!isStorageError(error, 'NoSuchFile')) throw error;
}

async function storeLarge(
  job: MirrorJob,
  side: Side,
  { record, download }: OpenedVersion,
): Promise<void> {
  const { storage, bucket, signal } = side;
  const { path, etag, size } = record;
  const { flags, upload: former } = job;
  const isContinued = former?.path === path && former.etag === etag;
  if (former !== undefined && !isContinued) await cancelUpload(job, side);
  const common = {
    bucket,
    path,
    ...notesOf(record),
    size,
    chunkBytes: chunkBytesOf(record),
    signal,
  };
  const options = {
    ...common,
    concurrency: flags.parallel,
    resume: isContinued ? former.uploadId : undefined,
    onSession: ({ uploadId }: { readonly uploadId: string }) =>
      job.saveUpload({ path, etag, uploadId }),
  };
  try {
    requireTag(await storage.upload(download.body, options), record);
  } catch (error) {
    // The next attempt begins anew.
    if (isStorageError(error, 'NoSuchUpload', 'UploadExpired', 'UploadCancelled')) {
      await job.saveUpload(undefined);
    }
    throw error;
  }
  await job.saveUpload(undefined);
}

/** Returns the length by which the service gets the same entity tag. */
function chunkBytesOf(version: FileRecord): number | undefined {
  if (version.etag.includes('-')) return version.chunkSize ?? likelyChunkBytes(version);
  return Math.max(chunkBytesMin, version.size);
}

/** Cancels what a stopped mirror has left, because a bucket has few open uploads. */
async function cancelUpload(job: MirrorJob, { storage, bucket, signal }: Side): Promise<void> {
  const { upload } = job;
  if (upload === undefined) return;
  const { path, uploadId } = upload;
  await storage.uploads.cancel({ bucket, path, uploadId, signal }).catch(() => {});
  await job.saveUpload(undefined);
}
