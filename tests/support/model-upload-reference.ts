// The reference model of upload sessions: chunks as whole byte arrays, and the expected result of
// every step. Written from the interface's description; shares no code with src.

import type { RefusalCode } from '../../src/domain/shared/refusal.ts';
import { hourNs } from './domain-fixture.ts';
import {
  areMet,
  bucketOf,
  exceedsQuota,
  openUploads,
  quotaOf,
  type Reference,
  type ReferenceBucket,
  type ReferenceNotes,
  type ReferenceUpload,
  type ReferenceWrite,
} from './model-reference.ts';

const openUploadsMax = 50;

/** The kinds of uploads in the models. */
export const referencePlans = [
  { size: 0, pieceLength: 100, isDeclared: false, isSizeKnown: true },
  { size: 250, pieceLength: 100, isDeclared: false, isSizeKnown: true },
  { size: 250, pieceLength: 250, isDeclared: false, isSizeKnown: true },
  { size: 900, pieceLength: 20, isDeclared: false, isSizeKnown: true },
  { size: 140_000, pieceLength: 70_000, isDeclared: false, isSizeKnown: true },
  { size: 140_000, pieceLength: 65_536, isDeclared: true, isSizeKnown: true },
  { size: 65_536, pieceLength: 65_536, isDeclared: true, isSizeKnown: true },
  { size: 0, pieceLength: 100, isDeclared: false, isSizeKnown: false },
  { size: 250, pieceLength: 100, isDeclared: false, isSizeKnown: false },
  { size: 140_000, pieceLength: 65_536, isDeclared: true, isSizeKnown: false },
];

/**
 * Returns the code with which a begin is refused. The file to be replaced stays until completion,
 * so its bytes count too.
 */
export function beginCode(
  reference: Reference,
  bucket: ReferenceBucket,
  write: ReferenceWrite,
): RefusalCode | undefined {
  if (openUploads(reference, bucket).length >= openUploadsMax) return 'SlowDown';
  const addition = { files: 1, bytes: quotaOf(write, bucket.id) };
  if (exceedsQuota(reference, bucket, addition)) return 'QuotaExceeded';
  return areMet(bucket, write.path, write.conditions) ? undefined : 'PreconditionFailed';
}

function isOver(reference: Reference, upload: ReferenceUpload): boolean {
  const isOld = upload.status === 'active' && upload.begunAtNs + 168n * hourNs <= reference.nowNs;
  return isOld || upload.usedAtNs + 24n * hourNs <= reference.nowNs;
}

/** Ends expired open sessions, and removes those that ended a day ago. */
export function expireReference(reference: Reference): void {
  for (const upload of reference.uploads.filter((upload) => isOver(reference, upload))) {
    upload.status = upload.status === 'active' ? 'expired' : 'forgotten';
    upload.usedAtNs = reference.nowNs;
  }
}

/** Returns the code with which steps of an ended upload are refused. */
export function endedCode(reference: Reference, upload: ReferenceUpload): RefusalCode | undefined {
  switch (upload.status) {
    case 'forgotten':
      return 'NoSuchUpload';
    case 'completed':
      return 'UploadCompleted';
    case 'cancelled':
      return 'UploadCancelled';
    case 'expired':
      return 'UploadExpired';
    case 'active':
      return isOver(reference, upload) ? 'UploadExpired' : undefined;
  }
}

export function sizeOf(chunks: ReadonlyMap<number, Uint8Array>): number {
  return [...chunks.values()].reduce((sum, { length }) => sum + length, 0);
}

export function pieceOf({ content, pieceLength }: ReferenceUpload, index: number): Uint8Array {
  return content.subarray(index * pieceLength, (index + 1) * pieceLength);
}

/** Like pieceOf(), but the first chunk is the one that may be short. */
export function unevenPieceOf(
  { content, pieceLength }: ReferenceUpload,
  index: number,
): Uint8Array {
  const count = Math.ceil(content.length / pieceLength);
  const end = content.length - (count - 1 - index) * pieceLength;
  return content.subarray(Math.max(0, end - pieceLength), end);
}

