// `efs upload-link`: addresses by which anybody can add files, without a key.

import type { Command } from 'commander';
import type { UploadLinkRecord } from '../../../client/src/types/upload-links.ts';
import { byteCount, countOrNone, json, runOf } from '../config/flags.ts';
import type { Run } from '../config/run.ts';
import { parseLocation } from '../output/location.ts';
import { type Column, formatTable, printJson, printLine, printNote } from '../output/output.ts';
import { printable } from '../output/printable.ts';
import { formatTime, parseExpiry } from '../output/times.ts';
import { continueAfterFailure, countDone, finish, startSummary } from '../transfers/summary.ts';
import { inUtc, wholeUrl } from './link.ts';

interface CreateFlags {
  readonly expires?: string;
  readonly files?: number;
  readonly maxBytes?: number;
  readonly json?: boolean;
}

export function addUploadLinks(program: Command): void {
  const link = program
    .command('upload-link')
    .description('manage upload links, addresses by which others add files without a key');
  link
    .command('create')
    .description('create an upload link and print its addresses, which are shown only once')
    .argument('<place>', 'bucket/path for one file, or bucket/folder/ for files below it')
    .option('--expires <when>', '7d, 12h or a date (default: in a day)')
    .option('--files <count>', 'number of files; none: no limit (default: 1)', countOrNone)
    .option('--max-bytes <size>', 'bytes of each file: 500kB, 2GiB; none: no limit', byteCount)
    .addOption(json())
    .action((place: string, flags, command: Command) => create(runOf(command), place, flags));
  link
    .command('ls')
    .description('list the upload links of a bucket')
    .argument('<bucket>')
    .addOption(json())
    .action((bucket: string, flags, command: Command) => list(runOf(command), bucket, flags));
  link
    .command('rm')
    .description('remove upload links, which stop working at once')
    .argument('<bucket>')
    .argument('<ids...>', 'ids from upload-link ls')
    .addOption(json())
    .action((bucket: string, ids: string[], _flags, command: Command) =>
      remove(runOf(command), bucket, ids),
    );
}

async function create(run: Run, text: string, flags: CreateFlags): Promise<void> {
  const { bucket, path } = parseLocation(text);
  const isFolder = path === '' || path.endsWith('/');
  const expiresAt = flags.expires === undefined ? undefined : parseExpiry(flags.expires);
  const made = await (await run.storage()).uploadLinks.create({
    ...{ bucket, expiresAt, maxFileBytes: flags.maxBytes, signal: run.signal },
    ...(isFolder ? { prefix: path, maxFiles: flags.files } : { path }),
  });
  const [putUrl, formUrl, tusUrl] = [made.putUrl, made.formUrl, made.tusUrl].map((url) =>
    wholeUrl(run, url),
  );
  if (flags.json) {
    printJson({ ...made, putUrl, formUrl, tusUrl });
    return;
  }
  printLine(`PUT   ${putUrl}`);
  printLine(`form  ${formUrl}`);
  printLine(`tus   ${tusUrl}`);
  if (run.isQuiet) return;
  const place = printable(`${bucket}/${path}`);
  printNote(
    `Whoever has one of these addresses adds ${isFolder ? 'files below ' : ''}${place}, without a ` +
      `key, until ${inUtc(made.expiresAt)}. They are shown only once; ` +
      `efs upload-link rm ${bucket} ${made.id} ends them.`,
  );
}

const columns: readonly Column<UploadLinkRecord>[] = [
  { title: 'ID', value: ({ id }) => id },
  { title: 'CREATED', value: ({ createdAt }) => formatTime(createdAt) },
  { title: 'EXPIRES', value: ({ expiresAt }) => formatTime(expiresAt) },
  {
    title: 'FILES',
    value: ({ maxFiles, fileCount }) => (maxFiles === undefined ? '–' : `${fileCount}/${maxFiles}`),
  },
  { title: 'PLACE', value: ({ path, prefix }) => printable(path ?? prefix ?? '') },
];

async function list(run: Run, bucket: string, flags: CreateFlags): Promise<void> {
  const links: UploadLinkRecord[] = [];
  const storage = await run.storage();
  for await (const link of storage.uploadLinks.list({ bucket, signal: run.signal })) {
    links.push(link);
  }
  if (flags.json) printJson(links);
  else if (links.length > 0) printLine(formatTable(links, columns));
}

async function remove(run: Run, bucket: string, ids: readonly string[]): Promise<void> {
  const storage = await run.storage();
  const summary = startSummary('removed');
  for (const id of ids) {
    await continueAfterFailure(summary, id, async () => {
      await storage.uploadLinks.remove(bucket, id, { signal: run.signal });
      countDone(summary, id);
    });
  }
  finish(run, summary, false);
}
