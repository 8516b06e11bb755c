// Checks that a session's chunks are complete and of one length, and determines the digest and the
// record of the file that they form. Changes nothing.

import { createSha256State, finishSha256, sha256, updateSha256 } from '../../crypto/hash.ts';
import { present } from '../../lib/assert.ts';
import { bytesEqual, emptyBytes } from '../../lib/bytes.ts';
import { encodeHex } from '../../lib/hex.ts';
import { findBucket } from '../buckets/buckets.ts';
import { findChunk } from '../contents/chunk-records.ts';
import { readContent } from '../contents/contents.ts';
import {
  entityTag,
  type FileMetadata,
  type FileRecord,
  type NewFile,
} from '../files/file-records.ts';
import { withFileKey } from '../keys/file-keys.ts';
import { presentLeavesVersion } from '../shared/publication.ts';
import { Refusal } from '../shared/refusal.ts';
import type { Stores } from '../shared/stores.ts';
import { readDigests } from './upload-digests.ts';
import { isWhole, missingChunks, type UploadSession } from './upload-session.ts';

/** Maximum number of chunks that are compared for the message of a refusal. */
const comparedChunksMax = 40;

export interface Layout {
  /** Length of every chunk except the last; 1 for a file without chunks. */
  readonly chunkSize: number;
  /** SHA-256 of the bytes or, for several chunks, of the chunks' digests. */
  readonly digest: Uint8Array;
  /** SHA-256 of each chunk, 32 bytes each. */
  readonly chunkDigests: Uint8Array;
}

/** Refuses missing chunks and chunks of several lengths; the session stays unchanged. */
export function requireWhole(stores: Stores, session: UploadSession): void {
  if (!isWhole(session)) {
    throw incomplete(session);
  }
  const { chunkSize, chunkIndexEnd: count, totalSize } = session;
  // No chunk is longer than chunkSize, and all have totalSize bytes together: so if the last one
  // has exactly the bytes that count - 1 chunks of chunkSize leave, all others have chunkSize.
  const lastLength = totalSize - (count - 1) * chunkSize;
  const last = findChunk(stores, { contentId: session.contentId, index: count - 1 });
  if (count > 1 && last?.length !== lastLength) {
    throw unevenChunks(stores, session);
  }
}

/** Returns the layout of a session that has all its chunks. */
export function layoutOf(stores: Stores, session: UploadSession): Layout {
  const { chunkSize, chunkIndexEnd: count } = session;
  const chunkDigests = readDigests(stores, session);
  const digest = count === 1 ? chunkDigests : sha256(chunkDigests);
  return { chunkSize: Math.max(chunkSize, 1), digest, chunkDigests };
}

function incomplete(session: UploadSession): Refusal {
  const { uploadedSize, totalSize, isSizeKnown, receivedChunks, chunkIndexEnd } = session;
  const lack = isSizeKnown
    ? `has ${uploadedSize} of ${totalSize} bytes`
    : `has ${receivedChunks} chunks of ${chunkIndexEnd}`;
  return new Refusal(
    'UploadIncomplete',
    `The upload ${lack}: send the missing chunks and complete it again.`,
    { missing: missingChunks(session), uploadedSize, totalSize },
  );
}

/** Names a chunk of a wrong length only if it is among the first ones: each takes a look-up. */
function unevenChunks(stores: Stores, session: UploadSession): Refusal {
  const lengthOf = (index: number) =>
    present(findChunk(stores, { contentId: session.contentId, index }), 'received chunk').length;
  const first = lengthOf(0);
  const end = Math.min(session.chunkIndexEnd - 1, comparedChunksMax);
  let index = 1;
  while (index < end && lengthOf(index) === first) index += 1;
  const rule = 'all chunks except the last must have the same length.';
  const found =
    index === comparedChunksMax && lengthOf(index) === first
      ? `A chunk after the first ${comparedChunksMax} does not have the ${first} bytes of chunk 0`
      : `Chunk ${index} has ${lengthOf(index)} bytes, chunk 0 has ${first}`;
  return new Refusal('ChunkSizeMismatch', `${found}: ${rule}`);
}

/** Refuses with BadDigest unless the chunks give the file this entity tag. */
export function requireTag(
  { session, layout }: { readonly session: UploadSession; readonly layout: Layout },
  declared: string | undefined,
): void {
  const actual = entityTag({ ...layout, chunkCount: session.chunkIndexEnd });
  if (declared === undefined || `"${declared}"` === actual) return;
  throw new Refusal(
    'BadDigest',
    `The uploaded chunks have the entity tag ${actual}, not the declared one: send the missing or wrong ` +
      'chunks and complete the upload, or cancel it.',
  );
}

/** Refuses with BadDigest unless the bytes have these SHA-256 digests. */
export function verifyFile(
  stores: Stores,
  upload: { readonly session: UploadSession; readonly layout: Layout },
  declared: readonly Uint8Array[],
): void {
  const { session, layout } = upload;
  if (declared.length === 0) {
    return;
  }
  const actual = session.chunkIndexEnd <= 1 ? layout.digest : hashContent(stores, session, layout);
  if (!declared.every((digest) => bytesEqual(digest, actual))) {
    throw new Refusal(
      'BadDigest',
      `The uploaded bytes have the SHA-256 ${encodeHex(actual)}, not the declared one: send the wrong ` +
        'chunks again and complete the upload, or cancel it.',
      { sha256: encodeHex(actual) },
    );
  }
}

/** Hashes chunk by chunk; only for files that one message can hash. */
function hashContent(stores: Stores, session: UploadSession, layout: Layout): Uint8Array {
  const bucket = present(findBucket(stores, session.bucketId), 'bucket of an upload');
  return withFileKey(stores, { ...session, bucket }, (key) =>
    hashOpened(stores, { session, layout, key }),
  );
}

function hashOpened(
  stores: Stores,
  opened: { readonly session: UploadSession; readonly layout: Layout; readonly key: Uint8Array },
): Uint8Array {
  const { session, layout, key } = opened;
  const { contentId, totalSize: size } = session;
  const state = createSha256State();
  for (let start = 0; start < size; start += layout.chunkSize) {
    const end = Math.min(size, start + layout.chunkSize);
    const content = { contentId, size, chunkSize: layout.chunkSize };
    updateSha256(state, readContent(stores, content, { start, end, key }));
  }
  return finishSha256(state);
}

function metadataOf(session: UploadSession): FileMetadata {
  const { contentType, tags, headers, metadata } = session;
  return { contentType, tags, headers, metadata };
}

/** Returns the file that completion stores at the session's path. */
export function newFileOf(session: UploadSession, layout: Layout): Omit<NewFile, 'key'> {
  return {
    ...metadataOf(session),
    ...layout,
    bucketId: session.bucketId,
    path: session.path,
    contentId: session.contentId,
    sealNumber: session.contentId,
    keySlot: session.keySlot,
    size: session.totalSize,
    chunkCount: session.chunkIndexEnd,
  };
}

/** Returns the record at completion, whatever happened to the file since. */
export function completedFile(session: UploadSession): FileRecord {
  const { chunkSize, fileDigest: digest } = session;
  const layout = { chunkSize, digest, chunkDigests: emptyBytes };
  const { chunkDigests: _, sealNumber: __, ...file } = newFileOf(session, layout);
  return {
    ...file,
    id: session.fileId,
    version: session.fileVersion,
    createdAtNs: session.fileCreatedAtNs,
    updatedAtNs: session.updatedAtNs,
    leavesVersion: presentLeavesVersion,
  };
}
