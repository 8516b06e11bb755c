// Applies the plans of paths to the target. Each step can be repeated: after a kill, the next run
// reads both buckets again and plans only what is left.

import { likelyChunkBytes } from '../../../client/src/bytes/digest.ts';
import { asTheyEnd, inParallel } from '../../../client/src/connection/parallel.ts';
import { isStorageError, StorageError } from '../../../client/src/storage-error.ts';
import type { FileRecord } from '../../../client/src/types/files.ts';
import type { Download, FileToUpload } from '../../../client/src/types/transfers.ts';
import { smallFileBytesMax } from '../../../client/src/uploads/upload-all.ts';
import { chunkBytesMin } from '../../../wire/src/limits.ts';
import { attemptAt, type MirrorJob, noteStep } from './mirror-job.ts';
import type { PathPlan, StoredVersion } from './path-plan.ts';

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
  const { storage, bucket, signal } = job.target;
  const file = { bucket, path, signal };
  await attemptAt(job, path, async () => {
    for (const version of plan.erase) {
      await storage.versions.erase({ ...file, version }).catch(unlessMissing);
      noteStep(job, 'erased', path);
    }
    if (plan.restore !== undefined) {
      await storage.versions.restore({ ...file, version: plan.restore });
    }
    if (plan.change !== undefined) {
      const { contentType, tags, metadata = {} } = plan.change;
      await storage.change({ bucket, path }, { contentType, tags, metadata, signal });
      noteStep(job, 'changed', path);
    }
  });
}

/** A former version may have expired meanwhile. */
function unlessMissing(error: unknown): void {
  if (!isStorageError(error, 'NoSuchFile')) throw error;
}

function isFormer(version: StoredVersion): boolean {
  return 'retiredAt' in version;
}

/** Files of several chunks keep their chunks, because the entity tag depends on them. */
function isSmall({ size, etag }: StoredVersion): boolean {
  return size <= smallFileBytesMax && !etag.includes('-');
}

/** Stores one version of each path: small ones together, large ones in turn. */
async function store(job: MirrorJob, versions: readonly StoredVersion[]): Promise<void> {
  const { source, target, flags } = job;
  const small = new Map(versions.filter(isSmall).map((version) => [version.path, version]));
  const wishes = { bucket: target.bucket, concurrency: flags.parallel, signal: source.signal };
  const stored = target.storage.uploadAll(readSmall(job, [...small.values()]), wishes);
  for await (const { path, file, error } of stored) {
    await attemptAt(job, path, async () => {
      if (error !== undefined) throw error;
      requireTag(file, small.get(path));
      noteStep(job, 'stored', path);
    });
  }
  for (const version of versions) {
    if (!isSmall(version)) await attemptAt(job, version.path, () => storeLarge(job, version));
  }
}

function requireTag({ etag }: { readonly etag: string }, version: StoredVersion | undefined): void {
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
): AsyncGenerator<FileToUpload> {
  const { source, flags } = job;
  const { bucket, signal } = source;
  const present = versions.filter((version): version is FileRecord => !isFormer(version));
  const byPath = new Map(present.map((version) => [version.path, version]));
  const options = { bucket, concurrency: flags.parallel, signal };
  for await (const { path, download, error } of source.storage.downloadAll(present, options)) {
    const version = byPath.get(path);
    const file = await readOne(job, path, async () => {
      if (error !== undefined) throw error;
      return { version, download };
    });
    if (file !== undefined) yield file;
  }
  const former = versions.filter(isFormer);
  const tasks = (async function* () {
    for (const version of former) {
      yield () => readOne(job, version.path, () => openVersion(job, version));
    }
  })();
  for await (const file of asTheyEnd(tasks, flags.parallel)) if (file !== undefined) yield file;
}

interface Opened {
  readonly version: FileRecord | undefined;
  readonly download: Download;
}

async function readOne(
  job: MirrorJob,
  path: string,
  open: () => Promise<Opened>,
): Promise<FileToUpload | undefined> {
  let file: FileToUpload | undefined;
  await attemptAt(job, path, async () => {
    const { version, download } = await open();
    const bytes = await download.bytes();
    requireTag(download, version);
    file = { path, source: bytes, ...notesOf(version) };
  });
  return file;
}

function notesOf(version: FileRecord | undefined) {
  return {
    contentType: version?.contentType,
    tags: version?.tags,
    metadata: version?.metadata,
  };
}

/** Reads the whole record, because lists of former versions have no tags and no chunk length. */
async function openVersion({ source }: MirrorJob, { path, version }: StoredVersion) {
  const { storage, bucket, signal } = source;
  const name = { bucket, path };
  const record = await storage.stat(name, { version, signal });
  return { version: record, download: await storage.download(name, { version, signal }) };
}

async function storeLarge(job: MirrorJob, wanted: StoredVersion): Promise<void> {
  const { target, flags, upload: former } = job;
  const { bucket, signal } = target;
  const { path, etag } = wanted;
  const { version, download } = await openVersion(job, wanted);
  const isContinued = former?.path === path && former.etag === etag;
  if (former !== undefined && !isContinued) await cancelUpload(job);
  requireTag(download, wanted);
  const chunkBytes = chunkBytesOf(version);
  const common = { bucket, path, ...notesOf(version), size: version.size, chunkBytes, signal };
  const options = {
    ...common,
    concurrency: flags.parallel,
    resume: isContinued ? former.uploadId : undefined,
    onSession: ({ uploadId }: { readonly uploadId: string }) =>
      job.saveUpload({ path, etag, uploadId }),
  };
  try {
    requireTag(await target.storage.upload(download.body, options), wanted);
  } catch (error) {
    // The next attempt begins anew.
    if (isStorageError(error, 'NoSuchUpload', 'UploadExpired', 'UploadCancelled')) {
      await job.saveUpload(undefined);
    }
    throw error;
  }
  await job.saveUpload(undefined);
  noteStep(job, 'stored', path);
}

/** Returns the length by which the service gets the same entity tag. */
function chunkBytesOf(version: FileRecord): number | undefined {
  if (version.etag.includes('-')) return version.chunkSize ?? likelyChunkBytes(version);
  return Math.max(chunkBytesMin, version.size);
}

/** Cancels what a stopped mirror has left, because a bucket has few open uploads. */
async function cancelUpload(job: MirrorJob): Promise<void> {
  const { storage, bucket, signal } = job.target;
  const { upload } = job;
  if (upload === undefined) return;
  const { path, uploadId } = upload;
  await storage.uploads.cancel({ bucket, path, uploadId, signal }).catch(() => {});
  await job.saveUpload(undefined);
}

async function removeFiles(job: MirrorJob, plans: Plans): Promise<void> {
  const { storage, bucket, signal } = job.target;
  const paths = [...plans].filter(([path, { remove }]) => remove && !job.failed.has(path));
  if (paths.length === 0) return;
  const wanted = { bucket, paths: paths.map(([path]) => path), signal };
  for await (const { path, error } of storage.removeAll(wanted)) {
    await attemptAt(job, path, async () => {
      if (error !== undefined) throw error;
      noteStep(job, 'removed', path);
    });
  }
}
