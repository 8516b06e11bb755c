// State stores in memory that begin as copies of one store, so that a state that takes seconds is
// created once. Copies have values, modules, and the records and stable memory of canisters.

import {
  type StableMemory,
  type StateStore,
  wasmPageBytes,
} from '../../packages/replica/src/core.ts';
import { createMemoryStore } from '../../packages/replica/src/persistence/memory-store.ts';

export interface CopiedStore {
  readonly store: StateStore;
  /** Returns an independent store with all committed data. */
  copy(): StateStore;
}

/** Returns an empty store and a function that copies it. */
export function createCopiedStore(): CopiedStore {
  const memory = createMemoryStore();
  const values = new Map<string, Uint8Array>();
  const modules = new Map<string, Uint8Array>();
  const store: StateStore = {
    ...memory,
    setValue(name, value) {
      values.set(name, value.slice());
      memory.setValue(name, value);
    },
    putModule(sha256Hex, module) {
      modules.set(sha256Hex, module.slice());
      memory.putModule(sha256Hex, module);
    },
  };
  function copy(): StateStore {
    const copied = createMemoryStore();
    for (const [name, value] of values) copied.setValue(name, value);
    for (const [sha256Hex, module] of modules) copied.putModule(sha256Hex, module);
    const canisters = store.load();
    for (const { id } of canisters) copyMemory(store.stableMemory(id), copied.stableMemory(id));
    const stableMemories = canisters.map(({ id }) => id);
    copied.commit({ canisters, stableMemories, cleared: [], deleted: [] });
    return copied;
  }
  return { store, copy };
}

/** Skips pages of zeros, most of which were never written. */
function copyMemory(from: StableMemory, to: StableMemory): void {
  const bytes = Buffer.alloc(wasmPageBytes);
  const zeros = Buffer.alloc(wasmPageBytes);
  to.grow(from.pages());
  for (let page = 0; page < from.pages(); page++) {
    from.read(page * wasmPageBytes, bytes);
    if (!bytes.equals(zeros)) to.write(page * wasmPageBytes, bytes);
  }
}
