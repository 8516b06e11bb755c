// `efs service`: the canisters of a service and their code.

import { type Command, Option } from 'commander';
import type { CanisterCode } from '../../../client/src/actor/canister-code.ts';
import type { ServiceStorage } from '../../../client/src/service-storage.ts';
import type { Storage } from '../../../client/src/storage.ts';
import type { GlobalOptions } from '../config/config.ts';
import { json, runOf, wholeNumber } from '../config/flags.ts';
import type { Run } from '../config/run.ts';
import {
  type Column,
  formatBytes,
  formatCycles,
  formatTable,
  printJson,
  printLine,
  printNote,
  printResult,
} from '../output/output.ts';
import { UsageError } from '../output/usage-error.ts';
import type { ServiceCanister, UpgradeTools } from '../upgrade/upgrade.ts';
import {
  addSetUpFlags,
  addVolume,
  bringCanister,
  cyclesOption,
  type SetUpFlags,
  setUpOf,
} from './set-up.ts';

const waitSecondsDefault = 30;

export function addServiceCommands(program: Command): void {
  const service = program.command('service').description('manage the canisters of the service');
  addSetUpFlags(
    service
      .command('deploy <module>')
      .description('create a front and a first volume, and install the module in both')
      .addOption(cyclesOption('--front-cycles <cycles>', 'cycles for the new front', '1T'))
      .option('--canister <id>', 'continue with this front, which is empty or has the module')
      .option('--volume <id>', 'continue with this volume, which is empty or has the module'),
  ).action((file: string, flags: DeployFlags, command: Command) =>
    deploy(runOf(command), file, { ...command.optsWithGlobals<GlobalOptions>(), ...flags }),
  );
  service
    .command('status')
    .description('list the canisters with their code, state and cycles')
    .addOption(json())
    .action((flags, command: Command) => status(runOf(command), flags));
  service
    .command('upgrade <module>')
    .description('upgrade all canisters, the front last; the first failure ends it')
    .option('--keep-failed', 'leave a failed canister as it is: efs service rollback restores it')
    .addOption(
      new Option('--wait <seconds>', 'time for a canister to work after its upgrade')
        .argParser(wholeNumber)
        .default(waitSecondsDefault),
    )
    .addOption(json())
    .action((file: string, flags: UpgradeFlags, command: Command) =>
      upgrade(runOf(command), file, flags),
    );
  service
    .command('rollback')
    .description('restore the canister whose upgrade failed or was interrupted')
    .addOption(json())
    .action((_flags, command: Command) => rollback(runOf(command)));
}

interface DeployFlags extends SetUpFlags {
  readonly frontCycles: number;
  readonly volume?: string;
}

async function deploy(
  run: Run,
  file: string,
  flags: DeployFlags & Pick<GlobalOptions, 'identity'>,
): Promise<void> {
  const setUp = await setUpOf(run, file, flags);
  const again = `efs service deploy ${file} --canister`;
  const front = await bringCanister(setUp, {
    ...{ role: 'front', cycles: flags.frontCycles, canisterId: flags.canister },
    again: (id) => `${again} ${id}`,
  });
  const volume = await bringCanister(setUp, {
    ...{ role: 'volume', cycles: flags.cycles, canisterId: flags.volume },
    again: (id) => `${again} ${front} --volume ${id}`,
  });
  await addVolume(setUp, await run.serviceAt(front), volume);
  const identity = flags.identity ?? process.env.EFS_IDENTITY ?? '<identity>';
  const profile = `efs profile add files --host ${run.host} --front ${front} --identity ${identity}`;
  printResult({ front, volume, profile }, `front   ${front}\nvolume  ${volume}\n\n${profile}`);
}

/** Returns the volumes and the front; or the only canister. */
async function canistersOf(run: Run): Promise<ServiceCanister[]> {
  const storage: Storage = await run.manager();
  if ('volumes' in storage && run.front !== undefined) {
    const { volumes } = storage as ServiceStorage;
    const listed = await volumes.list();
    return [
      ...listed.map(({ canisterId }) => ({ canisterId, role: 'volume' as const })),
      { canisterId: run.front, role: 'front' },
    ];
  }
  if (run.canisterId === undefined) throw new UsageError('The canister is unknown: --canister-id.');
  return [{ canisterId: run.canisterId, role: 'canister' }];
}

