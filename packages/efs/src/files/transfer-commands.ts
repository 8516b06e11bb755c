// Commands that bring bytes from one place to another: their flags and help.

import type { Command } from 'commander';
import {
  addFetchFlags,
  cacheControl,
  collect,
  collectPair,
  fetchingParallelDefault,
  json,
  oneLine,
  parallel,
  runOf,
  wholeNumber,
} from '../config/flags.ts';
import { sync } from '../sync/sync.ts';
import { syncExamples } from '../sync/sync-ends.ts';
import { exclude, filterHelp, include } from '../transfers/filters.ts';
import { cat, get } from './get.ts';
import { put } from './put.ts';

export function addTransfers(program: Command): void {
  addPut(program);
  addGet(program);
  addSync(program);
}

function addPut(program: Command): void {
  program
    .command('put')
    .description('send files and folders; - is standard input')
    .argument('<files...>', 'FILE… and then the destination: bucket/folder/ or bucket/path')
    .addOption(parallel())
    .option('-r, --recursive', 'folders too: folder keeps its name, of folder/ goes what is in it')
    .addOption(exclude())
    .addOption(include())
    .option('--type <type>', "Content-Type; else that of the name's extension", oneLine)
    .option('--tag <tag>', 'may come again', collect)
    .addOption(cacheControl())
    .option('--metadata <name=value>', 'kept in its record; may come again', collectPair)
    .option('--resume', 'go on with what was interrupted')
    .option('--no-replace', 'refuse if the file is there')
    .option('--size <bytes>', 'of standard input: anything else is refused', wholeNumber)
    .addOption(json())
    .addHelpText('after', filterHelp)
    .action(async (names: string[], flags, command: Command) => {
      const destination = names.at(-1) ?? '';
      const files = names.slice(0, -1);
      if (files.length === 0) command.error('error: put takes files and then a destination');
      const noReplace = flags.replace === false;
      const metadata = flags.metadata?.pairs;
      await put(runOf(command), { files, destination }, { ...flags, noReplace, metadata });
    });
}

function addGet(program: Command): void {
  const command = program
    .command('get')
    .description('fetch a file, verified by its digest; with -r a folder')
    .argument('<source>', "bucket/path, or a link's address")
    .argument('[target]', 'file or folder; - is standard output');
  addFetchFlags(command)
    .option('-r, --recursive', 'a folder: demo/a keeps its name, of demo/a/ comes what is in it')
    .addOption(exclude())
    .addOption(include())
    .addHelpText('after', filterHelp)
    .action((source: string, target: string | undefined, flags, command: Command) =>
      get(runOf(command), { source, target }, flags),
    );
  program
    .command('cat')
    .description('files to standard output, one after another')
    .argument('<files...>', 'bucket/path')
    .addOption(parallel())
    .action((files: string[], flags, command: Command) => cat(runOf(command), files, flags));
}

function addSync(program: Command): void {
  program
    .command('sync')
    .description('bring what has changed, so that one folder holds what another one holds')
    .argument('<source>', 'folder of this machine, or bucket/folder')
    .argument('<destination>', 'bucket/folder, or folder of this machine')
    .addOption(parallel(fetchingParallelDefault))
    .addOption(exclude())
    .addOption(include())
    .option('--delete', 'remove at the destination what is not at the source')
    .option('--max-delete <n>', 'if no more than so many (default 1000)', wholeNumber)
    .option('-n, --dry-run', 'only say what would be done')
    .addOption(cacheControl())
    .addOption(json())
    .addHelpText('after', `${syncExamples}\n${filterHelp}`)
    .action((source: string, destination: string, flags, command: Command) =>
      sync(runOf(command), { source, destination }, flags),
    );
}
