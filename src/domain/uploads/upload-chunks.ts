// Chunks of an upload: they arrive in any order and in parallel messages, and each is stored at
// once. A refused chunk does not change the session.

import { sha256 } from '../../crypto/hash.ts';
import { assert, present } from '../../lib/assert.ts';
import { withBit } from '../../lib/bit-set.ts';
import { bytesEqual } from '../../lib/bytes.ts';
import { type Bucket, findBucket } from '../buckets/buckets.ts';
import { type Chunk, findChunk, segmentCount } from '../contents/chunk-records.ts';
import { writeChunk } from '../contents/contents.ts';
import { withFileKey } from '../keys/file-keys.ts';
import type { SentKey } from '../rights/rights.ts';
import { checkFileBytes } from '../rights/upload-bounds.ts';
import { requireAgeStart } from '../shared/age-format.ts';
import type { Call } from '../shared/caller.ts';
import { Refusal } from '../shared/refusal.ts';
import type { Stores } from '../shared/stores.ts';
import { checkChunkShape } from './chunk-rules.ts';
import { requireDigest } from './single-upload.ts';
import { writeDigest } from './upload-digests.ts';
import { checkGrowth } from './upload-room.ts';
import { saveSession, type UploadSession } from './upload-session.ts';
import {
  continuedUpload,
  keyOf,
  recountUpload,
  requireActive,
  requireStillAllowed,
  type UploadName,
} from './uploads.ts';

export interface ChunkRequest extends UploadName {
  /** A valid key, which may differ from the one that began the session. */
  readonly apiKey?: SentKey;
  readonly chunkIndex: bigint;
  readonly bytes: Uint8Array;
  /** SHA-256 digests that the sender declares for the bytes. */
  readonly digests?: readonly Uint8Array[];
  /** Digest that the whole file must have, so that the last chunk can complete it. */
  readonly fileDigest?: Uint8Array | undefined;
}

/** Refuses what putChunk() would refuse, except for a wrong digest, see checkChunkDigest(). */
export function checkChunk(stores: Stores, call: Call, request: ChunkRequest): UploadSession {
  return prepareChunk(stores, call, request).session;
}

/** Refuses a wrong digest with BadDigest. Hashing 1.9 MB costs 140 M instructions. */
export function checkChunkDigest(request: ChunkRequest): void {
  if (request.digests !== undefined && request.digests.length > 0) {
    requireDigest(sha256(request.bytes), request.digests);
  }
}

/** From this number on, nonces belong to records, see file-layout.ts. */
const segmentNoncesEnd = 2 ** 31;

interface PreparedChunk {
  readonly session: UploadSession;
  readonly bucket: Bucket;
  /** The chunk that currently has this index. */
  readonly old: Chunk | undefined;
  readonly uploadedSize: number;
}

function prepareChunk(stores: Stores, call: Call, request: ChunkRequest): PreparedChunk {
  const session = continuedUpload(stores, call, request);
  requireStillAllowed(stores, call, { session, apiKey: request.apiKey });
  requireActive(session, call.nowNs);
  if (session.isInOrder) {
    throw new Refusal(
      'InvalidArgument',
      'The upload was begun by tus, which sends the bytes in order: continue it with PATCH.',
    );
  }
  const { length } = request.bytes;
  checkChunkShape(session, { index: request.chunkIndex, length });
  const index = Number(request.chunkIndex);
  const old = findChunk(stores, { contentId: session.contentId, index });
  const added = length - (old?.length ?? 0);
  const uploadedSize = session.uploadedSize + added;
  const bucket = present(findBucket(stores, session.bucketId), 'bucket of an upload');
  if (bucket.isEndToEnd && index === 0) requireAgeStart(bucket.id, request.bytes);
  if (!session.isSizeKnown) {
    checkFileBytes(keyOf(stores, session), uploadedSize);
    checkGrowth(stores, call, { bucket, session, bytes: added });
  } else if (uploadedSize > session.totalSize) {
    throw new Refusal(
      'EntityTooLarge',
      `The upload was declared with ${session.totalSize} bytes; with this chunk it would have ${uploadedSize}.`,
      { limit: session.totalSize, size: uploadedSize },
    );
  }
  return { session, bucket, old, uploadedSize };
}

