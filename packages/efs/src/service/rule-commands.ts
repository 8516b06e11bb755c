// `efs rule`: its flags and help.

import type { Command } from 'commander';
import { json, runOf, wholeNumber } from '../config/flags.ts';
import { addRule, listRules, removeRules } from './rules.ts';

export function addRules(program: Command): void {
  const rule = program
    .command('rule')
    .description('manage rules, which delete old files, versions and uploads of a bucket');
  rule
    .command('add <bucket>')
    .description('add a rule, which also applies to files that the bucket has')
    .option('--delete-after <days>', 'delete files so long after their last change', wholeNumber)
    .option('--keep-versions <count>', 'keep at most so many former versions', wholeNumber)
    .option(
      '--erase-versions-after <days>',
      'erase former versions so long after they were replaced or deleted',
      wholeNumber,
    )
    .option(
      '--end-uploads-after <hours>',
      'end unfinished uploads so long after their beginning',
      wholeNumber,
    )
    .option('--prefix <prefix>', 'only paths with this prefix, such as logs/')
    .option('--tag <tag>', 'only files with this tag')
    .option('--id <id>', 'name of the rule (default: rule-1, rule-2, …)')
    .option('--disabled', 'store the rule without applying it')
    .addOption(json())
    .action((bucket: string, flags, command: Command) => addRule(runOf(command), bucket, flags));
  rule
    .command('ls <bucket>')
    .description('list rules')
    .addOption(json())
    .action((bucket: string, flags, command: Command) => listRules(runOf(command), bucket, flags));
  rule
    .command('rm <bucket> <ids...>')
    .description('remove rules')
    .addOption(json())
    .action((bucket: string, ids: string[], _flags, command: Command) =>
      removeRules(runOf(command), bucket, ids),
    );
}
