// curl -C -: a download that the user or curl's own retries continue.

import { join } from 'node:path';
import { expect, test } from 'vitest';
import { expectFile, openClientCases } from './support/client-cases.ts';
import { runProgram, runUntilDone } from './support/run-program.ts';

const cases = openClientCases();
const curl = ['curl', '--silent', '--show-error', '--fail', '-o', 'file'] as const;

test('curl -C - continues the partial file of earlier runs', async () => {
  await cases.run('curl -C -', async ({ url, folder, target }) => {
    await runUntilDone([...curl, '-C', '-', url], { folder, times: 6 });
    await expectFile(join(folder, 'file'), target.file.bytes);
  });
});

test('curl --retry -C - continues after each failure', async () => {
  await cases.run('curl --retry', async ({ url, folder, target }) => {
    const first = await runProgram([...curl, url], { folder });
    expect(first.code, 'of the run that is cut').not.toBe(0);
    const retrying = ['--retry', '5', '--retry-delay', '1', '--retry-all-errors'] as const;
    await runUntilDone([...curl, ...retrying, '-C', '-', url], { folder, times: 1 });
    await expectFile(join(folder, 'file'), target.file.bytes);
  });
});
