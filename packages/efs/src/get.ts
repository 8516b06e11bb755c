// `efs get`: a file, or a range of it, to the disk or to standard output. It is written beside its
// target and takes its place when all of it is verified.

import { once } from 'node:events';
import { rename, rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { piecesOf } from '../../client/src/byte-stream.ts';
import type { Download, DownloadOptions, FileName } from '../../client/src/interface.ts';
import { openFileSource } from '../../client/src/node/file-source.ts';
import type { Storage } from '../../client/src/storage.ts';
import { isStorageError } from '../../client/src/storage-error.ts';
import { parseFileName } from './location.ts';
import { printNote } from './output.ts';
import {
  claimPart,
  dropAbandoned,
  type FormerPart,
  forgetPart,
  isRemembered,
  rememberPart,
} from './part-memory.ts';
import { startProgress } from './progress-bar.ts';
import type { Run } from './run.ts';
import {
  createPart,
  findTarget,
  type TargetFile,
  writePart,
  writeStraight,
} from './target-file.ts';
import type { TransferName } from './transfer-state.ts';
import { UsageError } from './usage-error.ts';

export interface GetOptions {
  readonly parallel: number;
  readonly range?: string;
  readonly resume?: boolean;
  readonly verify: boolean;
}

const standardOutput = '-';

export async function get(
  run: Run,
  { source, target }: { readonly source: string; readonly target: string | undefined },
  options: GetOptions,
): Promise<void> {
  const name = parseFileName(source);
  const range = parseRange(options.range);
  if (range !== undefined && options.resume) {
    throw new UsageError('A range is fetched anew each time: --range goes without --resume.');
  }
  const file =
    target === standardOutput ? undefined : await findTarget(target, basename(name.path));
  const storage = await run.storage();
  const bar = startProgress(name.path, run.isQuiet);
  const common: DownloadOptions = {
    concurrency: options.parallel,
    signal: run.signal,
    onProgress: bar.report,
    verify: options.verify,
    range,
  };
  try {
    if (file === undefined) return await writeOut(await storage.download(name, common));
    const transfer: TransferName | undefined =
      common.range === undefined
        ? { kind: 'download', service: run.service, ...name, file: file.file }
        : undefined;
    const resume = options.resume === true;
    await getToFile(storage, { name, target: file, common, transfer, resume });
  } finally {
    bar.stop();
  }
}

/** `0-99`, both inclusive as in HTTP; `100-` to the end. */
function parseRange(text: string | undefined): DownloadOptions['range'] {
  if (text === undefined) return undefined;
  const [, first, last] = /^(\d{1,15})-(\d{1,15})?$/.exec(text) ?? [];
  if (first === undefined || Number(last ?? first) < Number(first)) {
    throw new UsageError(`A range is FIRST-LAST or FIRST-, counted from 0; got "${text}".`);
  }
  const start = Number(first);
  return last === undefined ? { start } : { start, end: Number(last) + 1 };
}

async function writeOut({ body }: Download): Promise<void> {
  for await (const bytes of piecesOf(body)) {
    if (!process.stdout.write(bytes)) await once(process.stdout, 'drain');
  }
}

interface Wanted {
  readonly name: FileName;
  readonly target: TargetFile;
  readonly common: DownloadOptions;
  /** What it is remembered as; a range is not. */
  readonly transfer: TransferName | undefined;
  readonly resume: boolean;
}

async function getToFile(storage: Storage, wanted: Wanted): Promise<void> {
  const { name, target, common, transfer, resume } = wanted;
  if (target.isStraight) {
    const { body } = await storage.download(name, common);
    return writeStraight(target.file, body);
  }
  const former = resume && transfer ? await claimPart(transfer, target) : undefined;
  let part = former?.part;
  try {
    const download = await openDownload(storage, wanted, former);
    if (part === undefined) {
      if (transfer) await dropAbandoned(transfer);
      part = await createPart(target);
    }
    if (transfer) await rememberPart(transfer, { etag: download.etag, part });
    // A range becomes a file of its own, from its first byte.
    const start = common.range === undefined ? download.start : 0;
    await writePart(part, { body: download.body, start, mode: target.mode });
    await rename(part, target.file);
  } catch (error) {
    if (part !== undefined) await keepOrDrop(part, transfer, error);
    throw error;
  }
  if (transfer) await forgetPart(transfer, part);
}

/** Goes on with what there is if it is of the file as it is now. */
async function openDownload(
  storage: Storage,
  { name, common }: Wanted,
  former: FormerPart | undefined,
): Promise<Download> {
  if (former === undefined) return storage.download(name, common);
  const received = await openFileSource(former.part);
  try {
    return await storage.download(name, { ...common, resume: { etag: former.etag, received } });
  } catch (error) {
    if (!isStorageError(error, 'PreconditionFailed')) throw error;
    printNote('The file has been replaced since: it is fetched from its start.');
    return await storage.download(name, common);
  } finally {
    await received.close();
  }
}

/** What came is kept if --resume can find it and it is not known to be wrong. */
async function keepOrDrop(
  part: string,
  transfer: TransferName | undefined,
  error: unknown,
): Promise<void> {
  const isKept = transfer !== undefined && (await isRemembered(transfer, part));
  if (isKept && !isStorageError(error, 'IntegrityError')) {
    printNote(`What came is kept in ${part}: the same command with --resume goes on with it.`);
    return;
  }
  await rm(part, { force: true });
  if (isKept) await forgetPart(transfer, part);
}
