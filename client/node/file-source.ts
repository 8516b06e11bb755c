// A file of the disk as the source of an upload. It must stay as it is while it is read.

import { open } from 'node:fs/promises';
import { createBufferPool } from '../buffer-pool.ts';
import { StorageError } from '../storage-error.ts';
import type { UploadSource } from '../upload-source.ts';

export interface FileSource extends UploadSource {
  /** Milliseconds since 1970, for telling whether a file is still the one that was begun with. */
  readonly modifiedAtMs: number;
  close(): Promise<void>;
}

export async function openFileSource(path: string): Promise<FileSource> {
  const handle = await open(path);
  const stats = await handle.stat();
  const { size, mtimeMs } = stats;
  if (!stats.isFile()) {
    await handle.close();
    throw new StorageError('InvalidArgument', `${path} is no file.`);
  }
  const buffers = createBufferPool();
  async function slice(start: number, end: number): Promise<Uint8Array> {
    const bytes = buffers.take(end - start).subarray(0, end - start);
    let position = 0;
    while (position < bytes.length) {
      const { bytesRead } = await handle.read(bytes, {
        offset: position,
        length: bytes.length - position,
        position: start + position,
      });
      if (bytesRead === 0) {
        throw new StorageError('InvalidArgument', `${path} became shorter while it was read.`);
      }
      position += bytesRead;
    }
    return bytes;
  }
  const release = (bytes: Uint8Array) => buffers.giveBack(new Uint8Array(bytes.buffer));
  return { size, modifiedAtMs: mtimeMs, slice, release, close: () => handle.close() };
}
