// Sessions of chunked uploads: their beginning, and the right to continue one. upload-chunks.ts has
// the chunks, upload-end.ts the end.

import { present } from '../../lib/assert.ts';
import { bytesEqual, emptyBytes } from '../../lib/bytes.ts';
import { fileBytesMax } from '../../limits.ts';
import { type Bucket, findBucket, saveBucket, storedContentType } from '../buckets/buckets.ts';
import { overheadBytesOf } from '../buckets/quota.ts';
import { entityTag, type FileRecord, findFile } from '../files/file-records.ts';
import { requireRetirable } from '../files/version-records.ts';
import { createContent, type SealedContent } from '../keys/file-keys.ts';
import { type ApiKey, filePermissions, findKeyByHash, isKeyGood } from '../rights/api-keys.ts';
import { chargeKey } from '../rights/key-budgets.ts';
import { isOwner, isStillGranted, ownedBucket } from '../rights/ownership.ts';
import { authorize, isWithin, type SentKey } from '../rights/rights.ts';
import { checkAddition, checkFileBytes, checkFileCount } from '../rights/upload-bounds.ts';
import { requireAgeSize } from '../shared/age-format.ts';
import { type Call, type Caller, isAnonymous } from '../shared/caller.ts';
import { parseMetadata } from '../shared/file-metadata.ts';
import { parseNewPath, parseTags } from '../shared/names.ts';
import {
  checkUnmodifiedSince,
  checkWritePreconditions,
  type WritePreconditions,
} from '../shared/preconditions.ts';
import { Refusal } from '../shared/refusal.ts';
import { parseStoredHeaders } from '../shared/stored-headers.ts';
import type { Stores } from '../shared/stores.ts';
import {
  forgetToken,
  forgetUpload,
  keyHolder,
  noteToken,
  noteUpload,
  openUploadsOf,
} from './open-uploads.ts';
import { scheduleExpiry } from './upload-expiry.ts';
import {
  parseChunkSize,
  parseCondition,
  parseFileDigest,
  parseToken,
  type UploadOptions,
} from './upload-options.ts';
import { checkRoom } from './upload-room.ts';
import {
  emptyTail,
  getSession,
  newUploadId,
  noSuchUpload,
  saveSession,
  shownStatus,
  type UploadSession,
} from './upload-session.ts';
import { findUploadOfToken, isOpen, requireSameFields } from './upload-token.ts';

export interface UploadRequest extends UploadOptions {
  readonly bucket: string;
  readonly path: string;
  readonly contentType: string;
  readonly tags: readonly string[];
  /** Bytes of the file; absent: completion determines the size. */
  readonly size: bigint | undefined;
  readonly apiKey: SentKey;
  /** Whether the session continues only over HTTP, with a key for each step. */
  readonly isOverHttp?: boolean;
  /** The field Upload-Metadata of an upload whose bytes arrive in order. */
  readonly uploadMetadata?: string;
}

/** A session before it is begun: without id and content. */
export type Beginning = Omit<UploadSession, keyof SealedContent | 'uploadId'>;

export interface CheckedUpload {
  readonly bucket: Bucket;
  readonly key: ApiKey | undefined;
  readonly beginning: Beginning;
  /** The caller's open session with the same token. */
  readonly begun: UploadSession | undefined;
  /** The caller's former session with the same token, which has ended. */
  readonly ended: UploadSession | undefined;
}

/**
 * Refuses what beginUpload() would refuse; changes nothing. A repeated request gets the session of
 * its token even without space for another upload. A request that `continues` a session gets the
 * one of its token also after its end.
 */
export function checkUploadRequest(
  stores: Stores,
  call: Call,
  request: UploadRequest,
  { continues = false } = {},
): CheckedUpload {
  const { bucket: bucketId, path: sent, apiKey } = request;
  const claim = { bucket: bucketId, path: sent, permission: 'upload', apiKey } as const;
  const { bucket, key } = authorize(stores, call, claim);
  checkFileCount(key, 1);
  const path = parseNewPath(sent);
  const contentType = storedContentType(bucket, request.contentType);
  const tags = parseTags(request.tags);
  if (request.size !== undefined && request.size > BigInt(fileBytesMax)) {
    throw new Refusal(
      'EntityTooLarge',
      `A file has at most ${fileBytesMax} bytes; the upload declares ${request.size}.`,
      { limit: fileBytesMax },
    );
  }
  const isSizeKnown = request.size !== undefined;
  const totalSize = Number(request.size ?? 0n);
  checkFileBytes(key, totalSize);
  if (bucket.isEndToEnd && isSizeKnown) requireAgeSize(bucket.id, totalSize);
  const options = {
    headers: parseStoredHeaders(request.headers),
    metadata: parseMetadata(request.metadata ?? []),
    declaredChunkSize: parseChunkSize(request.chunkSize, totalSize),
    sha256: parseFileDigest(request.sha256, totalSize),
    ifMatch: parseCondition('ifMatch', request.ifMatch),
    ifNoneMatch: parseCondition('ifNoneMatch', request.ifNoneMatch),
  };
  const beginning: Beginning = {
    ...newSession(call.nowNs),
    ...{ bucketId, path, contentType, tags, totalSize, isSizeKnown, ...options },
    token: parseToken(request.token),
    owner: call.caller.principal,
    keyHash: key?.hash ?? emptyBytes,
    isOverHttp: request.isOverHttp === true,
    isInOrder: request.uploadMetadata !== undefined,
    uploadMetadata: request.uploadMetadata ?? '',
  };
  const found = findUploadOfToken(stores, beginning);
  const hasBegun = found !== undefined && isOpen(found, call.nowNs);
  if (found !== undefined && (hasBegun || continues)) {
    requireSameFields(found, beginning);
  } else {
    checkRoom(stores, call, { bucket, key, reservedBytes: reservedBytes(beginning) });
    checkReplacement(stores, call, { session: beginning, bucket, key });
  }
  const [begun, ended] = hasBegun ? [found, undefined] : [undefined, found];
  return { bucket, key, beginning, begun, ended };
}

