// Lists a folder of a bucket for a sync. If the last list is known, reads the journal's changes
// since instead: a few queries, however many files the bucket has. Both are the word of single
// nodes, so a lie in a stored list must end: a whole list is read at least once a day, and before a
// sync removes what a stored list lacks.

import type { Storage } from '../../../client/src/storage.ts';
import { isStorageError } from '../../../client/src/storage-error.ts';
import type { Location } from '../output/location.ts';
import {
  type BucketChanges,
  changesSince,
  isAfter,
  type JournalCursor,
  presentRecord,
  recentChanges,
} from '../transfers/journal-changes.ts';
import {
  type ListedFile,
  type Listing,
  type ListingName,
  loadListing,
  saveListing,
} from '../transfers/stored-listing.ts';
import type { SyncJob } from './sync-job.ts';

export interface FolderFiles {
  /** By path in the bucket. */
  readonly files: ReadonlyMap<string, ListedFile>;
  /** Whether the list is a stored one with the changes since. */
  readonly isStored: boolean;
}

type Reading = Pick<SyncJob, 'run' | 'storage' | 'flags'>;

const dayMs = 24 * 3_600_000;
/** The journal's last minutes are read with each whole list, and only up to so many entries. */
const recentEntriesMax = 5_000;
/** Changed files of a page of the list by date. */
const pageFiles = 50;
/** Files of a page of the list by name. */
const listedFiles = 1_000;

export async function folderFiles(
  job: Reading,
  { bucket, path: prefix }: Location,
  { isWhole }: { readonly isWhole: boolean },
): Promise<FolderFiles> {
  const { run, storage, flags } = job;
  const name = { service: run.service, bucket, prefix };
  const folder = { storage, bucket, prefix, signal: run.signal };
  const known = isWhole || flags.full ? undefined : await loadListing(name);
  const isRecent = known !== undefined && Math.abs(Date.now() - known.listedAtMs) < dayMs;
  const updated = isRecent ? await updatedListing(folder, known) : undefined;
  const listing = updated ?? (await wholeListing(folder));
  if (!flags.dryRun) await remember(name, listing, known);
  return { files: listing.files, isStored: updated !== undefined };
}

/** A sync works without its state. */
async function remember(
  name: ListingName,
  { cursor, ...rest }: NewListing,
  known: Listing | undefined,
): Promise<void> {
  if (cursor === undefined || (rest.listedAtMs === known?.listedAtMs && cursor === known.cursor)) {
    return;
  }
  await saveListing(name, { cursor, ...rest }).catch(() => {});
}

interface Folder {
  readonly storage: Storage;
  readonly bucket: string;
  readonly prefix: string;
  readonly signal: AbortSignal;
}

interface NewListing extends Omit<Listing, 'cursor'> {
  /** Undefined if the caller cannot read the journal. */
  readonly cursor: JournalCursor | undefined;
}

/** Returns undefined if the changes do not suffice, or more of them exist than a list has pages. */
async function updatedListing(folder: Folder, known: Listing): Promise<NewListing | undefined> {
  const changes = await orRefused(changesSince(folder, known.cursor));
  if (changes?.cursor === undefined) return undefined;
  const paths = pathsBelow(changes, folder.prefix);
  if (paths.length > pageFiles * (1 + known.files.size / listedFiles)) return undefined;
  const cursor = changes.cursor.seq === known.cursor.seq ? known.cursor : changes.cursor;
  const isGone = (path: string) => changes.paths.get(path)?.isGone === true;
  const stored = paths.filter((path) => !isGone(path));
  const changed = await withChanges(folder, known.files, { changes, paths: stored });
  // A removal costs no query here: a sync asks before it removes a file for that reason.
  const files = new Map([...changed].filter(([path]) => !isGone(path)));
  return { files, cursor, listedAtMs: known.listedAtMs };
}

/** Lists the folder, and reads again what its node did not know yet. */
async function wholeListing(folder: Folder): Promise<NewListing> {
  const { storage, bucket, prefix, signal } = folder;
  const listedAtMs = Date.now();
  const recent = await orRefused(recentChanges(folder, recentEntriesMax));
  const listed = new Map<string, ListedFile>();
  for await (const file of storage.list({ bucket, prefix, signal })) listed.set(file.path, file);
  const cursor = recent?.cursor;
  const later = cursor && (await orRefused(changesSince(folder, cursor)));
  if (later === undefined) return { files: listed, cursor: undefined, listedAtMs };
  const changes = { ...later, paths: new Map([...(recent?.paths ?? []), ...later.paths]) };
  const behind = pathsBelow(changes, prefix).filter((path) => {
    const change = changes.paths.get(path);
    return change !== undefined && !isAfter(change, listed.get(path));
  });
  const files = await withChanges(folder, listed, { changes, paths: behind });
  return { files, cursor: later.cursor, listedAtMs };
}

/** Callers without the identity of a member, and earlier services, have no journal. */
async function orRefused<T>(reading: Promise<T | undefined>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    const codes = ['Unsupported', 'AccessDenied', 'NoSuchBucket', 'Unauthorized'] as const;
    if (isStorageError(error, ...codes)) return undefined;
    throw error;
  }
}

function pathsBelow({ paths }: BucketChanges, prefix: string): string[] {
  return [...paths.keys()].filter((path) => path.startsWith(prefix));
}

interface Changed {
  readonly changes: BucketChanges;
  readonly paths: readonly string[];
}

/** Reads the records of the changed paths: the newest files by one list, others one by one. */
async function withChanges(
  { storage, bucket, prefix, signal }: Folder,
  former: ReadonlyMap<string, ListedFile>,
  { changes, paths }: Changed,
): Promise<ReadonlyMap<string, ListedFile>> {
  if (paths.length === 0) return former;
  const files = new Map(former);
  const left = new Set(paths);
  const changeOf = (path: string) => changes.paths.get(path);
  const [oldest = ''] = paths.map((path) => changeOf(path)?.at ?? '').sort();
  for await (const file of storage.list({ bucket, prefix, sort: 'date_desc', signal })) {
    const change = left.has(file.path) ? changeOf(file.path) : undefined;
    if (change !== undefined && isAfter(change, file)) {
      files.set(file.path, file);
      left.delete(file.path);
    }
    if (left.size === 0 || file.updatedAt < oldest) break;
  }
  for (const path of left) {
    const file = await presentRecord({ storage, signal }, { bucket, path }, changeOf(path));
    if (file === undefined) files.delete(path);
    else files.set(path, file);
  }
  return files;
}
