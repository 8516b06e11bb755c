// Decides which of a sync's two names is a folder on this machine and which is one of a bucket.

import { stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Storage } from '../../../client/src/storage.ts';
import { isStorageError } from '../../../client/src/storage-error.ts';
import { folderPrefix, type Location, nameOf, parseLocation } from '../output/location.ts';
import { UsageError } from '../output/usage-error.ts';

export type SyncEnds =
  | { readonly kind: 'up'; readonly folder: string; readonly to: Location }
  | { readonly kind: 'down'; readonly from: Location; readonly folder: string }
  | { readonly kind: 'across'; readonly from: Location; readonly to: Location };

interface Names {
  readonly source: string;
  readonly destination: string;
}

export const syncExamples = `
At least one of the two is bucket/folder; the other can be a folder on this machine:
  efs sync photos demo/photos          uploads to the service
  efs sync demo/photos ./photos        downloads to this machine
  efs sync demo/photos other/copy      from bucket to bucket, within the service
A name that begins with . or / is on this machine, and so is a source that exists there as a folder.`;

/** Throws UsageError if the names are ambiguous. */
export async function syncEnds(names: Names, storage: () => Promise<Storage>): Promise<SyncEnds> {
  const { source, destination } = names;
  const [isFrom, isTo] = [isMarked(source), isMarked(destination)];
  if (isFrom && isTo) {
    throw new UsageError(`Both ${source} and ${destination} are on this machine.${syncExamples}`);
  }
  if (isFrom || (!isTo && (await isFolderHere(source)))) {
    await requireFolder(source);
    return { kind: 'up', folder: withHome(source), to: asPrefix(destination) };
  }
  const from = asPrefix(source);
  if (isTo || (await isFolderHere(destination))) {
    return { kind: 'down', from, folder: withHome(destination) };
  }
  return endsByService(names, storage);
}

/** If neither name is a local folder, the destination is in a bucket if that bucket exists. */
async function endsByService(
  { source, destination }: Names,
  storage: () => Promise<Storage>,
): Promise<SyncEnds> {
  const [from, to] = [asPrefix(source), asPrefix(destination)];
  const opened = await storage();
  if (!(await isBucket(opened, from.bucket))) throw noSource(source);
  if (await isBucket(opened, to.bucket)) {
    requireApart(from, to);
    return { kind: 'across', from, to };
  }
  if (!destination.includes('/')) return { kind: 'down', from, folder: destination };
  throw new UsageError(
    `"${destination}" is neither a folder of this machine nor in a bucket that you may read: ` +
      `write ./${destination} for a new folder on this machine.`,
  );
}

function noSource(source: string): UsageError {
  return new UsageError(
    `"${source}" is neither a folder of this machine nor in a bucket that ` +
      `you may read. efs sync makes the second folder equal to the first.${syncExamples}`,
  );
}

/** Returns whether the caller can read a bucket with this name. */
async function isBucket(storage: Storage, bucket: string): Promise<boolean> {
  try {
    await storage.listFolder({ bucket, limit: 1 });
    return true;
  } catch (error) {
    const codes = ['NoSuchBucket', 'AccessDenied', 'InvalidBucketId', 'BucketMismatch'];
    if (isStorageError(error, ...codes)) return false;
    throw error;
  }
}

function isMarked(name: string): boolean {
  return /^(?:[./~\\]|[a-z]:[\\/])/i.test(name);
}

/** Replaces ~, which a shell does not replace within quotes. */
function withHome(name: string): string {
  return name === '~' || name.startsWith('~/') ? join(homedir(), name.slice(1)) : name;
}

async function isFolderHere(name: string): Promise<boolean> {
  return (await stat(name).catch(() => undefined))?.isDirectory() === true;
}

async function requireFolder(name: string): Promise<void> {
  if (await isFolderHere(name)) return;
  throw new UsageError(`The folder "${name}" does not exist on this machine.${syncExamples}`);
}

function asPrefix(name: string): Location {
  const location = parseLocation(name);
  return { bucket: location.bucket, path: folderPrefix(location) };
}

/** Refuses two folders one of which contains the other: each sync would find more to copy. */
function requireApart(from: Location, to: Location): void {
  const isWithin = from.path.startsWith(to.path) || to.path.startsWith(from.path);
  if (from.bucket !== to.bucket || !isWithin) return;
  throw new UsageError(
    `One of ${nameOf(from)} and ${nameOf(to)} contains the other: name another folder.`,
  );
}
