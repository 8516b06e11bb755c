// Uploads one file. An interrupted upload can be continued, because its id is recorded meanwhile.

import { resolve } from 'node:path';
import type { FileSource } from '../../../client/src/node/file-source.ts';
import type { Storage } from '../../../client/src/storage.ts';
import { isStorageError } from '../../../client/src/storage-error.ts';
import type { FileName, FileRecord } from '../../../client/src/types/files.ts';
import type { UploadOptions } from '../../../client/src/types/transfers.ts';
import type { FolderRun } from '../config/run.ts';
import { printNote } from '../output/output.ts';
import { printable } from '../output/printable.ts';
import {
  forgetUpload,
  isAtWork,
  loadUpload,
  saveState,
  type TransferName,
  type UploadState,
} from './transfer-state.ts';

export interface PutFileOptions {
  readonly type?: string | undefined;
  readonly tag?: readonly string[] | undefined;
  readonly cacheControl?: string | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  readonly parallel: number;
  readonly resume?: boolean | undefined;
  readonly noReplace?: boolean | undefined;
}

interface FileToPut {
  readonly file: string;
  readonly name: FileName;
  readonly options: PutFileOptions;
}

export function uploadOptions(
  { name, options }: Pick<FileToPut, 'name' | 'options'>,
  run: FolderRun,
): UploadOptions {
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

export interface OpenedFile extends FileToPut {
  readonly source: FileSource;
  readonly report: NonNullable<UploadOptions['onProgress']>;
  /** A phrase that tells the user how to resume after an interruption. */
  readonly continuedBy: string;
}

/** Records the upload's id before the first chunk is sent, and forgets it after the last. */
export async function putFile(
  run: FolderRun,
  storage: Storage,
  opened: OpenedFile,
): Promise<FileRecord> {
  const { source, name, file, options, report, continuedBy } = opened;
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
  let begun: string | undefined;
  const common: UploadOptions = {
    ...uploadOptions(opened, run),
    onProgress: report,
    async onSession({ uploadId, ageHeader }) {
      begun = uploadId;
      await saveState(transfer, { ...state, uploadId, ageHeader });
    },
  };
  const former = await formerUpload(storage, transfer, {
    wanted: options.resume ? state : undefined,
    signal: run.signal,
  });
  try {
    const record = await uploadOrResume(storage, source, { common, former });
    const uploadId = begun ?? former?.uploadId;
    if (uploadId !== undefined) await forgetUpload(transfer, uploadId);
    return record;
  } catch (error) {
    if (begun !== undefined && (hasEnded(error) || isOfOtherBytes(error))) {
      // Nothing remembers the upload any more, but it would keep its room for a day.
      const upload = { ...name, uploadId: begun, signal: run.signal };
      if (!hasEnded(error)) await storage.uploads.cancel(upload).catch(() => {});
      await forgetUpload(transfer, begun);
    } else if (begun !== undefined) {
      printNote(`The upload of ${printable(file)} can continue: ${continuedBy} continues it.`);
    }
    throw error;
  }
}

/** Whether the upload can never be completed, for example because the file has changed. */
function isOfOtherBytes(error: unknown): boolean {
  return isStorageError(error, 'InvalidArgument', 'BadDigest', 'IntegrityError');
}

interface Wanted {
  readonly wanted: Omit<UploadState, 'uploadId' | 'ageHeader'> | undefined;
  readonly signal: AbortSignal;
}

/**
 * Returns an interrupted upload of the same file with the same options. Cancels another one,
 * because the number of a bucket's open uploads is limited.
 */
async function formerUpload(
  storage: Storage,
  transfer: TransferName,
  { wanted, signal }: Wanted,
): Promise<UploadState | undefined> {
  const former = await loadUpload(transfer);
  if (former === undefined) return undefined;
  const { size, changedAtMs, wishes } = former;
  const isSame = size === wanted?.size && changedAtMs === wanted.changedAtMs;
  if (isSame && wishes === wanted.wishes) return former;
  if (wanted !== undefined) {
    printNote(
      'The interrupted upload was of another file or had other options, so it starts over.',
    );
  }
  await discard(storage, former, { ...transfer, signal });
  return undefined;
}

/** Cancels the upload unless a process still works on it. */
async function discard(
  storage: Storage,
  former: UploadState,
  { bucket, path, signal }: Pick<UploadOptions, 'bucket' | 'path' | 'signal'>,
): Promise<void> {
  if (isAtWork(former)) return;
  const { uploadId } = former;
  await storage.uploads.cancel({ bucket, path, uploadId, signal }).catch(() => {});
}

/** Starts over if the upload no longer exists. */
async function uploadOrResume(
  storage: Storage,
  source: FileSource,
  { common, former }: { readonly common: UploadOptions; readonly former: UploadState | undefined },
): Promise<FileRecord> {
  if (former === undefined) return storage.upload(source, common);
  const { uploadId: resume, ageHeader } = former;
  const onSession: UploadOptions['onSession'] = async (session) => {
    if (session.uploadId !== resume) {
      await discard(storage, former, common);
      printNote(
        "The interrupted upload starts over: the bucket's recipients have changed, an earlier version " +
          'of efs began it, or the connection is now too slow for its chunks.',
      );
    }
    return common.onSession?.(session);
  };
  try {
    return await storage.upload(source, { ...common, resume, ageHeader, onSession });
  } catch (error) {
    if (isStorageError(error, 'NoIdentity')) {
      // A sender that only has the recipient cannot produce the same ciphertext again.
      printNote('No identity here decrypts the interrupted upload, so it starts over.');
      await discard(storage, former, common);
    } else if (hasEnded(error)) {
      printNote('The interrupted upload no longer exists, so it starts over.');
    } else throw error;
    return storage.upload(source, common);
  }
}

function hasEnded(error: unknown): boolean {
  return isStorageError(error, 'NoSuchUpload', 'UploadExpired', 'UploadCancelled');
}
