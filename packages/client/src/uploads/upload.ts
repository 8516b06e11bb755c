// Upload of one file: in one request when it is small, else by a session of chunks that may have
// been begun before. What is stored in the end must have the digest of what was read.

import { chunkBytesMax, chunkBytesMin, chunkCountMax } from '../../../wire/src/limits.ts';
import { etagOf, requireTold } from '../bytes/digest.ts';
import { sha256 } from '../bytes/sha256.ts';
import { type OpenedSource, openSource, type UploadInput } from '../bytes/upload-source.ts';
import { type Connection, trying } from '../connection/connection.ts';
import { checkedConcurrency } from '../connection/parallel.ts';
import { unmeasuredBytesMax } from '../connection/transfer-window.ts';
import type { FileMetadata, Signal, WholeFile } from '../connection/transport.ts';
import { isStorageError, StorageError } from '../storage-error.ts';
import type { FileRecord, UserMetadata } from '../types/files.ts';
import type { UploadOptions, UploadSession } from '../types/transfers.ts';
import { chunksOf, sendChunks } from './upload-chunks.ts';
import type { UploadJob } from './upload-job.ts';

export async function uploadFile(
  connection: Connection,
  input: UploadInput | OpenedSource,
  options: UploadOptions,
): Promise<FileRecord> {
  const { wholeFileBytesMax } = connection.transport;
  const bufferedBytesMax = wholeFileBytesMax;
  const source = await openSource(input, { size: options.size, bufferedBytesMax });
  const metadata = metadataOf(connection, source, options);
  const job: UploadJob = {
    connection,
    source,
    options,
    metadata,
    concurrency: checkedConcurrency(options.concurrency),
    report: (progress) => options.onProgress?.(progress),
  };
  if (source.size === undefined) return uploadOpenEnded(job);
  const { contentType } = metadata;
  return contentType === undefined || (await needsSession(job, source.size))
    ? uploadByChunks(job)
    : uploadWhole(job, contentType, source.size);
}

/**
 * A file that the line does not take in one request needs a session too, and so does one without a
 * type: the service then finds one by the path's extension.
 */
async function needsSession({ connection, options }: UploadJob, size: number): Promise<boolean> {
  const { wholeFileBytesMax } = connection.transport;
  if (size > wholeFileBytesMax || options.resume !== undefined) return true;
  return size > unmeasuredBytesMax && size > (await requestBytes(connection, wholeFileBytesMax));
}

/** The length of a request that the line takes in time, up to `max`: measured if it is unknown. */
export async function requestBytes({ transport }: Connection, max: number): Promise<number> {
  await transport.line.up.measure(transport.probe);
  return transport.line.up.requestBytes(max);
}

