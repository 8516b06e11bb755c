// What an interrupted transfer needs to go on: one small file each under the user's state folder,
// `$XDG_STATE_HOME/efs` (`~/.local/state/efs`). Holds upload ids, which let others go on with an
// upload, and so is the user's alone; holds no key.

import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

const ownerOnlyFolder = 0o700;
const ownerOnlyFile = 0o600;

export interface TransferName {
  readonly kind: 'upload' | 'download';
  readonly service: string;
  readonly bucket: string;
  readonly path: string;
  /** Absolute path on this machine. */
  readonly file: string;
}

export interface UploadState {
  readonly uploadId: string;
  readonly size: number;
  readonly changedAtMs: number;
  /** What else was asked for, in one text. */
  readonly wishes: string;
  /** Of an end-to-end bucket: what the same bytes are made again with. No secret. */
  readonly ageHeader?: string | undefined;
  /** Of the process that sends it. */
  readonly processId: number;
}

export interface DownloadState {
  readonly etag: string;
  /** Name of what has come, in the file's folder. */
  readonly part: string;
  /** Of the process that writes it. */
  readonly processId: number;
}

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
  await mkdir(stateFolder(), { recursive: true, mode: ownerOnlyFolder });
  const path = statePath(name);
  // Renamed, so that it is never half a file.
  const fresh = `${path}.${process.pid}`;
  const text = `${JSON.stringify({ ...name, ...state }, null, 2)}\n`;
  await writeFile(fresh, text, { mode: ownerOnlyFile });
  await rename(fresh, path);
}

async function loadState(name: TransferName): Promise<unknown> {
  try {
    return JSON.parse(await readFile(statePath(name), 'utf8'));
  } catch {
    return undefined;
  }
}

export async function forgetState(name: TransferName): Promise<void> {
  await rm(statePath(name), { force: true });
}

export async function loadUpload(name: TransferName): Promise<UploadState | undefined> {
  const state = (await loadState(name)) as Partial<UploadState> | undefined;
  const isWhole =
    typeof state?.uploadId === 'string' &&
    typeof state.wishes === 'string' &&
    typeof state.processId === 'number';
  return isWhole ? (state as UploadState) : undefined;
}

/** Whether another process still works at the transfer. */
export function isAtWork({ processId }: { readonly processId: number }): boolean {
  // This process has one transfer of a name only: under its own number another has gone before.
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
  const isWhole =
    typeof state?.etag === 'string' &&
    typeof state.processId === 'number' &&
    /^\.efs-[0-9a-f]{16}\.part$/.test(state.part ?? '');
  return isWhole ? (state as DownloadState) : undefined;
}
