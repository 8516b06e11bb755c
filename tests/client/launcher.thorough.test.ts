// The start of the command `efs`: from a bundle that is never older than its sources.

import { mkdtemp, readFile, rm, stat, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { projectDir } from '../tidy/source-tree.ts';
import { runCommand } from './command-runs.ts';

const bundle = join(projectDir, 'packages/efs/dist/efs.js');
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'efs-launcher-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function sayVersion(): Promise<void> {
  const { version } = JSON.parse(await readFile(join(projectDir, 'package.json'), 'utf8'));
  const said = await runCommand(['--version'], { folder });
  expect(said).toEqual({ code: 0, output: `${version}\n`, errors: '' });
}

test.each([
  'packages/client/src/connection/retry.ts',
  'packages/wire/src/limits.ts',
  'packages/efs/src/efs.ts',
])('efs --version works, and %s is bundled again when it has changed', async (source) => {
  await sayVersion();
  const before = (await stat(bundle)).mtimeMs;
  const path = join(projectDir, source);
  await utimes(path, new Date(), new Date());
  await sayVersion();
  const after = (await stat(bundle)).mtimeMs;
  expect(after).toBeGreaterThanOrEqual((await stat(path)).mtimeMs);
  expect(after).toBeGreaterThan(before);
});

test('efs started four times at once with an old bundle works each time', async () => {
  // Other test files start the command meanwhile, so the bundle is not removed
  await utimes(bundle, new Date(0), new Date(0));
  await Promise.all(Array.from({ length: 4 }, sayVersion));
});
