// Sessions of chunked uploads: how they begin, and who may go on with one. Chunks are in
// upload-chunks.ts, the end is in upload-end.ts.

import { present } from '../lib/assert.ts';
import { bytesEqual, emptyBytes } from '../lib/bytes.ts';
import { chunkCountMax, fileBytesMax, openUploadCountMax } from '../limits.ts';
import { authorize } from './access.ts';
import { findBucket, saveBucket } from './buckets.ts';
import { type Call, type Caller, isAnonymous } from './caller.ts';
import { createContent } from './file-keys.ts';
import { entityTag, findFile } from './files.ts';
import { findKeyByHash, isKeyGood } from './keys.ts';
import { isBucketOwner } from './members.ts';
import { parseContentType, parseFilePath, parseTags } from './names.ts';
import {
  checkUnmodifiedSince,
  checkWritePreconditions,
  type WritePreconditions,
} from './preconditions.ts';
import { checkQuota } from './quota.ts';
import { Refusal } from './refusal.ts';
import type { Stores } from './stores.ts';
import { allocateDigests, digestTableBytes } from './upload-digests.ts';
import {
  parseChunkSize,
  parseCondition,
  parseFileDigest,
  parseStoredHeaders,
  type UploadOptions,
} from './upload-options.ts';
import {
  emptyTail,
  getSession,
  noSuchUpload,
  saveSession,
  scheduleExpiry,
  shownStatus,
  type UploadSession,
  uploadIdOf,
} from './upload-session.ts';

export interface UploadRequest extends UploadOptions {
  readonly bucket: string;
  readonly path: string;
  readonly contentType: string;
  readonly tags: readonly string[];
  readonly size: bigint;
  readonly apiKey: string | undefined;
}

/** Refuses what beginUpload() would refuse, before random is fetched; changes nothing. */
export function checkUploadRequest(stores: Stores, call: Call, request: UploadRequest) {
  const { bucket: bucketId, apiKey } = request;
  const claim = { bucket: bucketId, permission: 'write', apiKey } as const;
  const { bucket, key } = authorize(stores, call, claim);
  const path = parseFilePath(request.path);
  const contentType = parseContentType(request.contentType);
  const tags = parseTags(request.tags);
  if (request.size > BigInt(fileBytesMax)) {
    throw new Refusal(
      'EntityTooLarge',
      `A file has at most ${fileBytesMax} bytes; this one is announced with ${request.size}.`,
      { limit: fileBytesMax },
    );
  }
  if (bucket.openUploadCount >= openUploadCountMax) {
    throw new Refusal(
      'SlowDown',
      `Bucket ${bucketId} has ${openUploadCountMax} open uploads: complete or cancel some first.`,
      { limit: openUploadCountMax },
    );
  }
  const totalSize = Number(request.size);
  // The file that it will replace stays until then, so its bytes count too.
  checkQuota(bucket, totalSize);
  const options = {
    ...parseStoredHeaders(request.headers),
    declaredChunkSize: parseChunkSize(request.chunkSize, totalSize),
    sha256: parseFileDigest(request.sha256, totalSize),
    ifMatch: parseCondition('ifMatch', request.ifMatch),
    ifNoneMatch: parseCondition('ifNoneMatch', request.ifNoneMatch),
  };
  checkConditions(stores, { bucketId, path, ...options });
  return { bucket, key, session: { path, contentType, tags, totalSize, ...options } };
}

/** Refuses with PreconditionFailed unless the upload may replace what is at its path now. */
export function checkConditions(
  stores: Stores,
  session: Pick<UploadSession, 'bucketId' | 'path' | 'ifMatch' | 'ifNoneMatch'>,
  conditions: WritePreconditions = {},
): void {
  const old = findFile(stores, session.bucketId, session.path);
  checkWritePreconditions(old && entityTag(old), {
    ifMatch: session.ifMatch || undefined,
    ifNoneMatch: session.ifNoneMatch || undefined,
  });
  checkWritePreconditions(old && entityTag(old), conditions);
  checkUnmodifiedSince(old?.updatedAtNs, conditions);
}

