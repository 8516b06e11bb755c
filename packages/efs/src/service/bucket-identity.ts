// `efs identity` and `efs rotate identity`: the identity that decrypts an end-to-end bucket.

import { writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import type { EpochIdentity } from '../../../client/src/bucket-secrets.ts';
import { isStorageError, StorageError } from '../../../client/src/storage-error.ts';
import type { BucketRecord } from '../../../client/src/types/buckets.ts';
import type { BucketEpoch, EndToEndRecord } from '../../../client/src/types/end-to-end.ts';
import { recipientsDigest } from '../../../client/src/types/recipients-digest.ts';
import { json, runOf } from '../config/flags.ts';
import type { Run } from '../config/run.ts';
import { isJson } from '../output/json-output.ts';
import { type Column, formatTable, printJson, printLine, printNote } from '../output/output.ts';
import { formatTime } from '../output/times.ts';
import { UsageError } from '../output/usage-error.ts';

export function addBucketIdentity(program: Command): void {
  const identity = program
    .command('identity')
    .description('manage the identity of an end-to-end bucket');
  identity
    .command('show <bucket>')
    .description("print the recipients of the bucket's files, verified by the network")
    .addOption(json())
    .action((bucket: string, _flags, command: Command) => showIdentity(runOf(command), bucket));
  identity
    .command('export <bucket> [file]')
    .description('write the identity for age -d -i to a file or standard output')
    .addOption(json())
    .action((bucket: string, file: string | undefined, _flags, command: Command) =>
      exportIdentity(runOf(command), bucket, file),
    );
}

export function addRotateIdentity(rotate: Command): void {
  rotate
    .command('identity <bucket>')
    .description('begin a new identity of an end-to-end bucket; for its owners')
    .addOption(json())
    .action((bucket: string, _flags, command: Command) => rotateIdentity(runOf(command), bucket));
}

const epochColumns: readonly Column<BucketEpoch>[] = [
  { title: 'EPOCH', value: ({ epoch }) => String(epoch), isNumber: true },
  { title: 'OPENED', value: ({ openedAt }) => formatTime(openedAt) },
  { title: 'RECIPIENT', value: ({ recipient }) => recipient || 'not published yet' },
];

async function showIdentity(run: Run, bucket: string): Promise<void> {
  const mode = await requireMode(run, bucket);
  const newest = mode.epochs.at(-1);
  if (newest?.recipient) await (await run.ownSecrets()).identity(bucket);
  const digest = await (await run.manager()).buckets.recipientsDigest(bucket);
  if (digest !== (await recipientsDigest(mode))) {
    const words = `A node reports other recipients of bucket ${bucket} than the network signs; try again.`;
    throw new StorageError('Untrusted', words);
  }
  if (isJson()) {
    printJson({ bucket, ...mode, serial: undefined, recipientsDigest: digest });
    return;
  }
  if (mode.epochs.length > 0) printLine(formatTable(mode.epochs, epochColumns));
  for (const recipient of mode.recipients) printLine(`own    ${recipient}`);
  printLine(`digest ${digest}`);
  if (newest?.recipient && !run.isQuiet) {
    printNote(`The recipient of epoch ${newest.epoch} matches the identity that members get.`);
  }
}

async function requireMode(run: Run, bucket: string): Promise<EndToEndRecord> {
  const { endToEnd } = await (await run.manager()).buckets.get(bucket);
  if (endToEnd !== undefined) return endToEnd;
  throw new UsageError(
    `Bucket ${bucket} is not end-to-end encrypted, so it has no identity: name an end-to-end bucket.`,
  );
}

async function exportIdentity(run: Run, bucket: string, file: string | undefined): Promise<void> {
  const identities = await (await run.ownSecrets()).identities(bucket);
  const text = identities.map((epoch) => keyFileOf(bucket, epoch)).join('');
  const isPrinted = file === undefined || file === '-';
  if (!isPrinted) await writeNew(file, text);
  if (isJson()) printJson(isPrinted ? { bucket, identities } : { bucket, file });
  else if (isPrinted) process.stdout.write(text);
  if (run.isQuiet) return;
  const what = isPrinted ? 'the printed identity' : file;
  printNote(
    `Anyone with ${what} can decrypt every file of bucket ${bucket}, and it cannot be revoked: efs ` +
      `rotate identity ${bucket} encrypts new files to another identity.`,
  );
}

/** Uses the format of age-keygen. */
function keyFileOf(
  bucket: string,
  { epoch, openedAt, recipient, identity }: EpochIdentity,
): string {
  return `# bucket ${bucket}, epoch ${epoch}, opened ${openedAt}\n# public key: ${recipient}\n${identity}\n`;
}

/** Writes a new file; refuses to replace a file, which may contain other keys. */
async function writeNew(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text, { flag: 'wx', mode: 0o600, flush: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw new UsageError(`File ${file} already exists and is not overwritten: name another one.`);
  }
}

async function rotateIdentity(run: Run, bucket: string): Promise<void> {
  const { epoch } = await openEpoch(run, bucket);
  if (isJson()) printJson({ bucket, epoch });
  else printLine(bucket);
  if (!run.isQuiet) printNote(`New files are for epoch ${epoch}; stored files do not change.`);
}

/** Begins an epoch and publishes its recipient: others can then upload at once. */
export async function openEpoch(run: Run, bucket: string): Promise<EpochIdentity> {
  const { endToEnd } = await (await run.manager()).buckets.rotateIdentity(bucket);
  return (await run.ownSecrets()).identity(bucket, endToEnd);
}

/** Publishes the recipient of a new bucket; if that fails, the first upload does it. */
export async function publishRecipient(run: Run, { id, endToEnd }: BucketRecord): Promise<void> {
  if (!endToEnd?.usesVetKeys || endToEnd.epochs.at(-1)?.recipient) return;
  try {
    await (await run.ownSecrets()).identity(id, endToEnd);
  } catch (error) {
    if (!isStorageError(error, 'SlowDown', 'ServiceUnavailable')) throw error;
    printNote(
      `The recipient will be published with the first upload of an owner: ${error.message}`,
    );
  }
}
