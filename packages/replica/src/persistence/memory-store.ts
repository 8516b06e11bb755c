// A state store in memory: for tests, benchmarks and a replica without a state folder. Stable
// memory is a sparse map of 64 KiB pages; a page that was never written takes no space.

import { osPageBytes, type StateStore, wasmPageBytes } from '../core.ts';
import type { StableChange } from './stable-overlay.ts';
import { createStateStore, type WritableBase } from './state-store.ts';

/** Returns an empty store, which ends with the process. */
export function createMemoryStore(): StateStore {
  const bases = new Map<string, MemoryPages>();
  const modules = new Map<string, Uint8Array>();
  return createStateStore(
    {
      persist() {},
      applied() {},
      close() {},
      // Absent, because the store ends with the process, as heaps do.
      heaps: undefined,
      base(canisterId) {
        const known = bases.get(canisterId);
        if (known !== undefined) return known;
        const made = new MemoryPages();
        bases.set(canisterId, made);
        return made;
      },
      removeBase(canisterId) {
        bases.get(canisterId)?.apply({ canisterId, cleared: true, pages: 0, runs: [] });
      },
      putModule(sha256Hex, module) {
        modules.set(sha256Hex, module.slice());
      },
      getModule: (sha256Hex) => modules.get(sha256Hex)?.slice(),
    },
    { canisters: new Map(), values: new Map() },
  );
}

class MemoryPages implements WritableBase {
  readonly #content = new Map<number, Uint8Array>();
  #pages = 0;

  pages(): number {
    return this.#pages;
  }

  read(offset: number, target: Uint8Array): void {
    let done = 0;
    while (done < target.length) {
      const page = Math.floor((offset + done) / wasmPageBytes);
      const start = offset + done - page * wasmPageBytes;
      const length = Math.min(wasmPageBytes - start, target.length - done);
      const bytes = this.#content.get(page);
      if (bytes === undefined) target.fill(0, done, done + length);
      else target.set(bytes.subarray(start, start + length), done);
      done += length;
    }
  }

  apply(change: StableChange): void {
    if (change.cleared) this.#content.clear();
    for (const run of change.runs) this.#write(run.firstPage * osPageBytes, run.bytes);
    this.#pages = change.pages;
  }

  #write(offset: number, source: Uint8Array): void {
    let done = 0;
    while (done < source.length) {
      const page = Math.floor((offset + done) / wasmPageBytes);
      const start = offset + done - page * wasmPageBytes;
      const length = Math.min(wasmPageBytes - start, source.length - done);
      const target = this.#content.get(page) ?? new Uint8Array(wasmPageBytes);
      this.#content.set(page, target);
      target.set(source.subarray(done, done + length), start);
      done += length;
    }
  }
}
