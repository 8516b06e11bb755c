// `efs top-up`: the cycles that the front of a service sends to its volumes.

import type { Command } from 'commander';
import type { ServiceStorage } from '../../../client/src/service-storage.ts';
import type { TopUp, TopUpLimits, VolumeCycles } from '../../../client/src/types/top-ups.ts';
import { cycleCount, json, runOf } from '../config/flags.ts';
import type { Run } from '../config/run.ts';
import {
  type Column,
  formatCycles,
  formatTable,
  printJson,
  printLine,
  printResult,
} from '../output/output.ts';
import { formatTime } from '../output/times.ts';
import { UsageError } from '../output/usage-error.ts';
import { serviceOf } from './volume-commands.ts';

export function addTopUpCommands(program: Command): void {
  const topUp = program.command('top-up').description('send cycles of the front to volumes');
  topUp
    .command('ls')
    .description('show the limits, the cycles of front and volumes, and the last top-ups')
    .addOption(json())
    .action((flags, command: Command) => list(runOf(command), flags));
  topUp
    .command('set')
    .description('set when the front tops up volumes, and how much it sends within 24 hours')
    .option('--below <cycles>', 'top up volumes with fewer cycles: 2T', cycleCount)
    .option('--to <cycles>', 'the cycles of a volume after a top-up: 4T', cycleCount)
    .option('--daily <cycles>', 'the maximum within 24 hours: 10T; 0 ends top-ups', cycleCount)
    .option('--daily-per-volume <cycles>', 'the same for each volume: 4T', cycleCount)
    .option('--keep <cycles>', 'the cycles that the front keeps: 5T', cycleCount)
    .addOption(json())
    .action((flags: LimitFlags, command: Command) => set(runOf(command), flags));
  topUp
    .command('send <volume> <cycles>')
    .description('send cycles of the front to a volume now, beyond the limits')
    .addOption(json())
    .action(async (volume: string, cycles: string, _flags, command: Command) => {
      const amount = cycleCount(cycles);
      await (await serviceOf(runOf(command))).topUps.send(volume, amount);
      printResult({ volume, cycles: amount }, volume);
    });
}

interface LimitFlags {
  readonly below?: number;
  readonly to?: number;
  readonly daily?: number;
  readonly dailyPerVolume?: number;
  readonly keep?: number;
}

async function set(run: Run, flags: LimitFlags): Promise<void> {
  const { below, to, daily, dailyPerVolume, keep } = flags;
  const limits = {
    volumeMinimum: below,
    volumeTarget: to,
    daily,
    dailyPerVolume,
    frontMinimum: keep,
  };
  if (Object.values(limits).every((limit) => limit === undefined)) {
    throw new UsageError('Give --below, --to, --daily, --daily-per-volume or --keep.');
  }
  const changed = await (await serviceOf(run)).topUps.change(limits);
  printResult(changed, textOf(changed));
}

function textOf(limits: TopUpLimits): string {
  return (
    `Volumes below ${formatCycles(limits.volumeMinimum)} are filled up to ` +
    `${formatCycles(limits.volumeTarget)}: within 24 hours at most ` +
    `${formatCycles(limits.dailyPerVolume)} each and ${formatCycles(limits.daily)} in total. ` +
    `The front keeps ${formatCycles(limits.frontMinimum)}.`
  );
}

const volumeColumns: readonly Column<VolumeCycles>[] = [
  { title: 'VOLUME', value: ({ volume }) => volume },
  {
    title: 'CYCLES',
    value: ({ cycles }) => (cycles === undefined ? '–' : formatCycles(cycles)),
    isNumber: true,
  },
  { title: 'REPORTED', value: ({ reportedAt }) => (reportedAt ? formatTime(reportedAt) : '–') },
];

const topUpColumns: readonly Column<TopUp>[] = [
  { title: 'TIME', value: ({ at }) => formatTime(at) },
  { title: 'VOLUME', value: ({ volume }) => volume },
  { title: 'CYCLES', value: ({ cycles }) => formatCycles(cycles), isNumber: true },
  { title: 'CAUSE', value: ({ cause }) => cause },
];

async function list(run: Run, { json }: { readonly json?: boolean }): Promise<void> {
  const service: ServiceStorage = await serviceOf(run);
  const status = await service.topUps.get();
  if (json) return printJson(status);
  const { limits, frontCycles, volumes, last } = status;
  printLine(
    limits === undefined
      ? 'No limits are set, so volumes are topped up only on request: efs top-up set.'
      : textOf(limits),
  );
  printLine(`The front has ${formatCycles(frontCycles)}.`);
  if (volumes.length > 0) printLine(`\n${formatTable(volumes, volumeColumns)}`);
  if (last.length > 0) printLine(`\n${formatTable(last, topUpColumns)}`);
}
