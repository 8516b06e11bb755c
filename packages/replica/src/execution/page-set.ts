// The set of 4 KiB pages of stable memory that a message has accessed, as bits in blocks that are
// created on demand. Most accesses are to the previous page, which only costs a comparison.

import { osPageBytes } from '../core.ts';

/** The bits of a block are 4 KiB. */
const pagesPerBlock = 32_768;

export class PageSet {
  readonly #blocks = new Map<number, Uint8Array>();
  count = 0;
  #latest = -1;

  /** Adds the pages of a range of at least one byte. */
  add(offset: number, size: number): void {
    const first = Math.floor(offset / osPageBytes);
    const last = Math.floor((offset + size - 1) / osPageBytes);
    if (first === this.#latest && last === first) return;
    for (let page = first; page <= last; page += 1) this.#addPage(page);
    this.#latest = last;
  }

  #addPage(page: number): void {
    const index = Math.floor(page / pagesPerBlock);
    let block = this.#blocks.get(index);
    if (block === undefined) {
      block = new Uint8Array(pagesPerBlock / 8);
      this.#blocks.set(index, block);
    }
    const place = page % pagesPerBlock;
    const bit = 1 << (place & 7);
    const byte = block[place >> 3] ?? 0;
    if (byte & bit) return;
    block[place >> 3] = byte | bit;
    this.count += 1;
  }
}
