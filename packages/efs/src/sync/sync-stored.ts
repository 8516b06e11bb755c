// Lists the stored files below a folder of a bucket, and removes them.

import { inParallel } from '../../../client/src/connection/parallel.ts';
import { isOfSharedList } from '../../../client/src/links/folder-address.ts';
import { StorageError } from '../../../client/src/storage-error.ts';
import { type Location, nameOf } from '../output/location.ts';
import { printable } from '../output/printable.ts';
import { presentRecord } from '../transfers/journal-changes.ts';
import type { ListedFile } from '../transfers/stored-listing.ts';
import { noteRemoved, type SyncJob } from './sync-job.ts';
import { folderFiles } from './sync-listing.ts';

/** Files of a folder by path relative to it. */
export interface StoredFiles {
  readonly files: ReadonlyMap<string, ListedFile>;
  /** Whether they come from a stored list and the journal: see sync-listing.ts. */
  readonly isStored: boolean;
}

type Listing = Pick<SyncJob, 'storage' | 'run' | 'filter' | 'flags'>;

/** Returns the files that match the filter. `isWhole`: lists the whole folder. */
export async function storedBelow(
  job: Listing,
  folder: Location,
  isWhole = false,
): Promise<StoredFiles> {
  const { files, isStored } = await folderFiles(job, folder, { isWhole });
  const stored = new Map<string, ListedFile>();
  for (const [path, file] of files) {
    const inner = path.slice(folder.path.length);
    // The lists of links to folders belong to their links, not to the files of the folder.
    if (job.filter.isWanted(inner) && !isOfSharedList(path)) stored.set(inner, file);
  }
  return { files: stored, isStored };
}

/** Refuses a source without files: a mistyped one would remove everything at the destination. */
export async function sourceBelow(
  job: Listing,
  from: Location,
  isWhole = false,
): Promise<StoredFiles> {
  const stored = await storedBelow(job, from, isWhole);
  if (stored.files.size > 0) return stored;
  throw new StorageError('NoSuchFile', `${printable(nameOf(from))} has no files.`);
}

/** Returns whether none of the paths, relative to the folder, has a file. */
export async function areMissing(
  { storage, run: { signal }, flags }: Listing,
  { bucket, path: prefix }: Location,
  paths: readonly string[],
): Promise<boolean> {
  let isMissing = true;
  const left = paths.values();
  await inParallel({ concurrency: flags.parallel, signal }, async (stopped) => {
    for (const path of left) {
      if (stopped.aborted || !isMissing) return;
      const name = { bucket, path: prefix + path };
      const record = await presentRecord({ storage, signal }, name, undefined);
      if (record !== undefined) isMissing = false;
    }
  });
  return isMissing;
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
