// Stable memory in a query: an overlay holds the writes and is discarded, so that none reach the
// store.

import type { StableMemory } from '../core.ts';
import { osPageBytes } from '../core.ts';

const pagesMax = 500 * 1024 * 16;

export class QueryStable implements StableMemory {
  readonly #base: StableMemory;
  readonly #written = new Map<number, Uint8Array>();
  #basePages: number;
  #pages: number;

  constructor(base: StableMemory) {
    this.#base = base;
    this.#basePages = base.pages();
    this.#pages = this.#basePages;
  }

  pages(): number {
    return this.#pages;
  }

  grow(pages: number): number {
    const former = this.#pages;
    if (former + pages > pagesMax) return -1;
    this.#pages += pages;
    return former;
  }

  #readBase(offset: number, target: Uint8Array): void {
    const available = Math.max(0, this.#basePages * 65_536 - offset);
    const inside = Math.min(target.length, available);
    if (inside > 0) this.#base.read(offset, target.subarray(0, inside));
    target.fill(0, inside);
  }

  read(offset: number, target: Uint8Array): void {
    this.#readBase(offset, target);
    if (this.#written.size === 0) return;
    this.#eachPage(offset, target.length, (page, span) => {
      const bytes = this.#written.get(page);
      if (bytes) target.set(bytes.subarray(span.start, span.end), span.at);
    });
  }

  write(offset: number, source: Uint8Array): void {
    this.#eachPage(offset, source.length, (page, span) => {
      let bytes = this.#written.get(page);
      if (bytes === undefined) {
        bytes = new Uint8Array(osPageBytes);
        this.#readBase(page * osPageBytes, bytes);
        this.#written.set(page, bytes);
      }
      bytes.set(source.subarray(span.at, span.at + span.end - span.start), span.start);
    });
  }

  /** Visits each 4 KiB page of the range, with the part inside the range and its buffer offset. */
  #eachPage(
    offset: number,
    length: number,
    visit: (page: number, span: { start: number; end: number; at: number }) => void,
  ): void {
    for (let at = 0; at < length; ) {
      const page = Math.floor((offset + at) / osPageBytes);
      const start = offset + at - page * osPageBytes;
      const end = Math.min(osPageBytes, start + length - at);
      visit(page, { start, end, at });
      at += end - start;
    }
  }

  dirtyPages(): number {
    return this.#written.size;
  }

  clear(): void {
    this.#written.clear();
    this.#basePages = 0;
    this.#pages = 0;
  }

  rollback(): void {
    this.#written.clear();
    this.#basePages = this.#base.pages();
    this.#pages = this.#basePages;
  }
}
