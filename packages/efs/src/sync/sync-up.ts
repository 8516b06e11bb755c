// Syncs a folder on this machine to a folder of a bucket: uploads files whose digest differs, small
// ones together, and continues interrupted uploads of large ones.

import { etagOf, likelyChunkBytes } from '../../../client/src/bytes/digest.ts';
import { sha256 } from '../../../client/src/bytes/sha256.ts';
import type { OpenedSource } from '../../../client/src/bytes/upload-source.ts';
import { openFileSource } from '../../../client/src/node/file-source.ts';
import { ageType } from '../../../client/src/types/end-to-end.ts';
import type { StoredHeaders } from '../../../client/src/types/files.ts';
import type { FileToUpload } from '../../../client/src/types/transfers.ts';
import { smallFileBytesMax } from '../../../client/src/uploads/upload-all.ts';
import { chunkBytesMax, chunkBytesMin } from '../../../wire/src/limits.ts';
import type { FolderRun } from '../config/run.ts';
import { type Location, nameOf } from '../output/location.ts';
import type { OverallProgress } from '../output/progress-bar.ts';
import { isBelow, type LocalFile, readTree } from '../transfers/local-tree.ts';
import { putFile } from '../transfers/put-file.ts';
import type { ListedFile } from '../transfers/stored-listing.ts';
import {
  attemptOne,
  type Direction,
  noteTransferred,
  type SyncFlags,
  type SyncJob,
  type SyncStep,
} from './sync-job.ts';
import { inStepsBySize } from './sync-parallel.ts';
import { removeStored, storedBelow } from './sync-stored.ts';

export interface UpStep extends SyncStep {
  readonly file: string;
  /** Path in the bucket. */
  readonly path: string;
}

/** `to.path` is a prefix. */
export function syncUp(folder: string, to: Location): Direction<UpStep> {
  return {
    verb: 'sent',
    plan: (job) => plan(job, folder, to),
    async transfer(job, steps, progress) {
      const others = await sendSmall(job, { steps, bucket: to.bucket, progress });
      await inStepsBySize(job, others, (step, parallel) =>
        attemptOne(job, step.file, () => transferOne(job, { step, to, parallel, progress })),
      );
    },
    remove: (job, names) => removeStored(job, to.bucket, names),
  };
}

async function plan(job: SyncJob, folder: string, to: Location) {
  const { files: stored } = await storedBelow(job, to);
  const { run, filter } = job;
  const attempt = (file: string, work: () => Promise<void>) => attemptOne(job, file, work);
  const { files, skipped } = await readTree({ run, filter, attempt }, folder);
  const changed = new Set<LocalFile>();
  await inStepsBySize(job, files, async (local) => {
    await attemptOne(job, local.file, async () => {
      const there = stored.get(local.path);
      if (there !== undefined && (await isSameFile(run, local.file, there))) job.counts.same++;
      else changed.add(local);
    });
  });
  const steps = files
    .filter((local) => changed.has(local))
    .map(({ file, path: inner, size }) => {
      const path = to.path + inner;
      const name = nameOf({ bucket: to.bucket, path });
      return { file, path, name, size, isNew: !stored.has(inner) };
    });
  const here = new Set(files.map(({ path }) => path));
  const extra = [...stored.keys()].filter((path) => !here.has(path) && !isBelow(path, skipped));
  return { steps, extra: extra.map((path) => nameOf({ bucket: to.bucket, path: to.path + path })) };
}

/**
 * Compares the size first, then the digest. For an encrypted file, it downloads only the header,
 * and computes the digest that the local file would have if encrypted with the same key.
 */
export async function isSameFile(
  run: FolderRun,
  file: string,
  there: ListedFile,
): Promise<boolean> {
  const source = await openFileSource(file);
  try {
    const secrets = there.contentType === ageType ? await run.secrets() : undefined;
    const mode = await secrets?.readerMode(there.bucketId);
    const compared = mode === undefined ? source : await secrets?.sealedAs(there, source);
    return compared !== undefined && (await hasDigestOf(compared, there));
  } finally {
    await source.close();
  }
}

async function hasDigestOf(source: OpenedSource, there: ListedFile): Promise<boolean> {
  const { size } = there;
  if (source.size !== size) return false;
  const chunkBytes = chunkBytesOf(there);
  if (chunkBytes === undefined) return false;
  const digests: Uint8Array[] = [];
  for (let start = 0; start < size; start += chunkBytes) {
    const end = Math.min(start + chunkBytes, size);
    digests.push(await sha256(await source.slice(start, end)));
  }
  return (await etagOf(digests)) === there.etag;
}

/** Returns the record's chunk length if it is possible, and otherwise a guess. */
function chunkBytesOf(there: ListedFile): number | undefined {
  const { chunkSize = 0 } = there;
  const isPossible = chunkSize >= chunkBytesMin && chunkSize <= chunkBytesMax;
  return isPossible ? chunkSize : likelyChunkBytes(there);
}

interface SmallOnes {
  readonly steps: readonly UpStep[];
  readonly bucket: string;
  readonly progress: OverallProgress;
}

async function sendSmall(job: SyncJob, { steps, bucket, progress }: SmallOnes): Promise<UpStep[]> {
  const { storage, run, flags } = job;
  const others = steps.filter(({ size }) => size > smallFileBytesMax);
  const small = steps.filter(({ size }) => size <= smallFileBytesMax);
  if (small.length === 0) return others;
  const byPath = new Map(small.map((step) => [step.path, step]));
  const wishes = { bucket, concurrency: flags.parallel, signal: run.signal };
  for await (const { path, error } of storage.uploadAll(readAll(job, small, others), wishes)) {
    const step = byPath.get(path);
    if (step === undefined) continue;
    await attemptOne(job, step.file, async () => {
      if (error !== undefined) throw error;
      noteTransferred(job, step);
    });
    progress.fileEnded(step.size);
  }
  return others;
}

/** Yields the bytes of files, so that none stays open. Adds files that have grown to `others`. */
async function* readAll(
  job: SyncJob,
  steps: readonly UpStep[],
  others: UpStep[],
): AsyncGenerator<FileToUpload> {
  for (const step of steps) {
    let bytes: Uint8Array | undefined;
    await attemptOne(job, step.file, async () => {
      const source = await openFileSource(step.file);
      try {
        if (source.size > smallFileBytesMax) others.push(step);
        else bytes = await source.slice(0, source.size);
      } finally {
        await source.close();
      }
    });
    if (bytes !== undefined) {
      yield { path: step.path, source: bytes, headers: headersOf(job.flags) };
    }
  }
}

function headersOf({ cacheControl }: SyncFlags): StoredHeaders {
  return cacheControl === undefined ? {} : { 'Cache-Control': cacheControl };
}

interface OneFile {
  readonly step: UpStep;
  readonly to: Location;
  readonly parallel: number;
  readonly progress: OverallProgress;
}

async function transferOne(job: SyncJob, { step, to, parallel, progress }: OneFile): Promise<void> {
  const { run, storage, flags } = job;
  const source = await openFileSource(step.file);
  try {
    await putFile(run, storage, {
      source,
      file: step.file,
      name: { bucket: to.bucket, path: step.path },
      options: { cacheControl: flags.cacheControl, parallel, resume: true },
      report: progress.track(),
      continuedBy: 'the same sync',
    });
    noteTransferred(job, step);
  } finally {
    await source.close();
    progress.fileEnded(0);
  }
}
