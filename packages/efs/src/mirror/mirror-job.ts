// Shared by the parts of a mirror: both buckets, flags, counts and failures. The target is a bucket
// of another service (service-target.ts) or of an S3 store (s3/).

import { isStorageError } from '../../../client/src/storage-error.ts';
import type { FileRecord, UserMetadata } from '../../../client/src/types/files.ts';
import type { Download } from '../../../client/src/types/transfers.ts';
import type { Run } from '../config/run.ts';
import { isJson } from '../output/json-output.ts';
import { nameOf } from '../output/location.ts';
import { printLine } from '../output/output.ts';
import { printable } from '../output/printable.ts';
import type { BucketChanges } from '../transfers/journal-changes.ts';
import { continueAfterFailure, endsAll } from '../transfers/summary.ts';
import type { PathStates, Side } from './bucket-states.ts';
import type { MirrorUpload } from './mirror-state.ts';

export interface MirrorFlags {
  readonly to: string;
  readonly parallel: number;
  readonly maxDelete?: number;
  readonly once?: boolean;
  readonly verify?: boolean;
  readonly bytes?: boolean;
  readonly endpoint?: string;
}

export interface MirrorJob {
  readonly run: Run;
  readonly source: Side;
  readonly target: MirrorTarget;
  readonly flags: MirrorFlags;
  /** Versions that were stored, files whose type, tags or metadata were changed, and so on. */
  readonly counts: { stored: number; changed: number; removed: number; erased: number };
  readonly verb: 'mirrored';
  readonly failures: unknown[];
  /** Paths that failed, whose other steps are left out. */
  readonly failed: Set<string>;
  /** Those of them that are read and planned again, because they may have changed meanwhile. */
  readonly again: Set<string>;
  attemptsLeft: number;
  /** The large upload under way, and the one that a stopped mirror has left. */
  upload: MirrorUpload | undefined;
  /** Records the upload under way beside the cursor. */
  saveUpload(upload: MirrorUpload | undefined): Promise<void>;
}

export interface StoredSmall {
  readonly path: string;
  readonly file?: { readonly etag: string } | undefined;
  readonly error?: unknown;
}

/** A small file, read from the source. */
export interface SmallFile {
  readonly path: string;
  readonly source: Uint8Array;
  readonly contentType: string | undefined;
  readonly tags: readonly string[] | undefined;
  readonly metadata: UserMetadata | undefined;
}

/** A version of the source that is being read. */
export interface OpenedVersion {
  readonly record: FileRecord;
  readonly download: Download;
}

export interface ChangedStates {
  readonly changes: BucketChanges;
  readonly here: PathStates;
  readonly there: PathStates;
}

/** Steps can be repeated, because a mirror that was killed plans again from both states. */
export interface MirrorTarget {
  /** Printed before the paths. */
  readonly name: string;
  /** Prepares a pass. */
  begin(job: MirrorJob): Promise<void>;
  allStates(concurrency: number): Promise<PathStates>;
  statesOf(paths: Iterable<string>, concurrency: number): Promise<PathStates>;
  /** Moves large files as the source did, without their bytes; returns the states after that. */
  moveLarge(job: MirrorJob, changed: ChangedStates): Promise<PathStates>;
  /** Erases a version; the present one is replaced by the last former one. */
  erase(path: string, version: number): Promise<void>;
  /** Makes a former version of a deleted file the file again. */
  restore(path: string, version: number): Promise<void>;
  /** Changes type, tags and metadata to those of the record. */
  change(job: MirrorJob, path: string, record: FileRecord): Promise<void>;
  storeSmall(files: AsyncIterable<SmallFile>, concurrency: number): AsyncIterable<StoredSmall>;
  /** Stores a file that is not held in memory. */
  storeLarge(job: MirrorJob, opened: OpenedVersion): Promise<void>;
  removeAll(paths: readonly string[], concurrency: number): AsyncIterable<StoredSmall>;
  /** Whether every other path would fail too. */
  endsAll?(error: unknown): boolean;
  /** Reads the bytes of a version; absent where reading verifies nothing more. */
  read?(path: string, version: number): Promise<AsyncIterable<Uint8Array>>;
  /** A sentence about where the digests of the states come from. */
  aboutDigests?(): string;
}

/** Errors that a change of the source during the mirroring can have. */
const changedCodes = ['NoSuchFile', 'IntegrityError', 'NoSuchUpload', 'UploadExpired'] as const;

/** Runs steps for one path; a failure is printed and does not stop the others. */
export async function attemptAt(
  job: MirrorJob,
  path: string,
  work: () => Promise<void>,
): Promise<void> {
  if (job.failed.has(path)) return;
  const name = nameOf({ bucket: job.source.bucket, path });
  const isOfAll = (error: unknown) => endsAll(error) || job.target.endsAll?.(error) === true;
  const isolated = async () => {
    try {
      await work();
    } catch (error) {
      job.failed.add(path);
      if (job.attemptsLeft === 0 || !isStorageError(error, ...changedCodes)) throw error;
      job.again.add(path);
    }
  };
  await continueAfterFailure(job, name, isolated, isOfAll);
}

export function noteStep(
  { counts, target: { name: bucket } }: MirrorJob,
  kind: keyof MirrorJob['counts'],
  path: string,
): void {
  counts[kind] += 1;
  if (!isJson()) printLine(`${kind.padEnd(7)} ${printable(nameOf({ bucket, path }))}`);
}
