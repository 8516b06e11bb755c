// Uploads one file: in one request if it is small, else by a session of chunks, which an earlier
// attempt may have begun. The stored file must have the digest of the bytes that were read.

import { chunkCountMax } from '../../../wire/src/limits.ts';
import { etagOf, requireSame, requireSha256 } from '../bytes/digest.ts';
import { sha256 } from '../bytes/sha256.ts';
import { type OpenedSource, openSource, type UploadInput } from '../bytes/upload-source.ts';
import { type Connection, trying } from '../connection/connection.ts';
import { checkedConcurrency } from '../connection/parallel.ts';
import { unmeasuredBytesMax } from '../connection/transfer-window.ts';
import type { FileMetadata, WholeFile } from '../operations/uploads.ts';
import { isStorageError, StorageError } from '../storage-error.ts';
import type { FileRecord } from '../types/files.ts';
import type { UploadOptions, UploadSession } from '../types/transfers.ts';
import { beginSession, measureFor, requestBytes } from './begin-session.ts';
import { completeSession, lateMetadata } from './complete-session.ts';
import { uploadInOneRound } from './one-round-upload.ts';
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

/** Returns whether a file needs a session: to resume it, or if a request cannot send it in time. */
async function needsSession({ connection, options }: UploadJob, size: number): Promise<boolean> {
  const { wholeFileBytesMax } = connection.transport;
  if (size > wholeFileBytesMax || options.resume !== undefined) return true;
  return size > unmeasuredBytesMax && size > (await requestBytes(connection, wholeFileBytesMax));
}

/** Returns the metadata of a file before its bytes are read. */
export function metadataOf(
  connection: Connection,
  source: Pick<OpenedSource, 'contentType'>,
  options: Omit<UploadOptions, 'onProgress'>,
): FileMetadata {
  const { bucket, path, tags = [], headers = {} } = options;
  const metadata = typeof options.metadata === 'function' ? {} : (options.metadata ?? {});
  const { sha256, ifMatch, ifNoneMatch } = options;
  // Paths may begin with a slash, as in calls of the actor.
  const name = path.replace(/^\//, '');
  const contentType = options.contentType ?? source.contentType ?? connection.contentTypeOf(name);
  const described = { contentType, tags, headers, metadata };
  return { bucket, path: name, ...described, sha256, ifMatch, ifNoneMatch };
}

async function uploadWhole(job: UploadJob, contentType: string, size: number): Promise<FileRecord> {
  const { connection, source, options, metadata: described } = job;
  const bytes = await source.slice(0, size);
  const metadata = (await lateMetadata(options)) ?? described.metadata;
  const file = { ...described, metadata, contentType, bytes, digest: await sha256(bytes) };
  requireSha256(file.sha256, file.digest);
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

/** If an earlier response was lost, the stored file itself makes the precondition false. */
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
  if (resume === undefined) {
    const record = await uploadInOneRound(job);
    if (record !== undefined) return record;
  }
  const session = resume === undefined ? await begin(job) : await resumeSession(job, resume);
  await options.onSession?.(session);
  return sendSession(job, session);
}

/** Uploads a stream of unknown size, which cannot be resumed; a failed upload is cancelled. */
async function uploadOpenEnded(job: UploadJob): Promise<FileRecord> {
  const { connection, options, metadata } = job;
  if (options.resume !== undefined) {
    const reason = 'Resuming a stream requires its size.';
    throw new StorageError('InvalidArgument', reason);
  }
  const session = await begin(job);
  try {
    await options.onSession?.(session);
    return await sendSession(job, session);
  } catch (error) {
    const name = { ...metadata, uploadId: session.uploadId };
    // One attempt suffices: an unused session expires.
    await connection.transport.cancelUpload(name, undefined).catch(() => {});
    throw error;
  }
}

async function sendSession(job: UploadJob, session: UploadSession): Promise<FileRecord> {
  const { digests } = await sendChunks(chunksOf(job, session));
  const etag = await etagOf(digests);
  const record = await completeSession(job, session, etag);
  requireSame(record.etag, etag);
  return record;
}

function begin({ connection, source, options, metadata }: UploadJob): Promise<UploadSession> {
  const { signal, chunkBytes } = options;
  const { size } = source;
  return beginSession(connection, { metadata, size, chunkBytes, signal });
}

async function resumeSession(job: UploadJob, uploadId: string): Promise<UploadSession> {
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
    throw new StorageError(code, `Upload ${uploadId} is ${status}; begin a new one.`);
  }
  if (status === 'completed') await requireStored(job, session);
  if (!(await hasTooLongChunks(job, session))) return session;
  // One attempt suffices: an unused session expires.
  await connection.transport.cancelUpload(name, signal).catch(() => {});
  return begin(job);
}

/**
 * The share of the gateway's time limit that a chunk may take; the rest is for the service's
 * latency and a varying rate.
 */
const usedShare = 0.8;

/**
 * Returns whether the line has become too slow for the session's chunks. Gateways would refuse each
 * of them, so a new session with shorter chunks is faster, although it sends all of them again.
 */
async function hasTooLongChunks(
  { connection, options }: UploadJob,
  { chunkSize, totalSize, missing }: UploadSession,
): Promise<boolean> {
  const size = totalSize ?? chunkSize;
  const longest = Math.min(chunkSize, size);
  if (options.chunkBytes !== undefined || missing.length === 0) return false;
  if (longest <= unmeasuredBytesMax) return false;
  const { line, bodyMsMax } = connection.transport;
  await measureFor(connection, longest, options.signal);
  const isShortened = line.up.chunkBytes(size, chunkCountMax) <= longest / 2;
  return isShortened && !line.up.takes(longest, usedShare * bodyMsMax);
}

/** A repeated completion returns its first result, even if the file was replaced or removed. */
async function requireStored(
  { connection, options, metadata }: UploadJob,
  { uploadId, updatedAt }: UploadSession,
): Promise<void> {
  const { signal } = options;
  const stored = await trying(connection, signal, () =>
    connection.transport.getFile(metadata, signal),
  ).catch((error) => {
    if (!isStorageError(error, 'NoSuchFile')) throw error;
  });
  if (stored?.updatedAt === updatedAt) return;
  const reason = `The file of upload ${uploadId} is no longer stored; begin a new upload.`;
  throw new StorageError('NoSuchUpload', reason);
}
