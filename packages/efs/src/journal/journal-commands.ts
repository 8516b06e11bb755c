// `efs journal` and `efs events`: flags and help.

import { type Command, InvalidArgumentError } from 'commander';
import { json, runOf, wholeNumber } from '../config/flags.ts';
import {
  exportJournal,
  followJournal,
  keepJournal,
  listJournal,
  redactEntries,
} from './journal-entries.ts';
import { postEvents } from './post-events.ts';
import { verifyJournal } from './verify-journal.ts';

function httpUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'https:' || url?.protocol === 'http:') return url;
  throw new InvalidArgumentError('It must be an address that begins with https:// or http://.');
}

function toNumbers(text: string, before: readonly number[] = []): number[] {
  return [...before, wholeNumber(text)];
}

export function addJournalCommands(program: Command): void {
  const journal = program
    .command('journal')
    .description('who changed what in a bucket, and the proof that nobody altered it since');
  journal
    .command('ls <bucket>')
    .description('list changes, the newest first')
    .option('--after <n>', 'only entries after this number, the oldest first', wholeNumber)
    .option(
      '--limit <n>',
      'maximum number of entries (default: 100; with --after: all)',
      wholeNumber,
    )
    .addOption(json())
    .action((bucket: string, flags, command: Command) =>
      listJournal(runOf(command), bucket, flags),
    );
  journal
    .command('follow <bucket>')
    .description('print new changes until Ctrl-C; with --json, a line of JSON for each')
    .option('--after <n>', 'begin after this entry (default: the last one)', wholeNumber)
    .addOption(json())
    .action((bucket: string, flags, command: Command) =>
      followJournal(runOf(command), bucket, flags),
    );
  journal
    .command('verify <bucket>')
    .description('verify the chain of all entries against the end that the network has certified')
    .option(
      '--tip <file>',
      'store the end of the chain there, and verify that the former one is in it',
    )
    .addOption(json())
    .action((bucket: string, flags, command: Command) =>
      verifyJournal(runOf(command), bucket, flags),
    );
  journal
    .command('export <bucket>')
    .description('print all changes as lines of JSON, the oldest first')
    .option('--after <n>', 'only entries after this number', wholeNumber)
    .option('--cloudevents', 'in the format of CloudEvents 1.0')
    .action((bucket: string, flags, command: Command) =>
      exportJournal(runOf(command), bucket, flags),
    );
  journal
    .command('keep <bucket>')
    .description('set for how many days a bucket shows its changes: 0 to 3650 (at first 90)')
    .argument('<days>', 'number of days', wholeNumber)
    .addOption(json())
    .action((bucket: string, days: number, _, command: Command) =>
      keepJournal(runOf(command), bucket, days),
    );
  journal
    .command('redact <bucket>')
    .description('replace the paths in entries by their hashes, for ever; the chain stays valid')
    .argument('<entry...>', 'numbers of entries', toNumbers)
    .addOption(json())
    .action((bucket: string, entries: number[], _, command: Command) =>
      redactEntries(runOf(command), bucket, entries),
    );
  program
    .command('events <bucket>')
    .description('send each change to a program as a CloudEvent, in order, until Ctrl-C')
    .requiredOption('--post <url>', 'address that each event is sent to by POST', httpUrl)
    .requiredOption('--cursor <file>', 'remembers the last event that was acknowledged')
    .action((bucket: string, flags, command: Command) => postEvents(runOf(command), bucket, flags));
}
