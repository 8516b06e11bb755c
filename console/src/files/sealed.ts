// Decrypts files of end-to-end buckets in this page, for members who sign in with an identity. The
// page has no identity for callers with an API key, nor for buckets without vetKeys.

import { isStorageError } from '../../../packages/client/src/storage-error.ts';
import type { FileRecord } from '../../../packages/client/src/types/files.ts';
import type { Download } from '../../../packages/client/src/types/transfers.ts';
import { texts } from '../language.ts';
import type { Session } from '../session.ts';

/** Whether the file is end-to-end encrypted: the service cannot decrypt it. */
export function isSealed({ contentType }: Pick<FileRecord, 'contentType'>): boolean {
  return contentType === 'application/age';
}

/** Whether the session decrypts files: an API key alone does not, unless it is a folder's link. */
export function opensSealed({ kind, shared }: Session): boolean {
  return kind !== 'key' || shared?.address.sealed !== undefined;
}

/** Returns the name of a file that is saved encrypted. */
export function storedName(name: string): string {
  return name.endsWith('.age') ? name : `${name}.age`;
}

class NotOpened extends Error {
  constructor() {
    super(texts().failures.notOpened);
  }
}

export function isNotOpened(error: unknown): boolean {
  return error instanceof NotOpened;
}

/** Loads the whole download into this page's memory. */
export function blobOf({ body }: Download): Promise<Blob> {
  return new Response(body as BodyInit).blob();
}

/** Decrypts the file, or a version of it, in this page's memory. */
export async function openSealed(
  session: Session,
  { bucketId: bucket, path }: Pick<FileRecord, 'bucketId' | 'path'>,
  version?: number,
): Promise<Blob> {
  if (!opensSealed(session)) throw new NotOpened();
  try {
    return await blobOf(await session.storage.download({ bucket, path }, { version }));
  } catch (error) {
    if (!isStorageError(error, 'NoIdentity')) throw error;
    throw session.shared ? new Error(texts().folderLink.afterSharing) : new NotOpened();
  }
}
