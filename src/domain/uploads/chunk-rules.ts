// The indexes and lengths of chunks that a session accepts. All chunks have one length, except for
// the last, which may be shorter. If this length is declared, each chunk is checked when it
// arrives, otherwise all are checked at completion.

import { chunkBytesMax, chunkCountMax } from '../../../packages/wire/src/limits.ts';
import { Refusal } from '../shared/refusal.ts';
import { chunkCount, type SessionShape } from './upload-session.ts';

interface NewChunk {
  readonly index: bigint;
  readonly length: number;
}

/** Refuses an index or length that the session does not allow, whatever other chunks exist. */
export function checkChunkShape(session: SessionShape, chunk: NewChunk): void {
  const { length } = chunk;
  if (length > chunkBytesMax) {
    throw new Refusal(
      'EntityTooLarge',
      `A chunk has at most ${chunkBytesMax} bytes; this one has ${length}.`,
      { limit: chunkBytesMax, size: length },
    );
  }
  const { declaredChunkSize, isSizeKnown } = session;
  checkIndex(
    chunk.index,
    declaredChunkSize > 0 && isSizeKnown ? chunkCount(session) : chunkCountMax,
  );
  if (length === 0) {
    throw new Refusal('ChunkSizeMismatch', 'The chunk is empty: a chunk has at least one byte.');
  }
  if (declaredChunkSize === 0) return;
  if (isSizeKnown) checkAgainstSize(session, Number(chunk.index), length);
  else checkAgainstLast(session, Number(chunk.index), length);
}

function checkIndex(index: bigint, count: number): void {
  if (index < BigInt(count)) return;
  throw new Refusal(
    'InvalidChunkIndex',
    count > 0
      ? `Chunk indexes of this upload are 0 to ${count - 1}; got ${index}.`
      : 'An empty file has no chunks: complete the upload.',
    { chunkCount: count },
  );
}

function checkAgainstSize(session: SessionShape, index: number, length: number): void {
  const { declaredChunkSize, totalSize } = session;
  const expected = Math.min(declaredChunkSize, totalSize - index * declaredChunkSize);
  if (length === expected) return;
  throw new Refusal(
    'ChunkSizeMismatch',
    `Chunk ${index} of this upload has ${expected} bytes, since chunkSize is ${declaredChunkSize} ` +
      `and size ${totalSize}; got ${length}.`,
    { expected, size: length },
  );
}

/**
 * In an upload of unknown size, a chunk shorter than chunkSize is the last one: no chunk may follow
 * it and no other may be short, until a full chunk replaces it.
 */
function checkAgainstLast(session: SessionShape, index: number, length: number): void {
  const { declaredChunkSize, uploadedSize, receivedChunks } = session;
  const highest = session.chunkIndexEnd - 1;
  // Nothing follows a short chunk, so it has the highest index.
  const hasShort = uploadedSize < receivedChunks * declaredChunkSize;
  if (hasShort && index > highest) checkIndex(BigInt(index), session.chunkIndexEnd);
  if (length === declaredChunkSize || (length < declaredChunkSize && index >= highest)) return;
  throw new Refusal(
    'ChunkSizeMismatch',
    length > declaredChunkSize
      ? `A chunk of this upload has at most chunkSize, ${declaredChunkSize} bytes; got ${length}.`
      : `Chunk ${index} has ${length} bytes, but only the last chunk may be shorter than chunkSize, ` +
          `${declaredChunkSize} bytes, and chunk ${highest} exists.`,
    { expected: declaredChunkSize, size: length },
  );
}
