// rclone with an HTTP remote: a copy that it reopens after a break, and reading from an offset.

import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sha256Hex } from '../support/service.ts';
import { expectFile, openClientCases } from './support/client-cases.ts';
import { startIndexServer } from './support/index-server.ts';
import { runUntilDone } from './support/run-program.ts';

const cases = openClientCases();

test('rclone copyto continues where the connection broke', async () => {
  await cases.run('rclone copyto', async ({ folder, target, proxy }) => {
    const remote = `:http,url='http://127.0.0.1:${proxy.port}':${target.file.path.slice(1)}`;
    const command = ['rclone', '--retries', '1', 'copyto', remote, 'file'] as const;
    await runUntilDone([...command], { folder, times: 1 });
    await expectFile(join(folder, 'file'), target.file.bytes);
  });
});

test('rclone cat --offset returns the rest of the file', async () => {
  const offset = 1_234_567;
  await cases.run('rclone cat', async ({ folder, target, url }) => {
    // rclone lists the folder first, and starts again after a failure.
    const index = await startIndexServer('large.bin', url);
    const remote = `:http,url='${index.url}':large.bin`;
    const command = ['rclone', 'cat', '--offset', String(offset), remote] as const;
    const { output } = await runUntilDone([...command], { folder, times: 6 });
    await index.stop();
    const expected = target.file.bytes.subarray(offset);
    expect(output.length, 'bytes').toBe(expected.length);
    expect(sha256Hex(output)).toBe(sha256Hex(expected));
  });
});
