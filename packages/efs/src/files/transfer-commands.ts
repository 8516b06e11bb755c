// Commands that transfer bytes: their flags and help.

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
    .argument('<files...>', 'FILE… and the destination, bucket/folder/ or bucket/path')
    .addOption(parallel())
    .option('-r, --recursive', 'send folders; with a final slash only their contents')
    .addOption(exclude())
    .addOption(include())
    .option('--type <type>', "Content-Type (default: by the name's extension)", oneLine)
    .option('--tag <tag>', 'tag of the file; repeatable', collect)
    .addOption(cacheControl())
    .option('--metadata <name=value>', 'metadata of the file; repeatable', collectPair)
    .option('--resume', 'continue an interrupted transfer')
    .option('--no-replace', 'refuse to replace an existing file')
    .option('--thumbnails', 'make and store thumbnails of pictures; needs the package sharp')
    .option('--size <bytes>', 'size of standard input; other sizes are refused', wholeNumber)
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
    .description('download a file, verified by its digest; with -r a folder')
    .argument('<source>', "bucket/path, or a link's address")
    .argument('[target]', 'file or folder; - is standard output');
  addFetchFlags(command)
    .option('-r, --recursive', 'download a folder; with a final slash only its contents')
    .addOption(exclude())
    .addOption(include())
    .addHelpText('after', filterHelp)
    .action((source: string, target: string | undefined, flags, command: Command) =>
      get(runOf(command), { source, target }, flags),
    );
  program
    .command('cat')
    .description('write files to standard output, one after another')
    .argument('<files...>', 'bucket/path')
    .addOption(parallel())
    .action((files: string[], flags, command: Command) => cat(runOf(command), files, flags));
}

function addSync(program: Command): void {
  program
    .command('sync')
    .description('make a folder equal to another one, transferring only changes')
    .argument('<source>', 'folder on this machine, or bucket/folder')
    .argument('<destination>', 'bucket/folder, or folder on this machine')
    .addOption(parallel(fetchingParallelDefault))
    .addOption(exclude())
    .addOption(include())
    .option('--delete', 'delete files of the destination that the source lacks')
    .option('--max-delete <n>', 'refuse to delete more files than this (default 1000)', wholeNumber)
    .option('-n, --dry-run', 'only print the changes')
    .option('--full', 'list the bucket instead of reading its changes since the last sync')
    .addOption(cacheControl())
    .addOption(json())
    .addHelpText('after', `${syncExamples}\n${filterHelp}`)
    .action((source: string, destination: string, flags, command: Command) =>
      sync(runOf(command), { source, destination }, flags),
    );
}
