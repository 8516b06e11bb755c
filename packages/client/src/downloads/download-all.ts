// Downloads many files: up to two hundred small ones share a request, because each request waits
// for the network; larger files are downloaded one by one. Loaded with the first use.

import {
  readFileCountMax,
  readFileRestBytes,
  readFilesBytesMax,
} from '../../../wire/src/limits.ts';
import { type Connection, trying } from '../connection/connection.ts';
import { isEarlierService } from '../connection/earlier-service.ts';
import { checkedConcurrency, eachEnded, limiter } from '../connection/parallel.ts';
import type { OpenedFile, WholeFile } from '../operations/transfers.ts';
import { abortedError, isStorageError, StorageError } from '../storage-error.ts';
import type { FileName } from '../types/files.ts';
import type {
  Download,
  DownloadAllOptions,
  DownloadedFile,
  DownloadOptions,
  FilesToDownload,
} from '../types/transfers.ts';

/** Files up to this size share requests: larger ones would save little. */
export const sharedFileBytesMax = 100_000;
/** Bytes of a request's files by their listed sizes; sealed paths are longer than plain ones. */
const requestBytesMax = readFilesBytesMax - 100_000;

/** How one file is downloaded, alone or after it was opened with others. */
export interface FileDownloads {
  download(name: FileName, options: DownloadOptions): Promise<Download>;
  open(name: FileName, options: DownloadOptions, opened: OpenedFile): Promise<Download>;
}

interface Job {
  readonly connection: Connection;
  readonly options: DownloadAllOptions;
  readonly signal: AbortSignal;
  readonly downloads: FileDownloads;
  /** Limits the requests for single files of several groups together. */
  readonly limited: ReturnType<typeof limiter>;
}

/**
 * Yields each file's download or error, in any order. One failure does not stop the others. Throws
 * when the caller's signal aborts, or when `files` throws.
 */
export async function* downloadAll(
  connection: Connection,
  { files, options }: { readonly files: FilesToDownload; readonly options: DownloadAllOptions },
  downloads: FileDownloads,
): AsyncGenerator<DownloadedFile> {
  const concurrency = checkedConcurrency(options.concurrency);
  const limited = limiter(concurrency);
  yield* eachEnded({ concurrency, signal: options.signal }, (signal) =>
    tasksOf({ connection, options, signal, downloads, limited }, files),
  );
}

/** Yields tasks that never throw. */
async function* tasksOf(job: Job, files: FilesToDownload) {
  let paths: string[] = [];
  let bytes = 0;
  for await (const { path, size } of files) {
    if (job.signal.aborted) throw abortedError(job.signal.reason);
    if (size === undefined || size > sharedFileBytesMax) {
      yield async () => [await one(job, path)];
      continue;
    }
    const own = size + 3 * path.length + readFileRestBytes;
    if (paths.length === readFileCountMax || (paths.length > 0 && bytes + own > requestBytesMax)) {
      yield together(job, { paths, bytes });
      paths = [];
      bytes = 0;
    }
    paths.push(path);
    bytes += own;
  }
  if (paths.length > 0) yield together(job, { paths, bytes });
}

interface Group {
  readonly paths: readonly string[];
  /** Expected length of the answer. */
  readonly bytes: number;
}

function together(job: Job, group: Group) {
  const { paths } = group;
  // By the actor, a file alone takes two queries, for its record and its bytes.
  const isAlone = paths.length === 1 && job.connection.transport.opensWithBytes;
  return () => (isAlone ? eachAlone(job, paths) : readTogether(job, group));
}

/** Reads files by shared requests until none is left; the service decides how many fit into one. */
async function readTogether(job: Job, { paths, bytes }: Group): Promise<DownloadedFile[]> {
  const { connection, signal } = job;
  const { transport } = connection;
  const { bucket } = job.options;
  const ended: DownloadedFile[] = [];
  for (let left = paths; left.length > 0; ) {
    let results: readonly (WholeFile | StorageError)[];
    try {
      const request = { bucket, paths: left };
      const expectedBytes = Math.round((bytes * left.length) / paths.length);
      results = await trying(connection, signal, () =>
        transport.line.down.run(expectedBytes, signal, () => transport.readFiles(request, signal)),
      );
      if (results.length === 0) throw new StorageError('HttpError', 'The answer has no results.');
    } catch (error) {
      // HTTP alone has no such request, and a proxy may pass HTTP on but no calls of the actor.
      const isLacking =
        isStorageError(error, 'Unsupported', 'HttpError') ||
        (await isEarlierService(connection, error, signal));
      if (isLacking) return [...ended, ...(await eachAlone(job, left))];
      return [...ended, ...left.map((path) => failed(path, error))];
    }
    const answered = left.slice(0, results.length);
    ended.push(
      ...(await Promise.all(answered.map((path, index) => opened(job, path, results[index])))),
    );
    left = left.slice(results.length);
  }
  return ended;
}

async function opened(
  job: Job,
  path: string,
  result: WholeFile | StorageError | undefined,
): Promise<DownloadedFile> {
  if (result === undefined || isStorageError(result)) {
    // The file has grown since it was listed.
    if (isStorageError(result, 'EntityTooLarge')) return one(job, path);
    return failed(path, result);
  }
  const { etag, contentType, bytes } = result;
  const size = bytes.length;
  // A file of one chunk need not have the chunk length of its session.
  const chunkBytes = Math.max(1, Math.min(result.chunkBytes, size));
  const file: OpenedFile = {
    ...{ etag, size, contentType, chunkBytes, isAnonymous: false },
    first: size === 0 ? undefined : bytes.subarray(0, chunkBytes),
  };
  return attempt(path, () => {
    // A second chunk is read by itself: few small files have one.
    return job.downloads.open({ bucket: job.options.bucket, path }, optionsOf(job), file);
  });
}

function eachAlone(job: Job, paths: readonly string[]): Promise<DownloadedFile[]> {
  return Promise.all(paths.map((path) => job.limited(() => one(job, path))));
}

function one(job: Job, path: string): Promise<DownloadedFile> {
  const { bucket } = job.options;
  return attempt(path, () => job.downloads.download({ bucket, path }, optionsOf(job)));
}

/** The caller reads a download after this loop may have ended, so only its own signal stops it. */
function optionsOf({ options }: Job): DownloadOptions {
  const { signal, verify, concurrency } = options;
  return { signal, verify, concurrency };
}

async function attempt(path: string, work: () => Promise<Download>): Promise<DownloadedFile> {
  try {
    return { path, download: await work() };
  } catch (error) {
    return failed(path, error);
  }
}

function failed(path: string, error: unknown): DownloadedFile {
  if (isStorageError(error)) return { path, error };
  const { message = String(error) } = (error ?? {}) as { message?: string };
  return { path, error: new StorageError('HttpError', message, { cause: error }) };
}
