// The committed stable memory of one canister as a sparse file, read through the shared cache. A
// change is in the journal before it comes here, so a write that a crash cuts short is repeated at
// the next start.

import {
  closeSync,
  constants,
  fdatasyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  rmSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { osPageBytes } from '../core.ts';
import { fileMode, folderMode, readFully, syncDirectory, writeFully } from './durable-file.ts';
import { blockBytes, type PageCache } from './page-cache.ts';
import type { StableChange } from './stable-overlay.ts';
import type { WritableBase } from './state-store.ts';

let lastCacheNumber = 0;

export class PageFile implements WritableBase {
  readonly #path: string;
  readonly #cache: PageCache;
  readonly #cacheNumber: number;
  #file: number | undefined;
  #pages: number;
  #isUnsynced = false;

  /** `pages`: the size as of the snapshot; the file's own length says nothing, it is sparse. */
  constructor(path: string, options: { readonly cache: PageCache; readonly pages: number }) {
    this.#path = path;
    this.#cache = options.cache;
    this.#pages = options.pages;
    lastCacheNumber += 1;
    this.#cacheNumber = lastCacheNumber;
  }

  pages(): number {
    return this.#pages;
  }

  read(offset: number, target: Uint8Array): void {
    let done = 0;
    while (done < target.length) {
      const block = Math.floor((offset + done) / blockBytes);
      const start = offset + done - block * blockBytes;
      const length = Math.min(blockBytes - start, target.length - done);
      const part = target.subarray(done, done + length);
      const cached = this.#cache.get(this.#cacheNumber, block);
      // A read of a whole block is a bulk read: it would only push the small ones out of the cache.
      if (cached === undefined && length === blockBytes) this.#readFile(block * blockBytes, part);
      else part.set((cached ?? this.#load(block)).subarray(start, start + length));
      done += length;
    }
  }

  apply(change: StableChange): void {
    if (change.cleared) this.#clear();
    for (const { firstPage, bytes } of change.runs) {
      writeFully(this.#open(), { source: bytes, position: firstPage * osPageBytes });
      this.#isUnsynced = true;
      this.#updateCache(firstPage * osPageBytes, bytes);
    }
    this.#pages = change.pages;
  }

  /** Brings what was applied onto the disk itself. */
  sync(): void {
    if (!this.#isUnsynced) return;
    fdatasyncSync(this.#open());
    syncDirectory(dirname(this.#path));
    syncDirectory(dirname(dirname(this.#path)));
    this.#isUnsynced = false;
  }

  /** The canister is gone for good. */
  remove(): void {
    this.close();
    this.#cache.forget(this.#cacheNumber);
    rmSync(dirname(this.#path), { recursive: true, force: true });
    this.#pages = 0;
    this.#isUnsynced = false;
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  #clear(): void {
    ftruncateSync(this.#open(), 0);
    this.#cache.forget(this.#cacheNumber);
    this.#isUnsynced = true;
  }

  #open(): number {
    if (this.#file !== undefined) return this.#file;
    mkdirSync(dirname(this.#path), { recursive: true, mode: folderMode });
    this.#file = openSync(this.#path, constants.O_RDWR | constants.O_CREAT, fileMode);
    // Nothing is committed, so what the file holds is left from a canister that a power cut brought
    // back.
    if (this.#pages === 0) ftruncateSync(this.#file, 0);
    return this.#file;
  }

  #load(block: number): Uint8Array {
    return this.#cache.add({ file: this.#cacheNumber, block }, (bytes) =>
      this.#readFile(block * blockBytes, bytes),
    );
  }

  #readFile(position: number, target: Uint8Array): void {
    const count = readFully(this.#open(), { target, position });
    if (count < target.length) target.fill(0, count);
  }

  #updateCache(offset: number, source: Uint8Array): void {
    let done = 0;
    while (done < source.length) {
      const block = Math.floor((offset + done) / blockBytes);
      const start = offset + done - block * blockBytes;
      const length = Math.min(blockBytes - start, source.length - done);
      this.#cache.get(this.#cacheNumber, block)?.set(source.subarray(done, done + length), start);
      done += length;
    }
  }
}
