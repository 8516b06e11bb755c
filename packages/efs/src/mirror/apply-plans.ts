// Applies the plans of paths to the target. Each step can be repeated: after a kill, the next run
// reads both buckets again and plans only what is left.

import { asTheyEnd, inParallel } from '../../../client/src/connection/parallel.ts';
import { StorageError } from '../../../client/src/storage-error.ts';
import type { FileRecord } from '../../../client/src/types/files.ts';
import type { Download, FilesToDownload } from '../../../client/src/types/transfers.ts';
import { smallFileBytesMax } from '../../../client/src/uploads/upload-all.ts';
import type { PathStates } from './bucket-states.ts';
import {
  attemptAt,
  type MirrorJob,
  noteStep,
  type OpenedVersion,
  type SmallFile,
} from './mirror-job.ts';
import type { PathPlan, PathState, StoredVersion } from './path-plan.ts';

type Plans = ReadonlyMap<string, PathPlan>;

export async function applyPlans(job: MirrorJob, plans: Plans): Promise<void> {
  await eachPath(job, plans, (path, plan) => prepare(job, path, plan));
  for (let round = 0; ; round++) {
    const versions = [...plans].flatMap(([path, { append }]) => {
      const version = append[round];
      return version === undefined || job.failed.has(path) ? [] : [{ ...version, path }];
    });
    if (versions.length === 0) break;
    await store(job, versions);
  }
  await removeFiles(job, plans);
}

async function eachPath(
  { flags, source: { signal } }: MirrorJob,
  plans: Plans,
  work: (path: string, plan: PathPlan) => Promise<void>,
): Promise<void> {
  const left = plans.entries();
  await inParallel({ concurrency: flags.parallel, signal }, async (stopped) => {
    for (const [path, plan] of left) {
      if (stopped.aborted) return;
      await work(path, plan);
    }
  });
}

/** Erases what the source does not have, and changes what needs no bytes. */
async function prepare(job: MirrorJob, path: string, plan: PathPlan): Promise<void> {
  const { target } = job;
  await attemptAt(job, path, async () => {
    for (const version of plan.erase) {
      await target.erase(path, version);
      noteStep(job, 'erased', path);
    }
    if (plan.restore !== undefined) await target.restore(path, plan.restore);
    if (plan.change !== undefined) {
      await target.change(job, path, plan.change);
      noteStep(job, 'changed', path);
    }
  });
}

function isFormer(version: StoredVersion): boolean {
  return 'retiredAt' in version;
}

/** Files of several chunks keep their chunks, because the entity tag depends on them. */
function isSmall({ size, etag }: StoredVersion): boolean {
  return size <= smallFileBytesMax && !etag.includes('-');
}

/**
 * Stores small files while they are listed, in a target without files, and returns its states. A
 * file that has changed since it was listed fails, and is read and planned again.
 */
export async function storeArriving(
  job: MirrorJob,
  arriving: AsyncIterable<FileRecord>,
): Promise<PathStates> {
  const versions = new Map<string, FileRecord>();
  const states = new Map<string, PathState>();
  const small = (async function* () {
    for await (const file of arriving) {
      if (!isSmall(file)) continue;
      versions.set(file.path, file);
      yield file;
    }
  })();
  await storeSmall(job, readPresent(job, small, versions), (path) => {
    const present = versions.get(path);
    states.set(path, { present, former: [] });
    return present;
  });
  return states;
}

/** `versionOf`: returns the version of which the file has been stored. */
async function storeSmall(
  job: MirrorJob,
  files: AsyncIterable<SmallFile>,
  versionOf: (path: string) => StoredVersion | undefined,
): Promise<void> {
  const { target, flags } = job;
  for await (const { path, file, error } of target.storeSmall(files, flags.parallel)) {
    await attemptAt(job, path, async () => {
      if (file === undefined) throw error;
      requireTag(file, versionOf(path));
      noteStep(job, 'stored', path);
    });
  }
}

