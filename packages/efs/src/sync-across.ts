// A folder of a bucket to another one of the same service, which copies by itself: no bytes come
// here.

import type { FileRecord } from '../../client/src/interface.ts';
import { type Location, nameOf } from './location.ts';
import type { OverallProgress } from './progress-bar.ts';
import {
  attemptOne,
  type Direction,
  noteBrought,
  type SyncJob,
  type SyncStep,
} from './sync-job.ts';
import { inStepsBySize } from './sync-parallel.ts';
import { removeStored, sourceBelow, storedBelow } from './sync-stored.ts';

interface AcrossStep extends SyncStep {
  readonly record: FileRecord;
  readonly to: Location;
}

/** Both paths are prefixes. */
export function syncAcross(from: Location, to: Location): Direction<AcrossStep> {
  return {
    verb: 'copied',
    plan: (job) => plan(job, from, to),
    bring: (job, steps, progress) =>
      inStepsBySize(job, steps, (step) =>
        attemptOne(job, step.name, () => bringOne(job, step, progress)),
      ),
    remove: (job, names) => removeStored(job, to.bucket, names),
  };
}

async function plan(job: SyncJob, from: Location, { bucket, path: prefix }: Location) {
  const source = await sourceBelow(job, from);
  const stored = await storedBelow(job, { bucket, path: prefix });
  const steps: AcrossStep[] = [];
  for (const [path, record] of source) {
    const there = stored.get(path);
    if (there !== undefined && there.etag === record.etag && there.size === record.size) {
      job.counts.same++;
      continue;
    }
    const to = { bucket, path: prefix + path };
    const isNew = there === undefined;
    steps.push({ name: nameOf(to), size: record.size, isNew, record, to });
  }
  const gone = [...stored.keys()].filter((path) => !source.has(path));
  return { steps, extra: gone.map((path) => nameOf({ bucket, path: prefix + path })) };
}

async function bringOne(job: SyncJob, step: AcrossStep, progress: OverallProgress): Promise<void> {
  const { bucketId: bucket, path } = step.record;
  const { signal } = job.run;
  await job.storage.copy({ bucket, path }, step.to, { signal });
  noteBrought(job, step);
  progress.fileEnded(step.size);
}
