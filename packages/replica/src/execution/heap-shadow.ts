// A copy of a canister's heap as of its last committed message. Comparing finds the pages that a
// message changed; copying commits or takes them back. V8 gives no page faults, so this is the
// cheapest way that needs no instrumented stores.

import { osPageBytes } from '../core.ts';

const blockBytes = 64 * 1024;
const pagesPerBlock = blockBytes / osPageBytes;
const zeros = Buffer.alloc(blockBytes);

/** Pages of 4 KiB by index, with their bytes. */
export type PageImages = readonly { readonly page: number; readonly bytes: Uint8Array }[];

export class HeapShadow {
  #copy = Buffer.alloc(0);
  #size = 0;
  /** Blocks that are not all zeros in a fresh heap of the module, by their starts. */
  #seeded: Set<number> | undefined;

  /** Bytes of the heap as of the last commit. */
  get size(): number {
    return this.#size;
  }

  /** The heap as of the last commit, to be read only. */
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

  /** Indices of the 4 KiB pages in which `live` differs; room behind the old end counts as zero. */
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

  /** The first is of a fresh heap. */
  commit(live: Buffer, dirty: readonly number[]): void {
    this.#seeded ??= new Set(dirty.map((page) => page - (page % pagesPerBlock)));
    this.#resize(live.length);
    for (const page of dirty) {
      const start = page * osPageBytes;
      live.copy(this.#copy, start, start, start + osPageBytes);
    }
  }

  /** `live` must be as large as the shadow. */
  restore(live: Buffer, dirty: readonly number[]): void {
    for (const page of dirty) {
      const start = page * osPageBytes;
      this.#copy.copy(live, start, start, start + osPageBytes);
    }
  }

  /**
   * Makes of a fresh heap of its size what the shadow is. To write a page for the first time costs
   * more than to copy it: those that are zeros in both stay untouched.
   */
  restoreAll(live: Buffer): void {
    for (let start = 0; start < this.#size; start += blockBytes) {
      const end = start + blockBytes;
      const isZero = this.#copy.compare(zeros, 0, blockBytes, start, end) === 0;
      if (isZero && this.#seeded?.has(start / osPageBytes) !== true) continue;
      this.#copy.copy(live, start, start, end);
    }
  }

  /** Heaps grow in small steps: a quarter of room spares most copies. */
  #resize(size: number): void {
    if (size > this.#copy.length) {
      const larger = Buffer.alloc(this.#size === 0 ? size : Math.ceil(size * 1.25));
      this.#copy.copy(larger, 0, 0, this.#size);
      this.#copy = larger;
    }
    this.#size = size;
  }
}
