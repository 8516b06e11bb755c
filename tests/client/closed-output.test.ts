// The command `efs` when its output cannot be written: changes are still made, and lost output
// counts as a failure.

import { spawn } from 'node:child_process';
import { openSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createStorage } from '../../packages/client/src/storage.ts';
import { openService, type Service } from '../support/service.ts';
import { projectDir } from '../tidy/source-tree.ts';
import { commandEnvironment } from './command-runs.ts';

let service: Service;
let folder: string;

beforeAll(async () => {
  service = await openService();
  folder = await mkdtemp(join(tmpdir(), 'efs-output-'));
});
afterAll(async () => {
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

async function runInto(words: readonly string[], output: 'pipe' | number): Promise<number | null> {
  const environment = { EFS_URL: service.base, EFS_API_KEY: service.apiKey };
  const child = spawn(process.execPath, [join(projectDir, 'packages/efs/bin/efs.js'), ...words], {
    cwd: folder,
    env: commandEnvironment({ folder, environment }),
    stdio: ['ignore', output, 'ignore'],
  });
  // Closes the output, as `head -1` does.
  child.stdout?.once('data', () => child.stdout?.destroy());
  return new Promise((resolve) => child.once('close', resolve));
}

test('efs: a reader that closes the pipe does not stop a sync', async () => {
  await mkdir(join(folder, 'many'));
  const names = Array.from({ length: 12 }, (_, index) => `f${index}`);
  for (const name of names) await writeFile(join(folder, 'many', name), name);
  const words = ['sync', '-p', '1', 'many', `${service.bucket}/closed-output`];
  expect(await runInto(words, 'pipe')).toBe(0);
  const storage = createStorage({ url: service.base, apiKey: service.apiKey });
  const stored: string[] = [];
  const prefix = 'closed-output/';
  for await (const file of storage.list({ bucket: service.bucket, prefix })) stored.push(file.name);
  expect(stored.sort()).toEqual(names.sort());
});

test.runIf(process.platform === 'linux')('efs: lost output is a failure', async () => {
  const full = openSync('/dev/full', 'w');
  expect(await runInto(['ls', service.bucket], full)).toBe(1);
});
