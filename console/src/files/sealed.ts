// Files of end-to-end buckets: opened in this page for members who sign in as themselves. Who comes
// with a key, or to a bucket without vetKeys, has nothing here that opens them.

import { isStorageError } from '../../../packages/client/src/storage-error.ts';
import type { FileRecord } from '../../../packages/client/src/types/files.ts';
import type { Download } from '../../../packages/client/src/types/transfers.ts';
import type { Session } from '../session.ts';

class NotOpened extends Error {
  constructor() {
    super(
      'It is encrypted from end to end, and nothing here opens it. A member who signs in as ' +
        'themselves opens it; whoever has its age identity downloads it and opens it with age.',
    );
  }
}

export function isNotOpened(error: unknown): boolean {
  return error instanceof NotOpened;
}

/** All of it, in this page's memory. */
export function blobOf({ body }: Download): Promise<Blob> {
  return new Response(body as BodyInit).blob();
}

/** In this page's memory; with a number, that version of the file. */
export async function openSealed(
  session: Session,
  { bucketId: bucket, path }: Pick<FileRecord, 'bucketId' | 'path'>,
  version?: number,
): Promise<Blob> {
  // With an API key only the stored bytes are available.
  if (session.kind === 'key') throw new NotOpened();
  try {
    return await blobOf(await session.storage.download({ bucket, path }, { version }));
  } catch (error) {
    throw isStorageError(error, 'NoIdentity') ? new NotOpened() : error;
  }
}
