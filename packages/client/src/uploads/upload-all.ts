// Uploads many files: up to two hundred small ones share a request, because each request takes
// seconds; larger files are uploaded one by one.

import {
  batchFileCountMax,
  batchItemCountMax,
  batchTextBytesMax,
} from '../../../wire/src/limits.ts';
import { etagOf, requireSame, requireSha256 } from '../bytes/digest.ts';
import { sha256 } from '../bytes/sha256.ts';
import { type OpenedSource, openSource } from '../bytes/upload-source.ts';
import { type Connection, trying } from '../connection/connection.ts';
import { isEarlierService } from '../connection/earlier-service.ts';
import { checkedConcurrency, eachEnded } from '../connection/parallel.ts';
import { unmeasuredBytesMax } from '../connection/transfer-window.ts';
import type { BatchedFile } from '../operations/transfers.ts';
import { abortedError, isStorageError, StorageError } from '../storage-error.ts';
import type { FileRecord } from '../types/files.ts';
import type { FileToUpload, UploadAllOptions, UploadedFile } from '../types/transfers.ts';
import { requestBytes } from './begin-session.ts';
import { lateMetadata } from './complete-session.ts';
import { metadataOf, uploadFile } from './upload.ts';

/**
 * Files up to this size share requests. One request replaces eighteen of this size; larger files
 * would save little. On the network 500 files of 5 kB take 5 s in three requests, two of them at a
 * time.
 */
export const smallFileBytesMax = 100_000;
/** Limit for the files and names of a request; an envelope of 2 MiB has room for it. */
const batchBytesMax = 1_800_000;
/** Overhead of Candid or a form for each file. */
const fileRestBytes = 512;
/** Limit for a file's texts: the head of a form's part may have 8,192 bytes. */
const fileTextBytesMax = 6_000;

/** A full request, with room for rounding errors. */
const whole = 1 + 1e-9;

interface Job {
  readonly connection: Connection;
  readonly options: UploadAllOptions;
  readonly signal: AbortSignal;
}

interface SmallFile extends BatchedFile {
  readonly etag: string;
}

/**
 * Yields each file's record or error as it ends, in any order. One failure does not stop the
 * others. Throws when the caller's signal aborts, or when `files` throws.
 */
export async function* uploadAll(
  connection: Connection,
  files: Iterable<FileToUpload> | AsyncIterable<FileToUpload>,
  options: UploadAllOptions,
): AsyncGenerator<UploadedFile> {
  const concurrency = checkedConcurrency(options.concurrency);
  yield* eachEnded({ concurrency, signal: options.signal }, (signal) =>
    tasksOf({ connection, options, signal }, files),
  );
}

/** Yields tasks that never throw. */
async function* tasksOf(
  job: Job,
  files: Iterable<FileToUpload> | AsyncIterable<FileToUpload>,
): AsyncGenerator<() => Promise<readonly UploadedFile[]>> {
  let batch = new Map<string, SmallFile>();
  let share = 0;
  let bytes = 0;
  for await (const file of files) {
    if (job.signal.aborted) throw abortedError(job.signal.reason);
    const read = await readSmall(job, file);
    if ('task' in read) {
      yield read.task;
      continue;
    }
    const own = shareOf(read);
    const isFull = share + own > whole || !(await isTakenInTime(job, bytes + read.bytes.length));
    if ((isFull && batch.size > 0) || batch.has(read.path)) {
      yield taskOf(job, batch);
      batch = new Map();
      share = 0;
      bytes = 0;
    }
    batch.set(read.path, read);
    share += own;
    bytes += read.bytes.length;
  }
  if (batch.size > 0) yield taskOf(job, batch);
}

async function isTakenInTime({ connection }: Job, bytes: number): Promise<boolean> {
  return bytes <= unmeasuredBytesMax || bytes <= (await requestBytes(connection, batchBytesMax));
}

function taskOf(job: Job, batch: ReadonlyMap<string, SmallFile>) {
  return () => sendBatch(job, [...batch.values()]);
}

/** Returns the maximum size of the file's texts: three bytes for each UTF-16 unit. */
function textBytesOf({ path, contentType, tags, headers, metadata }: SmallFile): number {
  const pairs = Object.entries({ ...headers, ...metadata }).flat();
  return 3 * [path, contentType, ...tags, ...pairs].join('').length;
}

/** Returns the file's share of a request, by the limit that it uses most. */
function shareOf(file: SmallFile): number {
  const textBytes = textBytesOf(file);
  const lists = [file.tags, file.headers, file.metadata].map((list) => Object.keys(list).length);
  return Math.max(
    1 / batchFileCountMax,
    (file.bytes.length + fileRestBytes + textBytes) / batchBytesMax,
    // Allows for sealed names, which are longer, and for conditions.
    (2 * textBytes) / batchTextBytesMax,
    lists.reduce((sum, count) => sum + count) / batchItemCountMax,
  );
}