/** What is known of a file before its bytes are read. */
export function metadataOf(
  connection: Connection,
  source: Pick<OpenedSource, 'contentType'>,
  options: Omit<UploadOptions, 'onProgress'>,
): FileMetadata {
  const { bucket, path, tags = [], headers = {} } = options;
  const metadata = typeof options.metadata === 'function' ? {} : (options.metadata ?? {});
  const { sha256, ifMatch, ifNoneMatch } = options;
  // Calls by the actor may write a path with a slash before it.
  const name = path.replace(/^\//, '');
  const contentType = options.contentType ?? source.contentType ?? connection.contentTypeOf(name);
  const described = { contentType, tags, headers, metadata };
  return { bucket, path: name, ...described, sha256, ifMatch, ifNoneMatch };
}

/** What a function tells of a source that has been read; undefined without one. */
export async function lateMetadata({
  metadata,
}: Pick<UploadOptions, 'metadata'>): Promise<UserMetadata | undefined> {
  return typeof metadata === 'function' ? metadata() : undefined;
}

async function uploadWhole(job: UploadJob, contentType: string, size: number): Promise<FileRecord> {
  const { connection, source, options, metadata: described } = job;
  const bytes = await source.slice(0, size);
  const metadata = (await lateMetadata(options)) ?? described.metadata;
  const file = { ...described, metadata, contentType, bytes, digest: await sha256(bytes) };
  requireTold(file.sha256, file.digest);
  const etag = await etagOf([file.digest]);
  const { signal } = options;
  const progress = { totalBytes: size, resumedBytes: 0 };
  const onSent = (bytes: number) =>
    job.report({ ...progress, doneBytes: 0, movedBytes: Math.min(bytes, size) });
  const { up } = connection.transport.line;
  const record = await trying(connection, signal, (attempt) =>
    up.run(size, signal, () => putWhole(job, { ...file, onSent }, attempt)),
  );
  requireSame(record.etag, etag);
  job.report({ ...progress, doneBytes: size, movedBytes: size });
  return record;
}

/** An earlier attempt whose answer was lost has made its own precondition false. */
async function putWhole(job: UploadJob, file: WholeFile, attempt: number): Promise<FileRecord> {
  const { transport } = job.connection;
  const { signal } = job.options;
  try {
    return await transport.putFile(file, signal);
  } catch (error) {
    if (attempt === 1 || !isStorageError(error, 'PreconditionFailed')) throw error;
    const stored = await transport.getFile(file, signal);
    if (stored.etag !== (await etagOf([file.digest]))) throw error;
    return stored;
  }
}

async function uploadByChunks(job: UploadJob): Promise<FileRecord> {
  const { options } = job;
  const { resume } = options;
  const session = resume === undefined ? await begin(job) : await goOn(job, resume);
  await options.onSession?.(session);
  return sendSession(job, session);
}

/** Of a stream of unknown size: what has failed cannot be gone on with, so it leaves nothing. */
async function uploadOpenEnded(job: UploadJob): Promise<FileRecord> {
  const { connection, options, metadata } = job;
  if (options.resume !== undefined) {
    const reason = 'To resume, tell the size of the stream.';
    throw new StorageError('InvalidArgument', reason);
  }
  const session = await begin(job);
  try {
    await options.onSession?.(session);
    return await sendSession(job, session);
  } catch (error) {
    const name = { ...metadata, uploadId: session.uploadId };
    // Best effort, once: the session ends by itself.
    await connection.transport.cancelUpload(name, undefined).catch(() => {});
    throw error;
  }
}

async function sendSession(job: UploadJob, session: UploadSession): Promise<FileRecord> {
  const { connection, options } = job;
  const { signal } = options;
  const { digests } = await sendChunks(chunksOf(job, session));
  const { bucket, path } = job.metadata;
  const { uploadId } = session;
  const completion = { bucket, path, uploadId, metadata: await lateMetadata(options) };
  const record = await trying(connection, signal, () =>
    connection.transport.completeUpload(completion, signal),
  );
  requireSame(record.etag, await etagOf(digests));
  return record;
}

function begin({ connection, source, options, metadata }: UploadJob): Promise<UploadSession> {
  const { signal, chunkBytes } = options;
  const { size } = source;
  return beginSession(connection, { metadata, size, chunkBytes, signal });
}

interface Beginning {
  readonly metadata: FileMetadata;
  readonly size: number | undefined;
  readonly chunkBytes: number | undefined;
  readonly signal: Signal;
}

/**
 * A session is kept if the wanted chunks are at least this share of its own: another session takes
 * two to three seconds, and two chunks of twice the wanted length still take the line 12 s.
 */
const keptShare = 0.5;

/**
 * Begins a session whose chunks the line takes in time. A session keeps the length of its chunks,
 * and a line that is not known yet is measured while the first one begins: if that one's chunks are
 * too long, another begins at once and the first is cancelled. Fast lines so lose no time.
 */
export async function beginSession(
  connection: Connection,
  beginning: Beginning,
): Promise<UploadSession> {
  const { transport } = connection;
  const { up } = transport.line;
  const { chunkBytes, size, signal, metadata } = beginning;
  if (chunkBytes !== undefined) return beginWith(connection, { ...beginning, chunkBytes });
  const isShort = size !== undefined && size <= unmeasuredBytesMax;
  const measured = isShort ? undefined : up.measure(transport.probe);
  const startMs = performance.now();
  const firstBytes = up.chunkBytes(size, chunkCountMax);
  const first = beginWith(connection, { ...beginning, chunkBytes: firstBytes });
  // A refusal ends it without waiting for the measurement.
  await Promise.race([measured, first.then(() => measured)]);
  const wanted = up.chunkBytes(size, chunkCountMax);
  if (wanted >= keptShare * firstBytes) {
    const session = await first;
    up.noteLatency(performance.now() - startMs);
    return session;
  }
  // Best effort, and nobody waits for it: a session that nobody continues ends by itself.
  first
    .then(({ uploadId }) => transport.cancelUpload({ ...metadata, uploadId }, signal))
    .catch(() => {});
  const secondMs = performance.now();
  const session = await beginWith(connection, { ...beginning, chunkBytes: wanted });
  up.noteLatency(performance.now() - secondMs);
  return session;
}

/** One token for all attempts, so that a lost answer leaves no second session. */
async function beginWith(
  connection: Connection,
  { metadata, size, chunkBytes, signal }: Beginning & { readonly chunkBytes: number },
): Promise<UploadSession> {
  if (!(chunkBytes >= chunkBytesMin && chunkBytes <= chunkBytesMax)) {
    throw new StorageError(
      'InvalidArgument',
      `A chunk has ${chunkBytesMin} to ${chunkBytesMax} bytes; got ${chunkBytes}.`,
    );
  }
  const token = newToken();
  const request = { ...metadata, size, chunkBytes, token };
  return trying(connection, signal, () => connection.transport.startUpload(request, signal));
}

/** It tells the caller's own sessions apart and is no secret; React Native has no Web Crypto. */
function newToken(): string {
  const digits = () => Math.random().toString(36).slice(2);
  return `${digits()}-${digits()}`;
}

async function goOn(job: UploadJob, uploadId: string): Promise<UploadSession> {
  const { connection, source, options, metadata } = job;
  const { signal } = options;
  const name = { ...metadata, uploadId };
  const session = await trying(connection, signal, () =>
    connection.transport.getUpload(name, signal),
  );
  const { bucketId, path, totalSize, status } = session;
  if (bucketId !== metadata.bucket || path !== metadata.path || totalSize !== source.size) {
    throw new StorageError(
      'InvalidArgument',
      `Upload ${uploadId} is of ${totalSize} bytes to ${bucketId}/${path}, ` +
        `not of ${source.size} to ${metadata.bucket}/${metadata.path}.`,
    );
  }
  if (status === 'expired' || status === 'cancelled') {
    const code = status === 'expired' ? 'UploadExpired' : 'UploadCancelled';
    throw new StorageError(code, `Upload ${uploadId} has ended: begin a new one.`);
  }
  if (status === 'completed') await requireStored(job, uploadId);
  if (!(await hasTooLongChunks(job, session))) return session;
  // Best effort: a session that nobody continues ends by itself.
  await connection.transport.cancelUpload(name, signal).catch(() => {});
  return begin(job);
}

/** The rest of the time is for the service's answer, and for a rate that varies. */
const usedShare = 0.8;

/**
 * A session keeps the length of its chunks. Where the line has become too slow for it, gateways
 * refuse each chunk, so that a new session with shorter chunks sends more, though all of it again.
 */
async function hasTooLongChunks(
  { connection, options }: UploadJob,
  { chunkSize, totalSize, missing }: UploadSession,
): Promise<boolean> {
  const size = totalSize ?? chunkSize;
  const longest = Math.min(chunkSize, size);
  if (options.chunkBytes !== undefined || missing.length === 0) return false;
  if (longest <= unmeasuredBytesMax) return false;
  const { line, probe, bodyMsMax } = connection.transport;
  await line.up.measure(probe);
  const isShortened = line.up.chunkBytes(size, chunkCountMax) <= longest / 2;
  return isShortened && !line.up.takes(longest, usedShare * bodyMsMax);
}

/** A completion that is repeated answers as the first time, whatever became of the file since. */
async function requireStored({ connection, options, metadata }: UploadJob, uploadId: string) {
  const { signal } = options;
  try {
    await trying(connection, signal, () => connection.transport.getFile(metadata, signal));
  } catch (error) {
    if (!isStorageError(error, 'NoSuchFile')) throw error;
    const reason = `Upload ${uploadId} was completed, its file is gone: begin a new one.`;
    throw new StorageError('NoSuchUpload', reason);
  }
}

/** Entity tags: of what is stored, and of what was read. */
export function requireSame(stored: string, read: string): void {
  if (stored === read) return;
  throw new StorageError(
    'IntegrityError',
    `The entity tag is ${stored}, of what was read ${read}: upload it anew.`,
  );
}
