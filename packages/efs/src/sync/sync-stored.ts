// Lists the stored files below a folder of a bucket, and removes them.

import { StorageError } from '../../../client/src/storage-error.ts';
import type { FileRecord } from '../../../client/src/types/files.ts';
import { type Location, nameOf } from '../output/location.ts';
import { printable } from '../output/printable.ts';
import { noteRemoved, type SyncJob } from './sync-job.ts';

/** Returns the files that match the filter, by path relative to the prefix. */
export async function storedBelow(
  { storage, run, filter }: Pick<SyncJob, 'storage' | 'run' | 'filter'>,
  { bucket, path: prefix }: Location,
): Promise<Map<string, FileRecord>> {
  const stored = new Map<string, FileRecord>();
  for await (const file of storage.list({ bucket, prefix, signal: run.signal })) {
    const path = file.path.slice(prefix.length);
    if (filter.isWanted(path)) stored.set(path, file);
  }
  return stored;
}

/** Refuses a source without files: a mistyped one would remove everything at the destination. */
export async function sourceBelow(
  job: Pick<SyncJob, 'storage' | 'run' | 'filter'>,
  from: Location,
): Promise<Map<string, FileRecord>> {
  const stored = await storedBelow(job, from);
  if (stored.size > 0) return stored;
  throw new StorageError('NoSuchFile', `${printable(nameOf(from))} has no files.`);
}

/** `names`: full names, `bucket/path`. */
export async function removeStored(
  job: SyncJob,
  bucket: string,
  names: readonly string[],
): Promise<void> {
  const paths = names.map((name) => name.slice(bucket.length + 1));
  const wanted = { bucket, paths, signal: job.run.signal };
  for await (const { path, error } of job.storage.removeAll(wanted)) {
    if (error !== undefined) throw error;
    noteRemoved(job, nameOf({ bucket, path }));
  }
}
