// Memory stores that can be upgraded: a new kernel instance and newly opened spaces on the stable memory
// of before, with the maps of before. What src keeps on the heap is dropped.

import { FakeSystem, installNodeKernel } from './kernel-host.ts';
import { createMemoryStores, type MemoryStores } from './memory-stores.ts';

export interface UpgradableStores {
  /** Ask again after each upgrade. */
  readonly current: () => MemoryStores;
  readonly upgrade: () => Promise<void>;
  readonly stableBytes: () => number;
}

export async function createUpgradableStores(): Promise<UpgradableStores> {
  const system = new FakeSystem();
  let stores = await openOn(system);
  return {
    current: () => stores,
    async upgrade() {
      const { blobs, index, directory, writeCount } = await openOn(system);
      const former = stores;
      const countAll = () => former.writeCount() + writeCount();
      stores = { ...former, blobs, index, directory, writeCount: countAll };
    },
    stableBytes: () => system.stable.length,
  };
}

/** Spaces are opened when they are first used, so they lie in the kernel that is installed last. */
async function openOn(system: FakeSystem): Promise<MemoryStores> {
  const stores = await createMemoryStores();
  await installNodeKernel({ system });
  return stores;
}
