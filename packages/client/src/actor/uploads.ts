// Uploads of whole files and upload sessions by calls of the actor.

import type { FileMetadata, UploadOperations } from '../operations/uploads.ts';
import { errorOfView, isStorageError } from '../storage-error.ts';
import { type ActorCalls, calling, nothing } from './actor-call.ts';
import { fileRecordOf, optionals, pairsOf, sessionOf } from './candid-records.ts';
import { call, type Service } from './connection.ts';
import { fileCalls } from './files.ts';
import { transferCalls } from './transfers.ts';

export const uploadCalls: ActorCalls<UploadOperations> = {
  /** uploadFile takes no headers, so a file with headers goes as the only one of a batch. */
  async putFile(service, file, signal) {
    const { actor, earlierUploads } = service;
    const { bucket, path, contentType, bytes } = file;
    if (Object.keys(file.headers).length > 0) {
      const [record] = await transferCalls.putFiles(service, { bucket, files: [file] }, signal);
      if (record === undefined || isStorageError(record)) throw record ?? errorOfView(undefined);
      return record;
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
    const { bucket, path, size, chunkBytes, contentType, headers, token } = request;
    const fields = {
      ...{ ...destinationOf(service, request), headers: pairsOf(headers) },
      ...optionals({ contentType, chunkSize: chunkBytes, token }),
    };
    const uploadId = await call(signal, () =>
      size === undefined
        ? actor.beginFileUploadWith({ ...fields, size: [] })
        : earlierUploads.beginFileUploadWith({ ...fields, size: BigInt(size) }),
    );
    return uploadCalls.getUpload(service, { bucket, path, uploadId }, signal);
  },
  getUpload: calling(({ actor }, { uploadId }) => actor.getUpload(uploadId), sessionOf),
  /** Version 0.1.0 has no `completeFileUploadWith`, so it is called only if it is needed. */
  async completeUpload(service, completion, signal) {
    const { actor, apiKey, key } = service;
    const { bucket, path, uploadId, metadata, sha256, ifMatch, ifNoneMatch } = completion;
    const isBare = [metadata, sha256, ifMatch, ifNoneMatch].every((value) => value === undefined);
    if (isBare) {
      await call(signal, () => actor.completeFileUpload(uploadId, key));
      return fileCalls.getFile(service, { bucket, path }, signal);
    }
    const options = optionals({ sha256, ifMatch, ifNoneMatch, apiKey });
    const request = { uploadId, metadata: pairsOf(metadata), ...options };
    return fileRecordOf(await call(signal, () => actor.completeFileUploadWith(request)));
  },
  cancelUpload: calling(({ actor }, { uploadId }) => actor.cancelUpload(uploadId), nothing),
  listUploads: calling(
    ({ actor, key }, bucket) => actor.listUploads(bucket, key),
    (uploads) => uploads.map(sessionOf),
  ),
};

function destinationOf({ apiKey }: Service, file: FileMetadata) {
  const { bucket, path, tags, metadata, sha256, ifMatch, ifNoneMatch } = file;
  return {
    ...{ bucketId: bucket, path, metadata: pairsOf(metadata) },
    ...optionals({ tags, sha256, ifMatch, ifNoneMatch, apiKey }),
  };
}
