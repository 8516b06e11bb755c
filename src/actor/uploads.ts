// Actor methods of chunked uploads.

import { IDL } from '@dfinity/candid';
import { msgArgData, msgReply, query, update } from 'azle';
import { cancelUpload, completeUpload } from '../domain/upload-end.ts';
import {
  chunkCount,
  expiresAtNs,
  isWhole,
  missingChunks,
  type UploadSession,
} from '../domain/upload-session.ts';
import { beginUpload, checkUploadRequest, getUpload, putChunk } from '../domain/uploads.ts';
import { chunkBytesMax } from '../limits.ts';
import { decodeChunk } from './bulk-messages.ts';
import { answer, answerAsync, currentCall } from './call.ts';
import { Result, ResultNat, ResultNull, ResultUpload } from './candid.ts';
import { randomBytes, stores } from './runtime.ts';

const uploadIdBytes = 16;

type Optional<T> = [] | [T];

function uploadView(session: UploadSession, nowNs: bigint) {
  const isOver = session.status === 'active' && expiresAtNs(session) <= nowNs;
  const isReady = session.status === 'active' && isWhole(session);
  return {
    ...session,
    status: isOver ? 'expired' : isReady ? 'ready' : session.status,
    chunkSize: session.chunkSize || chunkBytesMax,
    chunkCount: chunkCount(session),
    missing: missingChunks(session),
    createdAt: session.createdAtNs,
    updatedAt: session.updatedAtNs,
    expiresAt: expiresAtNs(session),
    fileId: session.fileId === '' ? [] : [session.fileId],
  };
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
    return answerAsync(async () => {
      const call = currentCall();
      const request = { bucket, path, contentType, size, apiKey, tags: [] };
      checkUploadRequest(stores, call, request);
      const random = await randomBytes(uploadIdBytes);
      return beginUpload(stores, call, { ...request, random }).uploadId;
    });
  }

  /** Decoded by hand, see bulk-messages.ts. */
  @update([IDL.Text, IDL.Nat, IDL.Vec(IDL.Nat8)], ResultNat, { manual: true })
  uploadFileChunkIndexed(): void {
    const chunk = decodeChunk(msgArgData());
    const result = answer(() => BigInt(putChunk(stores, currentCall(), chunk).uploadedSize));
    msgReply(IDL.encode([ResultNat], [result]));
  }

  @update([IDL.Text, IDL.Opt(IDL.Text)], Result)
  completeFileUpload(uploadId: string, [apiKey]: Optional<string>) {
    return answer(() => completeUpload(stores, currentCall(), { uploadId, apiKey }).fileId);
  }

  @query([IDL.Text], ResultUpload)
  getUpload(uploadId: string) {
    const call = currentCall();
    return answer(() => uploadView(getUpload(stores, call, uploadId), call.nowNs));
  }

  @update([IDL.Text], ResultNull)
  cancelUpload(uploadId: string) {
    return answer(() => {
      cancelUpload(stores, currentCall(), uploadId);
      return null;
    });
  }
}
