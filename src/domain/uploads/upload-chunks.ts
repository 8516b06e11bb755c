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
import { saveSession, segmentNoncesEnd, type UploadSession } from './upload-session.ts';
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
  const nextNonce = session.nextNonce + segmentCount(bytes.length);
  assert(nextNonce < segmentNoncesEnd, 'the nonces of segments are below those of records');
  const nonce = { counter: session.nextNonce, timeNs: call.nowNs };
  withFileKey(stores, { ...session, bucket }, (key) =>
    writeChunk(stores, { contentId: session.contentId, index }, { bytes, digest, nonce, key }),
  );
  const digestPages = writeDigest(stores, session, { index, digest });
  const next = withChunk(stores, prepared, { index, length: bytes.length });
  const saved = { ...next, digestPages, nextNonce, fileDigest, updatedAtNs: call.nowNs };
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
