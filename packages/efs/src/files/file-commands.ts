// Commands for stored files: their flags and help.

import type { Command } from 'commander';
import { cacheControl, collect, collectPair, json, parallel, runOf } from '../config/flags.ts';
import { change } from './change.ts';
import { copy } from './copy.ts';
import { addHoldCommands } from './hold-commands.ts';
import { addVersionCommands } from './version-commands.ts';

export function addFileCommands(program: Command): void {
  addCopy(program, 'copy');
  addCopy(program, 'move');
  addChange(program);
  addVersionCommands(program);
  addHoldCommands(program);
}

function addCopy(program: Command, kind: 'copy' | 'move'): void {
  const name = kind === 'copy' ? 'cp' : 'mv';
  program
    .command(name)
    .description(`${kind} files within the service, to another bucket too`)
    .argument('<files...>', 'bucket/path… and the destination, bucket/folder/ or bucket/path')
    .option('-r, --recursive', 'all files of a folder, bucket/folder/')
    .option('--no-replace', 'refuse to replace an existing file')
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
    .option('--tag <tag>', 'replaces all tags; repeatable', collect)
    .option('--no-tags', 'remove all tags')
    .addOption(cacheControl())
    .option('--header <field>', "'Name: value', replaces all stored headers; repeatable", collect)
    .option('--no-headers', 'remove all stored headers')
    .option('--metadata <name=value>', 'added to the metadata; repeatable', collectPair)
    .option('--no-metadata', 'remove all metadata')
    .addOption(json())
    .action((files: string[], flags, command: Command) => change(runOf(command), files, flags));
}
