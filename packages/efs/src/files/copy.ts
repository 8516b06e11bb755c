// `efs cp` and `efs mv`: copy or move files and folders; a failure does not stop the others.

import { basename } from 'node:path/posix';
import { asTheyEnd, checkedConcurrency } from '../../../client/src/connection/parallel.ts';
import { isOfSharedList } from '../../../client/src/links/folder-address.ts';
import type { Storage } from '../../../client/src/storage.ts';
import { StorageError } from '../../../client/src/storage-error.ts';
import type { FileName } from '../../../client/src/types/files.ts';
import type { Run } from '../config/run.ts';
import {
  folderPrefix,
  isFolder,
  type Location,
  nameOf,
  parseLocation,
} from '../output/location.ts';
import { printNote } from '../output/output.ts';
import { printable } from '../output/printable.ts';
import { UsageError } from '../output/usage-error.ts';
import { carryFile, isSealedCopy, moveFile } from '../transfers/sealed-copies.ts';
import {
  countDone,
  countFailure,
  endsAll,
  finish,
  type Summary,
  startSummary,
} from '../transfers/summary.ts';

export interface CopyFlags {
  readonly recursive?: boolean;
  /** False: existing files are kept. */
  readonly replace?: boolean;
  readonly parallel: number;
}

export interface CopyOrder {
  readonly kind: 'copy' | 'move';
  readonly sources: readonly string[];
  readonly destination: string;
}

interface Job {
  readonly run: Run;
  readonly storage: Storage;
  readonly kind: 'copy' | 'move';
  readonly flags: CopyFlags;
  readonly summary: Summary;
  readonly signal: AbortSignal;
}

interface Step {
  readonly from: FileName;
  readonly to: FileName;
}

/** All files of a folder, which go to another folder. */
interface FolderStep {
  readonly text: string;
  readonly from: Location;
  readonly to: Location;
  /** The files, if they were listed to compare them with other sources. */
  readonly steps?: readonly Step[];
}

export async function copy(run: Run, order: CopyOrder, flags: CopyFlags): Promise<void> {
  const { kind, sources } = order;
  const concurrency = checkedConcurrency(flags.parallel);
  const plan = planOf(order, flags);
  const controller = new AbortController();
  const signal = AbortSignal.any([run.signal, controller.signal]);
  const summary = startSummary(kind === 'copy' ? 'copied' : 'moved');
  const job = { run, storage: await run.storage(), kind, flags, summary, signal };
  try {
    const distinct = sources.length > 1 ? await requireDistinct(job, plan) : plan;
    for await (const failure of asTheyEnd(tasksOf(job, distinct), concurrency)) {
      if (failure !== undefined) throw failure;
    }
  } finally {
    // An error that affects all files also aborts those in progress.
    controller.abort();
  }
  finish(run, summary, sources.length > 1 || plan.folders.length > 0);
}

interface Plan {
  readonly files: readonly Step[];
  readonly folders: readonly FolderStep[];
  readonly targets: Targets;
}

/** Throws UsageError before anything changes. */
function planOf({ sources, destination }: CopyOrder, { recursive }: CopyFlags): Plan {
  const target = parseLocation(destination);
  if (sources.length > 1 && !isFolder(target)) {
    throw new UsageError(`Several sources need a folder as destination: write ${destination}/`);
  }
  const files: Step[] = [];
  const folders: FolderStep[] = [];
  const targets = new Targets(target.bucket);
  for (const text of sources) {
    const from = parseLocation(text);
    if (isFolder(from)) {
      if (!recursive) throw new UsageError(`"${text}" is a folder: give -r for all files in it.`);
      folders.push({ text, from, to: requireApart(text, from, target) });
      continue;
    }
    const path = isFolder(target) ? target.path + basename(from.path) : target.path;
    targets.add(path, text);
    files.push({ from, to: { bucket: target.bucket, path } });
  }
  return { files, folders, targets };
}

/** The path that each source gets, so that no source replaces another one. */
class Targets {
  readonly #bucket: string;
  readonly #sourceByPath = new Map<string, string>();

  constructor(bucket: string) {
    this.#bucket = bucket;
  }

