// Moves, copies, deletes and restores files and whole folders.

import { inParallel } from '../../../packages/client/src/connection/parallel.ts';
import type { Storage } from '../../../packages/client/src/storage.ts';
import { isStorageError } from '../../../packages/client/src/storage-error.ts';
import type { BucketRecord } from '../../../packages/client/src/types/buckets.ts';
import type { FileRecord } from '../../../packages/client/src/types/files.ts';
import { sentenceOf } from '../failures.ts';
import { texts } from '../language.ts';
import { folderOf, nameOf, nextName } from '../words.ts';
import { newestVersion, type Place } from './deleted.ts';
import type { Entry } from './folder.ts';

/** The bucket of the sources, and that of the targets. */
interface Passage extends Place, Watch {
  readonly toBucket: string;
}

export interface Watch {
  /** Ends the work between two files. */
  readonly signal?: AbortSignal;
  /** Called after each file, except in a folder that the service moves as a whole. */
  onFile?(): void;
}

type Named = Pick<Entry, 'path' | 'isFolder'>;
export type TargetOf = (entry: Named) => string;

/** The results of a move or a copy. Repeated with the same object, it continues after a failure. */
export interface Arrangement {
  /** Records of the moved and copied files, without those in moved folders. */
  readonly files: FileRecord[];
  /** The target of each moved entry by its former path. */
  readonly moved: Map<string, string>;
  /** The target of each copied file by its path. */
  readonly copied: Map<string, string>;
  /** Targets of begun moves of folders, in which the move finds its own files again. */
  readonly begun: Set<string>;
}

export function newArrangement(): Arrangement {
  return { files: [], moved: new Map(), copied: new Map(), begun: new Set() };
}

/** Number of requests at a time for the files of a folder. */
const concurrency = 8;

/** Moves entries into a folder or renames one; never replaces an existing file. */
export async function moveEntries(
  place: Passage,
  entries: readonly Named[],
  targetOf: TargetOf,
  done: Arrangement = newArrangement(),
): Promise<Arrangement> {
  for (const entry of entries) {
    const path = targetOf(entry);
    if (path === entry.path && place.bucket === place.toBucket) continue;
    if (entry.isFolder) await moveFolder(place, entry.path, path, done);
    else {
      place.signal?.throwIfAborted();
      done.files.push(await moveFile(place, entry.path, path));
      place.onFile?.();
    }
    done.moved.set(entry.path, path);
  }
  return done;
}

/**
 * Moves a file, also to another bucket: the service stores the copy and deletes the source in one
 * message, so that a failure leaves the source as it was.
 */
function moveFile(place: Passage, from: string, path: string): Promise<FileRecord> {
  const { storage, bucket, toBucket } = place;
  return unlessThere(path, () =>
    storage.move({ bucket, path: from }, { bucket: toBucket, path }, { ifNoneMatch: '*' }),
  );
}

async function moveFolder(place: Passage, from: string, to: string, done: Arrangement) {
  const { storage, bucket, toBucket } = place;
  requireOutside(place, from, to, 'move');
  // The service would replace the files of an existing folder.
  const target = `${toBucket}/${to}`;
  const isNew = done.begun.has(target) || (await isEmpty(storage, toBucket, to));
  if (!isNew) throw new Error(texts().failures.folderExists(nameOf(to)));
  done.begun.add(target);
  if (bucket === toBucket) await moveWithin(place, from, to);
  else {
    await eachFile(place, from, async (path) => {
      place.signal?.throwIfAborted();
      await moveFile(place, path, to + path.slice(from.length));
      place.onFile?.();
    });
  }
}

async function isEmpty(storage: Storage, bucket: string, prefix: string): Promise<boolean> {
  return (await storage.usage({ bucket, prefix })).files === 0;
}

async function moveWithin({ storage, bucket }: Place, fromPrefix: string, toPrefix: string) {
  const { failed } = await storage.moveAll({ bucket, fromPrefix, toPrefix });
  const [first] = failed;
  if (first) throw new Error(texts().failures.notMoved(failed.length, first.error.message));
}

