// Parts on the disk that have no place in a session, until their upload is completed or aborted.
// Only their user can read them, and their total size is limited, also for each access key.

import { randomBytes } from 'node:crypto';
import { type FileHandle, open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { syncFolder } from '../../../client/src/node/replace-file.ts';
import { ownerOnlyFile } from '../durable-files.ts';
import { S3Error } from '../s3-error.ts';
import { uploadOf } from './upload-log.ts';

/** The access keys of open uploads, by the upload's id. */
export type Holders = ReadonlyMap<string, string>;

const readBytes = 262_144;
const ending = '.part';

export class Spool {
  readonly #folder: string;
  readonly #bytesMax: number;
  readonly #holders: Holders;
  /** Bytes by file, also of files that are being written. */
  readonly #sizes = new Map<string, number>();

  private constructor(folder: string, bytesMax: number, holders: Holders) {
    this.#folder = folder;
    this.#bytesMax = bytesMax;
    this.#holders = holders;
  }

  /**
   * Opens the spool, and counts the files of an earlier run. `report` receives the error of a file
   * that cannot be examined: the completion of its upload fails, the other uploads continue.
   */
  static async open(
    folder: string,
    bytesMax: number,
    holders: Holders,
    report: (name: string, error: Error) => void = () => {},
  ): Promise<Spool> {
    const spool = new Spool(folder, bytesMax, holders);
    for (const name of await readdir(folder)) {
      if (!name.endsWith(ending)) continue;
      const stats = await stat(join(folder, name)).catch((error) => report(name, error));
      spool.#sizes.set(name, stats?.size ?? 0);
    }
    return spool;
  }

  /**
   * Writes the bytes to a file and returns its name. Throws SlowDown if the disk has no space, or
   * if the access key would use more than half of what others leave.
   */
  async write(uploadId: string, bytes: AsyncIterable<Uint8Array>, size: number): Promise<string> {
    this.#requireSpace(uploadId, size);
    const name = `${uploadId}.${randomBytes(8).toString('hex')}${ending}`;
    this.#sizes.set(name, size);
    let handle: FileHandle | undefined;
    try {
      handle = await open(join(this.#folder, name), 'wx', ownerOnlyFile);
      for await (const piece of bytes) await handle.writeFile(piece);
      await handle.sync();
      await syncFolder(this.#folder);
      return name;
    } catch (error) {
      await this.remove(name);
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      throw noSpace(`The S3 server's disk has no space for ${size} more bytes`, error);
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
    await rm(join(this.#folder, name), { force: true });
    this.#sizes.delete(name);
  }

  #requireSpace(uploadId: string, size: number): void {
    const holder = this.#holders.get(uploadId);
    let [own, others] = [0, 0];
    for (const [name, bytes] of this.#sizes) {
      if (this.#holders.get(uploadOf(name)) === holder) own += bytes;
      else others += bytes;
    }
    const ownMax = Math.floor((this.#bytesMax - others) / 2);
    if (own + size <= ownMax) return;
    const words = `With ${size} more bytes, parts of this access key would take ${own + size} bytes`;
    throw noSpace(`${words} of the S3 server's disk; at most ${ownMax} are for it now`);
  }
}

function noSpace(words: string, cause?: unknown): S3Error {
  const remedy =
    'complete or abort other uploads, or send parts of equal length to a bucket that is not ' +
    'end-to-end.';
  return new S3Error('SlowDown', `${words}: ${remedy}`, { cause });
}
