// Uploads whose bytes arrive in order, each message with bytes of any length at the offset where
// the last one ended (tus 1.0). The bytes are stored as chunks of one length, which the first
// message determines; the last chunk is stored again, longer, when more bytes arrive. The message
// that brings the last byte also stores the file.

import {
  chunkBytesMax,
  chunkBytesMin,
  chunkCountMax,
  singleUploadBytesMax,
} from '../../../packages/wire/src/limits.ts';
import { sha256 } from '../../crypto/hash.ts';
import { present } from '../../lib/assert.ts';
import { withBit } from '../../lib/bit-set.ts';
import { concatBytes } from '../../lib/bytes.ts';
import { type Bucket, findBucket } from '../buckets/buckets.ts';
import { readContent } from '../contents/contents.ts';
import { checkSiteFile } from '../files/site-headers.ts';
import { withFileKey } from '../keys/file-keys.ts';
import type { SentKey } from '../rights/rights.ts';
import { requireAgeStart } from '../shared/age-format.ts';
import type { Call } from '../shared/caller.ts';
import { Refusal } from '../shared/refusal.ts';
import type { Stores } from '../shared/stores.ts';
import { writeSessionChunk } from './upload-chunks.ts';
import { type CompletedUpload, finishUpload } from './upload-end.ts';
import { saveSession, type UploadSession } from './upload-session.ts';
import {
  type Beginning,
  checkReplacement,
  continuedUpload,
  keyOf,
  requireActive,
  requireStillAllowed,
  type UploadName,
} from './uploads.ts';

export interface AppendRequest extends UploadName {
  readonly apiKey: SentKey;
  /** The byte of the file that the first of `bytes` is. */
  readonly offset: bigint;
  readonly bytes: Uint8Array;
}

export interface Appended {
  readonly session: UploadSession;
  /** The file, if these were its last bytes. */
  readonly stored?: CompletedUpload;
}

/** Refuses what appendBytes() would refuse; changes nothing. */
export function checkAppend(stores: Stores, call: Call, request: AppendRequest): UploadSession {
  const session = continuedUpload(stores, call, request);
  requireStillAllowed(stores, call, { session, apiKey: request.apiKey });
  requireActive(session, call.nowNs);
  requireAppendable(stores, call, { session, ...request });
  return session;
}

/** Refuses bytes that do not continue the session, which need not be stored yet. */
export function requireAppendable(
  stores: Stores,
  call: Call,
  {
    session,
    offset,
    bytes,
  }: Pick<AppendRequest, 'offset' | 'bytes'> & { session: Beginning | UploadSession },
): void {
  if (!session.isInOrder) {
    throw new Refusal(
      'InvalidArgument',
      'The upload was begun for chunks with indexes: send them to …/upload/{id}/chunk/{index}.',
    );
  }
  const { uploadedSize, totalSize } = session;
  if (offset !== BigInt(uploadedSize)) {
    throw new Refusal(
      'OffsetMismatch',
      `The upload has received ${uploadedSize} bytes, so the next ones have that offset; got ${offset}. ` +
        'Ask for the offset with HEAD, and continue there.',
      { offset: uploadedSize },
    );
  }
  requireSize(session, bytes.length);
  const bucket = present(findBucket(stores, session.bucketId), 'bucket of an upload');
  if (bucket.isEndToEnd && uploadedSize === 0 && bytes.length > 0) {
    requireAgeStart(bucket.id, bytes);
  }
  if (uploadedSize + bytes.length < totalSize) return;
  // The last bytes are stored only if the file can be stored too
  checkSiteFile(bucket, { path: session.path, size: totalSize }, () =>
    wholeContent(stores, bucket, { session, bytes }),
  );
  checkReplacement(stores, call, { session, bucket, key: keyOf(stores, session) });
}

/** Returns the bytes received before, which a new session does not have, and the last ones. */
function wholeContent(
  stores: Stores,
  bucket: Bucket,
  { session, bytes }: Pick<AppendRequest, 'bytes'> & { session: Beginning | UploadSession },
): Uint8Array {
  if (session.uploadedSize === 0 || !('contentId' in session)) return bytes;
  const { contentId, declaredChunkSize: chunkSize, uploadedSize: size } = session;
  const stored = withFileKey(stores, { ...session, bucket }, (key) =>
    readContent(stores, { contentId, chunkSize, size }, { start: 0, end: size, key }),
  );
  return concatBytes(stored, bytes);
}

