// The chunks of a session: read in order, sent in parallel, those that the service has not sent
// again. Holds one chunk for each request under way.

import { missingReportedMax } from '../src/limits.ts';
import { trying } from './connection.ts';
import { sha256 } from './digest.ts';
import type { UploadSession } from './interface.ts';
import { inParallel, oneAtATime } from './parallel.ts';
import { abortedError } from './storage-error.ts';
import type { UploadJob } from './upload-job.ts';

interface Chunk {
  readonly index: number;
  readonly bytes: Uint8Array;
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
  const concurrency = Math.min(job.concurrency, Math.max(1, session.chunkCount));
  await inParallel({ concurrency, signal: options.signal }, async (signal) => {
    for (;;) {
      const chunk = signal.aborted ? undefined : await takeChunk();
      if (chunk === undefined) break;
      const { index, bytes, isStored } = chunk;
      const digest = await sha256(bytes);
      digests[index] = digest;
      if (isStored) {
        resumedBytes += bytes.length;
      } else {
        const upload = { ...name, index, bytes, digest };
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
  let next = 0;
  return oneAtATime(async () => {
    const index = next++;
    const start = index * chunkSize;
    if (start >= source.size) return undefined;
    const isStored = !(await isMissing(index));
    const bytes = await source.slice(start, Math.min(start + chunkSize, source.size));
    return { index, bytes, isStored };
  });
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
