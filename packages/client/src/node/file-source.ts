// A file on disk as the source of an upload. The file must not change while it is read: a change
// that is detected at the end is an error, because the slices could come from different states.

import { type FileHandle, open, stat } from 'node:fs/promises';
import { createBufferPool } from '../bytes/buffer-pool.ts';
import type { UploadSource } from '../bytes/upload-source.ts';
import { StorageError } from '../storage-error.ts';

export interface FileSource extends UploadSource {
  /**
   * Milliseconds since 1970 (ctime), to detect whether the file has changed since an upload began.
   * Unlike the modification time, programs cannot set it.
   */
  readonly changedAtMs: number;
  close(): Promise<void>;
}

interface OpenedFile {
  readonly handle: FileHandle;
  readonly path: string;
  readonly size: number;
  readonly modifiedAtMs: number;
  readonly changedAtMs: number;
}

/**
 * Opens a file as a source for `upload`; call close() afterwards.
 *
 * @example
 * ```ts
 * import { openFileSource } from '@encrypted-file-storage/client/node';
 *
 * const source = await openFileSource('film.mp4');
 * try {
 *   await storage.upload(source, { bucket: 'demo', path: 'films/film.mp4' });
 * } finally {
 *   await source.close();
 * }
 * ```
 */
export async function openFileSource(path: string): Promise<FileSource> {
  const file = await openFile(path);
  const { handle, size, changedAtMs } = file;
  const buffers = createBufferPool();
  const buffer = (length: number) => buffers.take(length).subarray(0, length);
  async function slice(start: number, end: number): Promise<Uint8Array> {
    const bytes = buffer(end - start);
    await readFully(file, bytes, start);
    if (end >= size) await requireUnchanged(file);
    return bytes;
  }
  const release = (bytes: Uint8Array) => buffers.giveBack(new Uint8Array(bytes.buffer));
  return { size, changedAtMs, slice, buffer, release, close: () => handle.close() };
}

async function openFile(path: string): Promise<OpenedFile> {
  // Checked before open(), which would wait for the writer of a pipe.
  requireFile(path, await stat(path));
  const handle = await open(path);
  try {
    const stats = await handle.stat();
    requireFile(path, stats);
    const { size, mtimeMs: modifiedAtMs, ctimeMs: changedAtMs } = stats;
    const file = { handle, path, size, modifiedAtMs, changedAtMs };
    // An upload of an empty file reads no slice, so the file is checked here.
    if (file.size === 0) await requireUnchanged(file);
    return file;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

function requireFile(path: string, stats: { isFile(): boolean }): void {
  if (!stats.isFile()) throw new StorageError('InvalidArgument', `${path} is not a file.`);
}

async function readFully(file: OpenedFile, bytes: Uint8Array, start: number): Promise<void> {
  let offset = 0;
  while (offset < bytes.length) {
    const length = bytes.length - offset;
    const position = start + offset;
    const { bytesRead } = await file.handle.read(bytes, { offset, length, position });
    if (bytesRead === 0) {
      throw new StorageError('InvalidArgument', `${file.path} became shorter while it was read.`);
    }
    offset += bytesRead;
  }
}

/** Also reads one byte beyond the end: files of /proc are longer than their size. */
async function requireUnchanged({ handle, path, size, modifiedAtMs }: OpenedFile): Promise<void> {
  const beyond = { offset: 0, length: 1, position: size };
  const { bytesRead } = await handle.read(new Uint8Array(1), beyond);
  const now = await handle.stat();
  if (bytesRead === 0 && now.size === size && now.mtimeMs === modifiedAtMs) return;
  throw new StorageError('InvalidArgument', `${path} changed while it was read; send it again.`);
}
