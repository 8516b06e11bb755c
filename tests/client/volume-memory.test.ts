// The file in which `efs` remembers the volumes of buckets.

import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { volumeMemory } from '../../packages/efs/src/config/volume-memory.ts';

const volume = 'ryjl3-tyaaa-aaaaa-aaaba-cai';
const other = 'r7inp-6aaaa-aaaaa-aaabq-cai';
const damagedId = JSON.stringify([{ bucket: 'a', volume: '../x', foundAtMs: Date.now() }]);
let home: string;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'efs-memory-'));
});
afterEach(async () => {
  vi.useRealTimers();
  await rm(home, { recursive: true });
});

function open(front = 'rrkah-fqaaa-aaaaa-aaaaq-cai') {
  return volumeMemory({ front, host: 'https://icp-api.io', environment: { HOME: home } });
}

async function file(): Promise<string> {
  const folder = join(home, '.config/efs/volumes');
  const [name = ''] = await readdir(folder);
  return join(folder, name);
}

describe('volumeMemory()', () => {
  test('remembers volumes for other processes with the same front, and forgets them', async () => {
    const memory = open();
    expect(await memory.get('constructor')).toBeUndefined();
    await Promise.all([memory.set('photos', volume), memory.set('constructor', other)]);
    expect(await memory.get('photos')).toBe(volume);
    expect(await open().get('constructor')).toBe(other);
    expect(await open(volume).get('photos')).toBeUndefined();
    expect((await stat(await file())).mode & 0o777).toBe(0o600);
    await memory.delete('photos');
    expect(await memory.get('photos')).toBeUndefined();
    expect(await open().get('photos')).toBeUndefined();
    expect(await open().get('constructor')).toBe(other);
  });

  test('keeps what another process has written meanwhile', async () => {
    const [one, second] = [open(), open()];
    expect(await one.get('a')).toBeUndefined();
    await second.set('a', volume);
    await one.set('b', other);
    expect(await open().get('a')).toBe(volume);
    expect(await open().get('b')).toBe(other);
  });

  test('asks again after a day', async () => {
    await open().set('a', volume);
    vi.useFakeTimers({ now: Date.now() + 86_400_000, toFake: ['Date'] });
    expect(await open().get('a')).toBeUndefined();
    vi.setSystemTime(Date.now() - 2 * 86_400_000);
    expect(await open().get('a'), 'found in the future').toBeUndefined();
  });

  test('has at most 1,000 buckets, and drops the oldest', async () => {
    const memory = open();
    await memory.set('oldest', volume);
    const foundAtMs = Date.now();
    const names = Array.from({ length: 1_000 }, (_, number) => `${number}`);
    const full = names.map((bucket) => ({ bucket, volume, foundAtMs }));
    await writeFile(await file(), JSON.stringify(full));
    await memory.set('1', other);
    await memory.set('newest', other);
    const stored = JSON.parse(await readFile(await file(), 'utf8')) as { bucket: string }[];
    const kept = names.filter((name) => name !== '0' && name !== '1');
    expect(stored.map(({ bucket }) => bucket)).toEqual([...kept, '1', 'newest']);
  });

  test.each(['', '{', 'null', '[1,{}]', '{"a":7}', damagedId])(
    'ignores the damaged file %j and replaces it',
    async (text) => {
      await open().set('a', volume);
      await writeFile(await file(), text);
      expect(await open().get('a')).toBeUndefined();
      await open().set('a', volume);
      expect(await open().get('a')).toBe(volume);
    },
  );

  test('works without a folder that can be written', async () => {
    await writeFile(join(home, '.config'), 'a file');
    const memory = open();
    await memory.set('a', volume);
    expect(await memory.get('a')).toBe(volume);
    expect(await open().get('a')).toBeUndefined();
  });
});
