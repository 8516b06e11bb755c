// `efs mirror`: makes a bucket equal to one of another service, and follows its changes. The
// journal only says which paths to read; both buckets then decide what to do, so a mirror that was
// killed at any time arrives at the same result.

import { setTimeout as wait } from 'node:timers/promises';
import { checkedConcurrency } from '../../../client/src/connection/parallel.ts';
import { StorageError } from '../../../client/src/storage-error.ts';
import type { FileRecord } from '../../../client/src/types/files.ts';
import type { Run } from '../config/run.ts';
import { exitCodeOf, exitCodes, sayFailure } from '../output/exit-code.ts';
import { isJson } from '../output/json-output.ts';
import { printJsonLine, printNote } from '../output/output.ts';
import { UsageError } from '../output/usage-error.ts';
import {
  type BucketChanges,
  changesSince,
  isAfter,
  type JournalCursor,
  type PathChange,
  recentChanges,
} from '../transfers/journal-changes.ts';
import { failureOf } from '../transfers/summary.ts';
import { isAtWork } from '../transfers/transfer-state.ts';
import { applyPlans, storeArriving } from './apply-plans.ts';
import { allStates, type PathStates, stateAt, statesOf } from './bucket-states.ts';
import { GrowingList } from './growing-list.ts';
import type { MirrorFlags, MirrorJob } from './mirror-job.ts';
import { openSides, type Place, type Sides } from './mirror-sides.ts';
import { loadMirror, saveMirror } from './mirror-state.ts';
import { isEmptyPlan, type PathPlan, planOf } from './path-plan.ts';
import type { S3Place } from './s3/s3-place.ts';
import { requireReadable } from './verify-bytes.ts';
import { verifyMirror } from './verify-mirror.ts';

const removalsMax = 1_000;
/** How often paths are read again that changed while they were mirrored. */
const attemptsMax = 5;
const noChanges: BucketChanges = { paths: new Map(), entries: [], cursor: undefined };
const retryMsMin = 1_000;
const retryMsMax = 60_000;

export async function mirror(from: Place, to: Place | S3Place, flags: MirrorFlags): Promise<void> {
  checkedConcurrency(flags.parallel);
  const { run } = from;
  const sides = await openSides(from, to);
  requireReadable(sides, flags);
  if (flags.verify) return verifyMirror(run, sides, flags);
  await requireAlone(sides);
  const cursor = await mirrorOnce(run, sides, flags);
  if (!flags.once) await follow(run, sides, { flags, cursor });
}

async function requireAlone({ pair }: Sides): Promise<void> {
  const state = await loadMirror(pair);
  if (state !== undefined && isAtWork(state)) {
    throw new UsageError(
      `Process ${state.processId} mirrors the same bucket: end it, or let it work alone.`,
    );
  }
  await saveMirror(pair, state ?? {});
}

/** Prints what one pass has done; a pass without changes prints only JSON. */
function report(run: Run, counts: MirrorJob['counts']): void {
  const { stored, changed, removed, erased } = counts;
  if (isJson()) printJsonLine(counts);
  else if (!run.isQuiet) {
    printNote(`${stored} stored, ${changed} changed, ${removed} removed, ${erased} erased.`);
  }
}

interface Following {
  readonly flags: MirrorFlags;
  readonly cursor: JournalCursor | undefined;
}

/** Mirrors each change until the signal aborts; an unreachable service is tried again. */
async function follow(run: Run, sides: Sides, { flags, cursor }: Following): Promise<void> {
  const { signal } = run;
  const { storage, bucket } = sides.source;
  let after = cursor?.seq ?? 0;
  for (let delayMs = retryMsMin; !signal.aborted; ) {
    try {
      for await (const _ of storage.journal.watch(bucket, { after, signal })) break;
      if (signal.aborted) return;
      after = (await mirrorOnce(run, sides, flags))?.seq ?? after;
      delayMs = retryMsMin;
    } catch (error) {
      if (signal.aborted) return;
      if (exitCodeOf(error) !== exitCodes.unreachable) throw error;
      printNote(`${sayFailure(error)} Next attempt in ${delayMs / 1_000} s.`);
      await wait(delayMs, undefined, { signal }).catch(() => {});
      delayMs = Math.min(2 * delayMs, retryMsMax);
    }
  }
}

/**
 * Mirrors up to the present and returns the last entry of the journal. Throws if a path failed; the
 * next run then begins at the same entry.
 */
async function mirrorOnce(
  run: Run,
  sides: Sides,
  flags: MirrorFlags,
): Promise<JournalCursor | undefined> {
  const state = await loadMirror(sides.pair);
  const job = startJob(run, sides, { flags, state });
  await job.target.begin(job);
  const known = state?.cursor && (await changesSince(job.source, state.cursor));
  const found = await readBoth(job, sides, known);
  const { changes } = found;
  await apply(job, sides, found);
  const [failure] = job.failures;
  if (failure !== undefined) {
    const { length } = job.failures;
    throw failureOf(
      failure,
      `${length === 1 ? '1 file was' : `${length} files were`} not mirrored.`,
    );
  }
  await saveMirror(sides.pair, { cursor: changes.cursor, upload: job.upload });
  report(run, job.counts);
  return changes.cursor;
}

type Started = {
  readonly flags: MirrorFlags;
  readonly state: Awaited<ReturnType<typeof loadMirror>>;
};

