// Syncs a folder of a bucket to a folder on this machine. Local files get the time of the service's
// record, so that the next sync need not read unchanged files. It never writes outside the folder,
// nor through a link in it.

import { lstat, mkdir, rm, rmdir, stat, utimes } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { mayBeOf } from '../../../client/src/age/payload.ts';
import { inParallel } from '../../../client/src/connection/parallel.ts';
import { sharedFileBytesMax } from '../../../client/src/downloads/download-all.ts';
import type { Storage } from '../../../client/src/storage.ts';
import { abortedError } from '../../../client/src/storage-error.ts';
import { ageType } from '../../../client/src/types/end-to-end.ts';
import type { DownloadedFile } from '../../../client/src/types/transfers.ts';
import { type Location, nameOf } from '../output/location.ts';
import type { OverallProgress } from '../output/progress-bar.ts';
import { UsageError } from '../output/usage-error.ts';
import { fetchFile } from '../transfers/get-file.ts';
import { readTree } from '../transfers/local-tree.ts';
import { diskKeyOf, isOneFile, nameKey, unsafeReason } from '../transfers/safe-path.ts';
import type { ListedFile } from '../transfers/stored-listing.ts';
import { entryAt, findTarget } from '../transfers/target-file.ts';
import {
  attemptOne,
  type Direction,
  noteRemoved,
  noteTransferred,
  type SyncJob,
  type SyncStep,
} from './sync-job.ts';
import { inStepsBySize } from './sync-parallel.ts';
import { areMissing, sourceBelow } from './sync-stored.ts';
import { isSameFile } from './sync-up.ts';

interface DownStep extends SyncStep {
  readonly record: ListedFile;
  /** Relative to the folder. */
  readonly path: string;
}

/** `from.path` is a prefix. */
export function syncDown(from: Location, folder: string): Direction<DownStep> {
  return {
    verb: 'fetched',
    plan: (job) => plan(job, from, folder),
    async transfer(job, steps, progress) {
      const small = steps.filter(({ size }) => size <= sharedFileBytesMax);
      const others = steps.filter(({ size }) => size > sharedFileBytesMax);
      await transferSmall(job, small, { bucket: from.bucket, folder, progress });
      await inStepsBySize(job, others, (step, parallel) =>
        attemptOne(job, step.name, () => transferOne(job, { step, folder, parallel, progress })),
      );
    },
    remove: (job, names) => removeLocal(job, folder, names),
  };
}

interface Plan {
  readonly steps: DownStep[];
  readonly extra: string[];
}

async function plan(job: SyncJob, from: Location, folder: string, isWhole = false): Promise<Plan> {
  await requireFolderOrNothing(folder);
  const { files: stored, isStored } = await sourceBelow(job, from, isWhole);
  const wanted: { path: string; record: ListedFile; size: number }[] = [];
  const keyOf = await diskKeyOf(folder, { isDryRun: job.flags.dryRun });
  const nameByKey = new Map<string, string>();
  for (const [path, record] of stored) {
    await attemptOne(job, nameOf(withPath(from, path)), async () => {
      const other = nameByKey.get(keyOf(path));
      const reason = other ? `on this disk it would be the same file as ${other}` : undefined;
      const unsafe = unsafeReason(path) ?? reason;
      nameByKey.set(keyOf(path), path);
      if (unsafe !== undefined) throw new Error(`${unsafe}.`);
      wanted.push({ path, record, size: record.size });
    });
  }
  const isNewByPath = new Map<string, boolean>();
  await inStepsBySize(job, wanted, ({ path, record }) =>
    attemptOne(job, join(folder, path), async () => {
      const file = join(folder, path);
      const entry = await entryAt(file);
      if (entry !== undefined && (await isFetched(job, file, record))) job.counts.same++;
      else isNewByPath.set(path, entry === undefined);
    }),
  );
  const steps = wanted.flatMap(({ path, record, size }) => {
    const isNew = isNewByPath.get(path);
    return isNew === undefined ? [] : [{ name: join(folder, path), path, record, size, isNew }];
  });
  if (!job.flags.delete) return { steps, extra: [] };
  const namesakes = namesakesIn(stored.keys());
  const extra = await extraFiles(job, folder, async (path) => {
    if (nameByKey.has(keyOf(path))) return true;
    return isOneOf(folder, path, namesakes.get(nameKey(path)) ?? []);
  });
  const missing = extra.map((file) => relative(folder, file).split(sep).join('/'));
  if (isStored && !(await areMissing(job, from, missing))) {
    job.counts.same = 0;
    return plan(job, from, folder, true);
  }
  return { steps, extra };
}

/** Returns the paths that may be one file on some disk, by their key. */
function namesakesIn(paths: Iterable<string>): Map<string, string[]> {
  const namesakes = new Map<string, string[]>();
  for (const path of paths) {
    const key = nameKey(path);
    namesakes.set(key, [...(namesakes.get(key) ?? []), path]);
  }
  return namesakes;
}

/** A disk that is mounted below the folder may ignore case although the folder's does not. */
async function isOneOf(folder: string, path: string, others: readonly string[]): Promise<boolean> {
  for (const other of others) {
    if (await isOneFile(join(folder, path), join(folder, other))) return true;
  }
  return false;
}

function withPath({ bucket, path: prefix }: Location, path: string): Location {
  return { bucket, path: prefix + path };
}

