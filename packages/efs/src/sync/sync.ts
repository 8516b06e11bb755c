// `efs sync`: makes one folder equal to another by transferring only differences: from this machine
// to the service, back, or within the service.

import { checkedConcurrency } from '../../../client/src/connection/parallel.ts';
import type { Run } from '../config/run.ts';
import { UsageError } from '../output/usage-error.ts';
import { type FilterFlags, filterOf } from '../transfers/filters.ts';
import { clearNotes } from '../transfers/transfer-state.ts';
import { syncAcross } from './sync-across.ts';
import { syncDown } from './sync-down.ts';
import { syncEnds } from './sync-ends.ts';
import { runSync, type SyncFlags } from './sync-job.ts';
import { syncUp } from './sync-up.ts';

export async function sync(
  run: Run,
  names: { readonly source: string; readonly destination: string },
  flags: SyncFlags & FilterFlags,
): Promise<void> {
  checkedConcurrency(flags.parallel);
  const filter = filterOf(flags);
  if (!flags.dryRun) await clearNotes();
  const ends = await syncEnds(names, run.storage);
  if (ends.kind !== 'up' && flags.cacheControl !== undefined) {
    throw new UsageError('--cache-control only applies to uploads from this machine: omit it.');
  }
  const setting = { run, storage: await run.storage(), flags, filter };
  if (ends.kind === 'up') await runSync(syncUp(ends.folder, ends.to), setting);
  else if (ends.kind === 'down') await runSync(syncDown(ends.from, ends.folder), setting);
  else await runSync(syncAcross(ends.from, ends.to), setting);
}
