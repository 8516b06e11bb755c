// Suites that this configuration leaves out have commands of their own: the soaks take hours
// (`npm run soak`), third-party clients must be installed (`npm run clients`), and third-party
// canisters are the user's files (`npm run replica:foreign`). `npm run judge` runs some on a network
// in another process.

import { defineConfig } from 'vitest/config';
import { clientsAsked } from './tests/clients/support/programs.ts';
import { foreignSuite } from './tests/foreign/support/foreign-files.ts';
import { DurationRecorder, LongestFirst } from './tests/support/longest-first.ts';
import { JudgeReporter } from './tests/support/network/judge-reporter.ts';
import { judgedFiles } from './tests/support/network/judged-files.ts';

const { EFS_SUITE = 'usual' } = process.env;
const isSoak = process.env.EFS_SOAK === '1';
const isClients = EFS_SUITE === 'clients';
const isForeign = EFS_SUITE === 'foreign';
const isJudge = EFS_SUITE === 'judge';

function filesOfSuite(): string[] {
  if (isJudge) return judgedFiles();
  if (isClients) return clientsAsked().map((client) => `tests/clients/${client}.test.ts`);
  if (isForeign) return foreignSuite();
  return [isSoak ? 'tests/soak/**/*.test.ts' : 'tests/**/*.test.ts'];
}

export default defineConfig({
  test: {
    include: filesOfSuite(),
    exclude:
      isSoak || isClients || isForeign
        ? []
        : ['tests/soak/**', 'tests/clients/**', 'tests/foreign/**'],
    // One more than two cores: a sixth of the time a file waits for clocks, disks and processes.
    maxWorkers: 3,
    // Files of a worker share its modules: compiling the canister anew for each costs minutes.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    reporters: [
      isJudge ? new JudgeReporter() : 'default',
      ...(process.env.EFS_DURATIONS === '1' ? [new DurationRecorder()] : []),
    ],
    // At least ten times the time on an idle machine, to end hanging tests, not to measure speed.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 120_000 } },
    globalSetup: [
      ...(isClients ? ['tests/clients/support/programs.ts'] : []),
      ...(isForeign ? [] : ['tests/support/build.ts']),
    ],
    setupFiles: [
      'tests/support/byte-equality.ts',
      'tests/support/seed.ts',
      'tests/support/agents.ts',
    ],
  },
});
