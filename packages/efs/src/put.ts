// `efs put`: files into a folder of a bucket. What is interrupted leaves an upload that --resume
// finishes.

import { basename, resolve } from 'node:path';
import { chunkCountOf, isGivenWhole } from '../../client/src/digest.ts';
import type {
  FileName,
  FileRecord,
  FileToUpload,
  UploadedFile,
  UploadOptions,
} from '../../client/src/interface.ts';
import { type FileSource, openFileSource } from '../../client/src/node/file-source.ts';
import type { Storage } from '../../client/src/storage.ts';
import { isStorageError, type StorageError } from '../../client/src/storage-error.ts';
import { smallFileBytesMax } from '../../client/src/upload-all.ts';
import { sayFailure } from './exit-code.ts';
import { isFolder, nameOf, parseLocation } from './location.ts';
import { formatBytes, printable, printJson, printLine, printNote } from './output.ts';
import { startProgress } from './progress-bar.ts';
import type { Run } from './run.ts';
import {
  forgetState,
  isAtWork,
  loadUpload,
  saveState,
  type TransferName,
  type UploadState,
} from './transfer-state.ts';
import { UsageError } from './usage-error.ts';

export interface PutOptions {
  readonly type?: string;
  readonly tag?: readonly string[];
  readonly cacheControl?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly parallel: number;
  readonly resume?: boolean;
  readonly noReplace?: boolean;
  readonly size?: number;
  readonly json?: boolean;
}

const standardInput = '-';

export async function put(
  run: Run,
  { files, destination }: { readonly files: readonly string[]; readonly destination: string },
  options: PutOptions,
): Promise<void> {
  const sources = namedSources(files, destination);
  const storage = await run.storage();
  const records: FileRecord[] = [];
  try {
    for await (const record of putAll(run, storage, { sources, options })) {
      records.push(record);
      if (!options.json) printLine(nameOf({ bucket: record.bucketId, path: record.path }));
    }
  } finally {
    // Those before one that has failed are stored.
    if (options.json && records.length > 0) printJson(records);
  }
}

interface NamedSource {
  readonly file: string;
  readonly name: FileName;
}

/** Throws UsageError before anything is sent. */
function namedSources(files: readonly string[], destination: string): NamedSource[] {
  const location = parseLocation(destination);
  const { bucket } = location;
  if (!isFolder(location)) {
    if (files.length > 1) {
      throw new UsageError(`Several files go into a folder: write ${destination}/`);
    }
    return files.map((file) => ({ file, name: location }));
  }
  const fileByPath = new Map<string, string>();
  return files.map((file) => {
    if (file === standardInput) {
      throw new UsageError('Standard input has no name: write bucket/path.');
    }
    const path = location.path + basename(file);
    const other = fileByPath.get(path);
    if (other !== undefined) {
      throw new UsageError(`${other} and ${file} would both be ${nameOf({ bucket, path })}.`);
    }
    fileByPath.set(path, file);
    return { file, name: { bucket, path } };
  });
}

/** Small files that are read ahead: some 40 MB at most. */
const heldFilesMax = 400;

interface AllFiles {
  readonly sources: readonly NamedSource[];
  readonly options: PutOptions;
}

/** In their order; of several, those that are small and follow each other go together. */
async function* putAll(
  run: Run,
  storage: Storage,
  { sources, options }: AllFiles,
): AsyncGenerator<FileRecord> {
  let small: FileToUpload[] = [];
  const bucket = sources[0]?.name.bucket ?? '';
  for (const { file, name } of sources) {
    let bytes: Uint8Array | undefined;
    try {
      bytes = sources.length > 1 ? await readSmallFile(file) : undefined;
    } catch (error) {
      // Those before it are stored.
      yield* putSmall(run, storage, { bucket, small });
      throw error;
    }
    if (bytes === undefined || small.length === heldFilesMax) {
      yield* putSmall(run, storage, { bucket, small });
      small = [];
    }
    if (bytes === undefined) {
      yield putOne(run, storage, { file, name, options });
    } else {
      small.push({ ...uploadOptions({ file, name, options }, run), source: bytes });
    }
  }
  yield* putSmall(run, storage, { bucket, small });
}

/** Whole; `undefined` of one that is not small. */
async function readSmallFile(file: string): Promise<Uint8Array | undefined> {
  const source = await openFileSource(file);
  try {
    return source.size > smallFileBytesMax ? undefined : await source.slice(0, source.size);
  } finally {
    await source.close();
  }
}

/** Those that are stored, in their order; fails then, if one is not. */
async function* putSmall(
  run: Run,
  storage: Storage,
  { bucket, small }: { readonly bucket: string; readonly small: readonly FileToUpload[] },
): AsyncGenerator<FileRecord> {
  const ended = new Map<string, UploadedFile>();
  for await (const one of storage.uploadAll(small, { bucket, signal: run.signal })) {
    ended.set(one.path, one);
  }
  let failure: StorageError | undefined;
  for (const { path } of small) {
    const { file, error } = ended.get(path) ?? {};
    if (file !== undefined) yield file;
    if (error === undefined) continue;
    failure ??= error;
    printNote(`${printable(nameOf({ bucket, path }))} is not sent: ${sayFailure(error)}`);
  }
  if (failure !== undefined) throw failure;
}

