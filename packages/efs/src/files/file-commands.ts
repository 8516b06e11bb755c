// Commands on files that are there: their flags and help.

import type { Command } from 'commander';
import { cacheControl, collect, collectPair, json, parallel, runOf } from '../config/flags.ts';
import { change } from './change.ts';
import { copy } from './copy.ts';
import { addVersionCommands } from './version-commands.ts';

export function addFileCommands(program: Command): void {
  addCopy(program, 'copy');
  addCopy(program, 'move');
  addChange(program);
  addVersionCommands(program);
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
