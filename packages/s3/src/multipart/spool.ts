// Parts on the disk that have no place in a session, until their upload is completed or aborted.
// Only their user can read them, and their total size is limited.

import { randomBytes } from 'node:crypto';
import { type FileHandle, open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ownerOnlyFile, syncFolder } from '../durable-files.ts';
import { S3Error } from '../s3-error.ts';

const readBytes = 262_144;
const ending = '.part';

export class Spool {
  readonly #folder: string;
  readonly #bytesMax: number;
  #bytes = 0;

  private constructor(folder: string, bytesMax: number) {
    this.#folder = folder;
    this.#bytesMax = bytesMax;
  }

  /** Opens the spool, and counts the files of an earlier run. */
  static async open(folder: string, bytesMax: number): Promise<Spool> {
    const spool = new Spool(folder, bytesMax);
    for (const name of await readdir(folder)) {
      if (name.endsWith(ending)) spool.#bytes += (await stat(join(folder, name))).size;
    }
    return spool;
  }

  /** Writes the bytes to a file and returns its name; throws SlowDown if the disk has no space. */
  async write(uploadId: string, bytes: AsyncIterable<Uint8Array>, size: number): Promise<string> {
    if (this.#bytes + size > this.#bytesMax) throw this.#full(size);
    this.#bytes += size;
    const name = `${uploadId}.${randomBytes(8).toString('hex')}${ending}`;
    let handle: FileHandle | undefined;
    try {
      handle = await open(join(this.#folder, name), 'wx', ownerOnlyFile);
      for await (const piece of bytes) await handle.writeFile(piece);
      await handle.sync();
      await syncFolder(this.#folder);
      return name;
    } catch (error) {
      await this.#forget(name, size);
      throw (error as NodeJS.ErrnoException).code === 'ENOSPC' ? this.#full(size, error) : error;
    } finally {
      await handle?.close();
    }
  }

  /** Throws InvalidPart if the file was deleted. */
  async *read(name: string): AsyncGenerator<Uint8Array> {
    const handle = await open(join(this.#folder, name)).catch((cause: NodeJS.ErrnoException) => {
      if (cause.code !== 'ENOENT') throw cause;
      const words = "A part that waited on the S3 server's disk is gone: send it again.";
      throw new S3Error('InvalidPart', words, { cause });
    });
    try {
      for (;;) {
        const { bytesRead, buffer } = await handle.read(Buffer.alloc(readBytes), 0, readBytes);
        if (bytesRead === 0) return;
        yield buffer.subarray(0, bytesRead);
      }
    } finally {
      await handle.close();
    }
  }

  /** Does nothing if the file does not exist. */
  async remove(name: string): Promise<void> {
    const stats = await stat(join(this.#folder, name)).catch(() => undefined);
    if (stats !== undefined) await this.#forget(name, stats.size);
  }

  async #forget(name: string, size: number): Promise<void> {
    await rm(join(this.#folder, name), { force: true });
    this.#bytes -= size;
  }

  #full(size: number, cause?: unknown): S3Error {
    return new S3Error(
      'SlowDown',
      `The S3 server's disk has no space for ${size} more bytes: complete or abort other uploads, ` +
        'or send parts of equal length to a bucket that is not end-to-end.',
      { cause },
    );
  }
}
