// Records which temporary file belongs to which `efs get`, for --resume. Only one process at a time
// can claim the file. A later download that does not continue it deletes it, as does any transfer
// after seven days.

import { rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { printNote } from '../output/output.ts';
import { freshPart, type TargetFile } from './target-file.ts';
import {
  type DownloadState,
  forgetState,
  isAtWork,
  loadDownload,
  saveState,
  type TransferName,
} from './transfer-state.ts';

export interface FormerPart {
  readonly etag: string;
  readonly part: string;
}

/** Claims the file by renaming it, so that only one of two concurrent processes gets it. */
export async function claimPart(
  transfer: TransferName,
  target: TargetFile,
): Promise<FormerPart | undefined> {
  const state = await loadDownload(transfer);
  if (state === undefined || isAtWork(state)) return undefined;
  const part = freshPart(target);
  try {
    await rename(pathOf(transfer, state), part);
  } catch {
    return undefined;
  }
  const former = { etag: state.etag, part };
  await rememberPart(transfer, former);
  return former;
}

/** A download works even if nothing can be recorded, but then it cannot be resumed. */
export async function rememberPart(transfer: TransferName, former: FormerPart): Promise<void> {
  const { etag, part } = former;
  try {
    await saveState(transfer, { etag, part: basename(part), processId: process.pid });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    printNote(`This transfer cannot be recorded, so --resume will not find it: ${reason}`);
  }
}

/** Returns false if a later download of the same file has replaced the record. */
export async function isRemembered(transfer: TransferName, part: string): Promise<boolean> {
  return (await loadDownload(transfer))?.part === basename(part);
}

/** Never fails: a remaining record names a file that does not exist, which has no effect. */
export async function forgetPart(transfer: TransferName, part: string): Promise<void> {
  if (await isRemembered(transfer, part)) await forgetState(transfer).catch(() => {});
}

/** Deletes an earlier partial download that this one replaces. */
export async function dropAbandoned(transfer: TransferName): Promise<void> {
  const state = await loadDownload(transfer);
  if (state === undefined || isAtWork(state)) return;
  await rm(pathOf(transfer, state), { force: true }).catch(() => {});
}

function pathOf({ file }: TransferName, { part }: DownloadState): string {
  return join(dirname(file), part);
}
