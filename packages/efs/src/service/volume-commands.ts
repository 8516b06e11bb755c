// `efs volume`: the canisters that store the buckets of a service.

import type { Command } from 'commander';
import type { ServiceStorage, Volumes } from '../../../client/src/service-storage.ts';
import type { ServiceVolume, VolumeChange } from '../../../client/src/types/service.ts';
import { byteCount, json, runOf } from '../config/flags.ts';
import type { Run } from '../config/run.ts';
import {
  type Column,
  formatBytes,
  formatTable,
  printJson,
  printLine,
  printResult,
} from '../output/output.ts';
import { formatTime } from '../output/times.ts';
import { UsageError } from '../output/usage-error.ts';

export function addVolumeCommands(program: Command): void {
  const volume = program.command('volume').description('manage the canisters that store buckets');
  volume
    .command('ls')
    .description('list volumes with their state and size')
    .addOption(json())
    .action((flags, command: Command) => listVolumes(runOf(command), flags));
  volume
    .command('add <id>')
    .description("add a canister with the service's code to the front")
    .addOption(json())
    .action((id: string, _flags, command: Command) =>
      changeVolumes(runOf(command), id, (volumes) => volumes.add(id)),
    );
  volume
    .command('set <id>')
    .description('close a volume for new buckets, open it, or limit its size')
    .option('--closed', 'create no new buckets there')
    .option('--open', 'create new buckets there again')
    .option('--limit <size>', 'stable memory with which it is full: 300GiB', byteCount)
    .addOption(json())
    .action((id: string, flags: SetFlags, command: Command) => {
      const change = changeOf(flags);
      return changeVolumes(runOf(command), id, (volumes) => volumes.change(id, change));
    });
  volume
    .command('rm <id>')
    .description('remove a volume without buckets from the front; the canister stays')
    .addOption(json())
    .action((id: string, _flags, command: Command) =>
      changeVolumes(runOf(command), id, (volumes) => volumes.remove(id)),
    );
}

interface SetFlags {
  readonly closed?: boolean;
  readonly open?: boolean;
  readonly limit?: number;
}

function changeOf({ closed, open, limit }: SetFlags): VolumeChange {
  if (closed && open) throw new UsageError('Give --closed or --open, not both.');
  if (!closed && !open && limit === undefined) {
    throw new UsageError('Give --closed, --open or --limit.');
  }
  return { isClosed: closed ? true : open ? false : undefined, limitBytes: limit };
}

const columns: readonly Column<ServiceVolume>[] = [
  { title: 'VOLUME', value: ({ canisterId }) => canisterId },
  { title: 'STATE', value: ({ state }) => state },
  { title: 'SIZE', value: ({ stableBytes }) => formatBytes(stableBytes), isNumber: true },
  { title: 'LIMIT', value: ({ limitBytes }) => formatBytes(limitBytes), isNumber: true },
  { title: 'REPORTED', value: ({ reportedAt }) => (reportedAt ? formatTime(reportedAt) : '–') },
];

/** Returns the client of a service of several volumes. */
export async function serviceOf(run: Run): Promise<ServiceStorage> {
  const storage = await run.manager();
  if ('volumes' in storage) return storage as ServiceStorage;
  throw new UsageError(
    'The front of the service is unknown: pass --front, set EFS_FRONT_ID, or add a profile with ' +
      '--front. A service of one canister has no volumes.',
  );
}

async function listVolumes(run: Run, { json }: { readonly json?: boolean }): Promise<void> {
  const volumes = await (await serviceOf(run)).volumes.list();
  if (json) printJson(volumes);
  else if (volumes.length > 0) printLine(formatTable(volumes, columns));
}

async function changeVolumes(
  run: Run,
  id: string,
  change: (volumes: Volumes) => Promise<void>,
): Promise<void> {
  await change((await serviceOf(run)).volumes);
  printResult({ canisterId: id }, id);
}
