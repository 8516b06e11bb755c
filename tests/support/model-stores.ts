// Memory stores that can be upgraded: a new kernel instance and newly opened spaces on the same
// stable memory, with the same maps. The state of src on the heap is lost, and the network provides
// the root keys again.

import {
  createMemoryStores,
  type MemoryStores,
  type NotedChange,
  upgradeStores,
} from './memory-stores.ts';

export interface UpgradableStores {
  /** Call it again after each upgrade. */
  readonly current: () => MemoryStores;
  readonly upgrade: () => Promise<void>;
  readonly stableBytes: () => number;
  /** All changes that were noted for the journal, also before upgrades. */
  readonly noted: () => readonly NotedChange[];
}

export async function createUpgradableStores(): Promise<UpgradableStores> {
  let stores = await createMemoryStores();
  let upgrades = 0;
  const before: NotedChange[] = [];
  return {
    current: () => stores,
    async upgrade() {
      upgrades += 1;
      const former = stores.writeCount();
      before.push(...stores.noted);
      const upgraded = await upgradeStores(stores, 7 + upgrades);
      stores = { ...upgraded, writeCount: () => former + upgraded.writeCount() };
    },
    noted: () => [...before, ...stores.noted],
    stableBytes: () => stores.system.stable.length,
  };
}
