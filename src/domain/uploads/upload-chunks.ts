// Chunks of an upload: they arrive in any order and in parallel messages, and each is stored at
// once. A refused one leaves the session as it is.

import { sha256 } from '../../crypto/hash.ts';
import { present } from '../../lib/assert.ts';
import { withBit } from '../../lib/bit-set.ts';
import { bytesEqual } from '../../lib/bytes.ts';
import { chunkBytesMax, chunkCountMax } from '../../limits.ts';
import type { SentKey } from '../access/access.ts';
import { findBucket } from '../buckets/buckets.ts';
import { type Chunk, findChunk, segmentCount } from '../contents/chunk-records.ts';
import { writeChunk } from '../contents/contents.ts';
import { withFileKey } from '../keys/file-keys.ts';
import type { Call } from '../shared/caller.ts';
import { Refusal } from '../shared/refusal.ts';
import type { Stores } from '../shared/stores.ts';
import { requireDigest } from './single-upload.ts';
import { writeDigest } from './upload-digests.ts';
import { chunkCount, saveSession, type UploadSession } from './upload-session.ts';
import { continuedUpload, requireActive, requireStillAllowed, type UploadName } from './uploads.ts';

export interface ChunkRequest extends UploadName {
  /** Another good key than the one that the session was begun with. */
  readonly apiKey?: SentKey;
  readonly chunkIndex: bigint;
  readonly bytes: Uint8Array;
  /** SHA-256 digests that the sender says the bytes have. */
  readonly digests?: readonly Uint8Array[];
}

/** Refuses what putChunk() would refuse but for a wrong digest, see checkChunkDigest(). */
export function checkChunk(stores: Stores, call: Call, request: ChunkRequest): UploadSession {
  return prepareChunk(stores, call, request).session;
}

/** Refuses with BadDigest when one differs. Hashing costs: 140 M instructions for 1.9 MB. */
export function checkChunkDigest(request: ChunkRequest): void {
  if (request.digests !== undefined && request.digests.length > 0) {
    requireDigest(sha256(request.bytes), request.digests);
  }
}

interface PreparedChunk {
  readonly session: UploadSession;
  /** What has this index now. */
  readonly old: Chunk | undefined;
  readonly uploadedSize: number;
}

function prepareChunk(stores: Stores, call: Call, request: ChunkRequest): PreparedChunk {
  const session = continuedUpload(stores, call, request);
  requireActive(session, call.nowNs);
  requireStillAllowed(stores, call, { session, apiKey: request.apiKey });
  const { length } = request.bytes;
  if (length > chunkBytesMax) {
    throw new Refusal(
      'EntityTooLarge',
      `A chunk has at most ${chunkBytesMax} bytes; this one has ${length}.`,
      { limit: chunkBytesMax, size: length },
    );
  }
  checkIndex(session, request.chunkIndex);
  const index = Number(request.chunkIndex);
  checkLength(session, index, length);
  const old = findChunk(stores, { contentId: session.contentId, index });
  const uploadedSize = session.uploadedSize - (old?.length ?? 0) + length;
  if (uploadedSize > session.totalSize) {
    throw new Refusal(
      'EntityTooLarge',
      `The upload was begun for ${session.totalSize} bytes; with this chunk it has ${uploadedSize}.`,
      { limit: session.totalSize, size: uploadedSize },
    );
  }
  return { session, old, uploadedSize };
}

function checkIndex(session: UploadSession, index: bigint): void {
  const count = session.declaredChunkSize > 0 ? chunkCount(session) : chunkCountMax;
  if (index >= BigInt(count)) {
    throw new Refusal(
      'InvalidChunkIndex',
      count > 0
        ? `Chunk indexes go from 0 to ${count - 1} here; got ${index}.`
        : 'A file of no bytes has no chunk: complete the upload.',
      { chunkCount: count },
    );
  }
}

function checkLength(session: UploadSession, index: number, length: number): void {
  const { declaredChunkSize, totalSize } = session;
  if (length === 0) {
    throw new Refusal('ChunkSizeMismatch', 'A chunk has at least one byte.');
  }
  const expected = Math.min(declaredChunkSize, totalSize - index * declaredChunkSize);
  if (declaredChunkSize > 0 && length !== expected) {
    throw new Refusal(
      'ChunkSizeMismatch',
      `Chunk ${index} of this upload has ${expected} bytes, since chunkSize is ${declaredChunkSize} ` +
        `and size ${totalSize}; got ${length}.`,
      { expected, size: length },
    );
  }
}

/** Stores a chunk, in place of one with that index; returns the session as it is after it. */
export function putChunk(stores: Stores, call: Call, request: ChunkRequest): UploadSession {
  return storeChunk(stores, call, request).session;
}

/** As putChunk(), with the SHA-256 of the chunk. */
export function storeChunk(
  stores: Stores,
  call: Call,
  request: ChunkRequest,
): { readonly session: UploadSession; readonly digest: Uint8Array } {
  const prepared = prepareChunk(stores, call, request);
  const { bytes } = request;
  const digest = sha256(bytes);
  requireDigest(digest, request.digests ?? []);
  const { session, old } = prepared;
  if (old !== undefined && bytesEqual(old.digest, digest)) {
    return { session, digest };
  }
  const index = Number(request.chunkIndex);
  const nonce = { counter: session.nextNonce, timeNs: call.nowNs };
  const bucket = present(findBucket(stores, session.bucketId), 'bucket of an upload');
  withFileKey(stores, { ...session, bucket }, (key) =>
    writeChunk(stores, { contentId: session.contentId, index }, { bytes, digest, nonce, key }),
  );
  writeDigest(stores, session, { index, digest });
  const next = withChunk(stores, prepared, { index, length: bytes.length });
  const nextNonce = session.nextNonce + segmentCount(bytes.length);
  const saved = { ...next, nextNonce, updatedAtNs: call.nowNs };
  saveSession(stores, saved);
  return { session: saved, digest };
}

function withChunk(
  stores: Stores,
  prepared: PreparedChunk,
  chunk: { readonly index: number; readonly length: number },
): UploadSession {
  const { session, old, uploadedSize } = prepared;
  const shrinks = old?.length === session.chunkSize && chunk.length < session.chunkSize;
  return {
    ...session,
    uploadedSize,
    receivedChunks: session.receivedChunks + (old === undefined ? 1 : 0),
    chunkSize: shrinks ? largestChunk(stores, session) : Math.max(session.chunkSize, chunk.length),
    received: withBit(session.received, chunk.index),
    chunkIndexEnd: Math.max(session.chunkIndexEnd, chunk.index + 1),
  };
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
