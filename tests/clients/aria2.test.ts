// aria2 with four connections, each of which downloads a range.

import { join } from 'node:path';
import { test } from 'vitest';
import { expectFile, openClientCases } from './support/client-cases.ts';
import { runUntilDone } from './support/run-program.ts';

const cases = openClientCases();

test('aria2c with four connections downloads the file', async () => {
  const cuts = { toBytes: 1_000_000 };
  await cases.run(
    'aria2c',
    async ({ url, folder, target }) => {
      const options = ['-x4', '-s4', '-k1M', '--retry-wait=1', '--file-allocation=none'];
      await runUntilDone(['aria2c', ...options, '-o', 'file', url], { folder, times: 1 });
      await expectFile(join(folder, 'file'), target.file.bytes);
    },
    cuts,
  );
});