function newSession(nowNs: bigint) {
  return {
    ...emptyTail,
    status: 'active' as const,
    uploadedSize: 0,
    receivedChunks: 0,
    chunkSize: 0,
    received: emptyBytes,
    chunkIndexEnd: 0,
    isNoted: true,
    createdAtNs: nowNs,
    updatedAtNs: nowNs,
    fileId: '',
  };
}

/**
 * Refuses unless the upload may be stored at its path; returns the file that it replaces. `key`:
 * the key that began the upload.
 */
export function checkReplacement(
  stores: Stores,
  call: Call,
  upload: {
    readonly session: Beginning;
    readonly bucket: Bucket;
    readonly key: ApiKey | undefined;
    readonly conditions?: WritePreconditions | undefined;
  },
): FileRecord | undefined {
  const { session, bucket, key, conditions = {} } = upload;
  checkFileCount(key, 1);
  const old = findFile(stores, session.bucketId, session.path);
  // Before the conditions, which would tell whether the file has a certain content
  checkAddition(key, session.path, old !== undefined);
  checkWritePreconditions(old && entityTag(old), {
    ifMatch: session.ifMatch || undefined,
    ifNoneMatch: session.ifNoneMatch || undefined,
  });
  checkWritePreconditions(old && entityTag(old), conditions);
  checkUnmodifiedSince(old?.updatedAtNs, conditions);
  return old && requireRetirable(bucket, old, call);
}

/** Begins a session, or returns the caller's open session with the same token. */
export function beginUpload(stores: Stores, call: Call, request: UploadRequest): UploadSession {
  return begunUpload(stores, checkUploadRequest(stores, call, request));
}

/** Like beginUpload(), after checkUploadRequest(). */
export function begunUpload(stores: Stores, checked: CheckedUpload): UploadSession {
  const { bucket, begun, ended, beginning } = checked;
  if (begun !== undefined) return begun;
  const { content, key } = createContent(stores, bucket);
  key.fill(0);
  const session = { ...beginning, ...content, uploadId: newUploadId(stores) };
  saveSession(stores, session);
  scheduleExpiry(stores, session, checked.key?.expiresAtNs);
  noteUpload(stores, session, reservedBytes(session));
  if (ended !== undefined) forgetToken(stores, ended);
  noteToken(stores, session);
  saveBucket(stores, withUploadCounted(bucket, session, 1), bucket);
  return session;
}

/** Returns the bytes of the bucket's quota that the open upload reserves. */
export function reservedBytes(session: Beginning): number {
  return session.totalSize + (session.isNoted ? overheadBytesOf(session) : 0);
}

/** Returns the bucket with one open upload more or less. */
export function withUploadCounted(bucket: Bucket, session: UploadSession, change: 1 | -1): Bucket {
  return {
    ...bucket,
    openUploadCount: bucket.openUploadCount + change,
    openUploadByteCount: bucket.openUploadByteCount + change * reservedBytes(session),
  };
}

/** Counts the new size of a session of unknown size in place of its old one. */
export function recountUpload(
  stores: Stores,
  bucket: Bucket,
  { session, saved }: { readonly session: UploadSession; readonly saved: UploadSession },
): void {
  const reserved = reservedBytes(saved);
  const openUploadByteCount = bucket.openUploadByteCount + reserved - reservedBytes(session);
  saveBucket(stores, { ...bucket, openUploadByteCount }, bucket);
  if (saved.isNoted) noteUpload(stores, saved, reserved);
}

/** Removes a session that ends without a file. */
export function closeUpload(stores: Stores, session: UploadSession): void {
  if (session.isNoted) forgetUpload(stores, session);
  const bucket = present(findBucket(stores, session.bucketId), 'bucket of an upload');
  saveBucket(stores, withUploadCounted(bucket, session, -1), bucket);
}

