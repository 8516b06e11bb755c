// Commands on files that are there: their flags and help.

import { type Command, Option } from 'commander';
import {
  addFetchFlags,
  cacheControl,
  collect,
  collectPair,
  json,
  parallel,
  runOf,
  wholeNumber,
} from '../config/flags.ts';
import { change } from './change.ts';
import { copy } from './copy.ts';
import { eraseVersions, listVersions, restoreVersion } from './file-versions.ts';
import { get } from './get.ts';

export function addFileCommands(program: Command): void {
  addCopy(program, 'copy');
  addCopy(program, 'move');
  addChange(program);
  addVersions(program);
}

function addCopy(program: Command, kind: 'copy' | 'move'): void {
  const name = kind === 'copy' ? 'cp' : 'mv';
  program
    .command(name)
    .description(`${kind} files within the service, to another bucket too`)
    .argument('<files...>', 'bucket/path… and then the destination: bucket/folder/ or bucket/path')
    .option('-r, --recursive', 'all that is in a folder, bucket/folder/, to below the destination')
    .option('--no-replace', 'refuse if the file is there')
    .addOption(parallel())
    .addOption(json())
    .action(async (names: string[], flags, command: Command) => {
      const destination = names.at(-1) ?? '';
      const sources = names.slice(0, -1);
      if (sources.length === 0) command.error(`error: ${name} takes files and then a destination`);
      await copy(runOf(command), { kind, sources, destination }, flags);
    });
}

function addChange(program: Command): void {
  program
    .command('set')
    .description('change type, tags, headers and metadata of files; their bytes stay')
    .argument('<files...>', 'bucket/path')
    .option('--type <type>', 'Content-Type')
    .option('--tag <tag>', 'in place of all tags; may come again', collect)
    .option('--no-tags', 'take all tags away')
    .addOption(cacheControl())
    .option(
      '--header <field>',
      "'Name: value', in place of all stored ones; may come again",
      collect,
    )
    .option('--no-headers', 'take all stored headers away')
    .option('--metadata <name=value>', 'beside those that are there; may come again', collectPair)
    .option('--no-metadata', 'take all metadata away')
    .addOption(json())
    .action((files: string[], flags, command: Command) => change(runOf(command), files, flags));
}

function addVersions(program: Command): void {
  const versions = program.command('versions').description('former versions of files');
  versions
    .command('ls <place>')
    .description('of a bucket, or of all paths that begin so')
    .option('--limit <n>', 'no more than so many', wholeNumber)
    .addOption(new Option('--all', 'the whole list, as without it').hideHelp())
    .addOption(json())
    .action((place: string, flags, command: Command) => listVersions(runOf(command), place, flags));
  addFetchFlags(
    versions
      .command('get <file>')
      .description('fetch one, verified by its digest')
      .argument('<version>', 'its number, or that of the file as it is', wholeNumber)
      .argument('[target]', 'file or folder; - is standard output'),
  ).action((source: string, version: number, target: string | undefined, ...[flags, command]) =>
    get(runOf(command), { source, target }, { ...flags, version }),
  );
  versions
    .command('restore <file>')
    .description('make a former version the file again')
    .argument('<version>', 'its number', wholeNumber)
    .option('--no-replace', 'refuse if the file is there')
    .addOption(json())
    .action((name: string, version: number, flags, command: Command) =>
      restoreVersion(runOf(command), { name, version }, flags),
    );
  versions
    .command('rm <file>')
    .description('erase former versions at once, or one version by its number')
    .argument('[version]', 'its number; all of the file without it', wholeNumber)
    .option('-r, --recursive', 'of all paths that begin so')
    .addOption(json())
    .action((name: string, version: number | undefined, flags, command: Command) =>
      eraseVersions(runOf(command), { name, version }, flags),
    );
}
