// The deleted files of a bucket that keeps former versions: paths with versions and no file.

import type { Storage } from '../../../packages/client/src/storage.ts';
import { isStorageError } from '../../../packages/client/src/storage-error.ts';
import type { FileVersion } from '../../../packages/client/src/types/versions.ts';
import { texts } from '../language.ts';

export interface Place {
  readonly storage: Storage;
  readonly bucket: string;
}

/** Number of paths that are asked for at once. */
const atOnce = 8;

/**
 * Yields the newest version of each deleted file, in the order of their paths. Each group is what
 * one round of requests has found; it is empty if all those files exist.
 */
export async function* deletedFiles(place: Place): AsyncGenerator<readonly FileVersion[]> {
  let group: FileVersion[] = [];
  for await (const newest of newestVersions(place)) {
    group.push(newest);
    if (group.length < atOnce) continue;
    yield await withoutFile(place, group);
    group = [];
  }
  yield await withoutFile(place, group);
}

/** The list has the versions of a path one after the other, the newest last. */
async function* newestVersions({ storage, bucket }: Place): AsyncGenerator<FileVersion> {
  let last: FileVersion | undefined;
  for await (const version of storage.versions.list({ bucket })) {
    if (last !== undefined && last.path !== version.path) yield last;
    last = version;
  }
  if (last !== undefined) yield last;
}

async function withoutFile(
  { storage, bucket }: Place,
  versions: readonly FileVersion[],
): Promise<FileVersion[]> {
  const isDeleted = await Promise.all(
    versions.map(({ path }) => isMissing(storage.stat({ bucket, path }))),
  );
  return versions.filter((_version, index) => isDeleted[index]);
}

function isMissing(record: Promise<unknown>): Promise<boolean> {
  return record.then(
    () => false,
    (error) => {
      if (!isStorageError(error, 'NoSuchFile')) throw error;
      return true;
    },
  );
}

/**
 * Throws if the file exists. The list comes from one node, and somebody may have stored the file
 * again since; the network signs this answer.
 */
export async function requireDeleted({ storage, bucket }: Place, path: string): Promise<void> {
  if (await isMissing(storage.stat({ bucket, path }, { certified: true }))) return;
  throw new Error(texts().failures.fileThereAgain);
}

/** Returns the newest former version of a path, if there is one. */
export async function newestVersion(
  { storage, bucket }: Place,
  path: string,
): Promise<FileVersion | undefined> {
  let newest: FileVersion | undefined;
  for await (const version of storage.versions.list({ bucket, path })) newest = version;
  return newest;
}
