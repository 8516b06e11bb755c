// Shared by the parts of a mirror: both buckets, flags, counts and failures.

import { isStorageError } from '../../../client/src/storage-error.ts';
import type { Run } from '../config/run.ts';
import { isJson } from '../output/json-output.ts';
import { nameOf } from '../output/location.ts';
import { printLine } from '../output/output.ts';
import { printable } from '../output/printable.ts';
import { continueAfterFailure } from '../transfers/summary.ts';
import type { Side } from './bucket-states.ts';
import type { MirrorUpload } from './mirror-state.ts';

export interface MirrorFlags {
  readonly to: string;
  readonly parallel: number;
  readonly maxDelete?: number;
  readonly once?: boolean;
  readonly verify?: boolean;
}

export interface MirrorJob {
  readonly run: Run;
  readonly source: Side;
  readonly target: Side;
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
  await continueAfterFailure(job, name, async () => {
    try {
      await work();
    } catch (error) {
      job.failed.add(path);
      if (job.attemptsLeft === 0 || !isStorageError(error, ...changedCodes)) throw error;
      job.again.add(path);
    }
  });
}

export function noteStep(
  { counts, target: { bucket } }: MirrorJob,
  kind: keyof MirrorJob['counts'],
  path: string,
): void {
  counts[kind] += 1;
  if (!isJson()) printLine(`${kind.padEnd(7)} ${printable(nameOf({ bucket, path }))}`);
}
