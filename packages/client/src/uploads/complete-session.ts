// Completes an upload session with values that are known once the source has been read.

import { trying } from '../connection/connection.ts';
import type { FileRecord, UserMetadata } from '../types/files.ts';
import type { UploadOptions, UploadSession } from '../types/transfers.ts';
import type { UploadJob } from './upload-job.ts';

/** Returns the metadata that a function computes; undefined if `metadata` is not a function. */
export async function lateMetadata({
  metadata,
}: Pick<UploadOptions, 'metadata'>): Promise<UserMetadata | undefined> {
  return typeof metadata === 'function' ? metadata() : undefined;
}

export async function completeSession(
  { connection, options, metadata: { bucket, path } }: UploadJob,
  { uploadId }: Pick<UploadSession, 'uploadId'>,
  etag: string,
): Promise<FileRecord> {
  const completion = { bucket, path, uploadId, etag, metadata: await lateMetadata(options) };
  return trying(connection, options.signal, () =>
    connection.transport.completeUpload(completion, options.signal),
  );
}
