// `efs volume`: the canisters that store the buckets of a service.

import type { Command } from 'commander';
import type { ServiceStorage, Volumes } from '../../../client/src/service-storage.ts';
import type { ServiceVolume } from '../../../client/src/types/service.ts';
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
import { addSetUpFlags, addVolume, bringCanister, type SetUpFlags, setUpOf } from './set-up.ts';

export function addVolumeCommands(program: Command): void {
  const volume = program.command('volume').description('manage the canisters that store buckets');
  addSetUpFlags(
    volume
      .command('create <module>')
      .description('create a canister, install the module and add it to the front')
      .option('--canister <id>', 'continue with this canister, which is empty or has the module'),
  ).action((file: string, flags: SetUpFlags, command: Command) =>
    createVolume(runOf(command), file, flags),
  );
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
  for (const [name, isClosed] of Object.entries({ close: true, open: false })) {
    volume
      .command(`${name} <id>`)
      .description(isClosed ? 'create no new buckets there' : 'create new buckets there again')
      .addOption(json())
      .action((id: string, _flags, command: Command) =>
        changeVolumes(runOf(command), id, (volumes) => volumes.change(id, { isClosed })),
      );
  }
  volume
    .command('set <id>')
    .description('limit the size of a volume')
    .requiredOption('--limit <size>', 'stable memory with which it is full: 300GiB', byteCount)
    .addOption(json())
    .action((id: string, { limit }: { readonly limit: number }, command: Command) =>
      changeVolumes(runOf(command), id, (volumes) => volumes.change(id, { limitBytes: limit })),
    );
  volume
    .command('rm <id>')
    .description('remove a volume without buckets from the front; the canister stays')
    .addOption(json())
    .action((id: string, _flags, command: Command) =>
      changeVolumes(runOf(command), id, (volumes) => volumes.remove(id)),
    );
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

async function createVolume(run: Run, file: string, flags: SetUpFlags): Promise<void> {
  const service = await serviceOf(run);
  const setUp = await setUpOf(run, file, flags);
  const again = `efs volume create ${file}`;
  const canisterId = await bringCanister(setUp, {
    ...{ role: 'volume', cycles: flags.cycles, canisterId: flags.canister },
    again: (id) => `${again} --canister ${id}`,
  });
  await addVolume(setUp, service, canisterId);
  printResult({ canisterId }, canisterId);
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
