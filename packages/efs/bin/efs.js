#!/usr/bin/env -S node --max-semi-space-size=1
// Starts the command `efs`. In the repository its bundle is made first when a source is newer; the
// package brings the bundle alone.
//
// Chunks are kept outside the heap: a small nursery has them freed sooner, for 40 MB less.

import { existsSync } from 'node:fs';

const sources = new URL('../src', import.meta.url);
if (existsSync(sources)) {
  const { bundleWhenOlder } = await import('./bundle.js');
  await bundleWhenOlder();
}
const { main } = await import(new URL('../dist/efs.js', import.meta.url).href);
process.exitCode = await main(process.argv.slice(2));
