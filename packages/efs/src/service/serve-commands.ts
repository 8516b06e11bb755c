// The commands of the S3 server.

import type { Command } from 'commander';
import { json } from '../config/flags.ts';
import { createAccessKey, listAccessKeys, removeAccessKey } from './s3-access-keys.ts';
import { type ServeFlags, serveS3 } from './serve-s3.ts';

export function addServe(program: Command): void {
  const serve = program
    .command('serve')
    .description('local servers for programs that speak another protocol');
  const s3 = serve
    .command('s3')
    .description('speaks S3: for aws, rclone, SDKs, with the keys of s3 credentials')
    .option('--listen <address>', 'where, as host:port', '127.0.0.1:9000')
    .option('--read-only', 'nothing is stored, changed or removed')
    .option('--domain <name>', 'buckets are also hosts below it')
    .action((flags: ServeFlags, command: Command) => serveS3(command, flags));
  const credentials = s3
    .command('credentials')
    .description('pairs of keys by which clients of S3 are known');
  credentials
    .command('create')
    .description('for the profile that counts; prints the secret, this once')
    .addOption(json())
    .action((_flags, command: Command) => createAccessKey(command));
  credentials
    .command('ls')
    .addOption(json())
    .action(() => listAccessKeys());
  credentials
    .command('rm <id>')
    .description('who has it is refused from the next request on')
    .addOption(json())
    .action((id: string) => removeAccessKey(id));
}
