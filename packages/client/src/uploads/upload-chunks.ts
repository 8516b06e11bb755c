// Uploads the chunks of a source: reads them in order, sends them in parallel, and skips those that
// the service has. Holds one chunk for each concurrent request.

import { chunkBytesMax, chunkCountMax, missingReportedMax } from '../../../wire/src/limits.ts';
import { sha256 } from '../bytes/sha256.ts';
import type { OpenedSource } from '../bytes/upload-source.ts';
import { type Connection, trying } from '../connection/connection.ts';
import { concurrencyMax, inParallel, oneAtATime, unlessAborted } from '../connection/parallel.ts';
import type { Signal } from '../connection/transport.ts';
import type { Chunk as SentChunk } from '../operations/transfers.ts';
import type { SessionName } from '../operations/uploads.ts';
import { abortedError, StorageError } from '../storage-error.ts';
import type { Progress, UploadSession } from '../types/transfers.ts';
import type { UploadJob } from './upload-job.ts';

/** The chunks to send, and their place in the file. */
export interface ChunkJob {
  readonly connection: Connection;
  readonly source: OpenedSource;
  readonly signal: Signal;
  readonly concurrency: number;
  readonly chunkSize: number;
  /** Index of the source's first chunk. */
  readonly first: number;
  /** Returns whether the service lacks a chunk; called with ascending indexes. */
  isMissing(index: number): boolean | Promise<boolean>;
  /** Awaited before the last chunk is sent, if others precede it. */
  beforeLast?(signal: AbortSignal): Promise<unknown>;
  /** Makes one attempt; `all` is the digests of all chunks, once the last one has been read. */
  put(
    chunk: SentChunk,
    all: Promise<Uint8Array[]> | undefined,
    signal: AbortSignal,
  ): Promise<unknown>;
  report?(progress: Progress): void;
}

interface ReadChunk {
  readonly index: number;
  readonly bytes: Uint8Array;
  readonly blob: Blob | undefined;
  readonly isStored: boolean;
  /** Whether no chunk follows. */
  readonly isLast: boolean;
}

export function chunksOf(job: UploadJob, session: UploadSession): ChunkJob {
  const { connection, source, options, metadata } = job;
  const { uploadId, chunkSize } = session;
  return {
    connection,
    source,
    signal: options.signal,
    concurrency: concurrencyOf(job, chunkSize),
    chunkSize,
    first: 0,
    isMissing: missingChunks(job, session),
    put: putInSession(connection, { bucket: metadata.bucket, path: metadata.path, uploadId }),
    report: (progress) => job.report(progress),
  };
}

export function putInSession(connection: Connection, name: SessionName): ChunkJob['put'] {
  return (chunk, _, signal) => connection.transport.putChunk({ ...name, ...chunk }, signal);
}

/**
 * Returns the number of requests that hold as many bytes as `concurrency` of the longest chunks. On
 * a line that has become faster since the session began, only more requests keep it busy. A caller
 * with a concurrency of 1, or with a length of its own for chunks, gets what it asks for.
 */
export function concurrencyOf({ concurrency, options }: UploadJob, chunkSize: number): number {
  if (concurrency === 1 || options.chunkBytes !== undefined) return concurrency;
  return Math.min(concurrencyMax, Math.floor((concurrency * chunkBytesMax) / chunkSize));
}

/** Sends the missing chunks. Returns the digests of all chunks, and the number of their bytes. */
export async function sendChunks(
  job: ChunkJob,
): Promise<{ readonly digests: Uint8Array[]; readonly bytes: number }> {
  const { connection, source, first } = job;
  const totalBytes = source.size;
  const digests: Promise<Uint8Array>[] = [];
  let isRead = false;
  let doneBytes = 0;
  let resumedBytes = 0;
  /** Sent bytes of the chunks in flight. */
  const sent = new Map<number, number>();
  const { up } = connection.transport.line;
  const report = () => {
    const movedBytes = [...sent.values()].reduce((sum, bytes) => sum + bytes, doneBytes);
    job.report?.({ doneBytes, movedBytes, totalBytes, resumedBytes });
  };
  const takeChunk = chunkReader(job);
  const chunkCount = Math.ceil((totalBytes ?? Number.POSITIVE_INFINITY) / job.chunkSize);
  const concurrency = Math.min(job.concurrency, Math.max(1, chunkCount));
  async function send(chunk: ReadChunk | undefined, signal: AbortSignal): Promise<boolean> {
    if (chunk === undefined) return false;
    const { index, bytes, blob, isStored, isLast } = chunk;
    const hashed = sha256(bytes);
    digests[index - first] = hashed;
    isRead ||= isLast;
    const digest = await hashed;
    if (isStored) {
      resumedBytes += bytes.length;
    } else {
      const onSent = (count: number) => {
        sent.set(index, Math.min(count, bytes.length));
        report();
      };
      if (isLast && index > first) await job.beforeLast?.(signal);
      const sending = { index, bytes, blob, digest, onSent };
      await trying(connection, signal, () =>
        up.run(bytes.length, signal, () =>
          job.put(sending, isRead ? Promise.all(digests) : undefined, signal),
        ),
      );
      sent.delete(index);
    }
    doneBytes += bytes.length;
    source.release?.(bytes);
    source.sent?.();
    report();
    return true;
  }
  await inParallel({ concurrency, signal: job.signal }, async (signal) => {
    let isSent = true;
    // A slow stream may pause for long; the previous chunk is not held meanwhile.
    while (isSent) {
      isSent = await unlessAborted(signal, takeChunk).then((chunk) => send(chunk, signal));
    }
    if (job.signal?.aborted) throw abortedError(job.signal.reason);
  });
  return { digests: await Promise.all(digests), bytes: doneBytes };
}

/** Returns the chunks in order, then undefined; reads one at a time. */
function chunkReader(job: ChunkJob): () => Promise<ReadChunk | undefined> {
  const { source, chunkSize, first } = job;
  const size = source.size ?? Number.POSITIVE_INFINITY;
  let start = 0;
  let isOver = false;
  return oneAtATime(async () => {
    if (isOver || start >= size) return undefined;
    const index = first + start / chunkSize;
    const isStored = !(await job.isMissing(index));
    const bytes = await source.slice(start, Math.min(start + chunkSize, size));
    const blob = source.blob?.(start, start + bytes.length);
    start += chunkSize;
    // A source of unknown size ends with a short or empty chunk.
    isOver = bytes.length < chunkSize;
    if (bytes.length === 0) return undefined;
    if (index >= chunkCountMax) throw tooLong(chunkSize);
    const isLast = isOver || start >= size;
    return { index, bytes, blob, isStored, isLast };
  });
}

function tooLong(chunkSize: number): StorageError {
  return new StorageError(
    'EntityTooLarge',
    `The file is too long: the limit is ${chunkCountMax} chunks of ${chunkSize} bytes.`,
    { status: 413 },
  );
}

/** A session reports at most 100 missing chunks; after the last of them, it is queried again. */
function missingChunks(job: UploadJob, session: UploadSession): ChunkJob['isMissing'] {
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
