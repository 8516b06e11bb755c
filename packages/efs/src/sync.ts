// `efs sync`: makes a folder of a bucket hold what a folder of the disk holds, and sends only what
// has another digest there.

import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { etagOf, likelyChunkBytes } from '../../client/src/digest.ts';
import type {
  FileName,
  FileRecord,
  FileToUpload,
  StoredHeaders,
} from '../../client/src/interface.ts';
import { type FileSource, openFileSource } from '../../client/src/node/file-source.ts';
import { checkedConcurrency, inParallel } from '../../client/src/parallel.ts';
import { sha256 } from '../../client/src/sha256.ts';
import type { Storage } from '../../client/src/storage.ts';
import { StorageError } from '../../client/src/storage-error.ts';
import { smallFileBytesMax } from '../../client/src/upload-all.ts';
import { exitCodeOf, exitCodes, sayFailure } from './exit-code.ts';
import { folderPrefix, nameOf, parseLocation } from './location.ts';
import { printable, printLine, printNote } from './output.ts';
import { startProgress } from './progress-bar.ts';
import type { Run } from './run.ts';

export interface SyncOptions {
  readonly parallel: number;
  readonly delete?: boolean;
  readonly dryRun?: boolean;
  readonly cacheControl?: string;
}

interface SyncJob {
  readonly run: Run;
  readonly storage: Storage;
  readonly options: SyncOptions;
  readonly stored: ReadonlyMap<string, FileRecord>;
  readonly counts: { sent: number; same: number; removed: number };
  /** Of single files, which do not keep the others from being sent. */
  readonly failures: unknown[];
}

interface LocalFile {
  readonly file: string;
  readonly name: FileName;
}

interface LocalFolder {
  /** In order. */
  readonly files: LocalFile[];
  /** What is here, but is neither a file nor a folder. */
  readonly skipped: LocalFile[];
}

/** Files up to here go several at a time; larger ones one after another, in parallel chunks. */
const oneChunkBytesMax = 1_900_000;

export async function sync(
  run: Run,
  { folder, destination }: { readonly folder: string; readonly destination: string },
  options: SyncOptions,
): Promise<void> {
  checkedConcurrency(options.parallel);
  const location = parseLocation(destination);
  const { bucket } = location;
  const prefix = folderPrefix(location);
  const storage = await run.storage();
  const stored = new Map<string, FileRecord>();
  for await (const file of storage.list({ bucket, prefix, signal: run.signal })) {
    stored.set(file.path, file);
  }
  const counts = { sent: 0, same: 0, removed: 0 };
  const job: SyncJob = { run, storage, options, stored, counts, failures: [] };
  const local: LocalFolder = { files: [], skipped: [] };
  await addFolder(job, local, { file: folder, name: { bucket, path: prefix } });
  const others = await syncBatches(job, local.files);
  const large = await syncOneByOne(job, others);
  for (const file of large) await trySyncOne(job, file, options.parallel);
  if (options.delete && job.failures.length === 0) await removeOthers(job, local);
  const { sent, same, removed } = counts;
  if (!run.isQuiet) printNote(`${sent} sent, ${same} the same, ${removed} removed.`);
  if (job.failures.length > 0) throw failureOf(job);
}

/** Adds what is in a folder, whose own name ends with a slash there. */
async function addFolder(job: SyncJob, local: LocalFolder, folder: LocalFile): Promise<void> {
  const { bucket, path } = folder.name;
  const entries = await readdir(folder.file, { withFileTypes: true });
  entries.sort((one, other) => (one.name < other.name ? -1 : 1));
  for (const entry of entries) {
    const file = join(folder.file, entry.name);
    const name = { bucket, path: path + entry.name };
    if (entry.isDirectory()) {
      const inner = { file, name: { bucket, path: `${name.path}/` } };
      await goOnAfterFailure(job, file, () => addFolder(job, local, inner));
    } else if (entry.isFile() || (entry.isSymbolicLink() && (await leadsToFile(file)))) {
      local.files.push({ file, name });
    } else {
      local.skipped.push({ file, name });
      if (!job.run.isQuiet) printNote(`${printable(file)} is skipped: it is no file.`);
    }
  }
}

/** A link to a folder may lead to one that it is in; one may lead to nothing. */
async function leadsToFile(link: string): Promise<boolean> {
  const target = await stat(link).catch(() => undefined);
  return target?.isFile() === true;
}

/** What ends one file alone is said, and kept for the end. */
async function goOnAfterFailure(
  job: SyncJob,
  file: string,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (isOfAllFiles(error)) throw error;
    job.failures.push(error);
    printNote(`${printable(file)} is not sent: ${sayFailure(error)}`);
  }
}

function isOfAllFiles(error: unknown): boolean {
  const { interrupted, unreachable, accessDenied } = exitCodes;
  return [interrupted, unreachable, accessDenied].some((code) => code === exitCodeOf(error));
}

/** With the exit code of the first. */
function failureOf({ failures, options }: SyncJob): Error {
  const [cause] = failures;
  const count = failures.length === 1 ? '1 file was' : `${failures.length} files were`;
  const text = `${count} not sent${options.delete ? '; therefore nothing is removed' : ''}.`;
  if (!(cause instanceof StorageError)) return new Error(text, { cause });
  return new StorageError(cause.code, text, { status: cause.status, cause });
}

