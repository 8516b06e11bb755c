// State for resuming interrupted transfers: one small file for each in the user's state folder,
// `$XDG_STATE_HOME/efs` (`~/.local/state/efs`). Only the user can read it, because an upload id
// lets others continue the upload. The file contains no key.

import { createHash } from 'node:crypto';
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { replaceFile } from '../../../client/src/node/replace-file.ts';

export interface TransferName {
  readonly kind: 'upload' | 'download';
  readonly service: string;
  readonly bucket: string;
  readonly path: string;
  /** Absolute local path. */
  readonly file: string;
}

export interface UploadState {
  readonly uploadId: string;
  readonly size: number;
  readonly changedAtMs: number;
  /** The other options of the command as one text. */
  readonly wishes: string;
  /** For an end-to-end bucket: reproduces the same ciphertext. Not secret. */
  readonly ageHeader?: string | undefined;
  readonly processId: number;
}

export interface DownloadState {
  readonly etag: string;
  /** Name of the temporary file, in the file's folder. */
  readonly part: string;
  readonly processId: number;
}

/** Records are kept as long as the service keeps an open upload. */
const keptMs = 7 * 24 * 3_600_000;
const listingMs = 30 * 24 * 3_600_000;

export function stateFolder(): string {
  const { XDG_STATE_HOME } = process.env;
  return join(XDG_STATE_HOME || join(homedir(), '.local', 'state'), 'efs');
}

function statePath(name: TransferName): string {
  const { kind, service, bucket, path, file } = name;
  const text = [kind, service, bucket, path, file].join('\0');
  return join(stateFolder(), `${kind}-${createHash('sha256').update(text).digest('hex')}.json`);
}

export async function saveState(
  name: TransferName,
  state: UploadState | DownloadState,
): Promise<void> {
  const text = `${JSON.stringify({ ...name, ...state }, null, 2)}\n`;
  // The bytes of a download are not flushed, so its note need not survive a power cut either.
  await replaceFile(statePath(name), text, { flush: name.kind === 'upload' });
}

async function loadState(name: TransferName): Promise<unknown> {
  try {
    return JSON.parse(await readFile(statePath(name), 'utf8'));
  } catch {
    return undefined;
  }
}

/**
 * Removes records that killed processes have left and nothing can continue: those without a
 * temporary file, those older than seven days with their temporary file, and unreadable ones.
 */
export async function clearNotes(): Promise<void> {
  const folder = stateFolder();
  const names = await readdir(folder).catch(() => []);
  // A record that cannot be read or removed does not prevent a transfer.
  for (const name of names) await clearNote(folder, name).catch(() => {});
}

async function clearNote(folder: string, name: string): Promise<void> {
  if (isListing(name)) return clearListing(join(folder, name));
  const [, kind, draft] =
    /^(upload|download)-[0-9a-f]{64}\.json(?:\.(\d+)(?:\.[0-9a-f-]+)?)?$/.exec(name) ?? [];
  if (kind === undefined) return;
  const note = join(folder, name);
  if (draft !== undefined) {
    if (!isAtWork({ processId: Number(draft) })) await rm(note, { force: true });
    return;
  }
  const state = noteIn(await readFile(note, 'utf8'));
  if (state === undefined) return rm(note, { force: true });
  if (typeof state.processId === 'number' && isAtWork({ processId: state.processId })) return;
  const isOld = Date.now() - (await stat(note)).mtimeMs > keptMs;
  if (kind === 'upload') {
    if (isOld) await rm(note, { force: true });
    return;
  }
  const part = isWholeDownload(state) ? join(dirname(state.file), state.part) : undefined;
  const isThere = part !== undefined && (await stat(part).catch(() => undefined)) !== undefined;
  if (isThere && !isOld) return;
  if (isThere) await rm(part, { force: true });
  await rm(note, { force: true });
}

function isListing(name: string): boolean {
  return /^listing-[0-9a-f]{64}\.jsonl$/.test(name);
}

/** A sync lists the folder again without its list. */
async function clearListing(file: string): Promise<void> {
  if (Date.now() - (await stat(file)).mtimeMs > listingMs) await rm(file, { force: true });
}

/** Returns undefined for a damaged note, such as one that a power cut has left empty. */
function noteIn(text: string): (TransferName & Partial<DownloadState>) | undefined {
  try {
    return JSON.parse(text) ?? undefined;
  } catch {
    return undefined;
  }
}

export async function forgetState(name: TransferName): Promise<void> {
  await rm(statePath(name), { force: true });
}

/** Removes the note of this upload; keeps that of another upload, which another process wrote. */
export async function forgetUpload(name: TransferName, uploadId: string): Promise<void> {
  if ((await loadUpload(name))?.uploadId === uploadId) await forgetState(name);
}

export async function loadUpload(name: TransferName): Promise<UploadState | undefined> {
  const state = (await loadState(name)) as Partial<UploadState> | undefined;
  const isWhole =
    typeof state?.uploadId === 'string' &&
    typeof state.wishes === 'string' &&
    typeof state.processId === 'number';
  return isWhole ? (state as UploadState) : undefined;
}

/** Returns whether another process still works at the transfer. */
export function isAtWork({ processId }: { readonly processId: number }): boolean {
  // This process has one transfer per name, so its own id must come from an earlier process.
  if (processId === process.pid) return false;
  try {
    process.kill(processId, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

export async function loadDownload(name: TransferName): Promise<DownloadState | undefined> {
  const state = (await loadState(name)) as Partial<DownloadState> | undefined;
  return isWholeDownload(state) ? state : undefined;
}

function isWholeDownload(state: Partial<DownloadState> | undefined): state is DownloadState {
  return (
    typeof state?.etag === 'string' &&
    typeof state.processId === 'number' &&
    /^\.efs-[0-9a-f]{16}\.part$/.test(state.part ?? '')
  );
}