/** Stores one version of each path: small ones together, large ones in turn. */
async function store(job: MirrorJob, versions: readonly StoredVersion[]): Promise<void> {
  const small = new Map(versions.filter(isSmall).map((version) => [version.path, version]));
  await storeSmall(job, readSmall(job, [...small.values()]), (path) => small.get(path));
  for (const version of versions) {
    if (!isSmall(version)) await attemptAt(job, version.path, () => storeLarge(job, version));
  }
}

export function requireTag(
  { etag }: { readonly etag: string },
  version: StoredVersion | undefined,
): void {
  if (etag === version?.etag) return;
  throw new StorageError(
    'IntegrityError',
    `The bytes have the ETag ${etag}, and the version of the source ${version?.etag}: it has ` +
      'changed meanwhile, or a node answered falsely. Run the command again.',
    { isRetryable: true },
  );
}

async function* readSmall(
  job: MirrorJob,
  versions: readonly StoredVersion[],
): AsyncGenerator<SmallFile> {
  const present = versions.filter((version): version is FileRecord => !isFormer(version));
  yield* readPresent(job, present, new Map(present.map((version) => [version.path, version])));
  const former = versions.filter(isFormer);
  const tasks = (async function* () {
    for (const version of former) {
      yield () => readOne(job, version.path, () => openFormer(job, version));
    }
  })();
  const files = asTheyEnd(tasks, job.flags.parallel);
  for await (const file of files) if (file !== undefined) yield file;
}

/** `versions`: the files by path, which may arrive with them. */
async function* readPresent(
  job: MirrorJob,
  files: FilesToDownload,
  versions: ReadonlyMap<string, FileRecord>,
): AsyncGenerator<SmallFile> {
  const { source, flags } = job;
  const { bucket, signal } = source;
  const options = { bucket, concurrency: flags.parallel, signal };
  for await (const { path, download, error } of source.storage.downloadAll(files, options)) {
    const file = await readOne(job, path, async () => {
      if (error !== undefined) throw error;
      return { version: versions.get(path), download };
    });
    if (file !== undefined) yield file;
  }
}

interface Opened {
  readonly version: FileRecord | undefined;
  readonly download: Download;
}

async function readOne(
  job: MirrorJob,
  path: string,
  open: () => Promise<Opened>,
): Promise<SmallFile | undefined> {
  let file: SmallFile | undefined;
  await attemptAt(job, path, async () => {
    const { version, download } = await open();
    const bytes = await download.bytes();
    requireTag(download, version);
    file = { path, source: bytes, ...notesOf(version) };
  });
  return file;
}

export function notesOf(version: FileRecord | undefined) {
  return {
    contentType: version?.contentType,
    tags: version?.tags,
    metadata: version?.metadata,
  };
}

/** Reads the whole record, because lists of former versions have no tags and no chunk length. */
export async function openVersion(
  { source }: MirrorJob,
  { path, version }: StoredVersion,
): Promise<OpenedVersion> {
  const { storage, bucket, signal } = source;
  const name = { bucket, path };
  const record = await storage.stat(name, { version, signal });
  return { record, download: await storage.download(name, { version, signal }) };
}

async function openFormer(job: MirrorJob, version: StoredVersion): Promise<Opened> {
  const { record, download } = await openVersion(job, version);
  return { version: record, download };
}

async function storeLarge(job: MirrorJob, wanted: StoredVersion): Promise<void> {
  const opened = await openVersion(job, wanted);
  requireTag(opened.download, wanted);
  await job.target.storeLarge(job, opened);
  noteStep(job, 'stored', wanted.path);
}

async function removeFiles(job: MirrorJob, plans: Plans): Promise<void> {
  const paths = [...plans].filter(([path, { remove }]) => remove && !job.failed.has(path));
  if (paths.length === 0) return;
  const names = paths.map(([path]) => path);
  for await (const { path, error } of job.target.removeAll(names, job.flags.parallel)) {
    await attemptAt(job, path, async () => {
      if (error !== undefined) throw error;
      noteStep(job, 'removed', path);
    });
  }
}
