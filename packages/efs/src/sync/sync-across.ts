// Syncs a folder of a bucket to another one of the same service, which copies the bytes itself.
// Only bytes of end-to-end buckets pass through this machine.

import { type Location, nameOf } from '../output/location.ts';
import type { OverallProgress } from '../output/progress-bar.ts';
import { carryFile, isCopied, isSealedCopy } from '../transfers/sealed-copies.ts';
import type { ListedFile } from '../transfers/stored-listing.ts';
import {
  attemptOne,
  type Direction,
  noteTransferred,
  type SyncJob,
  type SyncStep,
} from './sync-job.ts';
import { inStepsBySize } from './sync-parallel.ts';
import { areMissing, removeStored, sourceBelow, storedBelow } from './sync-stored.ts';

interface AcrossStep extends SyncStep {
  readonly record: ListedFile;
  readonly to: Location;
}

/** Both paths are prefixes. */
export function syncAcross(from: Location, to: Location): Direction<AcrossStep> {
  return {
    verb: 'copied',
    plan: (job) => plan(job, from, to),
    transfer: async (job, steps, progress) => {
      const isSealed = await isSealedCopy(job.run, from.bucket, to.bucket);
      await inStepsBySize(job, steps, (step) =>
        attemptOne(job, step.name, () => transferOne(job, { step, isSealed, progress })),
      );
    },
    remove: (job, names) => removeStored(job, to.bucket, names),
  };
}

async function plan(
  job: SyncJob,
  from: Location,
  to: Location,
  isWhole = false,
): Promise<{ steps: AcrossStep[]; extra: string[] }> {
  const { bucket, path: prefix } = to;
  const { files: source, isStored } = await sourceBelow(job, from, isWhole);
  const { files: stored } = await storedBelow(job, to, isWhole);
  const isSealed = await isSealedCopy(job.run, from.bucket, bucket);
  const changed = new Set<string>();
  const compared = [...source].map(([path, record]) => ({ path, record, size: record.size }));
  await inStepsBySize(job, compared, ({ path, record }) =>
    attemptOne(job, nameOf({ bucket, path: prefix + path }), async () => {
      const there = stored.get(path);
      const isSame = isSealed ? (copy: ListedFile) => isCopied(job.run, record, copy) : hasTagOf;
      if (there !== undefined && (await isSame(there, record))) job.counts.same++;
      else changed.add(path);
    }),
  );
  const steps: AcrossStep[] = compared
    .filter(({ path }) => changed.has(path))
    .map(({ path, record, size }) => {
      const to = { bucket, path: prefix + path };
      return { name: nameOf(to), size, isNew: !stored.has(path), record, to };
    });
  const gone = [...stored.keys()].filter((path) => !source.has(path));
  if (job.flags.delete && isStored && !(await areMissing(job, from, gone))) {
    job.counts.same = 0;
    return plan(job, from, to, true);
  }
  return { steps, extra: gone.map((path) => nameOf({ bucket, path: prefix + path })) };
}

function hasTagOf(copy: ListedFile, source: ListedFile): boolean {
  return copy.etag === source.etag && copy.size === source.size;
}

interface OneFile {
  readonly step: AcrossStep;
  readonly isSealed: boolean;
  readonly progress: OverallProgress;
}

async function transferOne(job: SyncJob, { step, isSealed, progress }: OneFile): Promise<void> {
  const { bucketId: bucket, path } = step.record;
  const { signal } = job.run;
  const from = { bucket, path };
  if (isSealed) await carryFile(job.storage, { from, to: step.to, signal });
  else await job.storage.copy(from, step.to, { signal });
  noteTransferred(job, step);
  progress.fileEnded(step.size);
}
