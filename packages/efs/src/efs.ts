// The command `efs`: its commands, flags and help. Other files implement them.

import { readFileSync } from 'node:fs';
import { Command, InvalidArgumentError, Option } from 'commander';
import { addCompletion } from './completion.ts';
import {
  bypassGovernance,
  byteCount,
  collect,
  countOrNone,
  json,
  runOf,
  wholeNumber,
} from './config/flags.ts';
import { resolveLocalhostNames } from './config/localhost-names.ts';
import { addDoctor } from './doctor/doctor.ts';
import { addFileCommands } from './files/file-commands.ts';
import { remove } from './files/remove.ts';
import { addTransfers } from './files/transfer-commands.ts';
import { tree } from './files/tree.ts';
import { cancelUploads, listUploads } from './files/uploads.ts';
import { usage } from './files/usage.ts';
import { addJournalCommands } from './journal/journal-commands.ts';
import { addMirror } from './mirror/mirror-commands.ts';
import { exitCodeHelp, exitCodeOf, exitCodes, sayFailure } from './output/exit-code.ts';
import { chooseJson, isJson } from './output/json-output.ts';
import { printFailure, printNote } from './output/output.ts';
import { withoutKeys } from './output/printable.ts';
import { UsageError } from './output/usage-error.ts';
import { addBuckets } from './service/bucket-commands.ts';
import { addBucketIdentity } from './service/bucket-identity.ts';
import { addDomains } from './service/domain-commands.ts';
import { addIdentityCommands } from './service/identity-commands.ts';
import { createKey, listBuckets, listKeys, revokeKey } from './service/manage.ts';
import { addProfileCommands } from './service/profile-commands.ts';
import { addRules } from './service/rule-commands.ts';
import { addServe } from './service/serve-commands.ts';
import { addServiceCommands } from './service/service-commands.ts';
import { status } from './service/status.ts';
import { addSubscriptions } from './service/subscription-commands.ts';
import { addTopUpCommands } from './service/top-up-commands.ts';
import { verify } from './service/verify.ts';
import { addVolumeCommands } from './service/volume-commands.ts';
import { addAccessCommands } from './sharing/access-commands.ts';
import { createFolderLink, refreshFolderLink } from './sharing/folder-link.ts';
import { createLink, listLinks, removeLinks } from './sharing/link.ts';
import { addUploadLinks } from './sharing/upload-link.ts';
import { addSites } from './sync/site-commands.ts';
import { list, stat } from './transfers/list.ts';

const examples = `
Files are named bucket/path. Examples:
  efs put report.pdf photos/*.jpg demo/2026/    files into a folder of bucket demo
  efs put --parallel 8 film.mp4 demo/           a large file, eight chunks at a time
  efs put --resume film.mp4 demo/               continues after Ctrl-C, a crash, a lost network
  date | efs put --type text/plain - demo/now    standard input, of any length
  pg_dump shop | efs put - demo/shop.sql
  efs get demo/2026/report.pdf                  to the current folder
  efs get demo/notes.txt - | less               to standard output
  efs ls demo/2026/                             files and folders; with -r all files below
  efs ls demo --prefix 2026/ --sort date_desc   only files
  efs tree -L 2 demo
  efs link create --expires 7d demo/report.pdf  an address to send to somebody
  efs du -h demo/2026
  efs get -r demo/2026/ pictures                all files of a folder
  efs sync --delete public/ demo/www            sends only changes
  efs sync demo/www ./public                    fetches only changes
  efs mv demo/notes.txt demo/old/               and cp; with -r all files of a folder
  efs set --type text/plain demo/notes          type, tags, headers, metadata
  efs versions ls demo/notes.txt                former versions, if the bucket stores them
  efs bucket create photos && efs key create photos --name uploader
  efs bucket create safe --end-to-end           only its members can read its files
  efs journal ls photos                         who changed what, newest first
  efs mirror photos --to backup:photos          follow a bucket into another service

Each setting comes from a flag, otherwise from the environment (EFS_URL, EFS_API_KEY, EFS_HOST,
EFS_CANISTER_ID, EFS_IDENTITY, EFS_IDENTITY_PASSPHRASE, EFS_AGE_IDENTITY, EFS_AGE_PASSPHRASE,
EFS_LINK_PASSWORD, EFS_PIN_RECIPIENTS, EFS_TRANSPORT, EFS_TIMEOUT), otherwise from one service, the
first of: the profile of --profile or the replica of --replica; the profile of EFS_PROFILE;
.replica/service.json in this folder or above it, which \`npm start\` writes; the profile in use.
With --profile, the environment's address, key, identities and pinned recipients are ignored. A
profile's key is sent only to its own address.
efs whoami shows the settings in use, efs doctor their faults. On the network, EFS_URL is
https://<canister id>.icp.net.

The state of interrupted transfers is in $XDG_STATE_HOME/efs (~/.local/state/efs), without keys;
profiles and identities of end-to-end buckets are in $XDG_CONFIG_HOME/efs (~/.config/efs).
Managing buckets, members and keys needs an identity, which calls the actor.

${exitCodeHelp}`;

