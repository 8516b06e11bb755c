// `efs versions`: former versions of files, which a bucket stores for days; flags and help.

import { type Command, Option } from 'commander';
import type { ErasedVersions } from '../../../client/src/files/versions.ts';
import type { FileVersion } from '../../../client/src/types/versions.ts';
import { addFetchFlags, bypassGovernance, json, runOf, wholeNumber } from '../config/flags.ts';
import type { Run } from '../config/run.ts';
import { isJson } from '../output/json-output.ts';
import { nameOf, parseFileName, parseLocation } from '../output/location.ts';
import {
  type Column,
  formatBytes,
  formatTable,
  printJson,
  printLine,
  printNote,
} from '../output/output.ts';
import { printable } from '../output/printable.ts';
import { formatTime } from '../output/times.ts';
import { UsageError } from '../output/usage-error.ts';
import { get } from './get.ts';

const columns: readonly Column<FileVersion>[] = [
  { title: 'VERSION', value: ({ version }) => String(version), isNumber: true },
  { title: 'SIZE', value: ({ size }) => formatBytes(size), isNumber: true },
  { title: 'MODIFIED', value: ({ updatedAt }) => formatTime(updatedAt) },
  { title: 'REPLACED', value: ({ retiredAt }) => formatTime(retiredAt) },
  { title: 'KEPT UNTIL', value: ({ expiresAt }) => formatTime(expiresAt) },
  { title: 'PATH', value: ({ path }) => printable(path) },
];

export function addVersionCommands(program: Command): void {
  const versions = program.command('versions').description('manage former versions of files');
  versions
    .command('ls <place>')
    .description('list the versions of a bucket or of paths with a prefix')
    .option('--limit <n>', 'maximum number of results', wholeNumber)
    .addOption(new Option('--all', 'no effect: lists are complete without it').hideHelp())
    .addOption(json())
    .action((place: string, flags, command: Command) => listVersions(runOf(command), place, flags));
  addFetchFlags(
    versions
      .command('get <file>')
      .description('download a version, verified by its digest')
      .argument('<version>', 'number of a version, former or present', wholeNumber)
      .argument('[target]', 'file or folder; - is standard output'),
  ).action((source: string, version: number, target: string | undefined, ...[flags, command]) =>
    get(runOf(command), { source, target }, { ...flags, version }),
  );
  versions
    .command('restore <file>')
    .description('make a former version the present file')
    .argument('<version>', 'number of the version', wholeNumber)
    .option('--no-replace', 'refuse to replace an existing file')
    .addOption(json())
    .action((name: string, version: number, flags, command: Command) =>
      restoreVersion(runOf(command), { name, version }, flags),
    );
  versions
    .command('rm <file>')
    .description('erase all former versions of a file, or one version')
    .argument('[version]', 'number of the version (default: all former ones)', wholeNumber)
    .option('-r, --recursive', 'for all paths with this prefix')
    .addOption(bypassGovernance())
    .addOption(json())
    .action((name: string, version: number | undefined, flags, command: Command) =>
      eraseVersions(runOf(command), { name, version }, flags),
    );
}

async function listVersions(
  run: Run,
  place: string,
  { limit, ...flags }: { readonly limit?: number; readonly json?: boolean },
): Promise<void> {
  const { bucket, path: prefix } = parseLocation(place);
  const { signal } = run;
  const storage = await run.storage();
  const versions: FileVersion[] = [];
  let hasMore = false;
  for await (const version of storage.versions.list({ bucket, prefix, signal })) {
    hasMore = versions.length === limit;
    if (hasMore) break;
    versions.push(version);
  }
  if (flags.json) printJson(versions);
  else if (versions.length > 0) printLine(formatTable(versions, columns));
  if (hasMore) printNote(`These are the first ${limit}: there are more without --limit.`);
}

interface RestoreFlags {
  /** False: an existing file is kept. */
  readonly replace?: boolean;
  readonly json?: boolean;
}

async function restoreVersion(
  run: Run,
  { name, version }: { readonly name: string; readonly version: number },
  { replace, ...flags }: RestoreFlags,
): Promise<void> {
  const file = parseFileName(name);
  const ifNoneMatch = replace === false ? '*' : undefined;
  const storage = await run.storage();
  const record = await storage.versions.restore({
    ...file,
    version,
    ifNoneMatch,
    signal: run.signal,
  });
  if (flags.json) printJson(record);
  else printLine(printable(nameOf(file)));
}

async function eraseVersions(
  run: Run,
  { name, version }: { readonly name: string; readonly version: number | undefined },
  { recursive, bypassGovernance }: { recursive?: boolean; bypassGovernance?: boolean },
): Promise<void> {
  if (recursive && version !== undefined) {
    throw new UsageError('A version belongs to one file: omit -r.');
  }
  const { bucket, path } = recursive ? parseLocation(name) : parseFileName(name);
  const place = recursive ? { bucket, prefix: path } : { bucket, path, version };
  const erasure = { ...place, bypassGovernance, signal: run.signal };
  const done = await (await run.storage()).versions.erase(erasure);
  if (isJson()) printJson(done);
  else if (!run.isQuiet) printNote(saidOfErasure(done));
}

export function saidOfErasure({ erased, held }: ErasedVersions, what = 'version'): string {
  const stay = held === 0 ? '' : ` ${held} stay, because they are retained or have a hold.`;
  return `${erased} ${what}${erased === 1 ? '' : 's'} erased.${stay}`;
}
