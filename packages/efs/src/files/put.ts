// `efs put`: uploads files, folders or standard input; --resume continues an interrupted upload.

import { basename } from 'node:path';
import { chunkCountOf, isGivenWhole } from '../../../client/src/bytes/digest.ts';
import { onAbort } from '../../../client/src/connection/abort.ts';
import { openFileSource } from '../../../client/src/node/file-source.ts';
import type { Storage } from '../../../client/src/storage.ts';
import { abortedError } from '../../../client/src/storage-error.ts';
import type { FileName, FileRecord } from '../../../client/src/types/files.ts';
import type { Run } from '../config/run.ts';
import { isJson } from '../output/json-output.ts';
import {
  folderPrefix,
  isFolder,
  type Location,
  nameOf,
  parseLocation,
} from '../output/location.ts';
import { formatBytes, printJson, printLine, printNote } from '../output/output.ts';
import { printable } from '../output/printable.ts';
import { startProgress } from '../output/progress-bar.ts';
import { UsageError } from '../output/usage-error.ts';
import { type FilterFlags, filterOf } from '../transfers/filters.ts';
import { type PutFileOptions, putFile, uploadOptions } from '../transfers/put-file.ts';
import { endSummary, startSummary } from '../transfers/summary.ts';
import { clearNotes } from '../transfers/transfer-state.ts';
import { type NamedSource, putMany } from './put-many.ts';
import { sourcesOf } from './put-sources.ts';
import { type Maker, putThumbnails, thumbnailMaker } from './thumbnails.ts';

export interface PutOptions extends PutFileOptions, FilterFlags {
  readonly size?: number;
  readonly recursive?: boolean;
  readonly thumbnails?: boolean;
}

const standardInput = '-';

export async function put(
  run: Run,
  { files, destination }: { readonly files: readonly string[]; readonly destination: string },
  options: PutOptions,
): Promise<void> {
  const to = parseLocation(destination);
  const [first = ''] = files;
  if (options.thumbnails && files.includes(standardInput)) {
    throw new UsageError('--thumbnails is for files: standard input is sent without.');
  }
  const make = options.thumbnails ? thumbnailMaker() : undefined;
  await clearNotes();
  if (files.length > 1 || options.recursive) {
    await putSeveral(run, { files, to: folderOf(to, destination, options), options, make });
    return;
  }
  const storage = await run.storage();
  const name = isFolder(to) ? nameIn(to, first) : to;
  const one = { file: first, name, options };
  const record =
    first === standardInput ? await putInput(run, storage, one) : await putOne(run, storage, one);
  if (isJson()) printJson([record]);
  else printLine(printable(nameOf(name)));
  if (make === undefined) return;
  const summary = startSummary('sent');
  await putThumbnails({ run, storage, make }, summary, [{ file: first, record }]);
  endSummary(run, summary, false);
}

function nameIn({ bucket, path }: Location, file: string): FileName {
  if (file === standardInput) {
    throw new UsageError('Standard input has no name: write bucket/path.');
  }
  return { bucket, path: path + basename(file) };
}

function folderOf(to: Location, destination: string, { recursive }: PutOptions): Location {
  if (!isFolder(to) && !recursive) {
    throw new UsageError(`Several files need a folder as destination: write ${destination}/`);
  }
  return { bucket: to.bucket, path: folderPrefix(to) };
}

interface Several {
  readonly files: readonly string[];
  readonly to: Location;
  readonly options: PutOptions;
  readonly make: Maker | undefined;
}

async function putSeveral(run: Run, { files, to, options, make }: Several): Promise<void> {
  if (files.includes(standardInput)) {
    throw new UsageError('Standard input has no name: write bucket/path.');
  }
  const summary = startSummary('sent');
  const filter = filterOf(options);
  const wanted = { files, to, isRecursive: options.recursive === true, filter };
  const sources = await sourcesOf(run, summary, wanted);
  const records: FileRecord[] = [];
  try {
    const storage = await run.storage();
    await putMany({ run, storage, options, summary, records }, sources);
    if (make !== undefined) {
      const locals = new Map(sources.map(({ file, name }) => [name.path, file]));
      const uploaded = records.map((record) => ({ file: locals.get(record.path) ?? '', record }));
      await putThumbnails({ run, storage, make }, summary, uploaded);
    }
  } finally {
    // Files before the fatal error are stored.
    if (isJson()) printJson(records);
  }
  endSummary(run, summary, options.recursive === true);
}

interface OneFile extends NamedSource {
  readonly options: PutOptions;
}

async function putOne(run: Run, storage: Storage, one: OneFile): Promise<FileRecord> {
  const source = await openFileSource(one.file);
  const bar = startProgress(one.name.path, run.isQuiet);
  try {
    const continuedBy = 'the same command with --resume';
    return await putFile(run, storage, { ...one, source, report: bar.report, continuedBy });
  } finally {
    bar.stop();
    await source.close();
  }
}

/** Closes the input after a failure, so that its writer does not block. */
async function putInput(run: Run, storage: Storage, one: OneFile): Promise<FileRecord> {
  const { size } = one.options;
  const { signal } = run;
  if (process.stdin.isTTY && !run.isQuiet) {
    printNote(
      'Standard input is read from this terminal: Ctrl-D ends it, Ctrl-C cancels the upload.',
    );
  }
  const bar = startProgress(one.name.path, run.isQuiet);
  // Without this, an aborted read would wait for the next byte.
  const stop = () => process.stdin.destroy(abortedError(signal.reason));
  const settled = onAbort(signal, stop);
  const common = { ...uploadOptions(one, run), size, onProgress: bar.report };
  try {
    const record = await storage.upload(process.stdin, common);
    bar.stop();
    if (!run.isQuiet && size === undefined) sayInput(record);
    return record;
  } catch (error) {
    if (signal.aborted) {
      printNote(`Nothing is stored: ${printable(nameOf(one.name))} is unchanged.`);
    }
    throw error;
  } finally {
    bar.stop();
    settled();
    process.stdin.destroy();
  }
}

/** Prints the size, so that the user notices an input that a failed command cut short. */
function sayInput({ size, etag }: FileRecord): void {
  const chunks = chunkCountOf(etag);
  if (chunks === 1) return;
  printNote(`Standard input had ${size} bytes (${formatBytes(size)}).`);
  if (!isGivenWhole(etag)) {
    printNote(
      `The file has ${chunks} parts: download it with efs get; browsers can only get ranges of it.`,
    );
  }
}
