// A copy of a canister's heap at its last commit. Comparing the two finds the pages that a message
// changed; copying commits or reverts them. V8 reports no page faults, so this is the cheapest way
// without instrumenting stores.

import { constants } from 'node:buffer';
import { osPageBytes } from '../core.ts';

const blockBytes = 64 * 1024;
const pagesPerBlock = blockBytes / osPageBytes;
const zeros = Buffer.alloc(blockBytes);

/** Index and bytes of 4 KiB pages. */
export type PageImages = readonly { readonly page: number; readonly bytes: Uint8Array }[];

export class HeapShadow {
  #copy = Buffer.alloc(0);
  #size = 0;
  /** Offsets of blocks that are not all zeros in a fresh heap of the module. */
  #seeded: Set<number> | undefined;

  get size(): number {
    return this.#size;
  }

  /** Returns the heap at the last commit, for reading only. */
  committed(): Buffer {
    return this.#copy.subarray(0, this.#size);
  }

  #isBlockClean(live: Buffer, start: number): boolean {
    const end = start + blockBytes;
    if (start < this.#size) return live.compare(this.#copy, start, end, start, end) === 0;
    return live.compare(zeros, 0, blockBytes, start, end) === 0;
  }

  #isPageClean(live: Buffer, start: number): boolean {
    const end = start + osPageBytes;
    if (start < this.#size) return live.compare(this.#copy, start, end, start, end) === 0;
    return live.compare(zeros, 0, osPageBytes, start, end) === 0;
  }

  /** Returns the indices of the 4 KiB pages that differ; bytes beyond the old end count as zero. */
  scan(live: Buffer): number[] {
    const dirty: number[] = [];
    for (let block = 0; block < live.length; block += blockBytes) {
      if (this.#isBlockClean(live, block)) continue;
      for (let start = block; start < block + blockBytes; start += osPageBytes) {
        if (!this.#isPageClean(live, start)) dirty.push(start / osPageBytes);
      }
    }
    return dirty;
  }

  /** The first commit is of a fresh heap. */
  commit(live: Buffer, dirty: readonly number[]): void {
    this.#seeded ??= new Set(dirty.map((page) => page - (page % pagesPerBlock)));
    this.#resize(live.length);
    for (const page of dirty) {
      const start = page * osPageBytes;
      live.copy(this.#copy, start, start, start + osPageBytes);
    }
  }

  /** `live` must have the size of the shadow. */
  restore(live: Buffer, dirty: readonly number[]): void {
    for (const page of dirty) {
      const start = page * osPageBytes;
      this.#copy.copy(live, start, start, start + osPageBytes);
    }
  }

  /** Copies the shadow into a fresh heap of its size. */
  restoreAll(live: Buffer): void {
    this.#eachUsedBlock((start, end) => this.#copy.copy(live, start, start, end));
  }

  /**
   * Heaps grow in small steps, so a quarter of spare capacity avoids most copies. Node 20 has no
   * buffer of more than 4 GiB, the maximum of a heap with 32-bit addresses.
   */
  #resize(size: number): void {
    if (size > this.#copy.length) {
      const room = this.#size === 0 ? size : Math.ceil(size * 1.25);
      const larger = Buffer.alloc(Math.max(size, Math.min(room, constants.MAX_LENGTH)));
      this.#eachUsedBlock((start, end) => this.#copy.copy(larger, start, start, end));
      this.#copy = larger;
    }
    this.#size = size;
  }

  /** Skips zero blocks, because writing a page for the first time costs more than comparing it. */
  #eachUsedBlock(visit: (start: number, end: number) => void): void {
    for (let start = 0; start < this.#size; start += blockBytes) {
      const end = start + blockBytes;
      const isSeeded = this.#seeded?.has(start / osPageBytes) === true;
      if (isSeeded || this.#copy.compare(zeros, 0, blockBytes, start, end) !== 0) visit(start, end);
    }
  }
}
