// `efs get`, `efs versions get` and `efs cat`: download a file, a version, a range or a folder.

import { once } from 'node:events';
import { basename } from 'node:path';
import { piecesOf } from '../../../client/src/bytes/byte-stream.ts';
import { checkedConcurrency } from '../../../client/src/connection/parallel.ts';
import { linkedName } from '../../../client/src/links/link-end.ts';
import { linkOf } from '../../../client/src/links/locked-link.ts';
import { openNodeLink } from '../../../client/src/node/end-to-end.ts';
import type { Storage } from '../../../client/src/storage.ts';
import type { Download, DownloadOptions } from '../../../client/src/types/transfers.ts';
import { passwordFor } from '../config/link-password.ts';
import type { Run } from '../config/run.ts';
import { naming } from '../output/failure-words.ts';
import { isJson } from '../output/json-output.ts';
import {
  folderPrefix,
  isFolder,
  nameOf,
  parseFileName,
  parseLocation,
} from '../output/location.ts';
import { printJson } from '../output/output.ts';
import { startProgress } from '../output/progress-bar.ts';
import { UsageError } from '../output/usage-error.ts';
import { syncDown } from '../sync/sync-down.ts';
import { runSync } from '../sync/sync-job.ts';
import { type FilterFlags, filterOf } from '../transfers/filters.ts';
import { type FolderSource, folderSource } from '../transfers/folder-source.ts';
import { fetchFile } from '../transfers/get-file.ts';
import { findLinkTarget } from '../transfers/link-target.ts';
import { continueAfterFailure, endSummary, startSummary } from '../transfers/summary.ts';
import { findTarget } from '../transfers/target-file.ts';
import { clearNotes } from '../transfers/transfer-state.ts';

export interface GetOptions extends FilterFlags {
  readonly parallel: number;
  readonly range?: string;
  readonly resume?: boolean;
  readonly verify: boolean;
  readonly recursive?: boolean;
  readonly version?: number;
}

interface GetNames {
  readonly source: string;
  readonly target: string | undefined;
}

const standardOutput = '-';

export async function get(run: Run, names: GetNames, options: GetOptions): Promise<void> {
  const { source, target } = names;
  const { version } = options;
  await clearNotes();
  const shared = folderSource(run, source);
  if (shared !== undefined) {
    if (options.recursive) return getFolder(shared, names, options);
    throw new UsageError('The address belongs to a folder: give -r for all files in it.');
  }
  const isLink = version === undefined && /^https?:\/\//i.test(source);
  if (options.recursive && !isLink) {
    const place = parseLocation(source);
    return getFolder({ run, storage: await run.storage(), place }, names, options);
  }
  if (!isLink && version === undefined && isFolder(parseLocation(source))) {
    throw new UsageError(`"${source}" is a folder: give -r for all files in it.`);
  }
  if (target === standardOutput && isJson()) {
    throw new UsageError('Only one of the file and JSON can go to standard output: omit --json.');
  }
  const name = isLink
    ? { bucket: 'link', path: linkedName(linkOf(new URL(source))) }
    : parseFileName(source);
  const range = parseRange(options.range);
  if (range !== undefined && options.resume) {
    throw new UsageError('A range cannot be resumed: omit --range or --resume.');
  }
  const findFile = () =>
    isLink ? findLinkTarget(run, target, name.path) : findTarget(target, basename(name.path));
  const file = target === standardOutput ? undefined : await findFile();
  const storage = isLink ? await linkedFile(source) : await run.storage();
  const bar = startProgress(name.path, run.isQuiet);
  const { parallel: concurrency, verify } = options;
  const { signal } = run;
  const common = { version, concurrency, signal, onProgress: bar.report, verify, range };
  try {
    const fetched = async () => {
      if (file === undefined) return writeOut(await storage.download(name, common));
      const resume = options.resume === true;
      const continuedBy = 'the same command with --resume';
      const wanted = { name, target: file, common, resume, continuedBy };
      const { etag, size } = await fetchFile(run, storage, wanted);
      if (isJson()) printJson({ ...name, file: file.file, size, etag });
    };
    await (version === undefined ? naming(name, fetched) : fetched());
  } finally {
    bar.stop();
  }
}

/** Reads a file by its link. The part after the #, which decrypts the file, is not sent. */
async function linkedFile(url: string): Promise<Pick<Storage, 'download'>> {
  const password = await passwordFor(url);
  return { download: (_, options) => openNodeLink(url, { ...options, password }) };
}

/**
 * Downloads a folder, except for equal local files. Without a final slash the folder's name is
 * kept: `demo/a` is written to `target/a`, and `demo/a/` to `target`.
 */
async function getFolder(
  { run, storage, place: { bucket, path } }: FolderSource,
  names: GetNames,
  options: GetOptions,
): Promise<void> {
  const { source, target = '.' } = names;
  if (target === standardOutput || options.range !== undefined) {
    throw new UsageError('A folder needs a folder as destination: omit - and --range.');
  }
  checkedConcurrency(options.parallel);
  const from = { bucket, path: folderPrefix({ bucket, path }) };
  const isContents = path === '' || path.endsWith('/');
  const folder = isContents && source !== bucket ? target : `${target}/${basename(source)}`;
  const setting = { run, flags: options, filter: filterOf(options), storage };
  await runSync(syncDown(from, folder), setting);
}

/** Parses `0-99`, both inclusive as in HTTP, and `100-` to the end. */
function parseRange(text: string | undefined): DownloadOptions['range'] {
  if (text === undefined) return undefined;
  const [, first, last] = /^(\d{1,15})-(\d{1,15})?$/.exec(text) ?? [];
  if (first === undefined || Number(last ?? first) < Number(first)) {
    throw new UsageError(`A range must be FIRST-LAST or FIRST-, counted from 0; got "${text}".`);
  }
  const start = Number(first);
  return last === undefined ? { start } : { start, end: Number(last) + 1 };
}

export async function cat(
  run: Run,
  sources: readonly string[],
  { parallel: concurrency }: { readonly parallel: number },
): Promise<void> {
  const names = sources.map(parseFileName);
  const storage = await run.storage();
  const { signal } = run;
  const summary = startSummary('shown');
  for (const name of names) {
    await continueAfterFailure(summary, nameOf(name), async () => {
      await writeOut(await storage.download(name, { concurrency, signal }));
      summary.done++;
    });
  }
  endSummary(run, summary, false);
}

async function writeOut({ body }: Download): Promise<void> {
  for await (const bytes of piecesOf(body)) {
    if (!process.stdout.write(bytes)) await once(process.stdout, 'drain');
  }
}
