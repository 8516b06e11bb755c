// Moves and copies of the console's selection, with a storage in memory.

import { describe, expect, test } from 'vitest';
import { copyEntries, moveEntries } from '../../console/src/files/arrange.ts';
import type { Entry } from '../../console/src/files/folder.ts';
import type { Storage } from '../../packages/client/src/storage.ts';

/** Lists by a cursor, as the service does: pages include files that were stored meanwhile. */
function storageOf(paths: Set<string>): Storage {
  const storage: Partial<Storage> = {
    async *list({ prefix = '' }) {
      for (let last = ''; ; ) {
        const after = [...paths].filter((path) => path.startsWith(prefix) && path > last).sort();
        const page = after.slice(0, 100);
        for (const path of page) yield { path } as never;
        if (page.length === 0) return;
        last = page.at(-1) ?? last;
      }
    },
    async copy(_, { path }) {
      paths.add(path);
      if (paths.size > 1_000) throw new Error('The test copies at most 1,000 files.');
      return { path } as never;
    },
  };
  return storage as Storage;
}

const images = Array.from({ length: 150 }, (_, index) => `images/${1_000 + index}.png`);
const folder: Entry = { path: 'images/', isFolder: true };

describe('copyEntries', () => {
  test('refuses a target inside the folder, and copies nothing', async () => {
    const paths = new Set(images);
    const copied = copyEntries(
      { storage: storageOf(paths), bucket: 'demo' },
      [folder],
      ({ path }) => `images/old/${path}`,
    );
    await expect(copied).rejects.toThrow('A folder cannot be copied into itself.');
    expect(paths.size).toBe(150);
  });

  test('copies a folder to a neighbour whose name begins with its name', async () => {
    const paths = new Set(images);
    const { files, gone } = await copyEntries(
      { storage: storageOf(paths), bucket: 'demo' },
      [folder],
      () => 'images (2)/',
    );
    expect([files.length, gone]).toEqual([150, []]);
    expect(paths.has('images (2)/1149.png')).toBe(true);
    expect(paths.size).toBe(300);
  });
});

const fileOf = (path: string) => ({ path, isFolder: false, file: { path } }) as Entry;

describe('moveEntries', () => {
  test('reports only entries that have moved as gone', async () => {
    const storage = { move: async (_: object, { path }: { path: string }) => ({ path }) };
    const { files, gone } = await moveEntries(
      { storage: storage as unknown as Storage, bucket: 'demo', begun: new Set() },
      [fileOf('a.txt'), fileOf('old/b.txt')],
      ({ path }) => path.slice(path.lastIndexOf('/') + 1),
    );
    expect(gone).toEqual(['old/b.txt']);
    expect(files).toEqual([{ path: 'b.txt' }]);
  });

  /** Moves 1,000 files in each request, and loses the connection after the first. */
  function interruptedStorage(): { readonly storage: Storage; readonly left: () => number } {
    let left = 3_000;
    const storage: Partial<Storage> = {
      usage: async () => ({ files: 3_000 - left, bytes: 0 }),
      async moveAll() {
        const isFirst = left === 3_000;
        left = isFirst ? 2_000 : 0;
        if (isFirst) throw new Error('The connection is lost.');
        return { moved: 2_000, failed: [] };
      },
    };
    return { storage: storage as Storage, left: () => left };
  }

  test('repeated for an interrupted move of a folder moves the rest', async () => {
    const { storage, left } = interruptedStorage();
    const place = { storage, bucket: 'demo', begun: new Set<string>() };
    const move = () => moveEntries(place, [folder], () => 'pictures/');
    await expect(move()).rejects.toThrow('The connection is lost.');
    expect(left()).toBe(2_000);
    expect((await move()).gone).toEqual(['images/']);
    expect(left()).toBe(0);
  });

  test('refuses an existing folder as the target, also when it is repeated', async () => {
    const storage = { usage: async () => ({ files: 1, bytes: 1 }) } as unknown as Storage;
    const place = { storage, bucket: 'demo', begun: new Set<string>() };
    const move = () => moveEntries(place, [folder], () => 'pictures/');
    await expect(move()).rejects.toThrow('The folder "pictures" already exists.');
    await expect(move()).rejects.toThrow('The folder "pictures" already exists.');
  });
});
