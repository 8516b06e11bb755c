// The target of `efs get`: resolves the local name, checks it before the download, and replaces it
// with the finished temporary file. It knows nothing of the service.

import { randomBytes } from 'node:crypto';
import type { Stats } from 'node:fs';
import {
  constants,
  type FileHandle,
  lstat,
  open,
  readlink,
  realpath,
  stat,
} from 'node:fs/promises';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { piecesOf } from '../../../client/src/bytes/byte-stream.ts';
import { withoutLastSlashes } from '../../../client/src/operations/url-paths.ts';
import { UsageError } from '../output/usage-error.ts';

export interface TargetFile {
  /** Absolute and without symbolic links, except for devices and pipes. */
  readonly file: string;
  /** A device or pipe: it must not be replaced, and no partial download can be kept. */
  readonly isStraight: boolean;
  /** Permissions of the existing file. */
  readonly mode: number | undefined;
}

const ownerReadWrite = 0o600;
const permissionBits = 0o777;
/** As for any new file: the process's umask applies. */
const newFileMode = 0o666;

/** `target` can be a folder for the file `name`; if absent, the current folder is used. */
export async function findTarget(target: string | undefined, name: string): Promise<TargetFile> {
  const isInFolder = target !== undefined && (await isFolderTarget(target));
  const path = isInFolder ? pathIn(target, name) : (target ?? name);
  const stats = await statIfThere(path);
  if (path === '' || stats?.isDirectory()) {
    throw new UsageError(`"${path}" is a folder: name a file to write to.`);
  }
  if (stats !== undefined && !stats.isFile()) {
    return { file: path, isStraight: true, mode: undefined };
  }
  const mode = stats === undefined ? undefined : stats.mode & permissionBits;
  return { file: await realFile(path), isStraight: false, mode };
}

export async function isFolderTarget(target: string): Promise<boolean> {
  return target.endsWith('/') || (await statIfThere(target))?.isDirectory() === true;
}

export function pathIn(folder: string, name: string): string {
  return `${withoutLastSlashes(folder)}/${name}`;
}

async function statIfThere(path: string): Promise<Stats | undefined> {
  return unlessMissing(() => stat(path));
}

/** Returns the entry with this name, without following a link; undefined if it does not exist. */
export function entryAt(path: string): Promise<Stats | undefined> {
  return unlessMissing(() => lstat(path));
}

async function unlessMissing<T>(look: () => Promise<T>): Promise<T | undefined> {
  try {
    return await look();
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'ENOTDIR';
}

/** Follows links. The file need not exist; a cycle of links has already failed at `stat`. */
async function realFile(path: string): Promise<string> {
  const folder = await realFolder(dirname(path));
  const file = join(folder, basename(path));
  const link = await readlink(file).catch(() => undefined);
  if (link === undefined) return file;
  return realFile(isAbsolute(link) ? link : `${folder}/${link}`);
}

async function realFolder(path: string): Promise<string> {
  if ((await statIfThere(path))?.isDirectory() !== true) {
    throw new UsageError(`The folder "${path}" does not exist: create it, or name another file.`);
  }
  return realpath(path);
}

/** Returns a unique name in the target's folder, which is short enough for any file system. */
export function freshPart({ file }: TargetFile): string {
  return join(dirname(file), `.efs-${randomBytes(8).toString('hex')}.part`);
}

/** Never opens an existing file. The new file has the permissions of the file it will replace. */
export async function createPart(part: string, { mode }: TargetFile): Promise<void> {
  const created = mode === undefined ? newFileMode : mode | ownerReadWrite;
  await (await open(part, 'wx', created)).close();
}

/** Truncates the temporary file to `start` bytes and appends the body. */
export async function writePart(
  part: string,
  { body, start, mode }: PartBody & { readonly mode: number | undefined },
): Promise<void> {
  const handle = await open(part, 'r+');
  try {
    await handle.truncate(start);
    await writeBody(handle, { body, start });
    if (mode !== undefined && mode !== ((await handle.stat()).mode & permissionBits)) {
      await handle.chmod(mode);
    }
  } finally {
    await handle.close();
  }
}

export async function writeStraight(file: string, body: PartBody['body']): Promise<void> {
  const handle = await open(file, constants.O_WRONLY);
  try {
    await writeBody(handle, { body, start: undefined });
  } finally {
    await handle.close();
  }
}

interface PartBody {
  readonly body: ReadableStream<Uint8Array>;
  readonly start: number;
}

/** Without `start`, writes sequentially, because a pipe has no positions. */
async function writeBody(
  handle: FileHandle,
  { body, start }: { readonly body: PartBody['body']; readonly start: number | undefined },
): Promise<void> {
  let position = start ?? null;
  for await (const bytes of piecesOf(body)) {
    for (let offset = 0; offset < bytes.length; ) {
      const { bytesWritten } = await handle.write(bytes, offset, bytes.length - offset, position);
      offset += bytesWritten;
      if (position !== null) position += bytesWritten;
    }
  }
}
