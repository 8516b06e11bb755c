// The committed memory of one canister, stable or heap, as a sparse file that is read through the
// shared cache. The file has the state of the last checkpoint; later commits are in the journal
// and, here, in memory. Each page read from the file is verified by its checksum.

import {
  closeSync,
  constants,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  rmSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { osPageBytes } from '../core.ts';
import { StateDamage } from '../state-damage.ts';
import { fileMode, folderMode, readFully, syncDirectory, writePartsFully } from './durable-file.ts';
import { applyHeapChange, type PreparedHeap } from './heap-change.ts';
import { blockBytes, type PageCache } from './page-cache.ts';
import { PageSums, pageSum } from './page-sums.ts';
import type { StableChange } from './stable-overlay.ts';
import type { WritableBase } from './state-store.ts';

let lastCacheNumber = 0;
const partsPerCallMax = 1_000;

/** Merges parts that are adjacent in memory, as the pages of one write are. */
function joined(parts: readonly Uint8Array[]): Uint8Array[] {
  const whole: Uint8Array[] = [];
  for (const part of parts) {
    const former = whole.at(-1);
    const isNext =
      former?.buffer === part.buffer && former.byteOffset + former.length === part.byteOffset;
    if (former !== undefined && isNext) {
      const { buffer, byteOffset, length } = former;
      whole[whole.length - 1] = new Uint8Array(buffer, byteOffset, length + part.length);
    } else whole.push(part);
  }
  return whole;
}

/** The facts about a page file that a snapshot stores. */
export interface PageFileFacts {
  /** In Wasm pages. */
  readonly pages: number;
  /** Minimum length of the file. */
  readonly bytes: number;
  readonly sums: Uint8Array;
}

export const noPages: PageFileFacts = { pages: 0, bytes: 0, sums: new Uint8Array(0) };

export class PageFile implements WritableBase {
  readonly #path: string;
  readonly #cache: PageCache;
  readonly #cacheNumber: number;
  readonly #sums: PageSums;
  readonly #onWrite: (bytes: number) => void;
  /** Pages committed since the checkpoint. */
  readonly #pending = new Map<number, Uint8Array>();
  #file: number | undefined;
  #facts: PageFileFacts;
  #pages: number;
  /** Whether the content of the file no longer belongs to the memory. */
  #isCleared: boolean;

  /** `path` without extension: `.bin` has the pages, `.sums` their checksums. */
  constructor(
    path: string,
    options: {
      readonly cache: PageCache;
      readonly facts: PageFileFacts;
      readonly onWrite: (bytes: number) => void;
    },
  ) {
    this.#path = `${path}.bin`;
    this.#cache = options.cache;
    this.#facts = options.facts;
    this.#onWrite = options.onWrite;
    this.#pages = options.facts.pages;
    this.#sums = new PageSums(`${path}.sums`, options.facts.sums);
    // Without committed pages, an existing file is a leftover of a deleted canister.
    this.#isCleared = options.facts.bytes === 0;
    lastCacheNumber += 1;
    this.#cacheNumber = lastCacheNumber;
  }

  pages(): number {
    return this.#pages;
  }

  /** Throws StateDamage if a page differs from what was written. */
  read(offset: number, target: Uint8Array): void {
    let done = 0;
    while (done < target.length) {
      const block = Math.floor((offset + done) / blockBytes);
      const start = offset + done - block * blockBytes;
      const length = Math.min(blockBytes - start, target.length - done);
      const part = target.subarray(done, done + length);
      this.#readPart(block, start, part);
      if (this.#pending.size > 0) this.#overlay(offset + done, part);
      done += length;
    }
  }

  apply(change: StableChange): void {
    if (change.cleared) this.clear();
    for (const { firstPage, bytes } of change.runs) {
      for (let at = 0; at < bytes.length; at += osPageBytes) {
        this.#pending.set(firstPage + at / osPageBytes, bytes.subarray(at, at + osPageBytes));
      }
    }
    this.#pages = change.pages;
  }

  applyHeap(change: PreparedHeap): void {
    if (change.cleared) this.clear();
    applyHeapChange(change, (page) => this.#ownPage(page));
    this.#pages = change.pages;
  }

  /** Returns whether the journal has the whole page, so that a change may be a part of it. */
  hasPending(page: number): boolean {
    return this.#pending.has(page);
  }

  clear(): void {
    this.#pending.clear();
    this.#cache.forget(this.#cacheNumber);
    this.#isCleared = true;
    this.#pages = 0;
  }

  /** Writes the applied changes to the file and flushes it. */
  checkpoint(): PageFileFacts {
    const isEmpty = this.#pending.size === 0;
    if (this.#isCleared && isEmpty) this.#facts = { ...noPages, pages: this.#pages };
    else if (!isEmpty) this.#writePending();
    else this.#facts = { ...this.#facts, pages: this.#pages };
    return this.#facts;
  }

  /** Throws StateDamage if the file or its checksum file is missing, truncated or older. */
  check(): void {
    if (this.#isCleared) return;
    if (fstatSync(this.#open()).size < this.#facts.bytes) {
      throw new StateDamage(`The file ${this.#path} is missing or truncated`);
    }
    this.#sums.check();
  }

  /** Verifies all pages. Throws StateDamage. */
  checkPages(): void {
    const target = new Uint8Array(blockBytes);
    const blocks = this.#isCleared ? 0 : Math.ceil(this.#facts.bytes / blockBytes);
    for (let block = 0; block < blocks; block += 1) this.#readFile(block, target);
  }

  /** Accepts the file's pages without checksums, for a folder of the former layout. */
  adopt(): void {
    if (this.#pages === 0) return;
    const file = this.#open();
    const { size } = fstatSync(file);
    const target = new Uint8Array(osPageBytes);
    for (let position = 0; position < size; position += osPageBytes) {
      target.fill(0, readFully(file, { target, position }));
      const sum = pageSum(target);
      if (sum !== 0) this.#sums.set(position / osPageBytes, sum);
    }
    this.#isCleared = false;
    this.#facts = { pages: this.#pages, bytes: size, sums: this.#sums.write() };
  }

  /** Removes the files of a deleted canister. */
  remove(): void {
    this.clear();
    this.close();
    this.#sums.remove();
    rmSync(dirname(this.#path), { recursive: true, force: true });
    this.#facts = noPages;
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  #open(): number {
    if (this.#file !== undefined) return this.#file;
    mkdirSync(dirname(this.#path), { recursive: true, mode: folderMode });
    this.#file = openSync(this.#path, constants.O_RDWR | constants.O_CREAT, fileMode);
    return this.#file;
  }

  /** Returns the pending page for changing it in place, or a new one, which its change fills. */
  #ownPage(page: number): Uint8Array {
    const known = this.#pending.get(page);
    if (known !== undefined) return known;
    const made = new Uint8Array(osPageBytes);
    this.#pending.set(page, made);
    return made;
  }

  #writePending(): void {
    const file = this.#open();
    if (this.#isCleared) {
      ftruncateSync(file, 0);
      this.#sums.clear();
    }
    let bytes = this.#isCleared ? 0 : this.#facts.bytes;
    const pages = Float64Array.from(this.#pending.keys()).sort();
    for (let start = 0; start < pages.length; ) {
      const first = pages[start] ?? 0;
      const parts: Uint8Array[] = [];
      while (
        pages[start + parts.length] === first + parts.length &&
        parts.length < partsPerCallMax
      ) {
        parts.push(this.#ownPage(first + parts.length));
      }
      this.#writeRun(file, first, parts);
      bytes = Math.max(bytes, (first + parts.length) * osPageBytes);
      start += parts.length;
    }
    fdatasyncSync(file);
    const sums = this.#sums.write();
    syncDirectory(dirname(this.#path));
    syncDirectory(dirname(dirname(this.#path)));
    this.#facts = { pages: this.#pages, bytes, sums };
    this.#isCleared = false;
    this.#pending.clear();
  }

  #writeRun(file: number, first: number, parts: readonly Uint8Array[]): void {
    const length = parts.length * osPageBytes;
    this.#onWrite(length);
    writePartsFully(file, { parts: joined(parts), length, position: first * osPageBytes });
    parts.forEach((content, index) => {
      this.#sums.set(first + index, pageSum(content));
      this.#updateCache((first + index) * osPageBytes, content);
    });
  }

  #readPart(block: number, start: number, part: Uint8Array): void {
    if (this.#isCleared) {
      part.fill(0);
      return;
    }
    const cached = this.#cache.get(this.#cacheNumber, block);
    // A read of a whole block is a bulk read, which would displace small ones in the cache.
    if (cached === undefined && part.length === blockBytes) this.#readFile(block, part);
    else part.set((cached ?? this.#load(block)).subarray(start, start + part.length));
  }

  #overlay(offset: number, part: Uint8Array): void {
    const last = Math.floor((offset + part.length - 1) / osPageBytes);
    for (let page = Math.floor(offset / osPageBytes); page <= last; page += 1) {
      const content = this.#pending.get(page);
      if (content === undefined) continue;
      const from = Math.max(offset, page * osPageBytes);
      const to = Math.min(offset + part.length, (page + 1) * osPageBytes);
      const start = page * osPageBytes;
      part.set(content.subarray(from - start, to - start), from - offset);
    }
  }

  #load(block: number): Uint8Array {
    return this.#cache.add({ file: this.#cacheNumber, block }, (bytes) =>
      this.#readFile(block, bytes),
    );
  }

  /** Fills `target`, a block. Pages that a crash left newer in the file are also in the journal. */
  #readFile(block: number, target: Uint8Array): void {
    const count = readFully(this.#open(), { target, position: block * blockBytes });
    if (count < target.length) target.fill(0, count);
    for (let at = 0; at < blockBytes; at += osPageBytes) {
      const page = (block * blockBytes + at) / osPageBytes;
      const expected = this.#sums.get(page);
      const content = target.subarray(at, at + osPageBytes);
      if (expected === 0 && at >= count) continue;
      if (pageSum(content) === expected || this.#pending.has(page)) continue;
      // A page without a checksum, beyond the recorded length: an interrupted checkpoint wrote it.
      if (expected === 0 && page * osPageBytes >= this.#facts.bytes) content.fill(0);
      else throw this.#damaged(page);
    }
  }

  #damaged(page: number): StateDamage {
    return new StateDamage(
      `Page ${page} of the file ${this.#path} is damaged, or older than the snapshot; restore it ` +
        'from a copy, or start with --repair to see what else is intact',
    );
  }

  #updateCache(offset: number, source: Uint8Array): void {
    const block = Math.floor(offset / blockBytes);
    this.#cache.get(this.#cacheNumber, block)?.set(source, offset - block * blockBytes);
  }
}
