// `efs bucket`: its flags and help.

import { type Command, Option } from 'commander';
import { byteCount, collect, countOrNone, json, runOf, wholeNumber } from '../config/flags.ts';
import { changeBucket, createBucket, listBuckets, removeBucket } from './manage.ts';
import { collectRule } from './retention-rule.ts';

const keepVersions = () =>
  new Option(
    '--keep-versions <days>',
    'days for which former versions are stored; 0: none are',
  ).argParser(wholeNumber);

const retain = () =>
  new Option(
    '--retain <rule>',
    'retain new files: mode:days[:prefix], such as compliance:365 or governance:30:logs/; repeatable',
  ).argParser(collectRule);

const recipient = () =>
  new Option(
    '--recipient <recipient>',
    'age1… that can decrypt new files; replaces all; repeatable',
  ).argParser(collect);

export function addBuckets(program: Command): void {
  const bucket = program.command('bucket').description('manage buckets');
  addCreate(bucket);
  bucket
    .command('ls')
    .description('list buckets')
    .addOption(json())
    .action((flags, command: Command) => listBuckets(runOf(command), flags));
  addSet(bucket);
  bucket
    .command('rm <bucket>')
    .description('delete a bucket without files')
    .option('--force', 'delete its files, versions and open uploads first')
    .addOption(json())
    .action((id: string, flags, command: Command) => removeBucket(runOf(command), id, flags));
}

function addCreate(bucket: Command): void {
  bucket
    .command('create <bucket>')
    .description('create a bucket, private by default')
    .option('--public', 'anybody can read its files')
    .option('--site', 'public web site: folders serve index.html, scripts run')
    .option('--listed', 'public, and anybody can list its files')
    .option('--quota <size>', 'maximum size: 10MB, 2GiB; none: no limit', byteCount)
    .option('--quota-files <count>', 'maximum number of files; none: no limit', countOrNone)
    .addOption(keepVersions())
    .addOption(retain())
    .option('--end-to-end', 'only clients encrypt and decrypt its files')
    .addOption(recipient())
    .option('--no-vetkeys', 'only recipients decrypt: members get no identity')
    .option('--seal-names', 'encrypt paths too')
    .addOption(json())
    .action((id: string, flags, command: Command) => createBucket(runOf(command), id, flags));
}

function addSet(bucket: Command): void {
  bucket
    .command('set <bucket>')
    .description('change a bucket')
    .option('--public', 'anybody can read its files')
    .option('--private', 'reading its files needs a right')
    .option('--site', 'web site: folders serve index.html, scripts run')
    .option('--no-site', 'no web site: scripts do not run')
    .option('--listed', 'anybody can list the files of the public bucket')
    .option('--no-listed', 'listing its files needs a right')
    .option('--quota <size>', 'maximum size: 10MB, 2GiB; none: no limit', byteCount)
    .option('--quota-files <count>', 'maximum number of files; none: no limit', countOrNone)
    .addOption(keepVersions())
    .addOption(retain())
    .option('--no-retain', 'new files get no retention; stored ones keep theirs')
    .option('--end-to-end', 'end-to-end encrypt an empty bucket')
    .option('--no-end-to-end', 'end the end-to-end encryption of an empty bucket')
    .addOption(recipient())
    .option('--no-recipients', 'remove all recipients')
    .addOption(json())
    .action((id: string, flags, command: Command) => changeBucket(runOf(command), id, flags));
}
