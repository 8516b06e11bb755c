// Uploads in one round of the network instead of three: each chunk brings the request that begins
// its upload, and the entity tag of the file once the client knows it. The first chunk to arrive
// begins the upload, and the last one completes the file.

import { bytesEqual } from '../../lib/bytes.ts';
import { decodeHex } from '../../lib/hex.ts';
import { entityTag } from '../files/file-records.ts';
import type { WrittenFile } from '../files/written-files.ts';
import { requireAgeStart } from '../shared/age-format.ts';
import type { Call } from '../shared/caller.ts';
import { quote } from '../shared/names.ts';
import { Refusal } from '../shared/refusal.ts';
import type { Stores } from '../shared/stores.ts';
import { checkChunkShape } from './chunk-rules.ts';
import { checkChunk, storeChunk } from './upload-chunks.ts';
import { finishUpload } from './upload-end.ts';
import { chunkCount, isWhole, type UploadSession } from './upload-session.ts';
import {
  begunUpload,
  type CheckedUpload,
  checkUploadRequest,
  requireNotGone,
  type UploadRequest,
} from './uploads.ts';

export interface OneRoundChunk {
  /** The same for each chunk of an upload, with size, length of a chunk, and token. */
  readonly upload: UploadRequest;
  readonly chunkIndex: bigint;
  readonly bytes: Uint8Array;
  /** Entity tag of the whole file, without quotes. */
  readonly etag: string | undefined;
}

export interface ChunkReceipt {
  readonly session: UploadSession;
  /** The file, once every chunk has arrived and one of them has brought the entity tag. */
  readonly written: WrittenFile | undefined;
}

/** Refuses what uploadChunk() would refuse, except for a refused completion; changes nothing. */
export function checkUploadChunk(stores: Stores, call: Call, chunk: OneRoundChunk): void {
  const { key: apiKey, begun } = prepare(stores, call, chunk).checked;
  if (begun === undefined) return;
  const { chunkIndex, bytes } = chunk;
  checkChunk(stores, call, { uploadId: begun.uploadId, apiKey, chunkIndex, bytes });
}

interface Prepared {
  readonly checked: CheckedUpload;
  /** Digest that the entity tag declares. */
  readonly fileDigest: Uint8Array | undefined;
}

function prepare(stores: Stores, call: Call, chunk: OneRoundChunk): Prepared {
  requireRepeatable(chunk.upload);
  const checked = checkUploadRequest(stores, call, chunk.upload, { continues: true });
  const { bucket, beginning, begun, ended } = checked;
  if (ended !== undefined) requireNotGone(ended, call.nowNs);
  const shape = { index: chunk.chunkIndex, length: chunk.bytes.length };
  checkChunkShape(begun ?? beginning, shape);
  if (bucket.isEndToEnd && shape.index === 0n) requireAgeStart(bucket.id, chunk.bytes);
  return { checked, fileDigest: digestOf(chunk.etag, chunkCount(beginning)) };
}

function requireRepeatable({ size, chunkSize, token }: UploadRequest): void {
  const missing = Object.entries({ size, chunkSize, token }).filter(
    ([, value]) => value === undefined,
  );
  if (missing.length === 0) return;
  throw new Refusal(
    'InvalidArgument',
    `The request lacks ${missing.map(([name]) => name).join(', ')}: a chunk that may begin its ` +
      'upload brings the size of the file, the length of its chunks, and a token.',
  );
}

/** Parses an entity tag of a file with that number of chunks. */
function digestOf(etag: string | undefined, count: number): Uint8Array | undefined {
  if (etag === undefined) return undefined;
  const digest = decodeHex(etag.slice(0, 64));
  if (digest?.length === 32 && entityTag({ digest, chunkCount: count }) === `"${etag}"`) {
    return digest;
  }
  throw new Refusal(
    'InvalidArgument',
    `etag must be the entity tag of a file with this number of chunks, ${count}: 64 hexadecimal ` +
      `digits${count > 1 ? ` and -${count}` : ''}, without quotes; got ${quote(etag)}.`,
  );
}

/**
 * Stores a chunk, after it has begun the upload if it is the first to arrive. A refused completion
 * keeps the chunk. A repetition after the completion returns the same file.
 */
export function uploadChunk(stores: Stores, call: Call, chunk: OneRoundChunk): ChunkReceipt {
  const { checked, fileDigest } = prepare(stores, call, chunk);
  const { key: apiKey, ended } = checked;
  if (ended !== undefined) return completedUpload(stores, call, { ended, apiKey, fileDigest });
  const { uploadId } = begunUpload(stores, checked);
  const { chunkIndex, bytes } = chunk;
  const stored = storeChunk(stores, call, { uploadId, apiKey, chunkIndex, bytes, fileDigest });
  const { session } = stored;
  if (session.fileDigest.length === 0 || !isWhole(session)) return { session, written: undefined };
  const file = { digest: session.fileDigest, chunkCount: session.chunkIndexEnd };
  const etag = entityTag(file).slice(1, -1);
  const written = finishUpload(stores, call, { uploadId, apiKey, etag });
  return { session: written.session, written };
}

function completedUpload(
  stores: Stores,
  call: Call,
  repeated: {
    readonly ended: UploadSession;
    readonly apiKey: CheckedUpload['key'];
    readonly fileDigest: Uint8Array | undefined;
  },
): ChunkReceipt {
  const { ended, apiKey, fileDigest } = repeated;
  if (fileDigest !== undefined && !bytesEqual(fileDigest, ended.fileDigest)) {
    throw new Refusal(
      'UploadCompleted',
      `The token ${ended.token} began an upload that is completed, with another entity tag: send a ` +
        'new token.',
    );
  }
  const written = finishUpload(stores, call, { uploadId: ended.uploadId, apiKey });
  return { session: ended, written };
}
