// Copies and moves of several folders to one, with a storage in memory.

import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { Storage } from '../../packages/client/src/storage.ts';
import { StorageError } from '../../packages/client/src/storage-error.ts';
import type { FileName } from '../../packages/client/src/types/files.ts';
import type { Run } from '../../packages/efs/src/config/run.ts';
import { copy } from '../../packages/efs/src/files/copy.ts';
import { UsageError } from '../../packages/efs/src/output/usage-error.ts';

/** Contents by name, all in one bucket or another. */
let stored: Map<string, string>;
let lists: number;
const { signal } = new AbortController();

function namesBelow(bucket: string, prefix: string): string[] {
  return [...stored.keys()].filter((name) => name.startsWith(`${bucket}/${prefix}`));
}

const nameOf = ({ bucket, path }: FileName) => `${bucket}/${path}`;

async function copyOne(from: FileName, to: FileName): Promise<void> {
  stored.set(nameOf(to), stored.get(nameOf(from)) ?? '');
}

async function moveOne(from: FileName, to: FileName): Promise<void> {
  await copyOne(from, to);
  stored.delete(nameOf(from));
}

interface Prefixes {
  readonly bucket: string;
  readonly fromPrefix: string;
  readonly toPrefix: string;
}

/** As in the service, a file at a target is replaced. */
async function moveAll({ bucket, fromPrefix, toPrefix }: Prefixes) {
  const names = namesBelow(bucket, fromPrefix);
  for (const name of names) {
    const path = name.slice(bucket.length + 1);
    await moveOne({ bucket, path }, { bucket, path: toPrefix + path.slice(fromPrefix.length) });
  }
  return { moved: names.length, failed: [] };
}

async function* list({ bucket, prefix }: { bucket: string; prefix: string }) {
  lists += 1;
  if (bucket === 'missing') throw new StorageError('NoSuchBucket', 'It is missing.');
  for (const name of namesBelow(bucket, prefix)) yield { path: name.slice(bucket.length + 1) };
}

const storage = { list, copy: copyOne, move: moveOne, moveAll } as unknown as Storage;
const secrets = { readerMode: async () => undefined };
const run = {
  storage: async () => storage,
  secrets: async () => secrets,
  signal,
  isQuiet: true,
} as unknown as Run;

function order(kind: 'copy' | 'move', sources: readonly string[], destination = 'demo/three/') {
  return copy(run, { kind, sources, destination }, { recursive: true, parallel: 8 });
}

beforeEach(() => {
  lists = 0;
  stored = new Map([
    ['demo/one/x', '1'],
    ['demo/two/x', '2'],
    ['demo/two/y', '3'],
  ]);
  for (const stream of [process.stdout, process.stderr]) {
    vi.spyOn(stream, 'write').mockImplementation(() => true);
  }
  return () => vi.restoreAllMocks();
});

describe.each(['copy', 'move'] as const)('copy() by a %s', (kind) => {
  test.each([
    [['demo/one/', 'demo/two/'], 'demo/three/', 'demo/one/x and demo/two/x'],
    [['demo/one/', 'demo/two/'], 'other', 'demo/one/x and demo/two/x'],
    [['demo/one/', 'demo/two/x'], 'demo/three/', 'demo/two/x and demo/one/x'],
    [['demo/two/', 'demo/two/'], 'demo/three/', 'demo/two/x and demo/two/x'],
  ])('refuses %o to %s before it changes a file', async (sources, destination, words) => {
    const before = new Map(stored);
    const ended = order(kind, sources, destination);
    await expect(ended).rejects.toBeInstanceOf(UsageError);
    await expect(ended).rejects.toThrow(`${words} would both become ${destination.slice(0, 4)}`);
    expect(stored).toEqual(before);
  });

  test('accepts folders without equal names, and lists each once', async () => {
    stored.delete('demo/two/x');
    await order(kind, ['demo/one/', 'demo/two/']);
    expect(lists).toBe(2);
    expect(stored.get('demo/three/x')).toBe('1');
    expect(stored.get('demo/three/y')).toBe('3');
    expect(stored.size).toBe(kind === 'copy' ? 4 : 2);
  });

  test('continues after a folder that cannot be listed', async () => {
    await expect(order(kind, ['missing/', 'demo/two/'])).rejects.toThrow('2 ');
    expect(stored.get('demo/three/x')).toBe('2');
    expect(stored.get('demo/three/y')).toBe('3');
  });
});
