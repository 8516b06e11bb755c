// The chunks of a session: read in order, sent in parallel, those that the service has not sent
// again. Holds one chunk for each request under way.

import { chunkCountMax, missingReportedMax } from '../../wire/src/limits.ts';
import { trying } from './connection.ts';
import type { UploadSession } from './interface.ts';
import { inParallel, oneAtATime, unlessAborted } from './parallel.ts';
import { sha256 } from './sha256.ts';
import { abortedError, StorageError } from './storage-error.ts';
import type { UploadJob } from './upload-job.ts';

interface Chunk {
  readonly index: number;
  readonly bytes: Uint8Array;
  readonly blob: Blob | undefined;
  readonly isStored: boolean;
}

/** The digests of all chunks, sent now or before. */
export async function sendChunks(job: UploadJob, session: UploadSession): Promise<Uint8Array[]> {
  const { connection, source, options, metadata } = job;
  const totalBytes = source.size;
  const digests: Uint8Array[] = [];
  let doneBytes = 0;
  let resumedBytes = 0;
  const takeChunk = chunkReader(job, session);
  const name = { ...metadata, uploadId: session.uploadId };
  const chunkCount = session.isSizeKnown ? Math.max(1, session.chunkCount) : chunkCountMax;
  const concurrency = Math.min(job.concurrency, chunkCount);
  await inParallel({ concurrency, signal: options.signal }, async (signal) => {
    for (;;) {
      // A slow stream may give nothing for long.
      const chunk = await unlessAborted(signal, takeChunk);
      if (chunk === undefined) break;
      const { index, bytes, blob, isStored } = chunk;
      const digest = await sha256(bytes);
      digests[index] = digest;
      if (isStored) {
        resumedBytes += bytes.length;
      } else {
        const upload = { ...name, index, bytes, blob, digest };
        await trying(connection, signal, () => connection.transport.putChunk(upload, signal));
      }
      doneBytes += bytes.length;
      source.release?.(bytes);
      job.report({ doneBytes, totalBytes, resumedBytes });
    }
    if (options.signal?.aborted) throw abortedError(options.signal.reason);
  });
  return digests;
}

/** Gives one chunk after the other, then undefined; one read at a time. */
function chunkReader(job: UploadJob, session: UploadSession): () => Promise<Chunk | undefined> {
  const { source } = job;
  const { chunkSize } = session;
  const isMissing = missingChunks(job, session);
  const size = source.size ?? Number.POSITIVE_INFINITY;
  let next = 0;
  let isOver = false;
  return oneAtATime(async () => {
    const index = next++;
    const start = index * chunkSize;
    if (isOver || start >= size) return undefined;
    const isStored = !(await isMissing(index));
    const bytes = await source.slice(start, Math.min(start + chunkSize, size));
    // Of unknown size, the end is where less comes, or nothing.
    isOver = bytes.length < chunkSize;
    if (bytes.length === 0) return undefined;
    if (index >= chunkCountMax) throw tooLong(chunkSize);
    return { index, bytes, blob: source.blob?.(start, start + bytes.length), isStored };
  });
}

function tooLong(chunkSize: number): StorageError {
  return new StorageError(
    'EntityTooLarge',
    `A file has at most ${chunkCountMax} chunks, of ${chunkSize} bytes here: the stream has more.`,
    { status: 413 },
  );
}

/**
 * Whether the service still lacks a chunk, asked for indexes in their order. A session tells the
 * first hundred that are missing: beyond the last of them it is asked again.
 */
function missingChunks(
  job: UploadJob,
  session: UploadSession,
): (index: number) => boolean | Promise<boolean> {
  const { connection, options, metadata } = job;
  const { signal } = options;
  if (session.status === 'completed') return () => false;
  if (session.receivedChunks === 0) return () => true;
  const name = { ...metadata, uploadId: session.uploadId };
  let missing = new Set(session.missing);
  let knownEnd = endOfKnown(session.missing);
  return async (index) => {
    if (index >= knownEnd) {
      const now = await trying(connection, signal, () =>
        connection.transport.getUpload(name, signal),
      );
      missing = new Set(now.missing);
      knownEnd = endOfKnown(now.missing);
    }
    return missing.has(index);
  };
}

function endOfKnown(missing: readonly number[]): number {
  const isAll = missing.length < missingReportedMax;
  return isAll ? Number.POSITIVE_INFINITY : Math.max(...missing) + 1;
}