const manifestUrl = new URL('../package.json', import.meta.url);

function levelCount(text: string): number {
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number from 1 on.');
}

/** Accepted for existing scripts: lists were once complete only with this flag. */
const allOption = () => new Option('--all', 'no effect: lists are complete without it').hideHelp();

function collectNames(value: string, former: readonly string[] = []): string[] {
  return [...former, ...value.split(',')];
}

export function createProgram(): Command {
  const program = new Command('efs')
    .description('Files in buckets of an Encrypted File Storage canister.')
    .version(JSON.parse(readFileSync(manifestUrl, 'utf8')).version)
    .addOption(new Option('--url <url>', 'address of the canister at a gateway'))
    .addOption(
      new Option('--api-key <key>', 'API key; EFS_API_KEY is safer, because others see flags'),
    )
    .addOption(new Option('--host <url>', 'address for actor calls'))
    .addOption(new Option('--canister-id <id>', 'canister for actor calls'))
    .addOption(new Option('--front <id>', 'front of a service with several volumes'))
    .addOption(
      new Option('--identity <file-or-name>', 'PEM file, or name of an identity of dfx or icp-cli'),
    )
    .addOption(
      new Option('--identity-passphrase-file <file>', 'file with the passphrase (default: ask)'),
    )
    .addOption(new Option('--age-identity <file>', 'age identities for end-to-end buckets'))
    .addOption(
      new Option(
        '--pin-recipients <bucket=digest>',
        'send files only if the bucket has these recipients (bucket=none: is not end-to-end); ' +
          'repeatable',
      ).argParser(collect),
    )
    .addOption(
      new Option('--accept-recipients', 'accept recipients other than the pinned or known ones'),
    )
    .addOption(new Option('--profile <name>', 'profile to use, see efs profile ls'))
    .addOption(
      new Option(
        '--transport <way>',
        'http also writes over HTTP, where one node can fake success; actor also reads by calls',
      ).choices(['http', 'actor']),
    )
    .addOption(new Option('--replica <folder>', 'state of a local replica (default .replica)'))
    .addOption(new Option('--timeout <seconds>', 'maximum time without progress (default 60)'))
    .addOption(new Option('-q, --quiet', 'print no progress and no notes'))
    .addHelpText('after', examples)
    .exitOverride();
  // With --json the error is printed at the end.
  if (isJson()) program.configureOutput({ writeErr: () => {}, outputError: () => {} });
  else {
    program.configureOutput({ outputError: (text, write) => write(withoutKeys(text)) });
    program.showHelpAfterError('(efs --help shows examples)');
  }
  addTransfers(program);
  addSites(program);
  addFileCommands(program);
  addInspection(program);
  addLinks(program);
  addUploadLinks(program);
  addManagement(program);
  addAccessCommands(program);
  addIdentityCommands(program);
  addBucketIdentity(program);
  addProfileCommands(program);
  addJournalCommands(program);
  addMirror(program);
  addDoctor(program);
  addDomains(program);
  addServiceCommands(program);
  addVolumeCommands(program);
  addTopUpCommands(program);
  addServe(program);
  addCompletion(program);
  return program;
}