function startJob(run: Run, sides: Sides, { flags, state }: Started): MirrorJob {
  const job: MirrorJob = {
    ...{ run, flags, source: sides.source, target: sides.target, verb: 'mirrored' },
    counts: { stored: 0, changed: 0, removed: 0, erased: 0 },
    failures: [],
    failed: new Set(),
    again: new Set(),
    attemptsLeft: attemptsMax,
    upload: state?.upload,
    async saveUpload(upload) {
      job.upload = upload;
      await saveMirror(sides.pair, { cursor: state?.cursor, upload });
    },
  };
  return job;
}

/** Compares requests: each path takes four. */
function isCheaperWhole({ wholeRequests }: Sides, { paths }: BucketChanges): boolean {
  return 4 * paths.size > 20 + wholeRequests;
}

interface Both {
  readonly here: PathStates;
  readonly there: PathStates;
}

interface Found extends Both {
  readonly changes: BucketChanges;
  /** Whether all paths are compared. */
  readonly isWhole: boolean;
}

/** Reads the paths that have changed; all paths if the changes are unknown or too many. */
async function readBoth(
  job: MirrorJob,
  sides: Sides,
  known: BucketChanges | undefined,
): Promise<Found> {
  const { flags, source, target } = job;
  const { parallel: concurrency } = flags;
  if (known !== undefined && !isCheaperWhole(sides, known)) {
    const names = [...known.paths.keys()];
    const [here, there] = await Promise.all([
      statesOf(source, names, { concurrency, changes: known.paths }),
      target.statesOf(names, concurrency),
    ]);
    const moved = await target.moveLarge(job, { changes: known, here, there });
    return { changes: known, isWhole: false, here, there: moved };
  }
  // The entries cover what a list of the same minutes may lack, so both are read at the same time
  const arriving = new GrowingList<FileRecord>();
  const [changes = noChanges, listed, there] = await Promise.all([
    known ?? recentChanges(source),
    allStates(source, arriving),
    allThere(job, sides, arriving),
  ]);
  const here = await readBehind(job, listed, changes.paths);
  return { changes, isWhole: true, here, there };
}

/**
 * Returns the states of the target. In one without files, nothing can be erased or removed, so
 * small files are stored while the source is listed; the order of versions needs the whole list.
 */
async function allThere(
  job: MirrorJob,
  { keepsVersions }: Sides,
  arriving: AsyncIterable<FileRecord>,
): Promise<PathStates> {
  const states = await job.target.allStates(job.flags.parallel);
  return states.size === 0 && !keepsVersions ? storeArriving(job, arriving) : states;
}

async function apply(job: MirrorJob, { keepsVersions }: Sides, found: Found): Promise<void> {
  const { changes, isWhole } = found;
  const { flags, source, target } = job;
  const { parallel: concurrency } = flags;
  const reading = { concurrency, changes: changes.paths };
  let { here, there } = found;
  let paths = isWhole ? new Set([...here.keys(), ...there.keys()]) : new Set(changes.paths.keys());
  requireSource(job, isWhole, { here, there });
  for (; paths.size > 0; job.attemptsLeft--) {
    const first = plansFor(paths, { here, there }, keepsVersions);
    requireFew(job, first);
    const removing = [...first].filter(([, plan]) => plan.remove || plan.erase.length > 0);
    // One node's word is not enough to remove something.
    const again = await statesOf(source, new Map(removing).keys(), reading);
    here = new Map([...here, ...again]);
    const plans = plansFor(first.keys(), { here, there }, keepsVersions);
    await applyPlans(job, plans);
    paths = new Set(job.again);
    for (const path of paths) job.failed.delete(path);
    job.again.clear();
    here = await statesOf(source, paths, reading);
    there = await target.statesOf(paths, concurrency);
  }
}

/** Reads paths again of which the list shows less than the journal. */
async function readBehind(
  { source, flags }: MirrorJob,
  listed: PathStates,
  changes: ReadonlyMap<string, PathChange>,
): Promise<PathStates> {
  const behind = [...changes].filter(
    ([path, change]) => !isAfter(change, stateAt(listed, path).present),
  );
  const reading = { concurrency: flags.parallel, changes };
  const again = await statesOf(
    source,
    behind.map(([path]) => path),
    reading,
  );
  return new Map([...listed, ...again]);
}

function plansFor(
  paths: Iterable<string>,
  { here, there }: Both,
  keepsVersions: boolean,
): Map<string, PathPlan> {
  const plans = new Map<string, PathPlan>();
  for (const path of paths) {
    const plan = planOf(stateAt(here, path), stateAt(there, path), keepsVersions);
    if (!isEmptyPlan(plan)) plans.set(path, plan);
  }
  return plans;
}

/** A node that shows no files must not empty the mirror. */
function requireSource({ flags, source, target }: MirrorJob, isWhole: boolean, both: Both): void {
  const isEmpty = (states: PathStates) => ![...states.values()].some(({ present }) => present);
  if (!isWhole || flags.maxDelete !== undefined) return;
  if (!isEmpty(both.here) || isEmpty(both.there)) return;
  throw new StorageError(
    'NoSuchFile',
    `Bucket ${source.bucket} has no files, and its mirror ${target.name} has some: if all were ` +
      'removed on purpose, pass --max-delete with their number.',
  );
}

function requireFew({ flags }: MirrorJob, plans: ReadonlyMap<string, PathPlan>): void {
  const { maxDelete = removalsMax } = flags;
  const count = [...plans.values()].reduce(
    (sum, { remove, erase }) => sum + Number(remove) + erase.length,
    0,
  );
  if (count <= maxDelete) return;
  throw new UsageError(
    `Nothing was done, because ${count} files and versions of the mirror would be removed: ` +
      `--max-delete ${count} allows it (the limit is ${maxDelete}).`,
  );
}