interface ShownCanister extends ServiceCanister {
  readonly version: string;
  readonly moduleHash: string;
  readonly state: string;
  readonly memoryBytes?: number;
  readonly cycles?: number;
  readonly daysLeft?: number;
}

async function shown(code: CanisterCode, canister: ServiceCanister): Promise<ShownCanister> {
  const { moduleHash, version } = await code.read(canister.canisterId);
  const known = { ...canister, version: version ?? '≤ 0.2.0', moduleHash: moduleHash ?? '' };
  try {
    const { status, memoryBytes, cycles, cyclesPerDay } = await code.state(canister.canisterId);
    const daysLeft = cyclesPerDay > 0 ? Math.floor(cycles / cyclesPerDay) : undefined;
    const figures = { memoryBytes, cycles, ...(daysLeft !== undefined && { daysLeft }) };
    return { ...known, state: status, ...figures };
  } catch {
    // Only controllers may ask
    return { ...known, state: 'unknown' };
  }
}

const columns: readonly Column<ShownCanister>[] = [
  { title: 'CANISTER', value: ({ canisterId }) => canisterId },
  { title: 'ROLE', value: ({ role }) => role },
  { title: 'VERSION', value: ({ version }) => version },
  { title: 'MODULE', value: ({ moduleHash }) => moduleHash.slice(0, 12) },
  { title: 'STATE', value: ({ state }) => state },
  {
    title: 'MEMORY',
    value: ({ memoryBytes }) => (memoryBytes === undefined ? '–' : formatBytes(memoryBytes)),
    isNumber: true,
  },
  {
    title: 'CYCLES',
    value: ({ cycles }) => (cycles === undefined ? '–' : formatCycles(cycles)),
    isNumber: true,
  },
  { title: 'DAYS', value: ({ daysLeft }) => String(daysLeft ?? '–'), isNumber: true },
];

async function status(run: Run, { json }: { readonly json?: boolean }): Promise<void> {
  const { code } = await toolsOf(run, waitSecondsDefault);
  const canisters = await canistersOf(run);
  const rows = await Promise.all(canisters.map((canister) => shown(code, canister)));
  if (json) printJson(rows);
  else printLine(formatTable(rows, columns));
}

interface UpgradeFlags {
  readonly keepFailed?: boolean;
  readonly wait: number;
  readonly json?: boolean;
}

async function toolsOf(run: Run, waitSeconds: number): Promise<UpgradeTools> {
  const service = run.front ?? run.canisterId;
  if (service === undefined) throw new UsageError('The service is unknown: pass --front.');
  const { host = '' } = run;
  const code = await run.code();
  return {
    ...{ code, service, say: printNote },
    async check(canister, module) {
      const { checkCanister } = await import('../upgrade/check-canister.ts');
      const storage = await run.canister(canister.canisterId);
      await checkCanister({ code, host, storage, waitMs: waitSeconds * 1_000 }, canister, module);
    },
  };
}

async function upgrade(run: Run, file: string, flags: UpgradeFlags): Promise<void> {
  const [{ readModule }, { upgradeAll }] = await Promise.all([
    import('../upgrade/module-file.ts'),
    import('../upgrade/upgrade.ts'),
  ]);
  const module = readModule(file);
  const [canisters, tools] = await Promise.all([canistersOf(run), toolsOf(run, flags.wait)]);
  const keepsFailed = flags.keepFailed === true;
  const { outcomes, failure } = await upgradeAll(tools, canisters, { module, keepsFailed });
  const rows = await Promise.all(outcomes.map(({ result: _, ...row }) => shown(tools.code, row)));
  const withResults = rows.map((row, index) => ({
    ...row,
    result: outcomes[index]?.result ?? '',
  }));
  if (flags.json) printJson(withResults);
  else {
    const result: Column<(typeof withResults)[number]> = {
      ...{ title: 'RESULT', value: (row) => row.result },
    };
    printLine(formatTable(withResults, [...columns.slice(0, 5), result]));
  }
  if (failure !== undefined) throw failure;
}

async function rollback(run: Run): Promise<void> {
  const { rollBack } = await import('../upgrade/upgrade.ts');
  const canisterId = await rollBack(await toolsOf(run, waitSecondsDefault));
  if (canisterId === undefined) {
    printResult({}, 'No upgrade is unfinished, so there is nothing to restore.');
  } else {
    printResult({ canisterId }, `${canisterId} runs: see efs service status.`);
  }
}
