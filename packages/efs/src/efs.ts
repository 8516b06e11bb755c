// The command `efs`: its commands, flags and help. What they do is in the files beside this one.

import { readFileSync } from 'node:fs';
import { Command, InvalidArgumentError, Option } from 'commander';
import { exitCodeHelp, exitCodeOf, exitCodes, sayFailure } from './exit-code.ts';
import { addFileCommands } from './file-commands.ts';
import { cacheControl, collect, collectPair, json, parallel, runOf, wholeNumber } from './flags.ts';
import { get } from './get.ts';
import { createLink, listLinks, removeLinks } from './link.ts';
import { list, stat, status } from './list.ts';
import {
  changeBucket,
  createBucket,
  createKey,
  listBuckets,
  listKeys,
  removeBucket,
  revokeKey,
} from './manage.ts';
import { printNote } from './output.ts';
import { put } from './put.ts';
import { remove } from './remove.ts';
import { sync } from './sync.ts';
import { tree } from './tree.ts';
import { cancelUploads, listUploads } from './uploads.ts';
import { usage } from './usage.ts';

const examples = `
Files are named bucket/path. Examples:
  efs put report.pdf photos/*.jpg demo/2026/    files into a folder of bucket demo
  efs put --parallel 8 film.mp4 demo/           a large file, eight chunks at a time
  efs put --resume film.mp4 demo/               goes on after Ctrl-C, a crash, a lost network
  date | efs put --type text/plain - demo/now    standard input, of any length
  pg_dump shop | efs put - demo/shop.sql
  efs get demo/2026/report.pdf                  to the current folder
  efs get demo/notes.txt - | less               to standard output
  efs ls demo/2026/                             files and folders; with -r all that is below
  efs ls demo --prefix 2026/ --sort date_desc   files alone
  efs tree -L 2 demo
  efs link create --expires 7d demo/report.pdf  an address to send to somebody
  efs du -h demo/2026
  efs sync --delete public/ demo/www            sends only what has changed
  efs mv demo/notes.txt demo/old/               and cp; with -r all that is in a folder
  efs set --type text/plain demo/notes          type, tags, headers, metadata
  efs versions ls demo/notes.txt                what a bucket that keeps versions has of it
  efs bucket create photos && efs key create photos --name uploader

Configuration, the first that is there: a flag; the environment (EFS_URL, EFS_API_KEY, EFS_HOST,
EFS_CANISTER_ID, EFS_IDENTITY, EFS_TRANSPORT, EFS_TIMEOUT); .replica/service.json, which
\`npm start\` writes. Interrupted transfers are remembered in $XDG_STATE_HOME/efs
(~/.local/state/efs), without keys. Buckets and keys are managed by the actor, for an identity.

${exitCodeHelp}`;

const manifestUrl = new URL('../package.json', import.meta.url);

function levelCount(text: string): number {
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number from 1 on.');
}

function collectNames(value: string, former: readonly string[] = []): string[] {
  return [...former, ...value.split(',')];
}

const keepVersions = () =>
  new Option('--keep-versions <days>', 'keep what is replaced or removed; 0: not at all').argParser(
    wholeNumber,
  );

export function createProgram(): Command {
  const program = new Command('efs')
    .description('Files in buckets of an Encrypted File Storage canister.')
    .version(JSON.parse(readFileSync(manifestUrl, 'utf8')).version)
    .addOption(new Option('--url <url>', "the gateway's address of the canister"))
    .addOption(new Option('--api-key <key>', 'better given as EFS_API_KEY: others see flags'))
    .addOption(new Option('--host <url>', 'agent endpoints, for calls of the actor'))
    .addOption(new Option('--canister-id <id>', 'for calls of the actor'))
    .addOption(new Option('--identity <file>', 'PEM (PKCS #8) of an Ed25519 key'))
    .addOption(new Option('--transport <way>', 'way of file bytes').choices(['http', 'actor']))
    .addOption(new Option('--replica <folder>', "local replica's state (default .replica)"))
    .addOption(new Option('--timeout <seconds>', 'of one request (default 60)'))
    .addOption(new Option('-q, --quiet', 'no progress, no notes'))
    .addHelpText('after', examples)
    .showHelpAfterError('(efs --help shows examples)')
    .exitOverride();
  addTransfers(program);
  addFileCommands(program);
  addInspection(program);
  addLinks(program);
  addManagement(program);
  return program;
}