/** `random`: at least 16 bytes that nobody could foresee; they become the upload id. */
export function beginUpload(
  stores: Stores,
  call: Call,
  request: UploadRequest & { readonly random: Uint8Array },
): UploadSession {
  const checked = checkUploadRequest(stores, call, request);
  const { content, key } = createContent(stores, checked.bucket);
  key.fill(0);
  const session: UploadSession = {
    ...emptyTail,
    ...checked.session,
    ...content,
    uploadId: uploadIdOf(request.random),
    status: 'active',
    bucketId: checked.bucket.id,
    digestsAt: allocateDigests(stores, digestTableBytes(checked.session)),
    uploadedSize: 0,
    receivedChunks: 0,
    chunkSize: 0,
    received: new Uint8Array(Math.ceil(chunkCountMax / 8)),
    chunkIndexEnd: 0,
    owner: call.caller.principal,
    keyHash: checked.key?.hash ?? emptyBytes,
    createdAtNs: call.nowNs,
    updatedAtNs: call.nowNs,
    fileId: '',
  };
  saveSession(stores, session);
  scheduleExpiry(stores, session);
  countOpenUpload(stores, session, 1);
  return session;
}

/** In the bucket's record. */
export function countOpenUpload(stores: Stores, session: UploadSession, change: 1 | -1): void {
  const bucket = present(findBucket(stores, session.bucketId), 'bucket of an upload');
  const counted = {
    ...bucket,
    openUploadCount: bucket.openUploadCount + change,
    openUploadByteCount: bucket.openUploadByteCount + change * session.totalSize,
  };
  saveBucket(stores, counted, bucket);
}

/** As getUpload(), for a session of that bucket: under another one there is no such upload. */
export function getUploadOf(
  stores: Stores,
  call: Call,
  name: { readonly bucket: string; readonly uploadId: string },
): UploadSession {
  if (getSession(stores, name.uploadId).bucketId !== name.bucket) {
    throw noSuchUpload(name.uploadId);
  }
  return getUpload(stores, call, name.uploadId);
}

/** The session, for a caller who may go on with it. */
export function getUpload(stores: Stores, call: Call, uploadId: string): UploadSession {
  const session = getSession(stores, uploadId);
  const begunWithKey = session.keyHash.length > 0;
  if (!begunWithKey && !isOwner(call.caller, session)) {
    const bucket = findBucket(stores, session.bucketId);
    if (bucket === undefined || !isBucketOwner(stores, call.caller, bucket)) {
      throw new Refusal(
        'AccessDenied',
        'Only the principal that began the upload, and owners of its bucket, may go on with it.',
      );
    }
  }
  return session;
}

/** The key that the session was begun with, or one that is sent now, must still allow to write. */
export function requireStillAllowed(
  stores: Stores,
  call: Call,
  claim: { readonly session: UploadSession; readonly apiKey: string | undefined },
): void {
  const { session, apiKey } = claim;
  if (apiKey !== undefined || session.keyHash.length === 0) {
    authorize(stores, call, { bucket: session.bucketId, permission: 'write', apiKey });
    return;
  }
  const key = findKeyByHash(stores, session.keyHash);
  if (key === undefined || !isKeyGood(key, call.nowNs)) {
    throw new Refusal(
      'InvalidApiKey',
      'The API key that the upload was begun with is revoked or expired: go on with a good one over ' +
        'HTTP, complete with it, or begin a new upload.',
    );
  }
}

function isOwner(caller: Caller, session: UploadSession): boolean {
  return !isAnonymous(caller) && bytesEqual(caller.principal, session.owner);
}

export function requireActive(session: UploadSession, nowNs: bigint): void {
  if (session.status === 'completed') {
    throw new Refusal('UploadCompleted', 'The upload is completed: begin a new one.');
  }
  requireNotGone(session, nowNs);
}

/** Refuses a session that was cancelled or has expired. */
export function requireNotGone(session: UploadSession, nowNs: bigint): void {
  if (session.status === 'cancelled') {
    throw new Refusal('UploadCancelled', 'The upload was cancelled: begin a new one.');
  }
  if (shownStatus(session, nowNs) === 'expired') {
    throw new Refusal('UploadExpired', 'The upload has expired: begin a new one.');
  }
}