interface OneFile extends NamedSource {
  readonly options: PutOptions;
}

function uploadOptions({ name, options }: OneFile, run: Run): UploadOptions {
  const { type, tag, cacheControl, metadata, parallel, noReplace } = options;
  return {
    ...name,
    contentType: type,
    tags: tag,
    headers: cacheControl === undefined ? {} : { 'Cache-Control': cacheControl },
    metadata,
    ifNoneMatch: noReplace ? '*' : undefined,
    concurrency: parallel,
    signal: run.signal,
  };
}

async function putOne(run: Run, storage: Storage, one: OneFile): Promise<FileRecord> {
  if (one.file === standardInput) return putInput(run, storage, one);
  const source = await openFileSource(one.file);
  const bar = startProgress(one.name.path, run.isQuiet);
  try {
    return await putFile(run, storage, {
      ...one,
      source,
      report: bar.report,
    });
  } finally {
    bar.stop();
    await source.close();
  }
}

/** Whoever writes to the pipe is not kept waiting after a failure. */
async function putInput(run: Run, storage: Storage, one: OneFile): Promise<FileRecord> {
  const { size } = one.options;
  const bar = startProgress(one.name.path, run.isQuiet);
  const common = { ...uploadOptions(one, run), size, onProgress: bar.report };
  try {
    const record = await storage.upload(process.stdin, common);
    bar.stop();
    if (!run.isQuiet && size === undefined) sayInput(record);
    return record;
  } finally {
    bar.stop();
    process.stdin.destroy();
  }
}

/** A command before the pipe that failed has ended it too: by the size that may be noticed. */
function sayInput({ size, etag }: FileRecord): void {
  const chunks = chunkCountOf(etag);
  if (chunks === 1) return;
  printNote(`Standard input had ${size} bytes (${formatBytes(size)}).`);
  if (!isGivenWhole(etag)) {
    printNote(`They are in ${chunks} parts: fetch them by efs get, or by ranges, not by one GET.`);
  }
}

interface OpenedFile extends OneFile {
  readonly source: FileSource;
  readonly report: NonNullable<UploadOptions['onProgress']>;
}

/** The upload's id is kept before the first chunk goes, and forgotten with the last. */
async function putFile(run: Run, storage: Storage, opened: OpenedFile): Promise<FileRecord> {
  const { source, name, file, options, report } = opened;
  const transfer: TransferName = {
    kind: 'upload',
    service: run.service,
    ...name,
    file: resolve(file),
  };
  const { size, changedAtMs } = source;
  const { type, tag, cacheControl, metadata, noReplace } = options;
  const wishes = JSON.stringify({ type, tag, cacheControl, metadata, noReplace });
  const state = { size, changedAtMs, wishes, processId: process.pid };
  let isBegun = false;
  const common: UploadOptions = {
    ...uploadOptions(opened, run),
    onProgress: report,
    async onSession({ uploadId }) {
      isBegun = true;
      await saveState(transfer, { ...state, uploadId });
    },
  };
  const former = await formerUpload(storage, transfer, options.resume ? state : undefined);
  try {
    const record = await uploadOrResume(storage, source, { common, resume: former });
    if (isBegun) await forgetState(transfer);
    return record;
  } catch (error) {
    if (isBegun && (hasEnded(error) || isStorageError(error, 'InvalidArgument'))) {
      // A file that has changed, for one: the upload is not of what it is now.
      await forgetState(transfer);
    } else if (isBegun) {
      printNote(`The upload of ${file} is kept: the same command with --resume goes on with it.`);
    }
    throw error;
  }
}

/**
 * The id of an interrupted upload of the same file with the same wishes, to go on with. Any other
 * that nobody works at is cancelled: it would take up one of the bucket's uploads for days.
 */
async function formerUpload(
  storage: Storage,
  transfer: TransferName,
  wanted: Omit<UploadState, 'uploadId'> | undefined,
): Promise<string | undefined> {
  const former = await loadUpload(transfer);
  if (former === undefined) return undefined;
  const { uploadId, size, changedAtMs, wishes } = former;
  const isSame = size === wanted?.size && changedAtMs === wanted.changedAtMs;
  if (isSame && wishes === wanted.wishes) return uploadId;
  if (wanted !== undefined) {
    printNote('The interrupted upload was of another file, or with other options: it begins anew.');
  }
  if (!isAtWork(former)) {
    const { bucket, path } = transfer;
    await storage.cancelUpload({ bucket, path, uploadId }).catch(() => {});
  }
  return undefined;
}

/** An upload that is no longer there is begun anew. */
async function uploadOrResume(
  storage: Storage,
  source: FileSource,
  { common, resume }: { readonly common: UploadOptions; readonly resume: string | undefined },
): Promise<FileRecord> {
  if (resume === undefined) return storage.upload(source, common);
  try {
    return await storage.upload(source, { ...common, resume });
  } catch (error) {
    if (!hasEnded(error)) throw error;
    printNote('The interrupted upload is no longer there: it begins anew.');
    return storage.upload(source, common);
  }
}

function hasEnded(error: unknown): boolean {
  return ['NoSuchUpload', 'UploadExpired', 'UploadCancelled'].some((code) =>
    isStorageError(error, code),
  );
}