function addTransfers(program: Command): void {
  program
    .command('put')
    .description('send files; - is standard input')
    .argument('<files...>', 'FILE… and then the destination: bucket/folder/ or bucket/path')
    .addOption(parallel())
    .option('--type <type>', "Content-Type; else that of the name's extension")
    .option('--tag <tag>', 'may come again', collect)
    .addOption(cacheControl())
    .option('--metadata <name=value>', 'kept in its record; may come again', collectPair)
    .option('--resume', 'go on with what was interrupted')
    .option('--no-replace', 'refuse if the file is there')
    .option('--size <bytes>', 'of standard input: anything else is refused', wholeNumber)
    .addOption(json())
    .action(async (names: string[], flags, command: Command) => {
      const destination = names.at(-1) ?? '';
      const files = names.slice(0, -1);
      if (files.length === 0) command.error('error: put takes files and then a destination');
      const noReplace = flags.replace === false;
      const metadata = flags.metadata?.pairs;
      await put(runOf(command), { files, destination }, { ...flags, noReplace, metadata });
    });
  program
    .command('get')
    .description('fetch a file; it is verified by its digest')
    .argument('<source>', 'bucket/path')
    .argument('[target]', 'file or folder; - is standard output')
    .addOption(parallel())
    .option('--range <first-last>', 'bytes, counted from 0, as in HTTP')
    .option('--resume', 'go on with what was interrupted')
    .option('--no-verify', 'do without the digest')
    .action((source: string, target: string | undefined, flags, command: Command) =>
      get(runOf(command), { source, target }, flags),
    );
  program
    .command('sync')
    .description('send what has changed of a folder')
    .argument('<folder>', 'on this machine')
    .argument('<destination>', 'bucket or bucket/folder')
    .addOption(parallel())
    .option('--delete', 'remove there what is not here')
    .option('--dry-run', 'only say what would be done')
    .addOption(cacheControl())
    .action((folder: string, destination: string, flags, command: Command) =>
      sync(runOf(command), { folder, destination }, flags),
    );
}

function addInspection(program: Command): void {
  program
    .command('ls')
    .description('files and folders of a bucket; without one, the buckets')
    .argument('[place]', 'bucket, bucket/folder/ or bucket/prefix')
    .option('-r, --recursive', 'all files below, and no folders')
    .option('--no-recursive', 'folders, also with --json, --prefix and --tag')
    .option('--prefix <text>', 'only paths that begin with it')
    .option('--sort <order>', 'name_asc (default), name_desc, date_asc, date_desc')
    .option('--tag <tag>', 'only files with it')
    .option('--all', 'more than the first 50')
    .addOption(json())
    .action((place: string | undefined, flags, command: Command) =>
      place === undefined ? listBuckets(runOf(command), flags) : list(runOf(command), place, flags),
    );
  program
    .command('tree')
    .description('a folder with all that is below it')
    .argument('<place>', 'bucket or bucket/folder')
    .option('-L, --level <n>', 'only so many levels of folders', levelCount)
    .addOption(json())
    .action((place: string, flags, command: Command) => tree(runOf(command), place, flags));
  program
    .command('du')
    .description('bytes and files in a folder, and in each that is directly in it')
    .argument('<place>', 'bucket or bucket/folder')
    .option('-s, --summarize', 'of the folder itself alone')
    .option('-h, --human', 'bytes as kB, MB, GB')
    .addOption(json())
    .helpOption('--help')
    .action((place: string, flags, command: Command) => usage(runOf(command), place, flags));
  program
    .command('stat')
    .description("a file's record")
    .argument('<file>', 'bucket/path')
    .addOption(json())
    .action((file: string, flags, command: Command) => stat(runOf(command), file, flags));
  program
    .command('rm')
    .description('remove files')
    .argument('<files...>', 'bucket/path')
    .option('-r, --recursive', 'all that is in a folder or a bucket')
    .action((files: string[], flags, command: Command) => remove(runOf(command), files, flags));
  program
    .command('status')
    .description('what the service holds')
    .addOption(json())
    .action((flags, command: Command) => status(runOf(command), flags));
}

