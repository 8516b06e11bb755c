// GNU Wget: its own retries, and a download that it continues later.

import { join } from 'node:path';
import { test } from 'vitest';
import { expectFile, openClientCases } from './support/client-cases.ts';
import { runUntilDone } from './support/run-program.ts';

const cases = openClientCases();

test('wget retries by itself and has the whole file in the end', async () => {
  await cases.run('wget', async ({ url, folder, target }) => {
    const command = ['wget', '--no-verbose', '--waitretry=0', '-O', 'file', url] as const;
    await runUntilDone([...command], { folder, times: 1 });
    await expectFile(join(folder, 'file'), target.file.bytes);
  });
});

test('wget -c continues the partial file of an earlier run', async () => {
  await cases.run('wget -c', async ({ url, folder, target }) => {
    // One try per run, so that each cut ends it.
    const command = ['wget', '--no-verbose', '--tries=1', '-c', url] as const;
    await runUntilDone([...command], { folder, times: 6 });
    await expectFile(join(folder, 'large.bin'), target.file.bytes);
  });
});
