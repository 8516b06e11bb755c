// Which 4 KiB pages of stable memory a message has touched: bits, in blocks that are there once a
// page of theirs was. Most accesses are to the page of the one before, which costs a comparison.

import { osPageBytes } from '../core.ts';

/** A block's bits are 4 KiB. */
const pagesPerBlock = 32_768;

export class PageSet {
  readonly #blocks = new Map<number, Uint8Array>();
  /** Pages in it. */
  count = 0;
  #latest = -1;

  /** Takes the pages of a range of one byte or more. */
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