async function requireFolderOrNothing(folder: string): Promise<void> {
  const stats = await stat(folder).catch(() => undefined);
  if (stats === undefined || stats.isDirectory()) return;
  throw new UsageError(`"${folder}" is not a folder: name a folder.`);
}

/** Trusts size and time of an earlier sync, as rsync does; else compares digests. */
async function isFetched({ run }: SyncJob, file: string, record: ListedFile): Promise<boolean> {
  const stats = await stat(file).catch(() => undefined);
  const { size, contentType } = record;
  const isOfSize =
    stats?.size === size || (contentType === ageType && mayBeOf(size, stats?.size ?? 0));
  if (!stats?.isFile() || !isOfSize) return false;
  // File systems store times as fractions that may fall just below the millisecond.
  const isOfRecord = Math.round(stats.mtimeMs) === Date.parse(record.updatedAt);
  return isOfRecord || isSameFile(run, file, record);
}

async function extraFiles(
  job: SyncJob,
  folder: string,
  isWanted: (path: string) => Promise<boolean>,
): Promise<string[]> {
  if ((await entryAt(folder)) === undefined) return [];
  const { run, filter } = job;
  const attempt = (file: string, work: () => Promise<void>) => attemptOne(job, file, work);
  const { files } = await readTree({ run, filter, attempt }, folder);
  const extra: string[] = [];
  for (const { file, path } of files) if (!(await isWanted(path))) extra.push(file);
  return extra;
}

/** Files are written at the same time even if requests are not: disks are slow too. */
const writersMin = 8;

/** Small files share requests. */
async function transferSmall(
  job: SyncJob,
  steps: readonly DownStep[],
  place: Pick<OneFile, 'folder' | 'progress'> & { readonly bucket: string },
): Promise<void> {
  const { parallel, verify } = job.flags;
  const { bucket, folder, progress } = place;
  const stepOf = new Map(steps.map((step) => [step.record.path, step]));
  const files = steps.map(({ record }) => record);
  const { signal } = job.run;
  const options = { bucket, concurrency: parallel, signal, verify };
  // The writers share one iterator.
  const left = job.storage.downloadAll(files, options)[Symbol.asyncIterator]();
  const concurrency = Math.max(parallel, writersMin);
  await inParallel({ concurrency, signal }, async (stopped) => {
    for (;;) {
      const { value: received, done } = await left.next();
      if (done || stopped.aborted) return;
      const step = stepOf.get(received.path);
      if (step === undefined) continue;
      await attemptOne(job, step.name, () =>
        transferOne(job, { step, folder, parallel: 1, progress, received }),
      );
    }
  }).finally(() => left.return?.());
}

interface OneFile {
  readonly step: DownStep;
  readonly folder: string;
  readonly parallel: number;
  readonly progress: OverallProgress;
  /** The outcome of a request that several files shared. */
  readonly received?: DownloadedFile;
}

/** Returns the received download, and for a repetition a new one. */
function downloadsOf(
  { storage }: SyncJob,
  received: DownloadedFile | undefined,
): Pick<Storage, 'download'> {
  let first = received;
  return {
    async download(name, options) {
      const { download, error } = first ?? {};
      first = undefined;
      if (error !== undefined) throw error;
      return download ?? storage.download(name, options);
    },
  };
}

async function transferOne(job: SyncJob, one: OneFile) {
  const { step, folder, parallel, progress, received } = one;
  const { record, name } = step;
  const file = { bucket: record.bucketId, path: record.path };
  const { signal } = job.run;
  const { verify } = job.flags;
  try {
    await makeFolders(folder, step.path);
    const entry = await entryAt(name);
    if (entry !== undefined && !entry.isFile()) {
      throw new Error('a folder, a link or a device has that name and is not replaced.');
    }
    await fetchFile(job.run, downloadsOf(job, received), {
      name: file,
      listed: { record, again: () => job.storage.stat(file, { signal }) },
      target: await findTarget(name, ''),
      common: { concurrency: parallel, signal, verify, onProgress: progress.track() },
      resume: true,
      continuedBy: 'the same command',
    });
    const time = new Date(record.updatedAt);
    await utimes(name, time, time);
    noteTransferred(job, step);
  } finally {
    progress.fileEnded(received === undefined ? 0 : step.size);
  }
}

/** Creates each folder separately, because a symbolic link among them could lead outside. */
async function makeFolders(folder: string, path: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  let inner = folder;
  for (const name of path.split('/').slice(0, -1)) {
    inner = join(inner, name);
    const made = await mkdir(inner).then(
      () => true,
      () => false,
    );
    if (made || (await lstat(inner)).isDirectory()) continue;
    throw new Error(`${inner} is not a folder and is not replaced.`);
  }
}

async function removeLocal(job: SyncJob, folder: string, names: readonly string[]): Promise<void> {
  const { signal } = job.run;
  for (const name of names) {
    if (signal.aborted) throw abortedError(signal.reason);
    await rm(name);
    noteRemoved(job, name);
    await removeEmptied(folder, dirname(name));
  }
}

/** Removes folders that have become empty, because a bucket has no empty folders. */
async function removeEmptied(folder: string, inner: string): Promise<void> {
  for (let path = inner; path.length > folder.length && path !== '.'; path = dirname(path)) {
    const isGone = await rmdir(path).then(
      () => true,
      () => false,
    );
    if (!isGone) return;
  }
}
