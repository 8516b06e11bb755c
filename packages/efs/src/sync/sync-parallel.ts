// Transfers many files: those of one chunk in parallel, larger ones in turn with parallel requests.

import { inParallel } from '../../../client/src/connection/parallel.ts';
import { abortedError } from '../../../client/src/storage-error.ts';
import { chunkBytesMax } from '../../../wire/src/limits.ts';
import type { SyncJob } from './sync-job.ts';

/** Calls `work` with its number of parallel requests; an error of `work` ends everything. */
export async function inStepsBySize<Step extends { readonly size: number }>(
  { run: { signal }, flags: { parallel } }: Pick<SyncJob, 'run' | 'flags'>,
  steps: readonly Step[],
  work: (step: Step, parallel: number) => Promise<void>,
): Promise<void> {
  const short = steps.filter(({ size }) => size <= chunkBytesMax);
  let next = 0;
  await inParallel({ concurrency: parallel, signal }, async (stopped) => {
    for (let step = short[next++]; step !== undefined && !stopped.aborted; step = short[next++]) {
      await work(step, 1);
    }
  });
  if (signal.aborted) throw abortedError(signal.reason);
  for (const step of steps) {
    if (step.size > chunkBytesMax) await work(step, parallel);
  }
}