function requireSize({ uploadedSize, totalSize }: Beginning, length: number): void {
  if (length > singleUploadBytesMax) {
    throw new Refusal(
      'EntityTooLarge',
      `A request has at most ${singleUploadBytesMax} bytes of the file; this one has ${length}. ` +
        'Set the chunk size of the client to that number or less.',
      { limit: singleUploadBytesMax, size: length },
    );
  }
  const size = uploadedSize + length;
  if (size <= totalSize) return;
  throw new Refusal(
    'EntityTooLarge',
    `The upload was declared with ${totalSize} bytes; with these it would have ${size}.`,
    { limit: totalSize, size },
  );
}

/** Stores the bytes; with the last one, stores the file. */
export function appendBytes(stores: Stores, call: Call, request: AppendRequest): Appended {
  const { bytes, apiKey, uploadId, isOverHttp } = request;
  const begun = checkAppend(stores, call, request);
  const session = bytes.length === 0 ? begun : storeBytes(stores, call, { session: begun, bytes });
  if (session.uploadedSize < session.totalSize) return { session };
  const name = isOverHttp === undefined ? { uploadId } : { uploadId, isOverHttp };
  const stored = finishUpload(stores, call, { ...name, apiKey });
  return { session: stored.session, stored };
}

/**
 * Returns the length of all chunks but the last. The length of the first message makes the cheapest
 * chunks, since a client usually sends equal lengths: then no chunk is stored twice.
 */
function chunkLengthFor(totalSize: number, firstLength: number): number {
  const least = Math.max(chunkBytesMin, Math.ceil(totalSize / chunkCountMax));
  const parts = Math.ceil(firstLength / chunkBytesMax);
  const isEven = firstLength % parts === 0;
  return Math.max(least, isEven ? firstLength / parts : chunkBytesMax);
}

interface NewBytes {
  readonly session: UploadSession;
  readonly bytes: Uint8Array;
}

function storeBytes(stores: Stores, call: Call, { session: begun, bytes }: NewBytes) {
  const bucket = present(findBucket(stores, begun.bucketId), 'bucket of an upload');
  const declaredChunkSize =
    begun.declaredChunkSize || chunkLengthFor(begun.totalSize, bytes.length);
  const session = withFileKey(stores, { ...begun, bucket }, (key) => {
    let next: UploadSession = { ...begun, declaredChunkSize, updatedAtNs: call.nowNs };
    for (let start = 0; start < bytes.length; ) {
      const room = declaredChunkSize - (next.uploadedSize % declaredChunkSize);
      const end = Math.min(bytes.length, start + room);
      next = storePiece(stores, { session: next, bytes: bytes.subarray(start, end), key });
      start = end;
    }
    return next;
  });
  saveSession(stores, session);
  return session;
}

/** Stores bytes that lie in one chunk, after those that the chunk already has. */
function storePiece(
  stores: Stores,
  { session, bytes, key }: NewBytes & { readonly key: Uint8Array },
): UploadSession {
  const { contentId, uploadedSize, declaredChunkSize, updatedAtNs: nowNs } = session;
  const index = Math.floor(uploadedSize / declaredChunkSize);
  const start = index * declaredChunkSize;
  const isNew = start === uploadedSize;
  const content = { contentId, chunkSize: declaredChunkSize, size: uploadedSize };
  const chunk = isNew
    ? bytes
    : concatBytes(readContent(stores, content, { start, end: uploadedSize, key }), bytes);
  const written = { index, bytes: chunk, digest: sha256(chunk), key, nowNs };
  return {
    ...session,
    ...writeSessionChunk(stores, session, written),
    uploadedSize: uploadedSize + bytes.length,
    receivedChunks: session.receivedChunks + (isNew ? 1 : 0),
    chunkSize: Math.max(session.chunkSize, chunk.length),
    received: withBit(session.received, index),
    chunkIndexEnd: index + 1,
  };
}
