// Actor methods of chunked uploads.

import { IDL } from '@dfinity/candid';
import { requireCycles } from '../../domain/shared/cycles.ts';
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
import { liquidCycles } from '../../storage/stable-space.ts';
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
import type { Optional } from '../messages/optional.ts';
import {
  type CompletionArgument,
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

function begin(request: UploadBeginning): string {
  requireCycles(liquidCycles());
  return beginUpload(stores, currentCall(), request).uploadId;
}

/** Chunked uploads: begin, send chunks in any order, complete. Best from 1,900,000 bytes on. */
export class UploadsActor {
  /**
   * (bucketId, path, contentType, size, apiKey) ok is the id of the upload, which is also the right
   * to go on with it. `size` is bytes. Errors: AccessDenied, InvalidPath, QuotaExceeded.
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

  /** As beginFileUpload, with all that a file may have. */
  @update([UploadRequest], ResultText)
  beginFileUploadWith(argument: UploadArgument) {
    return answer(() => begin(uploadRequestOf(argument)));
  }

  /**
   * (uploadId, index, bytes) A chunk, from 0 on, at most 1,900,000 bytes; ok is the bytes that have
   * arrived. A chunk that is sent again takes the place of the former. Errors: NoSuchUpload,
   * InvalidArgument.
   */
  @update(chunkTypes, ResultNat, { manual: true })
  uploadFileChunkIndexed(): void | Promise<void> {
    const signature = { name: 'uploadFileChunkIndexed', parameters: chunkTypes };
    return carryOut(signature, {
      decode: decodeChunk,
      run: (chunk) => {
        requireCycles(liquidCycles());
        return BigInt(putChunk(stores, currentCall(), chunk).uploadedSize);
      },
      encode: (result) => encodeResult(ResultNat, result),
    });
  }

  /**
   * (uploadId, apiKey) Makes a file of the chunks; ok is its id. Called again, it answers the same.
   * Errors: NoSuchUpload, UploadIncomplete, PreconditionFailed, BadDigest.
   */
  @update([IDL.Text, IDL.Opt(IDL.Text)], ResultText)
  completeFileUpload(uploadId: string, [apiKey]: Optional<string>) {
    return answer(() => completeUpload(stores, currentCall(), { uploadId, apiKey }).fileId);
  }

  /**
   * As completeFileUpload, with what is known only by then; ok is the file, also of a repetition,
   * whose metadata and conditions are not looked at.
   */
  @update([UploadCompletion], ResultFile, { manual: true })
  completeFileUploadWith(): void | Promise<void> {
    const signature = { name: 'completeFileUploadWith', parameters: [UploadCompletion] };
    return replyFile(signature, (argument: CompletionArgument) => {
      return finishUpload(stores, currentCall(), completionOf(argument));
    });
  }

  /** (uploadId) How far an upload is, and which chunks are missing. */
  @query([IDL.Text], ResultUpload)
  getUpload(uploadId: string) {
    const call = currentCall();
    return answer(() => uploadView(getUpload(stores, call, { uploadId }), call.nowNs));
  }

  /**
   * (bucketId, apiKey) The open ones of a bucket, at most 50; for its owners, or by a key with
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

  /** (uploadId) The chunks go; the upload cannot be gone on with. */
  @update([IDL.Text], ResultNull)
  cancelUpload(uploadId: string) {
    return answer(() => {
      cancelUpload(stores, currentCall(), { uploadId });
      return null;
    });
  }
}
