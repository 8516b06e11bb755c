// The commands of the local servers: S3, metrics, and the Model Context Protocol.

import { type Command, InvalidArgumentError } from 'commander';
import { collect, json } from '../config/flags.ts';
import { type McpFlags, serveMcp } from '../mcp/serve-mcp.ts';
import { createAccessKey, listAccessKeys, removeAccessKey } from './s3-access-keys.ts';
import { type MetricFlags, serveMetrics } from './serve-metrics.ts';
import { type ServeFlags, serveS3 } from './serve-s3.ts';

export function addServe(program: Command): void {
  const serve = program.command('serve').description('run local servers for other protocols');
  const s3 = serve
    .command('s3')
    .description('run an S3 server for aws, rclone and SDKs, see s3 credentials')
    .option('--listen <address>', 'host:port of the server', '127.0.0.1:9000')
    .option('--read-only', 'refuse to store, change or remove anything')
    .option('--domain <name>', 'also serve buckets as hosts below this domain')
    .option('--cors-origin <origin>', 'let pages of this origin, or *, call; repeatable', addOrigin)
    .action((flags: ServeFlags, command: Command) => serveS3(command, flags));
  serve
    .command('metrics')
    .description("run a local server of the service's figures for Prometheus")
    .option('--listen <address>', 'host:port of the server', '127.0.0.1:9900')
    .action((flags: MetricFlags, command: Command) => serveMetrics(command, flags));
  serve
    .command('mcp')
    .description('let an assistant list, read, write and share files (Model Context Protocol)')
    .argument('[places...]', 'buckets, or bucket/folder/, to which it is restricted')
    .option('--read-only', 'offer only the tools that list and read')
    .action((places: string[], flags: McpFlags, command: Command) =>
      serveMcp(command, places, flags),
    );
  const credentials = s3.command('credentials').description('manage access keys of S3 clients');
  credentials
    .command('create')
    .description('create an access key for the profile in use and print its secret once')
    .addOption(json())
    .action((_flags, command: Command) => createAccessKey(command));
  credentials
    .command('ls')
    .description('list access keys')
    .addOption(json())
    .action(() => listAccessKeys());
  credentials
    .command('rm <id>')
    .description('remove an access key; the server refuses it from then on')
    .addOption(json())
    .action((id: string) => removeAccessKey(id));
}

/** Browsers send origins in this form only, so a URL with a path would never match. */
function addOrigin(text: string, former?: readonly string[]): string[] {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (text === '*' || (url?.origin === text && /^https?:[^*]+$/.test(text))) {
    return collect(text, former);
  }
  throw new InvalidArgumentError(
    'It must be an origin in lower case, without a path or slash at the end, such as ' +
      'https://app.example, or *.',
  );
}