function addInspection(program: Command): void {
  program
    .command('ls')
    .description('list files and folders of a bucket, or the buckets')
    .argument(
      '[place]',
      "bucket, bucket/folder/ or bucket/prefix, or the address of a folder's link",
    )
    .option('-r, --recursive', 'list all files below, and no folders')
    .option('--no-recursive', 'list folders even with --json, --prefix and --tag')
    .option('--prefix <text>', 'only paths with this prefix')
    .option('--sort <order>', 'name_asc (default), name_desc, date_asc, date_desc')
    .option('--tag <tag>', 'only files with this tag')
    .option('--limit <n>', 'maximum number of results', levelCount)
    .addOption(allOption())
    .addOption(json())
    .action((place: string | undefined, flags, command: Command) =>
      place === undefined ? listBuckets(runOf(command), flags) : list(runOf(command), place, flags),
    );
  program
    .command('tree')
    .description('print a folder as a tree')
    .argument('<place>', 'bucket or bucket/folder')
    .option('-L, --level <n>', 'maximum depth of folders', levelCount)
    .addOption(json())
    .action((place: string, flags, command: Command) => tree(runOf(command), place, flags));
  program
    .command('du')
    .description('sum up bytes and files of a folder and its subfolders')
    .argument('<place>', 'bucket or bucket/folder')
    .option('-s, --summarize', 'only the sum of the folder')
    .option('-h, --human', 'print sizes as kB, MB, GB')
    .addOption(json())
    .helpOption('--help')
    .action((place: string, flags, command: Command) => usage(runOf(command), place, flags));
  program
    .command('stat')
    .description("print a file's record")
    .argument('<file>', 'bucket/path')
    .addOption(json())
    .action((file: string, flags, command: Command) => stat(runOf(command), file, flags));
  program
    .command('rm')
    .description('remove files')
    .argument('<files...>', 'bucket/path')
    .option('-r, --recursive', 'all files of a folder or a bucket')
    .addOption(bypassGovernance())
    .addOption(json())
    .action((files: string[], flags, command: Command) => remove(runOf(command), files, flags));
  program
    .command('status')
    .description('print the status of the service')
    .addOption(json())
    .action((flags, command: Command) => status(runOf(command), flags));
  program
    .command('verify')
    .description('compare the code that the canister runs with a build')
    .argument('[build]', 'the module, or its SHA-256 (default: build/file_storage.wasm.gz)')
    .addOption(json())
    .action((build: string | undefined, flags, command: Command) =>
      verify(runOf(command), build, flags),
    );
}

function addLinks(program: Command): void {
  const link = program
    .command('link')
    .description('manage links, addresses by which others read a file');
  link
    .command('create')
    .description('create a link and print its address, which is shown only once')
    .argument('<place>', 'bucket/path, or bucket/folder/ for all files of a folder')
    .option('--expires <when>', '7d, 12h or a date (default: never)')
    .option('--name <name>', 'browsers save the file under this name instead of displaying it')
    .option('--password', 'ask for a password that recipients need (or EFS_LINK_PASSWORD)')
    .option('--title <text>', 'print the address of a page whose title messengers show')
    .option('--max-downloads <count>', 'end the link after so many downloads', wholeNumber)
    .addOption(json())
    .action((place: string, flags, command: Command) =>
      (place.endsWith('/') ? createFolderLink : createLink)(runOf(command), place, flags),
    );
  link
    .command('refresh')
    .description("let the link to an end-to-end bucket's folder open its present files")
    .argument('<address>', 'the address of the link')
    .addOption(json())
    .action((address: string, _flags, command: Command) =>
      refreshFolderLink(runOf(command), address),
    );
  link
    .command('ls')
    .description('list the links of a bucket or a file')
    .argument('<place>', 'bucket, or bucket/path for the links of a file')
    .addOption(json())
    .action((place: string, flags, command: Command) => listLinks(runOf(command), place, flags));
  link
    .command('rm')
    .description('remove links, which stop working at once')
    .argument('<bucket>')
    .argument(
      '<ids...>',
      'ids from link ls, or of folders from key ls; put -- before an id that begins with -',
    )
    .addOption(json())
    .action((bucket: string, ids: string[], _flags, command: Command) =>
      removeLinks(runOf(command), bucket, ids),
    );
}