/**
 * Seals the chunk with nonces that the session has not used yet, and stores its digest. Returns the
 * changed fields of the session.
 */
export function writeSessionChunk(
  stores: Stores,
  session: UploadSession,
  chunk: {
    readonly index: number;
    readonly bytes: Uint8Array;
    readonly digest: Uint8Array;
    readonly key: Uint8Array;
    readonly nowNs: bigint;
  },
): Pick<UploadSession, 'digestPages' | 'nextNonce'> {
  const { index, bytes, digest, key, nowNs: timeNs } = chunk;
  const nextNonce = session.nextNonce + segmentCount(bytes.length);
  assert(nextNonce < segmentNoncesEnd, 'the nonces of segments are below those of records');
  const nonce = { counter: session.nextNonce, timeNs };
  const address = { contentId: session.contentId, index };
  writeChunk(stores, address, { bytes, digest, nonce, key });
  return { digestPages: writeDigest(stores, session, { index, digest }), nextNonce };
}

/** Stores a chunk, replacing one with the same index; returns the changed session. */
export function putChunk(stores: Stores, call: Call, request: ChunkRequest): UploadSession {
  return storeChunk(stores, call, request).session;
}

/** Like putChunk(), with the SHA-256 of the chunk. */
export function storeChunk(
  stores: Stores,
  call: Call,
  request: ChunkRequest,
): { readonly session: UploadSession; readonly digest: Uint8Array } {
  const prepared = prepareChunk(stores, call, request);
  const { bytes } = request;
  const digest = sha256(bytes);
  requireDigest(digest, request.digests ?? []);
  const { session, old, bucket } = prepared;
  const { fileDigest = session.fileDigest } = request;
  const isNew = old === undefined || !bytesEqual(old.digest, digest);
  if (!isNew && bytesEqual(fileDigest, session.fileDigest)) {
    return { session, digest };
  }
  const index = Number(request.chunkIndex);
  const chunk = { index, bytes, digest, nowNs: call.nowNs };
  const written = withFileKey(stores, { ...session, bucket }, (key) =>
    writeSessionChunk(stores, session, { ...chunk, key }),
  );
  const next = withChunk(stores, prepared, { index, length: bytes.length });
  const saved = { ...next, ...written, fileDigest, updatedAtNs: call.nowNs };
  saveSession(stores, saved);
  if (saved.totalSize !== session.totalSize) recountUpload(stores, bucket, { session, saved });
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
    totalSize: session.isSizeKnown ? session.totalSize : uploadedSize,
    receivedChunks: session.receivedChunks + (old === undefined ? 1 : 0),
    chunkSize: shrinks
      ? largestChunk(stores, session, chunk)
      : Math.max(session.chunkSize, chunk.length),
    received: withBit(session.received, chunk.index),
    chunkIndexEnd: Math.max(session.chunkIndexEnd, chunk.index + 1),
  };
}

/**
 * Returns the length of the largest chunk after a smaller one, already stored, replaced one of the
 * largest. Usually another chunk is as large; with a declared length, all others are.
 */
function largestChunk(
  stores: Stores,
  session: UploadSession,
  chunk: { readonly length: number },
): number {
  if (session.receivedChunks === 1) return chunk.length;
  if (session.declaredChunkSize > 0) return session.declaredChunkSize;
  let largest = 0;
  for (let index = 0; index < session.chunkIndexEnd && largest < session.chunkSize; index++) {
    const found = findChunk(stores, { contentId: session.contentId, index });
    largest = Math.max(largest, found?.length ?? 0);
  }
  return largest;
}
