// Chunked uploads: chunks arrive in any order and in parallel messages, each is stored at once, and
// completion writes the file's record without moving a byte. A refused step keeps the session.

import { sha256 } from '../crypto/hash.ts';
import { present } from '../lib/assert.ts';
import { withBit } from '../lib/bit-set.ts';
import { bytesEqual, emptyBytes } from '../lib/bytes.ts';
import { chunkBytesMax, chunkCountMax, fileBytesMax, openUploadCountMax } from '../limits.ts';
import { authorize } from './access.ts';
import { findBucket, saveBucket } from './buckets.ts';
import { type Call, type Caller, isAnonymous } from './caller.ts';
import { findChunk, writeChunk } from './contents.ts';
import { parseBucketId, parseContentType, parseFilePath, parseTags } from './names.ts';
import { Refusal } from './refusal.ts';
import { nextContentId, type Stores } from './stores.ts';
import {
  expiresAtNs,
  getSession,
  saveSession,
  scheduleExpiry,
  type UploadSession,
  uploadIdOf,
} from './upload-session.ts';

export interface UploadRequest {
  readonly bucket: string;
  readonly path: string;
  readonly contentType: string;
  readonly tags: readonly string[];
  readonly size: bigint;
  readonly apiKey: string | undefined;
}

/** Refuses what beginUpload() would refuse, before random is fetched; changes nothing. */
export function checkUploadRequest(stores: Stores, call: Call, request: UploadRequest) {
  const bucketId = parseBucketId(request.bucket);
  const claim = { bucket: bucketId, permission: 'write', apiKey: request.apiKey } as const;
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
  return { bucket, key, path, contentType, tags, totalSize: Number(request.size) };
}

/** `random`: at least 16 bytes that nobody could foresee; they become the upload id. */
export function beginUpload(
  stores: Stores,
  call: Call,
  request: UploadRequest & { readonly random: Uint8Array },
): UploadSession {
  const checked = checkUploadRequest(stores, call, request);
  const { path, contentType, tags, totalSize } = checked;
  const session: UploadSession = {
    uploadId: uploadIdOf(request.random),
    status: 'active',
    contentId: nextContentId(stores),
    bucketId: checked.bucket.id,
    path,
    contentType,
    tags,
    totalSize,
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
  countOpenUploads(stores, session.bucketId, 1);
  return session;
}

/** In the bucket's record. */
export function countOpenUploads(stores: Stores, bucketId: string, change: 1 | -1): void {
  const bucket = present(findBucket(stores, bucketId), 'bucket of an upload');
  saveBucket(stores, { ...bucket, openUploadCount: bucket.openUploadCount + change });
}

/** The session, for a caller who may go on with it. */
export function getUpload(stores: Stores, call: Call, uploadId: string): UploadSession {
  const session = getSession(stores, uploadId);
  const begunWithKey = session.keyHash.length > 0;
  if (!begunWithKey && !isOwner(call.caller, session) && !call.caller.isController) {
    throw new Refusal(
      'AccessDenied',
      'Only the principal that began the upload may go on with it.',
    );
  }
  return session;
}

function isOwner(caller: Caller, session: UploadSession): boolean {
  return !isAnonymous(caller) && bytesEqual(caller.principal, session.owner);
}

function isExpired(session: UploadSession, nowNs: bigint): boolean {
  return session.status === 'expired' || expiresAtNs(session) <= nowNs;
}

export function requireActive(session: UploadSession, nowNs: bigint): void {
  if (session.status === 'completed') {
    throw new Refusal('UploadCompleted', 'The upload is completed: begin a new one.');
  }
  if (session.status === 'cancelled') {
    throw new Refusal('UploadCancelled', 'The upload was cancelled: begin a new one.');
  }
  if (isExpired(session, nowNs)) {
    throw new Refusal('UploadExpired', 'The upload has expired: begin a new one.');
  }
}

export interface ChunkRequest {
  readonly uploadId: string;
  readonly chunkIndex: bigint;
  readonly bytes: Uint8Array;
}

/** Refuses what putChunk() would refuse but for the chunk's own bytes; changes nothing. */
export function checkChunk(stores: Stores, call: Call, request: ChunkRequest): UploadSession {
  const session = getUpload(stores, call, request.uploadId);
  requireActive(session, call.nowNs);
  if (request.chunkIndex >= BigInt(chunkCountMax)) {
    throw new Refusal(
      'InvalidChunkIndex',
      `Chunk indexes go from 0 to ${chunkCountMax - 1}; got ${request.chunkIndex}.`,
    );
  }
  const { length } = request.bytes;
  if (length === 0) {
    throw new Refusal('ChunkSizeMismatch', 'A chunk has at least one byte.');
  }
  if (length > chunkBytesMax) {
    throw new Refusal(
      'EntityTooLarge',
      `A chunk has at most ${chunkBytesMax} bytes; this one has ${length}.`,
      { limit: chunkBytesMax, size: length },
    );
  }
  return session;
}

/** Stores a chunk, in place of one with that index; returns the session as it is after it. */
export function putChunk(stores: Stores, call: Call, request: ChunkRequest): UploadSession {
  const session = checkChunk(stores, call, request);
  const address = { contentId: session.contentId, index: Number(request.chunkIndex) };
  const old = findChunk(stores, address);
  const uploadedSize = session.uploadedSize - (old?.length ?? 0) + request.bytes.length;
  if (uploadedSize > session.totalSize) {
    throw new Refusal(
      'EntityTooLarge',
      `The upload was begun for ${session.totalSize} bytes; with this chunk it has ${uploadedSize}.`,
      { limit: session.totalSize, size: uploadedSize },
    );
  }
  const digest = sha256(request.bytes);
  if (old !== undefined && bytesEqual(old.digest, digest)) {
    return session;
  }
  writeChunk(stores, address, { bytes: request.bytes, digest });
  const shrinks = old?.length === session.chunkSize && request.bytes.length < session.chunkSize;
  const next: UploadSession = {
    ...session,
    uploadedSize,
    receivedChunks: session.receivedChunks + (old === undefined ? 1 : 0),
    chunkSize: shrinks
      ? largestChunk(stores, session)
      : Math.max(session.chunkSize, request.bytes.length),
    received: withBit(session.received, address.index),
    chunkIndexEnd: Math.max(session.chunkIndexEnd, address.index + 1),
    updatedAtNs: call.nowNs,
  };
  saveSession(stores, next);
  return next;
}

/** Counted anew when a smaller chunk has come in place of one of the largest. */
function largestChunk(stores: Stores, session: UploadSession): number {
  let largest = 0;
  for (let index = 0; index < session.chunkIndexEnd; index++) {
    const chunk = findChunk(stores, { contentId: session.contentId, index });
    largest = Math.max(largest, chunk?.length ?? 0);
  }
  return largest;
}