function addManagement(program: Command): void {
  addBuckets(program);
  addRules(program);
  addSubscriptions(program);
  const uploads = program.command('uploads').description('manage uploads that were not completed');
  uploads
    .command('ls <bucket>')
    .description('list open uploads')
    .addOption(json())
    .action((id: string, flags, command: Command) => listUploads(runOf(command), id, flags));
  uploads
    .command('cancel <bucket> [ids...]')
    .description('cancel uploads and free their space')
    .option('--all', 'all uploads of the bucket')
    .addOption(json())
    .action((id: string, ids: string[], flags, command: Command) =>
      cancelUploads(runOf(command), { bucket: id, ids }, flags),
    );
  const key = program.command('key').description('manage API keys');
  key
    .command('create <buckets...>')
    .description('create a key and print its secret, which is shown only once')
    .option('--name <name>', 'name of the key, for lists')
    .option(
      '--permission, --permissions <names>',
      'read, write, delete, upload, retain, audit, monitor: separated by commas, or repeated ' +
        '(default: read,write)',
      collectNames,
    )
    .option('--prefix <prefix>', 'restrict the key to paths with this prefix, such as inbox/')
    .option('--expires <when>', '30d, 12h or a date')
    .option(
      '--updates-per-hour <count>',
      'updates per hour; none: no limit (default for keys that cannot read: 2000)',
      countOrNone,
    )
    .option(
      '--bytes-per-hour <size>',
      'bytes per hour: 500MB, 2GiB; none: no limit (default for keys that cannot read: 2 GB)',
      byteCount,
    )
    .option(
      '--max-files <count>',
      'files that a key with only upload stores; none: no limit',
      countOrNone,
    )
    .option('--max-bytes <size>', 'bytes of each of them: 50MB; none: no limit', byteCount)
    .addOption(json())
    .action((ids: string[], flags, command: Command) => createKey(runOf(command), ids, flags));
  key
    .command('ls <bucket>')
    .description('list the keys of a bucket')
    .addOption(json())
    .action((id: string, flags, command: Command) => listKeys(runOf(command), id, flags));
  key
    .command('revoke <id>')
    .description('revoke a key')
    .addOption(json())
    .action((id: string, _flags, command: Command) => revokeKey(runOf(command), id));
}

const changingNames =
  'put sync mirror cp mv set rm versions bucket rule subscription uploads key link member access ' +
  'rotate profile domain well-known volume service keep redact';
const changing: ReadonlySet<string> = new Set(changingNames.split(' '));

export async function main(words: readonly string[]): Promise<number> {
  let isChanging = false;
  resolveLocalhostNames();
  chooseJson(words);
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // A reader of the output, such as `head`, may close it; a command that changes data continues.
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
    if (isCommanderError(error)) {
      if (error.exitCode === 0) return exitCodes.success;
      if (isJson()) printFailure(new UsageError(error.message), error.message);
      return exitCodes.usage;
    }
    printFailure(error, `efs: ${sayFailure(error)}`);
    return exitCodeOf(error);
  }
}

/** Commander has already printed such an error. */
function isCommanderError(
  error: unknown,
): error is { readonly exitCode: number; readonly message: string } {
  return error instanceof Error && 'exitCode' in error && 'code' in error;
}

if (import.meta.filename === process.argv[1]) {
  process.exitCode = await main(process.argv.slice(2));
}
