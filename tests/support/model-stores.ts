// Memory stores that can be upgraded: a new kernel instance and newly opened spaces on the stable memory
// of before, with the maps of before. What src keeps on the heap is dropped, and the root keys come
// again from the network.

import { createMemoryStores, type MemoryStores, upgradeStores } from './memory-stores.ts';

export interface UpgradableStores {
  /** Ask again after each upgrade. */
  readonly current: () => MemoryStores;
  readonly upgrade: () => Promise<void>;
  readonly stableBytes: () => number;
}

export async function createUpgradableStores(): Promise<UpgradableStores> {
  let stores = await createMemoryStores();
  let upgrades = 0;
  return {
    current: () => stores,
    async upgrade() {
      upgrades += 1;
      const former = stores.writeCount();
      const upgraded = await upgradeStores(stores, 7 + upgrades);
      stores = { ...upgraded, writeCount: () => former + upgraded.writeCount() };
    },
    stableBytes: () => stores.system.stable.length,
  };
}