/** Copies entries into a folder; never replaces an existing file. */
export async function copyEntries(
  place: Passage,
  entries: readonly Named[],
  targetOf: TargetOf,
  done: Arrangement = newArrangement(),
): Promise<Arrangement> {
  const { storage, bucket, toBucket } = place;
  const copy = async (from: string, path: string) => {
    const target = `${toBucket}/${path}`;
    if (done.copied.get(from) === target) return;
    place.signal?.throwIfAborted();
    const to = { bucket: toBucket, path };
    const copied = () => storage.copy({ bucket, path: from }, to, { ifNoneMatch: '*' });
    done.files.push(await unlessThere(path, copied));
    done.copied.set(from, target);
    place.onFile?.();
  };
  for (const entry of entries) {
    const target = targetOf(entry);
    if (!entry.isFolder) {
      await copy(entry.path, target);
      continue;
    }
    // The list is read while files are copied, so it would go on with the copies.
    requireOutside(place, entry.path, target, 'copy');
    await eachFile(place, entry.path, (path) => copy(path, target + path.slice(entry.path.length)));
  }
  return done;
}

/** Runs the work for each file of a folder; the first failure ends it. */
async function eachFile(
  { storage, bucket }: Place,
  prefix: string,
  work: (path: string) => Promise<unknown>,
): Promise<void> {
  const files = storage.list({ bucket, prefix })[Symbol.asyncIterator]();
  await inParallel({ concurrency, signal: undefined }, async (signal) => {
    while (!signal.aborted) {
      const next = await files.next();
      if (next.done) return;
      await work(next.value.path);
    }
  });
}

function requireOutside(
  { bucket, toBucket }: Passage,
  from: string,
  to: string,
  kind: 'move' | 'copy',
): void {
  if (bucket === toBucket && to.startsWith(from)) {
    throw new Error(texts().failures.intoItself[kind]);
  }
}

type Mode = Pick<BucketRecord, 'id' | 'endToEnd'>;

/**
 * Returns why files cannot pass from one bucket to the other. The service can neither decrypt files
 * of end-to-end buckets nor encrypt them for other recipients.
 */
export function passageRefusal(from: Mode, to: Mode): string | undefined {
  const sealed = [from, to].find(({ endToEnd }) => endToEnd !== undefined);
  if (from.id === to.id || sealed === undefined) return undefined;
  return texts().failures.passage(sealed.id, from.id, to.id);
}

/** Returns the targets of entries that go into a folder, which ends in a slash; '' is the top. */
export function targetsIn(folder: string, isCopyWithin: boolean): TargetOf {
  return ({ path, isFolder }) => {
    const target = folder + nameOf(path) + (isFolder ? '/' : '');
    // A copy in its source's folder needs another name.
    if (!isCopyWithin || target !== path) return target;
    return isFolder ? `${nextName(path.slice(0, -1))}/` : nextName(path);
  };
}

/** Returns the path of an entry with another name in the same folder. */
export function renamedPath({ path, isFolder }: Named, text: string): string {
  const name = text.trim();
  if (name === '') throw new Error(texts().failures.nameEmpty);
  if (name.includes('/')) throw new Error(texts().failures.nameWithSlash);
  return folderOf(path) + name + (isFolder ? '/' : '');
}

async function unlessThere<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isStorageError(error, 'PreconditionFailed')) throw error;
    throw new Error(texts().failures.fileExists(nameOf(path)));
  }
}

/** Returns the deleted paths. Throws the first error if a file could not be deleted. */
export async function removeEntries(
  { storage, bucket }: Place,
  entries: readonly Entry[],
): Promise<string[]> {
  const removed: string[] = [];
  let failure: string | undefined;
  const note = async (results: ReturnType<Storage['removeAll']>) => {
    for await (const { path, error } of results) {
      if (error === undefined) removed.push(path);
      else failure ??= texts().failures.notDeleted(nameOf(path), sentenceOf(error));
    }
  };
  const paths = entries.filter(({ isFolder }) => !isFolder).map(({ path }) => path);
  if (paths.length > 0) await note(storage.removeAll({ bucket, paths }));
  for (const { path, isFolder } of entries) {
    if (isFolder) await note(storage.removeAll({ bucket, prefix: path }));
  }
  if (failure !== undefined) throw new Error(failure);
  return removed;
}

/** Restores the newest former version of each path. */
export async function restoreAll(
  { storage, bucket }: Place,
  paths: readonly string[],
): Promise<FileRecord[]> {
  const files: FileRecord[] = [];
  for (const path of paths) {
    const newest = await newestVersion({ storage, bucket }, path);
    if (newest !== undefined)
      files.push(await storage.versions.restore({ bucket, path, version: newest.version }));
  }
  return files;
}
