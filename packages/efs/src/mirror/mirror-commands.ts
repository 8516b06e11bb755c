// `efs mirror`: flags and help.

import type { Command } from 'commander';
import type { GlobalOptions } from '../config/config.ts';
import { json, parallel, runOf, wholeNumber } from '../config/flags.ts';
import { startRun } from '../config/run.ts';
import { mirror } from './mirror.ts';
import type { MirrorFlags } from './mirror-job.ts';
import { otherBucket } from './other-service.ts';
import { isS3, s3Place } from './s3/s3-place.ts';

const mirrorParallelDefault = 16;

const examples = `
  efs mirror photos --to backup:photos          a bucket of the service of profile backup
  efs mirror photos --to https://<canister id>.icp.net/photos
  efs mirror photos --to backup:photos --once   up to the present, such as from a cron job
  efs mirror photos --to backup:photos --verify
  efs mirror photos --to s3://copies/photos     any S3 store; credentials in AWS_ACCESS_KEY_ID and
                                                AWS_SECRET_ACCESS_KEY
It only reads the source. The other bucket must exist; it gets former versions, deletions, moves,
types, tags and metadata too. In S3 it changes only objects that it has stored.`;

export function addMirror(program: Command): void {
  program
    .command('mirror <bucket>')
    .description('keep a bucket of another service or of S3 equal to this one, until Ctrl-C')
    .requiredOption(
      '--to <bucket>',
      'PROFILE:BUCKET, the address of the service with /BUCKET, or s3://BUCKET/PREFIX',
    )
    .option('--once', 'end when the mirror is up to date')
    .option('--verify', 'only compare both buckets, and change nothing')
    .option('--bytes', 'with --verify: also download what S3 stores, and compare the bytes')
    .option('--endpoint <url>', 'S3 store that is not AWS (AWS_ENDPOINT_URL)')
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
      if (isS3(flags.to))
        return mirror({ run, bucket }, s3Place(flags.to, flags, process.env), flags);
      const { bucket: other, configuration } = otherBucket(flags.to, globals, process.env);
      const target = { run: startRun(configuration, run.isQuiet), bucket: other };
      return mirror({ run, bucket }, target, flags);
    });
}