  /** Throws UsageError if another source gets the path. */
  add(path: string, source: string): void {
    const other = this.#sourceByPath.get(path);
    if (other !== undefined) {
      const name = nameOf({ bucket: this.#bucket, path });
      throw new UsageError(
        `${other} and ${source} would both become ${name}: rename one, or use two destinations.`,
      );
    }
    this.#sourceByPath.set(path, source);
  }
}

/**
 * Lists the folders to compare their files with all other sources: the service moves a folder
 * without conditions. Omits folders that cannot be listed. Throws UsageError for equal targets.
 */
async function requireDistinct(job: Job, plan: Plan): Promise<Plan> {
  const folders: FolderStep[] = [];
  for (const folder of plan.folders) {
    const steps: Step[] = [];
    const failure = await guarded(job, folder.text, async () => {
      for await (const step of filesOf(job, folder)) steps.push(step);
      folders.push({ ...folder, steps });
    });
    if (failure !== undefined) throw failure;
    for (const { from, to } of steps) plan.targets.add(to.path, nameOf(from));
  }
  return { ...plan, folders };
}

/** Refuses if one folder contains the other, because listing the source would find the copies. */
function requireApart(text: string, from: Location, target: Location): Location {
  const to = { bucket: target.bucket, path: folderPrefix(target) };
  const isWithin = from.path.startsWith(to.path) || to.path.startsWith(from.path);
  if (from.bucket !== to.bucket || !isWithin) return to;
  throw new UsageError(`One of ${text} and ${nameOf(to)} contains the other: name another folder.`);
}

/** Yields tasks that never reject: each returns the error that ends the whole work, if any. */
async function* tasksOf(
  job: Job,
  { files, folders }: Plan,
): AsyncGenerator<() => Promise<unknown>> {
  for (const step of files) yield taskOf(job, step);
  for (const folder of folders) {
    const { kind, flags } = job;
    const isWithin = folder.from.bucket === folder.to.bucket;
    // A move of a prefix cannot have conditions.
    if (kind === 'move' && isWithin && flags.replace !== false) {
      yield () => guarded(job, folder.text, () => moveFolder(job, folder));
    } else {
      yield* stepsOf(job, folder);
    }
  }
}

function taskOf(job: Job, { from, to }: Step): () => Promise<unknown> {
  const { run, storage, kind, flags, summary, signal } = job;
  const ifNoneMatch = flags.replace === false ? '*' : undefined;
  return () =>
    guarded(job, nameOf(from), async () => {
      if (await isSealedCopy(run, from.bucket, to.bucket)) {
        const carry = kind === 'copy' ? carryFile : moveFile;
        await carry(storage, { from, to, ifNoneMatch, signal });
      } else if (kind === 'copy') await storage.copy(from, to, { ifNoneMatch, signal });
      else await storage.move(from, to, { ifNoneMatch, signal });
      countDone(summary, nameOf(to));
    });
}

/** Rethrows errors that end the whole work; counts other failures. */
async function guarded(
  { summary }: Job,
  name: string,
  work: () => Promise<void>,
): Promise<unknown> {
  try {
    await work();
  } catch (error) {
    if (endsAll(error)) return error;
    countFailure(summary, name, error);
  }
  return undefined;
}

async function* stepsOf(job: Job, folder: FolderStep): AsyncGenerator<() => Promise<unknown>> {
  let count = 0;
  try {
    for await (const step of folder.steps ?? filesOf(job, folder)) {
      count++;
      yield taskOf(job, step);
    }
    if (count === 0) await requireSomething(job, folder);
  } catch (error) {
    yield async () => guarded(job, folder.text, () => Promise.reject(error));
  }
}

async function* filesOf({ storage, signal }: Job, { from, to }: FolderStep): AsyncGenerator<Step> {
  const { bucket, path: prefix } = from;
  for await (const { path } of storage.list({ bucket, prefix, signal })) {
    // A list of file keys belongs to its link, and a copy would be decrypted.
    if (isOfSharedList(path)) continue;
    const target = { bucket: to.bucket, path: to.path + path.slice(prefix.length) };
    yield { from: { bucket, path }, to: target };
  }
}

async function moveFolder(job: Job, folder: FolderStep): Promise<void> {
  const { storage, summary, signal } = job;
  const { from, to } = folder;
  const { bucket, path: fromPrefix } = from;
  const prefixes = { fromPrefix, toPrefix: to.path };
  const { moved, failed } = await storage.moveAll({ bucket, ...prefixes, signal });
  summary.done += moved;
  for (const { path, error } of failed) countFailure(summary, nameOf({ bucket, path }), error);
  if (moved + failed.length === 0) await requireSomething(job, folder);
}

/** Refuses a folder without files, unless an earlier run of the same move has emptied it. */
async function requireSomething(
  { storage, kind, signal }: Job,
  { text, from, to }: FolderStep,
): Promise<void> {
  if (from.path === '') return;
  if (kind === 'move') {
    const { items } = await storage.listFolder({
      ...{ bucket: to.bucket, prefix: to.path, limit: 1, signal },
    });
    if (items.length > 0) {
      const target = printable(nameOf(to));
      printNote(
        `${printable(text)} is empty and ${target} has files: an earlier move is complete.`,
      );
      return;
    }
  }
  throw new StorageError('NoSuchFile', `${printable(text)} has no files.`);
}
