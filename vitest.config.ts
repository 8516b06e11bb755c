// `npm test` runs everything but the soaks, which take minutes: `npm run soak` runs those.

import { defineConfig } from 'vitest/config';
import { LongestFirst } from './tests/support/longest-first.ts';

const isSoak = process.env.EFS_SOAK === '1';

export default defineConfig({
  test: {
    include: [isSoak ? 'tests/soak/**/*.test.ts' : 'tests/**/*.test.ts'],
    exclude: isSoak ? [] : ['tests/soak/**'],
    // Two at a time: several files build Wasm or run a whole replica, and machines may be small.
    maxWorkers: 2,
    // Files of a worker share its modules: compiling the canister anew for each costs minutes.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    testTimeout: 60_000,
    hookTimeout: 120_000,
    globalSetup: ['tests/support/build.ts'],
    setupFiles: ['tests/support/seed.ts'],
  },
});
