// `efs retain` and `efs hold`: protection of versions from being replaced or deleted.

import { type Command, Option } from 'commander';
import type { Storage } from '../../../client/src/storage.ts';
import type { FileRecord } from '../../../client/src/types/files.ts';
import type { Retention, RetentionMode } from '../../../client/src/types/retention.ts';
import { bypassGovernance, json, runOf, wholeNumber } from '../config/flags.ts';
import type { Run } from '../config/run.ts';
import { nameOf, parseFileName, parseLocation } from '../output/location.ts';
import { type Column, formatTable, printJson, printLine, printNote } from '../output/output.ts';
import { printable } from '../output/printable.ts';
import { formatTime, parseExpiry } from '../output/times.ts';
import { UsageError } from '../output/usage-error.ts';

interface HeldVersion {
  readonly path: string;
  readonly version: number;
  readonly retention: Retention;
}

const columns: readonly Column<HeldVersion>[] = [
  { title: 'VERSION', value: ({ version }) => String(version), isNumber: true },
  { title: 'MODE', value: ({ retention }) => retention.mode ?? '–' },
  { title: 'RETAINED UNTIL', value: ({ retention }) => untilOf(retention) },
  { title: 'HOLD', value: ({ retention }) => (retention.hold ? 'yes' : '–') },
  { title: 'PATH', value: ({ path }) => printable(path) },
];

function untilOf({ retainUntil }: Retention): string {
  return retainUntil === undefined ? '–' : formatTime(retainUntil);
}

export function addHoldCommands(program: Command): void {
  program
    .command('retain <file>')
    .description('retain a version until a time: nothing replaces or deletes it before')
    .argument('[version]', 'number of the version (default: the present one)', wholeNumber)
    .addOption(
      new Option('--mode <mode>', 'governance: owners can end it; compliance: nobody can')
        .choices(['governance', 'compliance'])
        .default('governance'),
    )
    .option('--until <time>', '30d, 12h, or a date such as 2030-01-31', parseExpiry)
    .option('--end', 'end the retention')
    .addOption(bypassGovernance())
    .addOption(json())
    .action((name: string, version: number | undefined, flags, command: Command) =>
      retain(runOf(command), { name, version }, flags),
    );
  const hold = program.command('hold').description('manage legal holds, which have no time');
  for (const [verb, isHeld] of [
    ['add', true],
    ['remove', false],
  ] as const) {
    hold
      .command(`${verb} <file>`)
      .description(isHeld ? 'hold a version until the hold is removed' : 'remove a hold')
      .argument('[version]', 'number of the version (default: the present one)', wholeNumber)
      .addOption(json())
      .action((name: string, version: number | undefined, flags, command: Command) =>
        setHold(runOf(command), { name, version, isHeld }, flags),
      );
  }
  hold
    .command('ls <place>')
    .description('list retained and held versions of a bucket, or of paths with a prefix')
    .addOption(json())
    .action((place: string, flags, command: Command) => listHeld(runOf(command), place, flags));
}

interface RetainFlags {
  readonly mode: RetentionMode;
  readonly until?: Date;
  readonly end?: boolean;
  readonly bypassGovernance?: boolean;
  readonly json?: boolean;
}

interface Named {
  readonly name: string;
  readonly version: number | undefined;
}

async function retain(run: Run, { name, version }: Named, flags: RetainFlags): Promise<void> {
  const { mode, until, end, bypassGovernance } = flags;
  if ((until === undefined) === (end === undefined)) {
    throw new UsageError('Give --until with a time, or --end.');
  }
  const file = parseFileName(name);
  const { retention } = await run.storage();
  const options = { version, bypassGovernance, signal: run.signal };
  const record =
    until === undefined
      ? await retention.end(file, options)
      : await retention.set(file, { ...options, mode, until });
  show(record, flags);
}

async function setHold(
  run: Run,
  { name, version, isHeld }: Named & { readonly isHeld: boolean },
  flags: { readonly json?: boolean },
): Promise<void> {
  const file = parseFileName(name);
  const options = { version, signal: run.signal };
  const { retention } = await run.storage();
  show(await (isHeld ? retention.hold(file, options) : retention.release(file, options)), flags);
}

function show(record: FileRecord, flags: { readonly json?: boolean }): void {
  const { bucketId: bucket, path, version, retention } = record;
  if (flags.json) printJson(record);
  else if (retention === undefined) printLine(printable(nameOf({ bucket, path })));
  else printLine(formatTable([{ path, version, retention }], columns));
}

async function listHeld(
  run: Run,
  place: string,
  flags: { readonly json?: boolean },
): Promise<void> {
  const held: HeldVersion[] = [];
  for await (const one of heldVersions(await run.storage(), place, run.signal)) held.push(one);
  if (flags.json) printJson(held);
  else if (held.length > 0) printLine(formatTable(held, columns));
  else printNote('No version is retained or held here.');
}

/** Yields the present versions and then the former ones; past retentions are left out. */
async function* heldVersions(
  storage: Storage,
  place: string,
  signal: AbortSignal,
): AsyncGenerator<HeldVersion> {
  const { bucket, path: prefix } = parseLocation(place);
  const now = Date.now();
  for (const list of [storage.list, storage.versions.list]) {
    for await (const { path, version, retention } of list({ bucket, prefix, signal })) {
      const isHeld = retention?.hold || Date.parse(retention?.retainUntil ?? '') > now;
      if (retention !== undefined && isHeld) yield { path, version, retention };
    }
  }
}
