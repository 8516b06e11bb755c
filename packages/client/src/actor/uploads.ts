// Uploads whole files and controls upload sessions through actor calls.

import type { Signal } from '../connection/transport.ts';
import type { UploadOperations, WholeFile } from '../operations/uploads.ts';
import { errorOfView, isStorageError } from '../storage-error.ts';
import type { FileRecord } from '../types/files.ts';
import { type ActorCalls, calling, nothing } from './actor-call.ts';
import { fileRecordOf, optionals, pairsOf, sessionOf } from './candid-records.ts';
import { call, type Service } from './connection.ts';
import { fileCalls } from './files.ts';
import { lackedMethods } from './signed-interface.ts';
import { transferCalls } from './transfers.ts';
import { destinationOf, sessionRequestOf } from './upload-requests.ts';

export const uploadCalls: ActorCalls<UploadOperations> = {
  /**
   * A file with headers is sent as a batch of one, because uploadFile accepts no headers. So is a
   * file that is sent with a key, which may lack the right to read the record afterwards.
   */
  async putFile(service, file, signal) {
    const { actor, earlierUploads, apiKey } = service;
    const { bucket, path, contentType, bytes } = file;
    if (Object.keys(file.headers).length > 0) return putInBatch(service, file, signal);
    if (apiKey !== undefined) {
      const stored = await unlessLacking(service, 'uploadFiles', () =>
        putInBatch(service, file, signal),
      );
      if (stored !== undefined) return stored;
    }
    const { metadata, ...destination } = destinationOf(service, file);
    const request = { ...destination, contentType, bytes };
    await call(signal, () =>
      Object.keys(file.metadata).length === 0
        ? earlierUploads.uploadFile(request)
        : actor.uploadFile({ ...request, metadata }),
    );
    return fileCalls.getFile(service, { bucket, path }, signal);
  },
  async startUpload(service, request, signal) {
    const { actor, earlierUploads } = service;
    const { bucket, path, size } = request;
    const fields = sessionRequestOf(service, request);
    const start = async () => sessionOf(await call(signal, () => actor.startUpload(fields)));
    // Version 0.1.0 has no uploads of unknown size.
    if (size === undefined) return start();
    const session = await unlessLacking(service, 'startUpload', start);
    if (session !== undefined) return session;
    const uploadId = await call(signal, () =>
      earlierUploads.beginFileUploadWith({ ...fields, size: BigInt(size) }),
    );
    return uploadCalls.getUpload(service, { bucket, path, uploadId }, signal);
  },
  getUpload: calling(({ actor }, { uploadId }) => actor.getUpload(uploadId), sessionOf),
  /** Version 0.1.0 has only `completeFileUpload`, which takes no options and returns no record. */
  async completeUpload(service, completion, signal) {
    const { actor, apiKey, key } = service;
    const { bucket, path, uploadId, metadata, sha256, etag, ifMatch, ifNoneMatch } = completion;
    const complete = async () => {
      const options = optionals({ sha256, etag, ifMatch, ifNoneMatch, apiKey });
      const request = { uploadId, metadata: pairsOf(metadata), ...options };
      return fileRecordOf(await call(signal, () => actor.completeFileUploadWith(request)));
    };
    const isBare = [metadata, sha256, ifMatch, ifNoneMatch].every((value) => value === undefined);
    if (!isBare) return complete();
    const completed = await unlessLacking(service, 'completeFileUploadWith', complete);
    if (completed !== undefined) return completed;
    await call(signal, () => actor.completeFileUpload(uploadId, key));
    return fileCalls.getFile(service, { bucket, path }, signal);
  },
  cancelUpload: calling(({ actor }, { uploadId }) => actor.cancelUpload(uploadId), nothing),
  listUploads: calling(
    ({ actor, key }, bucket) => actor.listUploads(bucket, key),
    (uploads) => uploads.map(sessionOf),
  ),
};

async function putInBatch(
  service: Service,
  { bucket, ...file }: WholeFile,
  signal: Signal,
): Promise<FileRecord> {
  const [record] = await transferCalls.putFiles(service, { bucket, files: [file] }, signal);
  if (record === undefined || isStorageError(record)) throw record ?? errorOfView(undefined);
  return record;
}

/**
 * Returns undefined if the service lacks the method, as version 0.1.0 does. One node's claim does
 * not suffice: the earlier method compares no entity tag, so it would complete a file whose chunks
 * the node has dropped.
 */
async function unlessLacking<T>(
  service: Service,
  method: string,
  ask: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (!isStorageError(error, 'Unsupported')) throw error;
    if ((await lackedMethods(service, [method])).length === 0) throw error;
    return undefined;
  }
}
