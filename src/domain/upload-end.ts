// How an upload session ends: completed, cancelled or expired. Completion makes the chunks the file
// at the session's path; a completion that is refused keeps the session and every chunk.

import { sha256 } from '../crypto/hash.ts';
import { present } from '../lib/assert.ts';
import { concatBytes } from '../lib/bytes.ts';
import { authorize } from './access.ts';
import type { Call } from './caller.ts';
import { discardContent, findChunk } from './contents.ts';
import { commitFile } from './files.ts';
import { findKeyByHash, isKeyGood } from './keys.ts';
import { Refusal } from './refusal.ts';
import type { Stores } from './stores.ts';
import {
  deleteSession,
  expiresAtNs,
  isWhole,
  missingChunks,
  saveSession,
  scheduleExpiry,
  takeDueSession,
  type UploadSession,
} from './upload-session.ts';
import { countOpenUploads, getUpload, requireActive } from './uploads.ts';

const expiredPerMessage = 4;

export interface Completion {
  readonly uploadId: string;
  readonly apiKey: string | undefined;
}

/** Makes the chunks the file at the session's path; a repetition answers the same. */
export function completeUpload(stores: Stores, call: Call, request: Completion): UploadSession {
  const session = getUpload(stores, call, request.uploadId);
  requireKeyStillGood(stores, call, { session, apiKey: request.apiKey });
  if (session.status === 'completed') {
    return session;
  }
  requireActive(session, call.nowNs);
  const layout = requireWhole(stores, session);
  const { file } = commitFile(
    stores,
    {
      contentType: session.contentType,
      tags: session.tags,
      cacheControl: '',
      contentDisposition: '',
      contentEncoding: '',
      contentLanguage: '',
      bucketId: session.bucketId,
      path: session.path,
      contentId: session.contentId,
      size: session.totalSize,
      chunkCount: session.chunkIndexEnd,
      ...layout,
    },
    call.nowNs,
  );
  const completed: UploadSession = { ...session, status: 'completed', fileId: file.id };
  saveSession(stores, completed);
  countOpenUploads(stores, session.bucketId, -1);
  return completed;
}

/** The key that the session was begun with, or one that is sent now, must still allow to write. */
function requireKeyStillGood(
  stores: Stores,
  call: Call,
  claim: { readonly session: UploadSession; readonly apiKey: string | undefined },
): void {
  const { session, apiKey } = claim;
  if (apiKey !== undefined) {
    authorize(stores, call, { bucket: session.bucketId, permission: 'write', apiKey });
    return;
  }
  const key = findKeyByHash(stores, session.keyHash);
  if (session.keyHash.length > 0 && (key === undefined || !isKeyGood(key, call.nowNs))) {
    throw new Refusal(
      'InvalidApiKey',
      'The API key that the upload was begun with is revoked or expired: complete it with a good one.',
    );
  }
}

/** Refuses holes and uneven chunks, with the session kept as it is. */
function requireWhole(
  stores: Stores,
  session: UploadSession,
): { readonly chunkSize: number; readonly digest: Uint8Array } {
  if (!isWhole(session)) {
    const missing = missingChunks(session);
    throw new Refusal(
      'UploadIncomplete',
      `The upload has ${session.uploadedSize} of ${session.totalSize} bytes: send the missing chunks ` +
        'and complete it again.',
      { missing, uploadedSize: session.uploadedSize, totalSize: session.totalSize },
    );
  }
  const digests: Uint8Array[] = [];
  let chunkSize = 0;
  for (let index = 0; index < session.chunkIndexEnd; index++) {
    const chunk = findChunk(stores, { contentId: session.contentId, index });
    const { length, digest } = present(chunk, 'received chunk');
    chunkSize ||= length;
    const isLast = index === session.chunkIndexEnd - 1;
    if (isLast ? length > chunkSize : length !== chunkSize) {
      throw new Refusal(
        'ChunkSizeMismatch',
        `Chunk ${index} has ${length} bytes, chunk 0 has ${chunkSize}: all chunks but the last, which ` +
          'may be shorter, have one length.',
      );
    }
    digests.push(digest);
  }
  const [only] = digests;
  const digest = digests.length === 1 && only ? only : sha256(concatBytes(...digests));
  return { chunkSize: Math.max(chunkSize, 1), digest };
}

/** Ends the session and gives its chunks back; a repetition answers the same. */
export function cancelUpload(stores: Stores, call: Call, uploadId: string): void {
  const session = getUpload(stores, call, uploadId);
  if (session.status === 'cancelled') {
    return;
  }
  requireActive(session, call.nowNs);
  endSession(stores, { ...session, status: 'cancelled' });
}

function endSession(stores: Stores, session: UploadSession): void {
  saveSession(stores, session);
  countOpenUploads(stores, session.bucketId, -1);
  discardContent(stores, { contentId: session.contentId, chunkCount: session.chunkIndexEnd });
}

/** One bounded step of ending sessions whose time is over; true while there may be more. */
export function expireUploads(stores: Stores, nowNs: bigint): boolean {
  for (let count = 0; count < expiredPerMessage; count++) {
    const session = takeDueSession(stores, nowNs);
    if (session === undefined) {
      return false;
    }
    if (expiresAtNs(session) > nowNs) {
      scheduleExpiry(stores, session);
    } else {
      removeSession(stores, session);
    }
  }
  return true;
}

function removeSession(stores: Stores, session: UploadSession): void {
  if (session.status === 'active') {
    endSession(stores, { ...session, status: 'expired' });
  }
  deleteSession(stores, session);
}
