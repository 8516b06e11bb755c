// `efs get`: a file, or a range of it, to the disk or to standard output. It is written beside its
// target and takes its place when all of it is verified.

import { once } from 'node:events';
import { type FileHandle, open, rename, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { piecesOf } from '../byte-stream.ts';
import type { Download, DownloadOptions, FileName } from '../interface.ts';
import { openFileSource } from '../node/file-source.ts';
import type { Storage } from '../storage.ts';
import { isStorageError } from '../storage-error.ts';
import { parseFileName } from './location.ts';
import { printNote } from './output.ts';
import { startProgress } from './progress-bar.ts';
import type { Run } from './run.ts';
import { forgetState, loadState, saveState, type TransferName } from './transfer-state.ts';
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
  const storage = await run.storage();
  const bar = startProgress(name.path, run.isQuiet);
  const common: DownloadOptions = {
    concurrency: options.parallel,
    signal: run.signal,
    onProgress: bar.report,
    verify: options.verify,
    range: parseRange(options.range),
  };
  try {
    if (target === standardOutput) {
      await writeOut(await storage.download(name, common));
    } else {
      const file = await targetFile(target, name);
      await getToFile(run, storage, { name, file, common, resume: options.resume === true });
    }
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

async function targetFile(target: string | undefined, { path }: FileName): Promise<string> {
  const name = basename(path);
  if (target === undefined) return name;
  const isFolder = await stat(target).then(
    (stats) => stats.isDirectory(),
    () => target.endsWith('/'),
  );
  return isFolder ? join(target, name) : target;
}

async function writeOut({ body }: Download): Promise<void> {
  for await (const bytes of piecesOf(body)) {
    if (!process.stdout.write(bytes)) await once(process.stdout, 'drain');
  }
}

interface FileTarget {
  readonly name: FileName;
  readonly file: string;
  readonly common: DownloadOptions;
  readonly resume: boolean;
}

async function getToFile(run: Run, storage: Storage, target: FileTarget): Promise<void> {
  const { name, file, common } = target;
  const part = `${file}.part`;
  const transfer: TransferName = {
    kind: 'download',
    service: run.service,
    ...name,
    file: resolve(file),
  };
  const download = await openDownload(storage, target, { transfer, part });
  await saveState(transfer, { etag: download.etag });
  const handle = await open(part, download.start > 0 ? 'r+' : 'w');
  try {
    await writeTo(handle, download);
  } catch (error) {
    if (common.range === undefined && !isStorageError(error, 'IntegrityError')) {
      printNote(`What came is kept in ${part}: the same command with --resume goes on with it.`);
    }
    throw error;
  } finally {
    await handle.close();
  }
  await rename(part, file);
  await forgetState(transfer);
}

/** Goes on with what there is if it is of the file as it is now. */
async function openDownload(
  storage: Storage,
  { name, common, resume }: FileTarget,
  { transfer, part }: { readonly transfer: TransferName; readonly part: string },
): Promise<Download> {
  const state = resume ? ((await loadState(transfer)) as { etag?: string } | undefined) : undefined;
  const received = state && (await openFileSource(part).catch(() => undefined));
  if (state?.etag === undefined || received === undefined) return storage.download(name, common);
  try {
    return await storage.download(name, { ...common, resume: { etag: state.etag, received } });
  } catch (error) {
    if (!isStorageError(error, 'PreconditionFailed')) throw error;
    printNote('The file has been replaced since: it is fetched from its start.');
    return await storage.download(name, common);
  } finally {
    await received.close();
  }
}

async function writeTo(handle: FileHandle, { body, start }: Download): Promise<void> {
  let position = start;
  for await (const bytes of piecesOf(body)) {
    for (let offset = 0; offset < bytes.length; ) {
      const { bytesWritten } = await handle.write(bytes, offset, bytes.length - offset, position);
      offset += bytesWritten;
      position += bytesWritten;
    }
  }
  await handle.truncate(position);
}
