// Copies into end-to-end buckets and out of them. The service cannot make them, since it opens
// nothing: the bytes come here, are opened if they are encrypted, and go as the other bucket wants.

import type { Storage } from '../../../client/src/storage.ts';
import { StorageError } from '../../../client/src/storage-error.ts';
import { ageType } from '../../../client/src/types/end-to-end.ts';
import type { FileName, FileRecord } from '../../../client/src/types/files.ts';
import type { Run } from '../config/run.ts';
import { nameOf } from '../output/location.ts';

/** Whether bytes have to come here: of two buckets one is end-to-end. */
export async function isSealedCopy(run: Run, from: string, to: string): Promise<boolean> {
  if (from === to) return false;
  const secrets = await run.secrets();
  return ((await secrets.mode(from)) ?? (await secrets.mode(to))) !== undefined;
}

interface Carried {
  readonly from: FileName;
  readonly to: FileName;
  readonly ifNoneMatch?: '*' | undefined;
  readonly signal: AbortSignal;
}

/** With its tags and metadata. */
export async function carryFile(storage: Storage, carried: Carried): Promise<void> {
  const { from, to, ifNoneMatch, signal } = carried;
  const { contentType, tags, metadata } = await storage.stat(from, { signal });
  const { body, size } = await storage.download(from, { signal });
  await storage.upload(body, {
    ...to,
    size,
    // A decrypted file gets the type of its name.
    contentType: contentType === ageType ? undefined : contentType,
    tags,
    metadata,
    ifNoneMatch,
    signal,
  });
}

/** Deletes the source only if it was not replaced meanwhile. */
export async function moveFile(storage: Storage, carried: Carried): Promise<void> {
  const { from, signal } = carried;
  const before = await storage.stat(from, { signal });
  await carryFile(storage, carried);
  const { version } = await storage.stat(from, { signal });
  if (version !== before.version) {
    const text = `${nameOf(from)} was changed while it was copied: it is not removed.`;
    throw new StorageError('PreconditionFailed', text, { status: 412 });
  }
  await storage.remove(from, { signal });
}

/**
 * Whether the copy is of what is at its source now, as far as times and sizes tell, which are one
 * service's: a digest of what is encrypted says nothing about what is in it.
 */
export async function isCopied(run: Run, source: FileRecord, copy: FileRecord): Promise<boolean> {
  if (Date.parse(copy.updatedAt) < Date.parse(source.updatedAt)) return false;
  const [one, other] = await Promise.all([source, copy].map((record) => sizeWithin(run, record)));
  return one === other;
}

/** Bytes of what is in an age file, by its header; of any other its size. */
export async function sizeWithin(run: Run, record: FileRecord): Promise<number> {
  if (record.contentType !== ageType) return record.size;
  const secrets = await run.secrets();
  if ((await secrets.mode(record.bucketId)) === undefined) return record.size;
  return secrets.plainSize(record);
}
