// Moves, copies, deletes and restores files and whole folders.

import type { Storage } from '../../../packages/client/src/storage.ts';
import { isStorageError } from '../../../packages/client/src/storage-error.ts';
import type { FileRecord } from '../../../packages/client/src/types/files.ts';
import { counted, nameOf } from '../words.ts';
import { newestVersion, type Place } from './deleted.ts';
import type { Entry } from './folder.ts';

interface MovePlace extends Place {
  /** Targets of begun moves of folders: a repeated move finds its own files there, and goes on. */
  readonly begun: Set<string>;
}

export interface Arrangement {
  /** Records of the moved or copied files, without those in moved folders. */
  readonly files: readonly FileRecord[];
  readonly gone: readonly string[];
}

/** Moves entries into a folder or renames one; never replaces an existing file. */
export async function moveEntries(
  place: MovePlace,
  entries: readonly Entry[],
  targetOf: (entry: Entry) => string,
): Promise<Arrangement> {
  const { storage, bucket } = place;
  const files: FileRecord[] = [];
  const gone: string[] = [];
  for (const entry of entries) {
    const path = targetOf(entry);
    if (path === entry.path) continue;
    gone.push(entry.path);
    if (entry.isFolder) await moveFolder(place, entry.path, path);
    else
      files.push(
        await unlessThere(path, () =>
          storage.move({ bucket, path: entry.path }, { path }, { ifNoneMatch: '*' }),
        ),
      );
  }
  return { files, gone };
}

async function moveFolder(place: MovePlace, fromPrefix: string, toPrefix: string) {
  const { storage, bucket, begun } = place;
  requireOutside(fromPrefix, toPrefix, 'moved');
  // The service would replace the files of an existing folder.
  if (!begun.has(toPrefix) && (await storage.usage({ bucket, prefix: toPrefix })).files > 0)
    throw new Error(`The folder "${nameOf(toPrefix)}" already exists. Choose another name.`);
  begun.add(toPrefix);
  const { failed } = await storage.moveAll({ bucket, fromPrefix, toPrefix });
  const [first] = failed;
  if (first) throw new Error(`${counted(failed.length, 'file')} not moved: ${first.error.message}`);
}

export async function copyEntries(
  { storage, bucket }: Place,
  entries: readonly Entry[],
  targetOf: (entry: Entry) => string,
): Promise<Arrangement> {
  const files: FileRecord[] = [];
  const copy = async (from: string, path: string) => {
    const copied = () => storage.copy({ bucket, path: from }, { path }, { ifNoneMatch: '*' });
    files.push(await unlessThere(path, copied));
  };
  for (const entry of entries) {
    const target = targetOf(entry);
    if (!entry.isFolder) {
      await copy(entry.path, target);
      continue;
    }
    // The list is read while files are copied, so it would go on with the copies.
    requireOutside(entry.path, target, 'copied');
    for await (const { path } of storage.list({ bucket, prefix: entry.path })) {
      await copy(path, target + path.slice(entry.path.length));
    }
  }
  return { files, gone: [] };
}

function requireOutside(folder: string, target: string, verb: string): void {
  if (target.startsWith(folder)) throw new Error(`A folder cannot be ${verb} into itself.`);
}

async function unlessThere<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isStorageError(error, 'PreconditionFailed')) throw error;
    throw new Error(`The file "${nameOf(path)}" already exists. Choose another name.`);
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
      else failure ??= `${nameOf(path)} was not deleted: ${error.message}`;
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
