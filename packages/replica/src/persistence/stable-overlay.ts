// Stable memory for a message: the committed pages of a base, and above them the writes of the
// running message. Every store uses this class. IC spec, "Stable memory": size in pages of 64 KiB,
// zero-filled, writes are dropped when a message traps.

import { osPageBytes, type StableMemory, wasmPageBytes } from '../core.ts';

/** Committed stable memory of one canister. */
export interface StableBase {
  /** Size in Wasm pages of 64 KiB. */
  pages(): number;
  /** Fills `target` from byte `offset` on; bytes that were never written are zero. */
  read(offset: number, target: Uint8Array): void;
}

/** Adjacent 4 KiB pages in one array. */
export interface PageRun {
  readonly firstPage: number;
  /** A whole number of 4 KiB pages. */
  readonly bytes: Uint8Array;
}

/** The change that one commit makes to one stable memory. */
export interface StableChange {
  readonly canisterId: string;
  /** Whether the former content is removed before the runs are written. */
  readonly cleared: boolean;
  /** Size in Wasm pages after the change. */
  readonly pages: number;
  readonly runs: readonly PageRun[];
}

/** 500 GiB in Wasm pages: the network's limit for one canister. */
const stablePagesMax = (500 * 2 ** 30) / wasmPageBytes;
const sparePagesMax = 1_024;

export class StableOverlay implements StableMemory {
  readonly #base: StableBase;
  readonly #dirty = new Map<number, Uint8Array>();
  readonly #spare: Uint8Array[] = [];
  #size: number;
  #cleared = false;

  constructor(base: StableBase) {
    this.#base = base;
    this.#size = base.pages();
  }

  pages(): number {
    return this.#size;
  }

  grow(pages: number): number {
    const former = this.#size;
    if (pages < 0 || former + pages > stablePagesMax) return -1;
    this.#size = former + pages;
    return former;
  }

  read(offset: number, target: Uint8Array): void {
    if (this.#dirty.size === 0) {
      this.#readBase(offset, target);
      return;
    }
    let done = 0;
    while (done < target.length) {
      const page = Math.floor((offset + done) / osPageBytes);
      const own = this.#dirty.get(page);
      const end =
        own === undefined
          ? this.#endOfCleanRun(page, offset + target.length)
          : Math.min((page + 1) * osPageBytes, offset + target.length);
      const part = target.subarray(done, end - offset);
      if (own === undefined) this.#readBase(offset + done, part);
      else part.set(own.subarray(offset + done - page * osPageBytes, end - page * osPageBytes));
      done = end - offset;
    }
  }

  write(offset: number, source: Uint8Array): void {
    let done = 0;
    while (done < source.length) {
      const page = Math.floor((offset + done) / osPageBytes);
      const start = offset + done - page * osPageBytes;
      const length = Math.min(osPageBytes - start, source.length - done);
      const target = this.#dirty.get(page) ?? this.#makeDirty(page, length < osPageBytes);
      target.set(source.subarray(done, done + length), start);
      done += length;
    }
  }

  dirtyPages(): number {
    return this.#dirty.size;
  }

  clear(): void {
    this.#forgetPages();
    this.#size = 0;
    this.#cleared = true;
  }

  rollback(): void {
    this.#forgetPages();
    this.#size = this.#base.pages();
    this.#cleared = false;
  }

  /** Returns the change to commit, if any. `cleared`: it drops the former content. */
  change(canisterId: string, cleared: boolean): StableChange | undefined {
    if (cleared && !this.#cleared) this.#dropBase();
    const isSame = !this.#cleared && this.#size === this.#base.pages() && this.#dirty.size === 0;
    if (isSame) return undefined;
    return { canisterId, cleared: this.#cleared, pages: this.#size, runs: this.#runs() };
  }

  /** Must be called after the base has applied the change; empties the overlay. */
  settle(): void {
    this.rollback();
  }

  /**
   * Drops the base in this commit; keeps the pages by which the memory grew, and the writes within
   * that size.
   */
  #dropBase(): void {
    this.#size -= this.#base.pages();
    this.#cleared = true;
    const end = (this.#size * wasmPageBytes) / osPageBytes;
    for (const page of [...this.#dirty.keys()]) if (page >= end) this.#dirty.delete(page);
  }

  #readBase(offset: number, target: Uint8Array): void {
    if (this.#cleared) target.fill(0);
    else this.#base.read(offset, target);
  }

  #endOfCleanRun(page: number, limit: number): number {
    let next = page + 1;
    while (next * osPageBytes < limit && !this.#dirty.has(next)) next += 1;
    return Math.min(next * osPageBytes, limit);
  }

  #makeDirty(page: number, needsContent: boolean): Uint8Array {
    const bytes = this.#spare.pop() ?? new Uint8Array(osPageBytes);
    if (needsContent) this.#readBase(page * osPageBytes, bytes);
    this.#dirty.set(page, bytes);
    return bytes;
  }

  #forgetPages(): void {
    for (const bytes of this.#dirty.values()) {
      if (this.#spare.length >= sparePagesMax) break;
      this.#spare.push(bytes);
    }
    this.#dirty.clear();
  }

  #runs(): PageRun[] {
    const pages = [...this.#dirty].sort(([left], [right]) => left - right);
    const runs: PageRun[] = [];
    for (let start = 0; start < pages.length; ) {
      const firstPage = pages[start]?.[0] ?? 0;
      let end = start + 1;
      while (pages[end]?.[0] === firstPage + end - start) end += 1;
      const bytes = new Uint8Array((end - start) * osPageBytes);
      for (let at = start; at < end; at += 1) {
        bytes.set(pages[at]?.[1] ?? new Uint8Array(0), (at - start) * osPageBytes);
      }
      runs.push({ firstPage, bytes });
      start = end;
    }
    return runs;
  }
}
