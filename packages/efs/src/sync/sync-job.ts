// Shared by syncs in all directions. A sync plans everything before it changes anything. It
// continues after the failure of a file, but then removes nothing.

import type { Storage } from '../../../client/src/storage.ts';
import { StorageError } from '../../../client/src/storage-error.ts';
import type { FolderRun } from '../config/run.ts';
import { exitCodeOf, exitCodes } from '../output/exit-code.ts';
import { isJson } from '../output/json-output.ts';
import { printJson, printLine, printNote } from '../output/output.ts';
import { printable } from '../output/printable.ts';
import { type OverallProgress, startOverall } from '../output/progress-bar.ts';
import { UsageError } from '../output/usage-error.ts';
import type { Filter } from '../transfers/filters.ts';
import { continueAfterFailure, failureOf } from '../transfers/summary.ts';

export interface SyncFlags {
  readonly parallel: number;
  readonly delete?: boolean;
  readonly maxDelete?: number;
  readonly dryRun?: boolean;
  /** Lists whole folders, also if the journal has the changes since the last sync. */
  readonly full?: boolean;
  readonly cacheControl?: string;
  /** False: do not verify downloaded files. */
  readonly verify?: boolean;
}

export interface SyncJob {
  readonly run: FolderRun;
  readonly storage: Storage;
  readonly flags: SyncFlags;
  readonly filter: Filter;
  /** The verb in `12 sent`. */
  readonly verb: 'sent' | 'fetched' | 'copied';
  readonly counts: { done: number; same: number; removed: number };
  /** Failures of single files, which do not stop the others. */
  readonly failures: unknown[];
  /** The changes, for the JSON output. */
  readonly actions: object[];
}

export interface SyncStep {
  /** Name of the target: `bucket/path`, or a local file. */
  readonly name: string;
  readonly size: number;
  readonly isNew: boolean;
}

export interface Direction<Step extends SyncStep> {
  readonly verb: SyncJob['verb'];
  /** Counts equal files. `extra`: names that only the destination has. */
  plan(job: SyncJob): Promise<{ readonly steps: readonly Step[]; readonly extra: string[] }>;
  /** Reports each file by noteTransferred(), or counts its failure. */
  transfer(job: SyncJob, steps: readonly Step[], progress: OverallProgress): Promise<void>;
  remove(job: SyncJob, names: readonly string[]): Promise<void>;
}

const removalsMax = 1_000;
const dryWords = { sent: 'put', fetched: 'get', copied: 'copy' } as const;

export async function runSync<Step extends SyncStep>(
  direction: Direction<Step>,
  setting: Pick<SyncJob, 'run' | 'storage' | 'flags' | 'filter'>,
): Promise<void> {
  const { run, flags } = setting;
  const counts = { done: 0, same: 0, removed: 0 };
  const job: SyncJob = { ...setting, verb: direction.verb, counts, failures: [], actions: [] };
  const { steps, extra } = await direction.plan(job);
  const removals = flags.delete ? extra : [];
  if (flags.dryRun) sayWhatWould(job, steps, removals);
  else {
    requireFew(removals, flags);
    const bytes = steps.reduce((sum, { size }) => sum + size, 0);
    const progress = startOverall({ files: steps.length, bytes }, run.isQuiet);
    try {
      await direction.transfer(job, steps, progress);
    } catch (error) {
      const { done } = job.counts;
      if (done > 0) printNote(`${done} ${job.verb}: the same command continues with the others.`);
      throw error;
    } finally {
      progress.stop();
    }
    if (removals.length > 0 && job.failures.length === 0) await direction.remove(job, removals);
  }
  sumUp(job);
}

/** Called before any change, because a wrong folder can look like an empty one. */
function requireFew(removals: readonly string[], { maxDelete = removalsMax }: SyncFlags): void {
  if (removals.length <= maxDelete) return;
  throw new UsageError(
    `Nothing was done, because ${removals.length} files would be removed: --dry-run shows them, ` +
      `--max-delete ${removals.length} allows it (the limit is ${maxDelete}).`,
  );
}

export function sayWhatWould(
  job: SyncJob,
  steps: readonly SyncStep[],
  removals: readonly string[],
): void {
  const action = dryWords[job.verb];
  for (const { name, size, isNew } of steps) {
    noteAction(job, `would ${action} ${printable(name)}`, { action, name, size, isNew });
  }
  for (const name of removals) {
    noteAction(job, `would remove ${printable(name)}`, { action: 'remove', name });
  }
  job.counts.done = steps.length;
  job.counts.removed = removals.length;
}

function noteAction({ actions }: SyncJob, line: string, action: object): void {
  if (isJson()) actions.push(action);
  else printLine(line);
}

export function noteTransferred(job: SyncJob, { name, size, isNew }: SyncStep): void {
  job.counts.done++;
  const action = { action: dryWords[job.verb], name, size, isNew };
  noteAction(job, `${isNew ? 'new    ' : 'changed'} ${printable(name)}`, action);
}

export function noteRemoved(job: SyncJob, name: string): void {
  job.counts.removed++;
  noteAction(job, `removed ${printable(name)}`, { action: 'remove', name });
}

/** Prints the error of a single file, and records it for the exit code. */
export function attemptOne(job: SyncJob, name: string, work: () => Promise<void>): Promise<void> {
  return continueAfterFailure(job, name, work, isOfAllFiles);
}

function isOfAllFiles(error: unknown): boolean {
  const { interrupted, unreachable, accessDenied } = exitCodes;
  return [interrupted, unreachable, accessDenied].some((code) => code === exitCodeOf(error));
}

function sumUp(job: SyncJob): void {
  const { run, flags, verb, counts, failures, actions } = job;
  const { done, same, removed } = counts;
  const isDryRun = flags.dryRun === true;
  if (isJson()) {
    printJson({ verb, isDryRun, done, same, removed, failed: failures.length, actions });
  } else if (!run.isQuiet) {
    const would = isDryRun ? 'would be ' : '';
    const start = isDryRun ? 'Nothing is done yet: ' : '';
    printNote(`${start}${done} ${would}${verb}, ${same} the same, ${removed} ${would}removed.`);
  }
  if (failures.length > 0) throw jobFailure(job);
}

/** Returns an error with the exit code of the service's first refusal, if there is one. */
function jobFailure({ failures, flags, verb }: SyncJob): Error {
  const cause = failures.find((failure) => failure instanceof StorageError) ?? failures[0];
  const count = failures.length === 1 ? '1 file was' : `${failures.length} files were`;
  const text = `${count} not ${verb}${flags.delete ? '; therefore nothing is removed' : ''}.`;
  return failureOf(cause, text);
}
