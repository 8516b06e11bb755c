// `efs mirror`: flags and help.

import type { Command } from 'commander';
import type { GlobalOptions } from '../config/config.ts';
import { json, parallel, runOf, wholeNumber } from '../config/flags.ts';
import { startRun } from '../config/run.ts';
import { mirror } from './mirror.ts';
import type { MirrorFlags } from './mirror-job.ts';
import { otherBucket } from './other-service.ts';

const mirrorParallelDefault = 16;

const examples = `
  efs mirror photos --to backup:photos          a bucket of the service of profile backup
  efs mirror photos --to https://<canister id>.icp.net/photos
  efs mirror photos --to backup:photos --once   up to the present, such as from a cron job
  efs mirror photos --to backup:photos --verify
It only reads the source. The other bucket must exist; it gets former versions, deletions, moves,
types, tags and metadata too.`;

export function addMirror(program: Command): void {
  program
    .command('mirror <bucket>')
    .description('keep a bucket of another service equal to this one, until Ctrl-C')
    .requiredOption('--to <bucket>', 'PROFILE:BUCKET, or the address of the service with /BUCKET')
    .option('--once', 'end when the mirror is up to date')
    .option('--verify', 'only compare both buckets, and change nothing')
    .option(
      '--max-delete <n>',
      'refuse to remove more files and versions than this (default 1000)',
      wholeNumber,
    )
    .addOption(parallel(mirrorParallelDefault))
    .addOption(json())
    .addHelpText('after', examples)
    .action((bucket: string, flags: MirrorFlags, command: Command) => {
      const run = runOf(command);
      const globals = command.optsWithGlobals<GlobalOptions>();
      const { bucket: other, configuration } = otherBucket(flags.to, globals, process.env);
      const target = { run: startRun(configuration, run.isQuiet), bucket: other };
      return mirror({ run, bucket }, target, flags);
    });
}