/** Reads a file for a batch, or returns the task that uploads it alone. */
async function readSmall(
  job: Job,
  file: FileToUpload,
): Promise<SmallFile | { readonly task: () => Promise<readonly UploadedFile[]> }> {
  const { connection, options } = job;
  try {
    const bufferedBytesMax = connection.transport.wholeFileBytesMax;
    const source = await openSource(file.source, { size: file.size, bufferedBytesMax });
    // A form's part has its own Content-Disposition, and its file name cannot contain line ends.
    const isAlone =
      file.headers?.['Content-Disposition'] !== undefined || /\p{Cc}/u.test(file.path);
    const { size } = source;
    if (size === undefined || size > smallFileBytesMax || isAlone) {
      return { task: () => uploadAlone(job, file, source) };
    }
    const { bucket } = options;
    const described = metadataOf(connection, source, { ...file, bucket });
    const bytes = await source.slice(0, size);
    const metadata = (await lateMetadata(file)) ?? described.metadata;
    const digest = await sha256(bytes);
    requireSha256(described.sha256, digest);
    const { bucket: _, sha256: __, ...rest } = described;
    const small = { ...rest, metadata, bytes, etag: await etagOf([digest]) };
    if (textBytesOf(small) <= fileTextBytesMax) return small;
    const again = await openSource(bytes, { size, bufferedBytesMax });
    const alone = { ...file, metadata, contentType: rest.contentType };
    return { task: () => uploadAlone(job, alone, again) };
  } catch (error) {
    return { task: async () => [failed(file.path, error)] };
  }
}

function failed(path: string, error: unknown): UploadedFile {
  if (isStorageError(error)) return { path, error };
  const { message = String(error) } = error as { message?: string };
  return { path, error: new StorageError('InvalidArgument', message, { cause: error }) };
}

async function uploadAlone(
  { connection, options, signal }: Job,
  file: FileToUpload,
  source: OpenedSource,
): Promise<readonly UploadedFile[]> {
  const { bucket, concurrency } = options;
  try {
    const alone = { ...file, bucket, concurrency, signal };
    return [{ path: file.path, file: await uploadFile(connection, source, alone) }];
  } catch (error) {
    return [failed(file.path, error)];
  }
}

/**
 * Sends a batch, and repeats it without the refused files until nothing is left. Files that are
 * refused with SlowDown follow in a batch of their own.
 */
async function sendBatch(job: Job, batch: readonly SmallFile[]): Promise<readonly UploadedFile[]> {
  const ended: UploadedFile[] = [];
  let later: SmallFile[] = [];
  for (let rest = batch; rest.length > 0; ) {
    const results = await trySend(job, rest);
    const refusedAs = (code: string) =>
      rest.filter((_, index) => isStorageError(results[index]?.error, code));
    const others = refusedAs('NotStored');
    const slowed = refusedAs('SlowDown');
    // If no file was refused for its own sake, or all were, a retry cannot help.
    const isStuck = [others, slowed].some(({ length }) => length === rest.length);
    const isOpen = ({ error }: UploadedFile) => isStorageError(error, 'NotStored', 'SlowDown');
    ended.push(...results.filter((result) => isStuck || !isOpen(result)));
    if (!isStuck) later.push(...slowed);
    rest = isStuck ? [] : others;
    if (rest.length === 0) [rest, later] = [later, []];
  }
  return ended;
}

async function trySend(job: Job, batch: readonly SmallFile[]): Promise<readonly UploadedFile[]> {
  const { connection, options, signal } = job;
  const { bucket } = options;
  const { putFiles, line } = connection.transport;
  const bytes = batch.reduce((sum, file) => sum + file.bytes.length, 0);
  let attempts = 0;
  try {
    const results = await trying(connection, signal, (attempt) => {
      attempts = attempt;
      return line.up.run(bytes, signal, () => putFiles({ bucket, files: batch }, signal));
    });
    return await Promise.all(
      batch.map(async (file, index) => {
        const result =
          results[index] ?? new StorageError('HttpError', 'The response lacks this file.');
        return outcomeOf(job, file, { result, isRepeated: attempts > 1 });
      }),
    );
  } catch (error) {
    if (await isEarlierService(connection, error, signal)) {
      const { forEachAlone } = await import('../connection/earlier-operations.ts');
      return (await forEachAlone(batch, signal, (file) => sendAlone(job, file))).flat();
    }
    return batch.map(({ path }) => failed(path, error));
  }
}

/** Uploads a file of a batch alone: a service of version 0.1.0 has no batches. */
async function sendAlone(job: Job, { bytes, ...file }: SmallFile) {
  const source = await openSource(bytes, { size: bytes.length, bufferedBytesMax: bytes.length });
  return uploadAlone(job, { ...file, source: bytes }, source);
}

/** If an earlier response was lost, the stored file itself makes the precondition false. */
async function outcomeOf(
  { connection, options, signal }: Job,
  { path, etag }: SmallFile,
  sent: { readonly result: FileRecord | StorageError; readonly isRepeated: boolean },
): Promise<UploadedFile> {
  const { result, isRepeated } = sent;
  try {
    if (!isStorageError(result)) {
      requireSame(result.etag, etag);
      return { path, file: result };
    }
    if (!isRepeated || !isStorageError(result, 'PreconditionFailed'))
      return { path, error: result };
    const name = { bucket: options.bucket, path };
    const file = await trying(connection, signal, () => connection.transport.getFile(name, signal));
    return file.etag === etag ? { path, file } : { path, error: result };
  } catch (error) {
    return failed(path, error);
  }
}
