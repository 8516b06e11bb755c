// Builds that begin at the same time, as those of `icp deploy` do for its canisters.

import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { withLock } from '../../scripts/build-lock.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'build-lock-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test('withLock runs one task at a time, also after one has failed', async () => {
  const path = join(folder, 'busy');
  let running = 0;
  const waiting: number[] = [];
  const one = async (index: number) => {
    running += 1;
    expect(running).toBe(1);
    for (let turn = 0; turn < 20; turn += 1) await setImmediate();
    running -= 1;
    if (index === 1) throw new Error('The build failed.');
    return index;
  };
  const onWait = (holder: number) => waiting.push(holder);
  const work = [0, 1, 2, 3].map((index) => withLock({ path, onWait }, () => one(index)));
  const results = await Promise.allSettled(work);
  const [failed] = results.filter(({ status }) => status === 'rejected');
  expect(failed).toMatchObject({ reason: { message: 'The build failed.' } });
  expect(
    results.map(({ status }) => status).filter((status) => status === 'fulfilled'),
  ).toHaveLength(3);
  expect(new Set(waiting)).toEqual(new Set([process.pid]));
  expect(await readdir(folder)).toEqual([]);
});

test('withLock removes the lock of a dead process', async () => {
  const path = join(folder, 'left');
  const { pid } = spawnSync(process.execPath, ['--version']);
  await writeFile(path, String(pid));
  const onWait = () => expect.unreachable('No process holds the lock.');
  expect(await withLock({ path, onWait }, async () => 'built')).toBe('built');
  expect(await readdir(folder)).toEqual([]);
});