type Chunk = readonly [index: number, bytes: Uint8Array];

export function chunkCode(
  reference: Reference,
  upload: ReferenceUpload,
  chunk: Chunk,
): RefusalCode | undefined {
  const ended = endedCode(reference, upload);
  if (ended !== undefined) return ended;
  const misfit = upload.isSizeKnown ? misfitOfKnown(upload, chunk) : misfitOfOpen(upload, chunk);
  if (misfit !== undefined) return misfit;
  const next = sizeOf(new Map([...upload.chunks, chunk]));
  if (upload.isSizeKnown) return next > upload.content.length ? 'EntityTooLarge' : undefined;
  const bytes = next - sizeOf(upload.chunks);
  const isOverQuota = exceedsQuota(reference, bucketOf(reference, upload.bucket), {
    files: 0,
    bytes,
  });
  return isOverQuota ? 'QuotaExceeded' : undefined;
}

function misfitOfKnown(
  upload: ReferenceUpload,
  [index, { length }]: Chunk,
): RefusalCode | undefined {
  const { isDeclared, content, pieceLength } = upload;
  if (isDeclared && index >= Math.ceil(content.length / pieceLength)) return 'InvalidChunkIndex';
  const isRightLength = !isDeclared || length === pieceOf(upload, index).length;
  return length === 0 || !isRightLength ? 'ChunkSizeMismatch' : undefined;
}

/** A chunk that is shorter than declared must be the last one. */
function misfitOfOpen(
  upload: ReferenceUpload,
  [index, { length }]: Chunk,
): RefusalCode | undefined {
  const { isDeclared, pieceLength, chunks } = upload;
  if (length === 0) return 'ChunkSizeMismatch';
  if (!isDeclared) return undefined;
  const highest = Math.max(-1, ...chunks.keys());
  const hasShort = [...chunks.values()].some((bytes) => bytes.length < pieceLength);
  if (hasShort && index > highest) return 'InvalidChunkIndex';
  const isLast = length < pieceLength && index >= highest;
  return length === pieceLength || isLast ? undefined : 'ChunkSizeMismatch';
}

/** Returns the received chunks in order. */
export function chunksOf({ chunks }: ReferenceUpload): Uint8Array[] {
  return [...chunks].sort(([left], [right]) => left - right).map(([, bytes]) => bytes);
}

/**
 * Returns the code with which a completion is refused. `metadata` of the resulting file may need
 * more quota than was reserved.
 */
export function completionCode(
  reference: Reference,
  upload: ReferenceUpload,
  metadata: ReferenceNotes['metadata'],
): RefusalCode | undefined {
  const ended = endedCode(reference, upload);
  if (ended !== undefined) return ended;
  if (Buffer.byteLength(metadata.flat().join('')) > 2_048) return 'InvalidArgument';
  const chunks = chunksOf(upload);
  const hasHole = chunks.some((_, index) => !upload.chunks.has(index));
  const isShort = upload.isSizeKnown && sizeOf(upload.chunks) !== upload.content.length;
  if (hasHole || isShort) return 'UploadIncomplete';
  const [first = new Uint8Array(0)] = chunks;
  const isEven = chunks.slice(0, -1).every(({ length }) => length === first.length);
  if (!isEven || (chunks.at(-1) ?? first).length > first.length) return 'ChunkSizeMismatch';
  const bucket = bucketOf(reference, upload.bucket);
  if (!areMet(bucket, upload.path, upload.conditions)) return 'PreconditionFailed';
  const bytes = quotaOf({ ...upload, metadata, size: 0 }) - quotaOf({ ...upload, size: 0 });
  if (exceedsQuota(reference, bucket, { files: 0, bytes })) return 'QuotaExceeded';
  const isWrong = upload.isDigested && !Buffer.concat(chunks).equals(upload.content);
  return isWrong ? 'BadDigest' : undefined;
}
