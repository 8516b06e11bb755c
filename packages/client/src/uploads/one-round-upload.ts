// Uploads a file in one round of the network instead of three: each chunk brings the request that
// begins the upload, and the last one to arrive completes it. On a slow line, or with many chunks,
// the other rounds hardly matter, and a refusal before the first chunk saves more.

import { chunkCountMax } from '../../../wire/src/limits.ts';
import { etagOf, requireSame } from '../bytes/digest.ts';
import { trying } from '../connection/connection.ts';
import { isEarlierService } from '../connection/earlier-service.ts';
import { unlessAborted } from '../connection/parallel.ts';
import type { SessionRequest } from '../operations/uploads.ts';
import { isStorageError } from '../storage-error.ts';
import type { FileRecord } from '../types/files.ts';
import type { UploadSession } from '../types/transfers.ts';
import { measureFor, newToken } from './begin-session.ts';
import { completeSession } from './complete-session.ts';
import { type ChunkJob, concurrencyOf, sendChunks } from './upload-chunks.ts';
import type { UploadJob } from './upload-job.ts';

/** About 60 MB, which take half a minute at least. */
const chunksMax = 32;
/** The slowest line, by an estimate that may be too low. */
const bytesPerSecondMin = 300_000;

/** Returns undefined, with nothing stored, if the upload needs a session that is begun first. */
export async function uploadInOneRound(job: UploadJob): Promise<FileRecord | undefined> {
  const request = await requestOf(job);
  if (request === undefined) return undefined;
  const { connection, options } = job;
  const { signal } = options;
  try {
    return await send(job, request);
  } catch (error) {
    if (isStorageError(error, 'Unsupported')) return undefined;
    if (await isEarlierService(connection, error, signal)) return undefined;
    throw error;
  }
}

async function requestOf(job: UploadJob): Promise<SizedRequest | undefined> {
  const { connection, source, options, metadata } = job;
  const { size } = source;
  const { hasOneRound, line } = connection.transport;
  if (!hasOneRound || typeof options.metadata === 'function') return undefined;
  // A stream could not be read again for a service of version 0.1.0.
  if (size === undefined || size === 0 || source.isStream) return undefined;
  const { signal } = options;
  if (options.chunkBytes === undefined) await measureFor(connection, size, signal);
  const chunkBytes = options.chunkBytes ?? line.up.chunkBytes(size, chunkCountMax);
  const isFast = line.up.bytesPerSecond !== undefined && line.up.takes(bytesPerSecondMin, 1_000);
  if (!isFast || Math.ceil(size / chunkBytes) > chunksMax) return undefined;
  return { ...metadata, size, chunkBytes, token: newToken() };
}

interface SizedRequest extends SessionRequest {
  readonly size: number;
}

async function send(job: UploadJob, request: SizedRequest): Promise<FileRecord> {
  const { connection, source, options } = job;
  const found: { session?: Promise<UploadSession>; record?: FileRecord } = {};
  let answer = () => {};
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const put: ChunkJob['put'] = async (chunk, all, signal) => {
    const etag = all && (await etagOf(await all));
    // Callers continue the session, and complete it, by an id that no single node may choose.
    const needsSession = () => found.session === undefined;
    const sending = { ...request, ...chunk, etag, needsSession };
    const stored = await connection.transport.uploadChunk(sending, signal);
    if ('uploadId' in stored) {
      found.session ??= noted(job, stored);
      await found.session;
    } else {
      found.record = stored;
    }
    answer();
  };
  const sent = sendChunks({
    ...{ connection, source, signal: options.signal, chunkSize: request.chunkBytes, first: 0, put },
    concurrency: concurrencyOf(job, request.chunkBytes),
    isMissing: () => true,
    // A caller that keeps the session can continue or cancel the upload until the last chunk.
    ...(options.onSession && {
      beforeLast: (signal: AbortSignal) => unlessAborted(signal, () => answered),
    }),
    report: (progress) => job.report(progress),
  });
  const { digests } = await sent.catch((error) => {
    if (found.session === undefined && isStorageError(error, 'Aborted')) discard(job, request);
    throw error;
  });
  const etag = await etagOf(digests);
  // The last chunk may have been answered before it brought the entity tag.
  const { uploadId = '' } = (await found.session) ?? {};
  const record = found.record ?? (await completeSession(job, { uploadId }, etag));
  requireSame(record.etag, etag);
  return record;
}

/**
 * Cancels an upload that was stopped before its id was known, so that it reserves no bytes until it
 * expires. Chunks under way are refused afterwards.
 */
function discard({ connection, metadata }: UploadJob, request: SizedRequest): void {
  const { transport } = connection;
  trying(connection, undefined, () => transport.startUpload(request, undefined))
    .then(({ uploadId }) => transport.cancelUpload({ ...metadata, uploadId }, undefined))
    .catch(() => {});
}

async function noted({ options }: UploadJob, session: UploadSession): Promise<UploadSession> {
  await options.onSession?.(session);
  return session;
}
