// `efs sync`: makes a folder of a bucket hold what a folder of the disk holds, and sends only what
// has another digest there.

import { readdir } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { etagOf, likelyChunkBytes, sha256 } from '../digest.ts';
import type { FileName, FileRecord } from '../interface.ts';
import { type FileSource, openFileSource } from '../node/file-source.ts';
import { inParallel } from '../parallel.ts';
import type { Storage } from '../storage.ts';
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
}

interface LocalFile {
  readonly file: string;
  readonly name: FileName;
}

/** Files up to here go several at a time; larger ones one after another, in parallel chunks. */
const smallFileBytesMax = 1_900_000;

export async function sync(
  run: Run,
  { folder, destination }: { readonly folder: string; readonly destination: string },
  options: SyncOptions,
): Promise<void> {
  const location = parseLocation(destination);
  const { bucket } = location;
  const prefix = folderPrefix(location);
  const storage = await run.storage();
  const stored = new Map<string, FileRecord>();
  for await (const file of storage.list({ bucket, prefix, signal: run.signal })) {
    stored.set(file.path, file);
  }
  const counts = { sent: 0, same: 0, removed: 0 };
  const job: SyncJob = { run, storage, options, stored, counts };
  const files = (await filesBelow(folder)).map((file) => {
    const path = prefix + relative(folder, file).split(sep).join('/');
    return { file, name: { bucket, path } };
  });
  const large = await syncSmall(job, files);
  for (const file of large) await syncOne(job, file, options.parallel);
  if (options.delete) await removeOthers(job, new Set(files.map(({ name }) => name.path)));
  const { sent, same, removed } = counts;
  if (!run.isQuiet) printNote(`${sent} sent, ${same} the same, ${removed} removed.`);
}

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.map((entry) => join(entry.parentPath, entry.name)).sort();
}

/** Returns the large ones. */
async function syncSmall(job: SyncJob, files: readonly LocalFile[]): Promise<LocalFile[]> {
  const { signal } = job.run;
  const large: LocalFile[] = [];
  let next = 0;
  await inParallel({ concurrency: job.options.parallel, signal }, async (stopped) => {
    for (let file = files[next++]; file !== undefined && !stopped.aborted; file = files[next++]) {
      if (!(await syncOne(job, file, undefined))) large.push(file);
    }
  });
  signal.throwIfAborted();
  return large;
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
    if (concurrency === undefined && source.size > smallFileBytesMax) return false;
    const there = stored.get(name.path);
    if (there !== undefined && (await isSame(source, there))) {
      counts.same++;
      return true;
    }
    if (!options.dryRun) await send(run, storage, { source, name, concurrency, options });
    counts.sent++;
    printLine(`${there === undefined ? 'new    ' : 'changed'} ${printable(nameOf(name))}`);
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
  const { cacheControl } = options;
  const bar = startProgress(name.path, run.isQuiet || concurrency === undefined);
  try {
    await storage.upload(source, {
      ...name,
      concurrency,
      signal: run.signal,
      headers: cacheControl === undefined ? {} : { 'Cache-Control': cacheControl },
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

async function removeOthers(job: SyncJob, local: ReadonlySet<string>): Promise<void> {
  const { storage, options, stored, counts, run } = job;
  for (const { bucketId: bucket, path } of stored.values()) {
    if (local.has(path)) continue;
    if (!options.dryRun) await storage.remove({ bucket, path }, { signal: run.signal });
    counts.removed++;
    printLine(`removed ${printable(nameOf({ bucket, path }))}`);
  }
}
