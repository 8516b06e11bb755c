// The session record of the JSON interface.

import { isoTime } from '../domain/files/file-view.ts';
import {
  chunkCount,
  chunkSizeOf,
  expiresAtNs,
  missingChunks,
  shownStatus,
  type UploadSession,
} from '../domain/uploads/upload-session.ts';
import { encodeHex } from '../lib/hex.ts';

export function sessionUrl(session: UploadSession): string {
  return `/api/v1/bucket/${session.bucketId}/upload/${session.uploadId}`;
}

export function sessionView(session: UploadSession, nowNs: bigint) {
  return {
    sessionId: session.uploadId,
    uploadId: session.uploadId,
    bucketId: session.bucketId,
    path: session.path,
    contentType: session.contentType,
    tags: session.tags,
    totalSize: session.totalSize,
    isSizeKnown: session.isSizeKnown,
    uploadedSize: session.uploadedSize,
    chunkSize: chunkSizeOf(session),
    chunkCount: chunkCount(session),
    receivedChunks: session.receivedChunks,
    missing: missingChunks(session),
    status: shownStatus(session, nowNs),
    createdAt: isoTime(session.createdAtNs),
    updatedAt: isoTime(session.updatedAtNs),
    expiresAt: isoTime(expiresAtNs(session)),
    sha256: session.sha256.length > 0 ? encodeHex(session.sha256) : undefined,
    fileId: session.fileId || undefined,
  };
}
