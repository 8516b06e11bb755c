// Copies into and out of end-to-end buckets. The service cannot decrypt, so the bytes pass through
// this machine: it decrypts them if necessary and encrypts them for the other bucket.

import type { Storage } from '../../../client/src/storage.ts';
import { isStorageError, StorageError } from '../../../client/src/storage-error.ts';
import { ageType } from '../../../client/src/types/end-to-end.ts';
import type { FileName, FileRecord } from '../../../client/src/types/files.ts';
import type { FolderRun } from '../config/run.ts';
import { nameOf } from '../output/location.ts';
import type { ListedFile } from './stored-listing.ts';

/** Returns whether bytes must pass through this machine: one of the buckets is end-to-end. */
export async function isSealedCopy(run: FolderRun, from: string, to: string): Promise<boolean> {
  if (from === to) return false;
  const secrets = await run.secrets();
  return ((await secrets?.readerMode(from)) ?? (await secrets?.readerMode(to))) !== undefined;
}

interface Carried {
  readonly from: FileName;
  readonly to: FileName;
  readonly ifNoneMatch?: '*' | undefined;
  readonly signal: AbortSignal;
}

const attemptsMax = 3;

/**
 * Copies the file, and again if it was replaced meanwhile. Returns the record of the copied
 * version. A copy is newer than its source, so a later sync would take an outdated one for the
 * same.
 */
export async function carryFile(storage: Storage, carried: Carried): Promise<FileRecord> {
  const { from, to, signal } = carried;
  let { ifNoneMatch, ifMatch }: Conditions = { ifNoneMatch: carried.ifNoneMatch };
  let source = await storage.stat(from, { signal });
  for (let attempt = 1; ; attempt++) {
    const copy = await copyOnce(storage, carried, { source, ifNoneMatch, ifMatch });
    const present = await storage.stat(from, { signal });
    if (copy !== undefined && present.version === source.version) return source;
    source = present;
    if (copy !== undefined) {
      ifMatch = `"${copy.etag}"`;
      ifNoneMatch = undefined;
    }
    if (attempt < attemptsMax) continue;
    if (ifMatch !== undefined) await storage.remove(to, { ifMatch, signal }).catch(() => {});
    throw changedMeanwhile(from, 'copied');
  }
}

interface Conditions {
  ifNoneMatch?: '*' | undefined;
  ifMatch?: string | undefined;
}

/** Returns undefined if a node that has another version answered the download. */
async function copyOnce(
  storage: Storage,
  { from, to, signal }: Carried,
  { source, ...conditions }: Conditions & { readonly source: FileRecord },
): Promise<FileRecord | undefined> {
  const { contentType, tags, metadata } = source;
  const { body, size, etag } = await storage.download(from, { signal });
  if (etag !== source.etag) {
    await body.cancel();
    return undefined;
  }
  return storage.upload(body, {
    ...to,
    size,
    // A decrypted file gets the type that belongs to its name.
    contentType: contentType === ageType ? undefined : contentType,
    tags,
    metadata,
    ...conditions,
    signal,
  });
}

/** Deletes the source only if it was not replaced meanwhile. */
export async function moveFile(storage: Storage, carried: Carried): Promise<void> {
  const { from, signal } = carried;
  const { etag } = await carryFile(storage, carried);
  // A version may be stored after the last answer, or the answering node may not have it yet.
  await storage.remove(from, { ifMatch: `"${etag}"`, signal }).catch((error) => {
    throw isStorageError(error, 'PreconditionFailed') ? changedMeanwhile(from, 'removed') : error;
  });
}

function changedMeanwhile(from: FileName, left: 'copied' | 'removed'): StorageError {
  const text = `${nameOf(from)} was changed while it was copied: it is not ${left}.`;
  return new StorageError('PreconditionFailed', text, { status: 412 });
}

/** Returns whether the copy is not older and as large: digests of ciphertexts always differ. */
export async function isCopied(
  run: FolderRun,
  source: ListedFile,
  copy: ListedFile,
): Promise<boolean> {
  if (Date.parse(copy.updatedAt) < Date.parse(source.updatedAt)) return false;
  const [one, other] = await Promise.all([source, copy].map((record) => sizeWithin(run, record)));
  return one === other;
}

/** Returns the size of an age file's content, by its header; of any other file its size. */
export async function sizeWithin(run: FolderRun, record: ListedFile): Promise<number> {
  if (record.contentType !== ageType) return record.size;
  const secrets = await run.secrets();
  if (secrets === undefined || (await secrets.readerMode(record.bucketId)) === undefined) {
    return record.size;
  }
  return secrets.plainSize(record);
}
