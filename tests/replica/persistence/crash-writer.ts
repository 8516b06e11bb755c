// A process that commits in a loop and prints each number after the commit returns, until it is
// killed. Every commit changes two canisters, distant pages, a bulk region and a value.

import { writeSync } from 'node:fs';
import { openDiskStore } from '../../../packages/replica/src/persistence/disk-store.ts';
import { canisterIds, pagesInWasm, recordOf, writeGeneration } from './generations.ts';

const [directory = '', first = '1'] = process.argv.slice(2);
const store = openDiskStore(directory, { checkpointBytes: 400_000 });
for (const id of canisterIds) {
  const memory = store.stableMemory(id);
  if (memory.pages() < pagesInWasm) memory.grow(pagesInWasm - memory.pages());
}
for (let generation = Number(first); ; generation += 1) {
  for (const id of canisterIds) writeGeneration(store.stableMemory(id), generation);
  store.commit({
    canisters: canisterIds.map((id) => ({ id, record: recordOf(generation) })),
    stableMemories: canisterIds,
    cleared: [],
    deleted: [],
  });
  writeSync(1, `${generation}\n`);
}