/** Those that go together with others; returns the rest. */
async function syncBatches(job: SyncJob, files: readonly LocalFile[]): Promise<LocalFile[]> {
  const { storage, run, options } = job;
  const [first] = files;
  if (first === undefined) return [];
  const others: LocalFile[] = [];
  const byPath = new Map(files.map((file) => [file.name.path, file]));
  const changed = changedSmallFiles(job, files, others);
  const { bucket } = first.name;
  const wishes = { bucket, concurrency: options.parallel, signal: run.signal };
  for await (const { path, error } of storage.uploadAll(changed, wishes)) {
    const { file, name } = byPath.get(path) ?? first;
    await goOnAfterFailure(job, file, async () => {
      if (error !== undefined) throw error;
      noteSent(job, name);
    });
  }
  return others;
}

/** Read whole, so that none is open while it waits for others. Adds what is no small one. */
async function* changedSmallFiles(
  job: SyncJob,
  files: readonly LocalFile[],
  others: LocalFile[],
): AsyncGenerator<FileToUpload> {
  for (const local of files) {
    let changed: Uint8Array | undefined;
    await goOnAfterFailure(job, local.file, async () => {
      const source = await openFileSource(local.file);
      try {
        if (source.size > smallFileBytesMax) others.push(local);
        else changed = await readChanged(job, source, local.name);
      } finally {
        await source.close();
      }
    });
    if (changed !== undefined) {
      yield { path: local.name.path, source: changed, headers: headersOf(job.options) };
    }
  }
}

async function readChanged(
  job: SyncJob,
  source: FileSource,
  name: FileName,
): Promise<Uint8Array | undefined> {
  const { stored, counts, options } = job;
  const there = stored.get(name.path);
  if (there !== undefined && (await isSame(source, there))) {
    counts.same++;
    return undefined;
  }
  if (!options.dryRun) return source.slice(0, source.size);
  noteSent(job, name);
  return undefined;
}

function noteSent({ stored, counts }: SyncJob, name: FileName): void {
  counts.sent++;
  printLine(`${stored.has(name.path) ? 'changed' : 'new    '} ${printable(nameOf(name))}`);
}

function headersOf({ cacheControl }: SyncOptions): StoredHeaders {
  return cacheControl === undefined ? {} : { 'Cache-Control': cacheControl };
}

/** Returns the large ones. */
async function syncOneByOne(job: SyncJob, files: readonly LocalFile[]): Promise<LocalFile[]> {
  const { signal } = job.run;
  const large: LocalFile[] = [];
  let next = 0;
  await inParallel({ concurrency: job.options.parallel, signal }, async (stopped) => {
    for (let file = files[next++]; file !== undefined && !stopped.aborted; file = files[next++]) {
      if (!(await trySyncOne(job, file, undefined))) large.push(file);
    }
  });
  signal.throwIfAborted();
  return large;
}

async function trySyncOne(
  job: SyncJob,
  file: LocalFile,
  concurrency: number | undefined,
): Promise<boolean> {
  let isDone = true;
  await goOnAfterFailure(job, file.file, async () => {
    isDone = await syncOne(job, file, concurrency);
  });
  return isDone;
}

/** False for a large file when the parallelism is undefined: it is left for later. */
async function syncOne(
  job: SyncJob,
  { file, name }: LocalFile,
  concurrency: number | undefined,
): Promise<boolean> {
  const { storage, run, options, stored, counts } = job;
  const source = await openFileSource(file);
  try {
    if (concurrency === undefined && source.size > oneChunkBytesMax) return false;
    const there = stored.get(name.path);
    if (there !== undefined && (await isSame(source, there))) {
      counts.same++;
      return true;
    }
    if (!options.dryRun) await send(run, storage, { source, name, concurrency, options });
    noteSent(job, name);
    return true;
  } finally {
    await source.close();
  }
}

async function send(
  run: Run,
  storage: Storage,
  sending: {
    readonly source: FileSource;
    readonly name: FileName;
    readonly concurrency: number | undefined;
    readonly options: SyncOptions;
  },
): Promise<void> {
  const { source, name, concurrency, options } = sending;
  const bar = startProgress(name.path, run.isQuiet || concurrency === undefined);
  try {
    await storage.upload(source, {
      ...name,
      concurrency,
      signal: run.signal,
      headers: headersOf(options),
      onProgress: bar.report,
    });
  } finally {
    bar.stop();
  }
}

async function isSame(source: FileSource, there: FileRecord): Promise<boolean> {
  if (source.size !== there.size) return false;
  const chunkBytes = likelyChunkBytes(there);
  if (chunkBytes === undefined) return false;
  const digests: Uint8Array[] = [];
  for (let start = 0; start < source.size; start += chunkBytes) {
    const end = Math.min(start + chunkBytes, source.size);
    digests.push(await sha256(await source.slice(start, end)));
  }
  return (await etagOf(digests)) === there.etag;
}

async function removeOthers(job: SyncJob, local: LocalFolder): Promise<void> {
  const { storage, options, stored, counts, run } = job;
  const paths = new Set(local.files.map(({ name }) => name.path));
  const isSkipped = (path: string) =>
    local.skipped.some(({ name }) => path === name.path || path.startsWith(`${name.path}/`));
  const others = [...stored.values()].filter(({ path }) => !paths.has(path) && !isSkipped(path));
  const [first] = others;
  if (first === undefined) return;
  const { bucketId: bucket } = first;
  const noteRemoved = (path: string) => {
    counts.removed++;
    printLine(`removed ${printable(nameOf({ bucket, path }))}`);
  };
  const gone = others.map(({ path }) => path);
  if (options.dryRun) {
    gone.forEach(noteRemoved);
    return;
  }
  for await (const { path, error } of storage.removeAll({
    bucket,
    paths: gone,
    signal: run.signal,
  })) {
    if (error !== undefined) throw error;
    noteRemoved(path);
  }
}
