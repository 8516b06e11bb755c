// Downloads one file: writes a temporary file beside the target, and renames it after verification.

import { rename, rm } from 'node:fs/promises';
import { openFileSource } from '../../../client/src/node/file-source.ts';
import type { Storage } from '../../../client/src/storage.ts';
import { isStorageError, StorageError } from '../../../client/src/storage-error.ts';
import { ageType } from '../../../client/src/types/end-to-end.ts';
import type { FileName } from '../../../client/src/types/files.ts';
import type { Download, DownloadOptions } from '../../../client/src/types/transfers.ts';
import type { FolderRun } from '../config/run.ts';
import { nameOf } from '../output/location.ts';
import { printNote } from '../output/output.ts';
import {
  claimPart,
  dropAbandoned,
  type FormerPart,
  forgetPart,
  isRemembered,
  rememberPart,
} from './part-memory.ts';
import type { ListedFile } from './stored-listing.ts';
import { createPart, freshPart, type TargetFile, writePart, writeStraight } from './target-file.ts';
import type { TransferName } from './transfer-state.ts';

interface Wanted {
  readonly name: FileName;
  /** The file's record from a list. A response with the bytes of another file is refused. */
  readonly listed?: Listed;
  readonly target: TargetFile;
  readonly common: DownloadOptions;
  readonly resume: boolean;
  /** A phrase that tells the user how to resume after an interruption. */
  readonly continuedBy: string;
}

interface Listed {
  readonly record: ListedFile;
  again(): Promise<ListedFile>;
}

export async function fetchFile(
  run: FolderRun,
  storage: Pick<Storage, 'download'>,
  wanted: Wanted,
): Promise<Pick<Download, 'etag' | 'size'>> {
  const { name, target, common, resume } = wanted;
  if (target.isStraight) {
    const straight = await openListed(storage, wanted, undefined);
    await writeStraight(target.file, straight.body);
    return straight;
  }
  // Downloads of a range cannot be resumed.
  const transfer: TransferName | undefined =
    common.range === undefined
      ? { kind: 'download', service: run.service, ...name, file: target.file }
      : undefined;
  const former = resume && transfer ? await claimPart(transfer, target) : undefined;
  let part = former?.part;
  let download: Download;
  try {
    download = await openListed(storage, wanted, former);
    if (transfer && part === undefined) await dropAbandoned(transfer);
    const written = part ?? freshPart(target);
    // Recorded before its creation, so that a killed process leaves no unknown temporary file.
    if (transfer) await rememberPart(transfer, { etag: download.etag, part: written });
    if (part === undefined) await createPart(written, target);
    part = written;
    // A range is written from the start of the temporary file.
    const start = common.range === undefined ? download.start : 0;
    await writePart(part, { body: download.body, start, mode: target.mode });
    await rename(part, target.file);
  } catch (error) {
    if (part !== undefined) await keepOrDrop(part, { transfer, wanted, error });
    throw error;
  }
  if (transfer) await forgetPart(transfer, part);
  return download;
}

const attemptsMax = 3;

/**
 * Opens a download of the listed file. An intermediary may mix up the answers to two requests, each
 * of which is valid; a file may also be replaced after it was listed.
 */
async function openListed(
  storage: Pick<Storage, 'download'>,
  wanted: Wanted,
  former: FormerPart | undefined,
): Promise<Download> {
  const { listed } = wanted;
  let record = listed?.record;
  for (let attempt = 1; ; attempt++) {
    const download = await openDownload(storage, wanted, former);
    if (record === undefined || isOf(record, download)) return download;
    if (attempt === attemptsMax) {
      throw new StorageError(
        'IntegrityError',
        `The answer for ${nameOf(wanted.name)} belongs to another file: its ETag is ${download.etag}, ` +
          `the file's is ${record.etag}. A proxy between this machine and the service mixes ` +
          'answers up.',
      );
    }
    record = await listed?.again();
  }
}

function isOf(record: ListedFile, { etag, size }: Download): boolean {
  const isSealed = record.contentType === ageType;
  return etag === record.etag && (isSealed || size === record.size);
}

/** Continues with the received bytes if they belong to the present file. */
async function openDownload(
  storage: Pick<Storage, 'download'>,
  { name, common }: Wanted,
  former: FormerPart | undefined,
): Promise<Download> {
  if (former === undefined) return storage.download(name, common);
  const received = await openFileSource(former.part);
  try {
    return await storage.download(name, { ...common, resume: { etag: former.etag, received } });
  } catch (error) {
    if (!isStorageError(error, 'PreconditionFailed')) throw error;
    printNote('The file has been replaced since, so the download starts over.');
    return await storage.download(name, common);
  } finally {
    await received.close();
  }
}

interface Interruption {
  readonly transfer: TransferName | undefined;
  readonly wanted: Wanted;
  readonly error: unknown;
}

/** Keeps the received bytes if --resume can find them and they are not known to be wrong. */
async function keepOrDrop(part: string, { transfer, wanted, error }: Interruption): Promise<void> {
  const isKept = transfer !== undefined && (await isRemembered(transfer, part));
  if (isKept && !isStorageError(error, 'IntegrityError')) {
    printNote(`The received bytes are in ${part}: ${wanted.continuedBy} continues.`);
    return;
  }
  await rm(part, { force: true });
  if (isKept) await forgetPart(transfer, part);
}
