#!/usr/bin/env -S MALLOC_ARENA_MAX=1 MALLOC_MMAP_THRESHOLD_=131072 node --max-semi-space-size=1
// Starts the command `efs`. In the repository its bundle is made first when a source is newer; the
// package brings the bundle alone.
//
// Chunks are kept outside the heap, and freed late: a small nursery takes 40 MB off what `efs` needs
// at most. Another 10 to 30 MB are what glibc keeps, unless buffers of megabytes are mapped one by
// one.

import { existsSync } from 'node:fs';

const sources = new URL('../src', import.meta.url);
if (existsSync(sources)) {
  const { bundleWhenOlder } = await import('./bundle.js');
  await bundleWhenOlder();
}
const { main } = await import(new URL('../dist/efs.js', import.meta.url).href);
process.exitCode = await main(process.argv.slice(2));