/** The way by which a caller addresses a session. */
export interface UploadName {
  readonly uploadId: string;
  /** Whether the call comes over HTTP, with a key that was already found to allow writing. */
  readonly isOverHttp?: boolean;
}

/** Like getUpload(), over HTTP: only for sessions of the bucket and within the key's prefix. */
export function getUploadOf(
  stores: Stores,
  call: Call,
  name: { readonly bucket: string; readonly uploadId: string; readonly apiKey: ApiKey },
): UploadSession {
  const { bucket, uploadId, apiKey: key } = name;
  const { bucketId, path } = getSession(stores, uploadId);
  if (bucketId !== bucket || !isWithin({ key }, { path })) {
    throw noSuchUpload(uploadId);
  }
  return getUpload(stores, call, { uploadId, isOverHttp: true });
}

/**
 * Returns the session to a caller who may continue it. Refuses actor calls for a session that was
 * begun over HTTP.
 */
export function continuedUpload(stores: Stores, call: Call, name: UploadName): UploadSession {
  const session = getUpload(stores, call, name);
  if (isBegunElsewhere(session, name)) {
    throw new Refusal(
      'AccessDenied',
      'The upload was begun over HTTP: send its chunks and its completion over HTTP, with the key.',
    );
  }
  return session;
}

/** Returns the session to a caller who may view and cancel it. */
export function getUpload(stores: Stores, call: Call, name: UploadName): UploadSession {
  const session = getSession(stores, name.uploadId);
  // Owners of the bucket see every session.
  if (isBegunElsewhere(session, name) && !isOwner(stores, call, session.bucketId)) {
    throw noSuchUpload(name.uploadId);
  }
  const begunWithKey = session.keyHash.length > 0;
  const isOwn = begunWithKey || isBegunBy(call.caller, session);
  if (!isOwn && !isOwner(stores, call, session.bucketId)) {
    throw new Refusal(
      'AccessDenied',
      'Only the principal that began the upload and owners of its bucket may continue it.',
    );
  }
  return session;
}

/** Whether the session was begun over HTTP and is addressed by an actor call. */
function isBegunElsewhere(session: UploadSession, name: UploadName): boolean {
  return session.isOverHttp && name.isOverHttp !== true;
}

/**
 * Returns a bucket's open sessions to its owners and keys with every permission; a key with a
 * prefix gets only its own sessions.
 */
export function listUploads(
  stores: Stores,
  call: Call,
  request: { readonly bucket: string; readonly apiKey: SentKey },
): UploadSession[] {
  const { bucket, apiKey } = request;
  let holder: Uint8Array | undefined;
  if (apiKey === undefined) ownedBucket(stores, call, bucket);
  for (const permission of apiKey === undefined ? [] : filePermissions) {
    const { key } = authorize(stores, call, { bucket, apiKey, permission, place: 'later' });
    if (key !== undefined && key.prefix !== '') holder = keyHolder(key.hash);
  }
  const uploads = openUploadsOf(stores, bucket, holder);
  const sessions = uploads.map(({ uploadId }) => getSession(stores, uploadId));
  return sessions.sort((left, right) => Number(left.createdAtNs - right.createdAtNs));
}

/**
 * Refuses if the key that began the session, or a key sent now, no longer allows writing. Returns
 * the key that pays: the sent one, else the one that began the session.
 */
export function requireStillAllowed(
  stores: Stores,
  call: Call,
  claim: { readonly session: UploadSession; readonly apiKey: SentKey },
): ApiKey | undefined {
  const { session, apiKey } = claim;
  const { bucketId: bucket, path, keyHash } = session;
  const sent =
    apiKey !== undefined || keyHash.length === 0
      ? authorize(stores, call, { bucket, path, permission: 'upload', apiKey }).key
      : undefined;
  if (!restsOnGoodKey(stores, session, call.nowNs)) {
    throw new Refusal(
      'InvalidApiKey',
      'The API key that began the upload is no longer valid, which ends the upload: ' +
        'begin a new one with a valid key.',
    );
  }
  // useKey() has already charged a sent key.
  if (sent !== undefined) return sent;
  const key = keyOf(stores, session);
  chargeKey(stores, call, key);
  return key;
}

/** Returns false once the key that began the session is no longer valid for its bucket. */
export function restsOnGoodKey(stores: Stores, session: UploadSession, nowNs: bigint): boolean {
  if (session.keyHash.length === 0) return true;
  const key = keyOf(stores, session);
  if (key === undefined || !isKeyGood(key, nowNs)) return false;
  const bucket = key.buckets.includes(session.bucketId)
    ? findBucket(stores, session.bucketId)
    : undefined;
  return bucket !== undefined && isStillGranted(stores, key, bucket);
}

/** Returns the key that began the session. */
export function keyOf(stores: Stores, session: Pick<UploadSession, 'keyHash'>): ApiKey | undefined {
  return session.keyHash.length > 0 ? findKeyByHash(stores, session.keyHash) : undefined;
}

function isBegunBy(caller: Caller, session: UploadSession): boolean {
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