function addLinks(program: Command): void {
  const link = program.command('link').description('addresses by which others read a file');
  link
    .command('create')
    .description('prints the address, this once')
    .argument('<file>', 'bucket/path')
    .option('--expires <when>', '7d, 12h, or a date; else it is good until it is removed')
    .option('--name <name>', 'browsers save the file under it, and do not show it')
    .addOption(json())
    .action((file: string, flags, command: Command) => createLink(runOf(command), file, flags));
  link
    .command('ls')
    .argument('<place>', 'bucket, or bucket/path for those of a file')
    .addOption(json())
    .action((place: string, flags, command: Command) => listLinks(runOf(command), place, flags));
  link
    .command('rm')
    .description('they open nothing any more')
    .argument('<bucket>')
    .argument('<ids...>', 'as link ls shows them; after -- where one begins with -')
    .action((bucket: string, ids: string[], _flags, command: Command) =>
      removeLinks(runOf(command), bucket, ids),
    );
}

function addManagement(program: Command): void {
  const bucket = program.command('bucket').description('manage buckets');
  bucket
    .command('create <bucket>')
    .description('a private one')
    .option('--public', 'files are read without a key')
    .option('--quota <bytes>', 'what it may hold', wholeNumber)
    .option('--quota-files <count>', 'how many files it may hold', wholeNumber)
    .addOption(keepVersions())
    .addOption(json())
    .action((id: string, flags, command: Command) => createBucket(runOf(command), id, flags));
  bucket
    .command('ls')
    .addOption(json())
    .action((flags, command: Command) => listBuckets(runOf(command), flags));
  bucket
    .command('set <bucket>')
    .option('--public', 'files are read without a key')
    .option('--private', 'files are read with a key only')
    .option('--quota <bytes>', 'what it may hold', wholeNumber)
    .option('--quota-files <count>', 'how many files it may hold', wholeNumber)
    .addOption(keepVersions())
    .addOption(json())
    .action((id: string, flags, command: Command) => changeBucket(runOf(command), id, flags));
  bucket
    .command('rm <bucket>')
    .description('one without files')
    .option('--force', 'with its files, former versions and open uploads, which go first')
    .action((id: string, flags, command: Command) => removeBucket(runOf(command), id, flags));
  const uploads = program.command('uploads').description('uploads that have not been completed');
  uploads
    .command('ls <bucket>')
    .addOption(json())
    .action((id: string, flags, command: Command) => listUploads(runOf(command), id, flags));
  uploads
    .command('cancel <bucket> [ids...]')
    .description('what came of them is given back')
    .option('--all', 'every one of the bucket')
    .action((id: string, ids: string[], flags, command: Command) =>
      cancelUploads(runOf(command), { bucket: id, ids }, flags),
    );
  const key = program.command('key').description('manage API keys');
  key
    .command('create <buckets...>')
    .description('prints the secret, this once')
    .option('--name <name>', 'what it is for')
    .option(
      '--permission, --permissions <names>',
      'read, write, delete: with commas, or again (read,write)',
      collectNames,
    )
    .option('--prefix <prefix>', 'only for paths that begin so: inbox/ for a folder')
    .option('--expires <when>', '30d, 12h, or a date')
    .addOption(json())
    .action((ids: string[], flags, command: Command) => createKey(runOf(command), ids, flags));
  key
    .command('ls <bucket>')
    .addOption(json())
    .action((id: string, flags, command: Command) => listKeys(runOf(command), id, flags));
  key
    .command('revoke <id>')
    .action((id: string, _flags, command: Command) => revokeKey(runOf(command), id));
}

const changing: ReadonlySet<string> = new Set(
  'put sync cp mv set rm versions bucket uploads key link'.split(' '),
);

/** The exit code. */
export async function main(words: readonly string[]): Promise<number> {
  let isChanging = false;
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // Whoever reads the output, such as `head`, may have had enough; what is to change is not.
    if (error.code === 'EPIPE' && isChanging) return;
    if (error.code === 'EPIPE') process.exit(exitCodes.success);
    printNote(`efs: standard output cannot be written: ${error.message}`);
    process.exit(exitCodes.failure);
  });
  const program = createProgram().hook('preAction', (_, command) => {
    isChanging = changing.has(command.name()) || changing.has(command.parent?.name() ?? '');
  });
  try {
    await program.parseAsync(words, { from: 'user' });
    return exitCodes.success;
  } catch (error) {
    if (isCommanderError(error)) return error.exitCode === 0 ? exitCodes.success : exitCodes.usage;
    printNote(`efs: ${sayFailure(error)}`);
    return exitCodeOf(error);
  }
}

/** It has said what is wrong already. */
function isCommanderError(error: unknown): error is { readonly exitCode: number } {
  return error instanceof Error && 'exitCode' in error && 'code' in error;
}

if (import.meta.filename === process.argv[1]) {
  process.exitCode = await main(process.argv.slice(2));
}
