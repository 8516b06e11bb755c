// Actor methods of chunked uploads.

import { IDL } from '@dfinity/candid';
import { partsOfFile } from '../../domain/files/file-records.ts';
import { uploadChunk } from '../../domain/uploads/one-round-upload.ts';
import { putChunk } from '../../domain/uploads/upload-chunks.ts';
import { cancelUpload, completeUpload, finishUpload } from '../../domain/uploads/upload-end.ts';
import {
  chunkCount,
  chunkSizeOf,
  expiresAtNs,
  missingChunks,
  shownStatus,
  type UploadSession,
} from '../../domain/uploads/upload-session.ts';
import {
  beginUpload,
  getUpload,
  listUploads,
  type UploadRequest as UploadBeginning,
} from '../../domain/uploads/uploads.ts';
import { ResultChunkReceipt } from '../candid/operations.ts';
import { encodeResult } from '../candid/result.ts';
import {
  ResultFile,
  ResultNat,
  ResultNull,
  ResultText,
  ResultUpload,
  ResultUploads,
  UploadCompletion,
  UploadRequest,
} from '../candid/types.ts';
import { carryOut, query, update } from '../dispatch/method.ts';
import { decodeChunk } from '../messages/bulk-messages.ts';
import { encodeReceiptResult } from '../messages/file-record-messages.ts';
import type { Optional } from '../messages/optional.ts';
import {
  type CompletionArgument,
  chunkOf,
  completionOf,
  type UploadArgument,
  uploadRequestOf,
} from '../messages/upload-arguments.ts';
import { answer, currentCall } from '../runtime/call.ts';
import { stores } from '../runtime/runtime.ts';
import { replyFile } from './file-reply.ts';

function uploadView(session: UploadSession, nowNs: bigint) {
  return {
    ...session,
    status: shownStatus(session, nowNs),
    chunkSize: chunkSizeOf(session),
    chunkCount: chunkCount(session),
    missing: missingChunks(session),
    createdAt: session.createdAtNs,
    updatedAt: session.updatedAtNs,
    expiresAt: expiresAtNs(session),
    fileId: session.fileId === '' ? [] : [session.fileId],
  };
}

const chunkTypes = [IDL.Text, IDL.Nat, IDL.Vec(IDL.Nat8)];
const oneRoundTypes = [UploadRequest, IDL.Nat, IDL.Opt(IDL.Text), IDL.Vec(IDL.Nat8)];

function begin(request: UploadBeginning): string {
  return beginUpload(stores, currentCall(), request).uploadId;
}

/** Chunked uploads: begin, send chunks in any order, complete. For files above 1,900,000 bytes. */
export class UploadsActor {
  /**
   * (bucketId, path, contentType, size, apiKey) Begins an upload; ok is its id, with which the
   * same caller continues. `size` is bytes. Errors: AccessDenied, InvalidPath, QuotaExceeded.
   */
  @update([IDL.Text, IDL.Text, IDL.Text, IDL.Nat, IDL.Opt(IDL.Text)], ResultText)
  beginFileUpload(
    bucket: string,
    path: string,
    contentType: string,
    size: bigint,
    [apiKey]: Optional<string>,
  ) {
    return answer(() => begin({ bucket, path, contentType, size, apiKey, tags: [] }));
  }

  /** Like beginFileUpload, with every option of a file. */
  @update([UploadRequest], ResultText)
  beginFileUploadWith(argument: UploadArgument) {
    return answer(() => begin(uploadRequestOf(argument)));
  }

  /** Like beginFileUploadWith, but ok is the session, as getUpload returns it. */
  @update([UploadRequest], ResultUpload)
  startUpload(argument: UploadArgument) {
    const call = currentCall();
    const request = uploadRequestOf(argument);
    return answer(() => uploadView(beginUpload(stores, call, request), call.nowNs));
  }

  /**
   * (uploadId, index, bytes) Stores a chunk of at most 1,900,000 bytes; indexes begin with 0. ok is
   * the number of received bytes. A repeated chunk replaces the former one. Errors: NoSuchUpload,
   * InvalidArgument.
   */
  @update(chunkTypes, ResultNat, { manual: true })
  uploadFileChunkIndexed(): void | Promise<void> {
    const signature = { name: 'uploadFileChunkIndexed', parameters: chunkTypes };
    return carryOut(signature, {
      decode: decodeChunk,
      run: (chunk) => BigInt(putChunk(stores, currentCall(), chunk).uploadedSize),
      encode: (result) => encodeResult(ResultNat, result),
    });
  }

  /**
   * (request, index, etag, bytes) Stores a chunk. The first begins the upload; once a call gave the
   * file's entity tag, the last completes it. The request, the same in each call, has size,
   * chunkSize and token. Errors: AccessDenied, QuotaExceeded, PreconditionFailed, BadDigest.
   */
  @update(oneRoundTypes, ResultChunkReceipt, { manual: true })
  uploadChunk(): void | Promise<void> {
    const signature = { name: 'uploadChunk', parameters: oneRoundTypes };
    return carryOut(signature, {
      run: (values: Parameters<typeof chunkOf>) => {
        const call = currentCall();
        const { session, written } = uploadChunk(stores, call, chunkOf(...values));
        const file = written && partsOfFile(written.file, written.record);
        return { upload: uploadView(session, call.nowNs), file };
      },
      encode: encodeReceiptResult,
    });
  }

  /**
   * (uploadId, apiKey) Turns the chunks into a file; ok is its id. A repeated call returns the
   * same. Errors: NoSuchUpload, UploadIncomplete, PreconditionFailed, BadDigest.
   */
  @update([IDL.Text, IDL.Opt(IDL.Text)], ResultText)
  completeFileUpload(uploadId: string, [apiKey]: Optional<string>) {
    return answer(() => completeUpload(stores, currentCall(), { uploadId, apiKey }).fileId);
  }

  /**
   * Like completeFileUpload, with values that are known only at the end; ok is the file's record. A
   * repetition returns the same file and ignores metadata and conditions.
   */
  @update([UploadCompletion], ResultFile, { manual: true })
  completeFileUploadWith(): void | Promise<void> {
    const signature = { name: 'completeFileUploadWith', parameters: [UploadCompletion] };
    return replyFile(signature, (argument: CompletionArgument) => {
      return finishUpload(stores, currentCall(), completionOf(argument));
    });
  }

  /** (uploadId) Returns the state of an upload and its missing chunks. */
  @query([IDL.Text], ResultUpload)
  getUpload(uploadId: string) {
    const call = currentCall();
    return answer(() => uploadView(getUpload(stores, call, { uploadId }), call.nowNs));
  }

  /**
   * (bucketId, apiKey) Lists the open uploads of a bucket, at most 50, for its owners and keys with
   * every permission.
   */
  @query([IDL.Text, IDL.Opt(IDL.Text)], ResultUploads)
  listUploads(bucket: string, [apiKey]: Optional<string>) {
    const call = currentCall();
    return answer(() => {
      const sessions = listUploads(stores, call, { bucket, apiKey });
      return sessions.map((session) => uploadView(session, call.nowNs));
    });
  }

  /** (uploadId) Cancels an upload and deletes its chunks. */
  @update([IDL.Text], ResultNull)
  cancelUpload(uploadId: string) {
    return answer(() => {
      cancelUpload(stores, currentCall(), { uploadId });
      return null;
    });
  }
}
