// `efs site`: its flags and help.

import type { Command } from 'commander';
import {
  cacheControl,
  fetchingParallelDefault,
  json,
  parallel,
  runOf,
  wholeNumber,
} from '../config/flags.ts';
import { exclude, include } from '../transfers/filters.ts';
import { deploySite } from './site-deploy.ts';

const help = `
Uploads only changed files, then switches all at once: visitors see the old or the new site, also if
the command is interrupted. The same command continues. The bucket is created if it does not exist,
for which an identity is needed; otherwise an API key with read, write and delete is enough.
  efs site deploy dist --bucket www                   prints the address of the site
  efs site deploy dist --bucket www --preview fix-7   to the bucket www--fix-7, at its own address
  efs bucket rm --force www--fix-7                    removes the preview`;

export function addSites(program: Command): void {
  const site = program.command('site').description('publish web sites');
  site
    .command('deploy')
    .description('make a site equal to a folder, in one step')
    .argument('<folder>', 'folder on this machine')
    .requiredOption('--bucket <bucket>', 'bucket of the site')
    .option('--preview <name>', 'deploy to a bucket of this preview, BUCKET--NAME')
    .addOption(parallel(fetchingParallelDefault))
    .addOption(exclude())
    .addOption(include())
    .option('--dotfiles', 'also files whose names begin with a dot; .well-known always is')
    .option('--keep', 'keep files of the site that the folder lacks')
    .option('--max-delete <n>', 'refuse to delete more files than this (default 1000)', wholeNumber)
    .option('-n, --dry-run', 'only print the changes')
    .addOption(cacheControl())
    .addOption(json())
    .addHelpText('after', help)
    .action((folder: string, flags, command: Command) => deploySite(runOf(command), folder, flags));
}
