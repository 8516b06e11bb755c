// `efs bucket`: its flags and help.

import { type Command, Option } from 'commander';
import { byteCount, collect, countOrNone, json, runOf, wholeNumber } from '../config/flags.ts';
import { changeBucket, createBucket, listBuckets, removeBucket } from './manage.ts';

const keepVersions = () =>
  new Option('--keep-versions <days>', 'keep what is replaced or removed; 0: not at all').argParser(
    wholeNumber,
  );

const recipient = () =>
  new Option(
    '--recipient <recipient>',
    'age1…, opens files from now on; in place of all; may come again',
  ).argParser(collect);

export function addBuckets(program: Command): void {
  const bucket = program.command('bucket').description('manage buckets');
  addCreate(bucket);
  bucket
    .command('ls')
    .addOption(json())
    .action((flags, command: Command) => listBuckets(runOf(command), flags));
  addSet(bucket);
  bucket
    .command('rm <bucket>')
    .description('one without files')
    .option('--force', 'with its files, former versions and open uploads, which go first')
    .addOption(json())
    .action((id: string, flags, command: Command) => removeBucket(runOf(command), id, flags));
}

function addCreate(bucket: Command): void {
  bucket
    .command('create <bucket>')
    .description('a private one')
    .option('--public', 'files are read without a key')
    .option('--site', 'public, and a web site: folders show index.html, pages run scripts')
    .option('--quota <size>', 'what it may hold: 10MB, 2GiB; none: no limit', byteCount)
    .option('--quota-files <count>', 'how many files; none: no limit', countOrNone)
    .addOption(keepVersions())
    .option(
      '--end-to-end',
      'files are encrypted before they are sent, and opened where they are read',
    )
    .addOption(recipient())
    .option('--no-vetkeys', 'for recipients alone: members get no identity by the network')
    .option('--seal-names', 'paths are encrypted too')
    .addOption(json())
    .action((id: string, flags, command: Command) => createBucket(runOf(command), id, flags));
}

function addSet(bucket: Command): void {
  bucket
    .command('set <bucket>')
    .option('--public', 'files are read without a key')
    .option('--private', 'files are read with a key only')
    .option('--site', 'a web site: folders show index.html, pages run scripts')
    .option('--no-site', 'files alone, whose scripts do not run')
    .option('--quota <size>', 'what it may hold: 10MB, 2GiB; none: no limit', byteCount)
    .option('--quota-files <count>', 'how many files; none: no limit', countOrNone)
    .addOption(keepVersions())
    .option('--end-to-end', 'an empty bucket: files are encrypted before they are sent')
    .option('--no-end-to-end', 'an empty bucket: files are stored as they are sent')
    .addOption(recipient())
    .option('--no-recipients', 'take all recipients away')
    .addOption(json())
    .action((id: string, flags, command: Command) => changeBucket(runOf(command), id, flags));
}
