// Actor methods of chunked uploads.

import { IDL } from '@dfinity/candid';
import { msgArgData, msgReply } from 'azle';
import { requireCycles } from '../domain/cycles.ts';
import { putChunk } from '../domain/upload-chunks.ts';
import { cancelUpload, completeUpload } from '../domain/upload-end.ts';
import {
  chunkCount,
  chunkSizeOf,
  expiresAtNs,
  missingChunks,
  shownStatus,
  type UploadSession,
} from '../domain/upload-session.ts';
import {
  beginUpload,
  checkUploadRequest,
  getUpload,
  listUploads,
  type UploadRequest as UploadBeginning,
} from '../domain/uploads.ts';
import { mediaTypeOf } from '../http/media-types.ts';
import { liquidCycles } from '../storage/stable-space.ts';
import { decodeChunk } from './bulk-messages.ts';
import { answer, currentCall } from './call.ts';
import {
  Result,
  ResultNat,
  ResultNull,
  ResultUpload,
  ResultUploads,
  UploadRequest,
} from './candid.ts';
import { encodeResult } from './candid-result.ts';
import { query, update } from './method.ts';
import { onceReady, stores } from './runtime.ts';

const uploadIdBytes = 16;

type Optional<T> = [] | [T];

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

interface UploadArgument {
  bucketId: string;
  path: string;
  contentType: Optional<string>;
  size: bigint;
  tags: Optional<string[]>;
  sha256: Optional<string>;
  chunkSize: Optional<bigint>;
  headers: Optional<[string, string][]>;
  ifMatch: Optional<string>;
  ifNoneMatch: Optional<string>;
  apiKey: Optional<string>;
}

function begin(request: UploadBeginning): string {
  requireCycles(liquidCycles());
  const call = currentCall();
  checkUploadRequest(stores, call, request);
  const random = stores.secrets.random(uploadIdBytes);
  return beginUpload(stores, call, { ...request, random }).uploadId;
}

export class UploadsActor {
  @update([IDL.Text, IDL.Text, IDL.Text, IDL.Nat, IDL.Opt(IDL.Text)], Result)
  beginFileUpload(
    bucket: string,
    path: string,
    contentType: string,
    size: bigint,
    [apiKey]: Optional<string>,
  ) {
    return answer(() => begin({ bucket, path, contentType, size, apiKey, tags: [] }));
  }

  /** As beginFileUpload(), with all that a file may have; the type falls back to the path's. */
  @update([UploadRequest], Result)
  beginFileUploadWith(argument: UploadArgument) {
    return answer(() => {
      const { bucketId: bucket, path, size } = argument;
      const [chunkSize] = argument.chunkSize;
      const [sha256] = argument.sha256;
      const [headers] = argument.headers;
      return begin({
        bucket,
        path,
        size,
        contentType: argument.contentType[0] ?? mediaTypeOf(path),
        tags: argument.tags[0] ?? [],
        apiKey: argument.apiKey[0],
        ifMatch: argument.ifMatch[0],
        ifNoneMatch: argument.ifNoneMatch[0],
        chunkSize,
        sha256,
        headers,
      });
    });
  }

  /** Decoded by hand, see bulk-messages.ts. */
  @update([IDL.Text, IDL.Nat, IDL.Vec(IDL.Nat8)], ResultNat, { manual: true })
  uploadFileChunkIndexed(): void | Promise<void> {
    const chunk = decodeChunk(msgArgData());
    return onceReady(() => {
      const result = answer(() => {
        requireCycles(liquidCycles());
        return BigInt(putChunk(stores, currentCall(), chunk).uploadedSize);
      });
      msgReply(encodeResult(ResultNat, result));
    });
  }

  @update([IDL.Text, IDL.Opt(IDL.Text)], Result)
  completeFileUpload(uploadId: string, [apiKey]: Optional<string>) {
    return answer(() => completeUpload(stores, currentCall(), { uploadId, apiKey }).fileId);
  }

  @query([IDL.Text], ResultUpload)
  getUpload(uploadId: string) {
    const call = currentCall();
    return answer(() => uploadView(getUpload(stores, call, { uploadId }), call.nowNs));
  }

  /** The open ones of a bucket, at most 50; for its owners, or by a key with every permission. */
  @query([IDL.Text, IDL.Opt(IDL.Text)], ResultUploads)
  listUploads(bucket: string, [apiKey]: Optional<string>) {
    const call = currentCall();
    return answer(() => {
      const sessions = listUploads(stores, call, { bucket, apiKey });
      return sessions.map((session) => uploadView(session, call.nowNs));
    });
  }

  @update([IDL.Text], ResultNull)
  cancelUpload(uploadId: string) {
    return answer(() => {
      cancelUpload(stores, currentCall(), { uploadId });
      return null;
    });
  }
}
