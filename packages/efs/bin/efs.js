#!/usr/bin/env -S MALLOC_ARENA_MAX=1 MALLOC_MMAP_THRESHOLD_=131072 node --max-semi-space-size=1
// Starts the command `efs`. In the repository it first bundles the sources if one is newer than the
// bundle; the package contains only the bundle.
//
// Buffers of chunks are outside the JavaScript heap, and a garbage collection frees them. A small
// semi-space, which is collected often, reduces the peak memory by 40 MB. Mapping large buffers
// separately saves another 10 to 30 MB, which glibc would not return to the system.

import { existsSync } from 'node:fs';

const sources = new URL('../src', import.meta.url);
if (existsSync(sources)) {
  const { bundleWhenOlder } = await import('./bundle.js');
  await bundleWhenOlder();
}
const { main } = await import(new URL('../dist/efs.js', import.meta.url).href);
process.exitCode = await main(process.argv.slice(2));
