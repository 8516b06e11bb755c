// Which part belongs to which `efs get`: remembered for --resume, taken over by one process at a
// time, removed when its process has gone and nobody goes on with it. Knows nothing of the bytes.

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
  /** Its path. */
  readonly part: string;
}

/** Renamed, so that of two that go on at once only one has it; the other begins anew. */
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

/** A get works where nothing can be remembered; it cannot go on later, though. */
export async function rememberPart(transfer: TransferName, former: FormerPart): Promise<void> {
  const { etag, part } = former;
  try {
    await saveState(transfer, { etag, part: basename(part), processId: process.pid });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    printNote(`This transfer cannot be remembered, --resume will not find it: ${reason}`);
  }
}

/** False when a later get into the same file has taken its place. */
export async function isRemembered(transfer: TransferName, part: string): Promise<boolean> {
  return (await loadDownload(transfer))?.part === basename(part);
}

/** Never fails: what is left names a part that is not there, which is as good as nothing. */
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
