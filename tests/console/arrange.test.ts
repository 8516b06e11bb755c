// Moves and copies of the console's selection, with a storage in memory.

import { describe, expect, test } from 'vitest';
import {
  copyEntries,
  moveEntries,
  newArrangement,
  passageRefusal,
  renamedPath,
  targetsIn,
} from '../../console/src/files/arrange.ts';
import type { Entry } from '../../console/src/files/folder.ts';
import type { Storage } from '../../packages/client/src/storage.ts';
import './support/english.ts';

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

const within = { bucket: 'demo', toBucket: 'demo' };
const across = { bucket: 'demo', toBucket: 'attic' };

describe('copyEntries', () => {
  test('ends between two files when it is stopped, and continues when it is repeated', async () => {
    const paths = new Set(images);
    const stop = new AbortController();
    let count = 0;
    const place = { storage: storageOf(paths), ...within };
    const onFile = () => {
      count += 1;
      if (count === 20) stop.abort();
    };
    const done = newArrangement();
    const watched = { ...place, signal: stop.signal, onFile };
    const target = () => 'old/';
    await expect(copyEntries(watched, [folder], target, done)).rejects.toThrow(/abort/i);
    expect(count).toBeLessThan(30);
    await copyEntries(place, [folder], target, done);
    expect(done.copied.size).toBe(images.length);
    expect(done.files).toHaveLength(images.length);
  });

  test('refuses a target inside the folder, and copies nothing', async () => {
    const paths = new Set(images);
    const copied = copyEntries(
      { storage: storageOf(paths), ...within },
      [folder],
      ({ path }) => `images/old/${path}`,
    );
    await expect(copied).rejects.toThrow('A folder cannot be copied into itself.');
    expect(paths.size).toBe(150);
  });

  test('copies a folder to a neighbour whose name begins with its name', async () => {
    const paths = new Set(images);
    const { files, moved } = await copyEntries(
      { storage: storageOf(paths), ...within },
      [folder],
      () => 'images (2)/',
    );
    expect([files.length, moved.size]).toEqual([150, 0]);
    expect(paths.has('images (2)/1149.png')).toBe(true);
    expect(paths.size).toBe(300);
  });
});

const fileOf = (path: string) => ({ path, isFolder: false, file: { path } }) as Entry;

describe('moveEntries', () => {
  test('reports only entries that have moved', async () => {
    const storage = { move: async (_: object, { path }: { path: string }) => ({ path }) };
    const { files, moved } = await moveEntries(
      { storage: storage as unknown as Storage, ...within },
      [fileOf('a.txt'), fileOf('old/b.txt')],
      ({ path }) => path.slice(path.lastIndexOf('/') + 1),
    );
    expect([...moved]).toEqual([['old/b.txt', 'b.txt']]);
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
    const done = newArrangement();
    const move = () => moveEntries({ storage, ...within }, [folder], () => 'pictures/', done);
    await expect(move()).rejects.toThrow('The connection is lost.');
    expect(left()).toBe(2_000);
    expect(done.moved.size).toBe(0);
    await move();
    expect([...done.moved.keys()]).toEqual(['images/']);
    expect(left()).toBe(0);
  });

  test('refuses an existing folder as the target, also when it is repeated', async () => {
    const storage = { usage: async () => ({ files: 1, bytes: 1 }) } as unknown as Storage;
    const done = newArrangement();
    const move = () => moveEntries({ storage, ...within }, [folder], () => 'pictures/', done);
    await expect(move()).rejects.toThrow('The folder "pictures" already exists.');
    await expect(move()).rejects.toThrow('The folder "pictures" already exists.');
  });

  /** Two buckets; the third move fails. */
  function buckets() {
    const stored = { demo: new Set(images.slice(0, 20)), attic: new Set<string>() };
    let moves = 0;
    const setOf = (bucket = 'demo') => stored[bucket as 'demo' | 'attic'];
    const storage: Partial<Storage> = {
      list: (options) => storageOf(setOf(options.bucket)).list(options),
      usage: async ({ bucket }) => ({ files: setOf(bucket).size, bytes: 0 }),
      async move(from, to) {
        moves += 1;
        if (moves === 3) throw new Error('The connection is lost.');
        expect(setOf(from.bucket).delete(from.path)).toBe(true);
        setOf(to.bucket).add(to.path);
        return { path: to.path } as never;
      },
    };
    return { storage: storage as Storage, stored };
  }

  test('between buckets loses no file when it fails, and continues with the rest', async () => {
    const { storage, stored } = buckets();
    const done = newArrangement();
    const move = () => moveEntries({ storage, ...across }, [folder], () => 'old/', done);
    await expect(move()).rejects.toThrow('The connection is lost.');
    expect(stored.attic.size).toBeGreaterThan(0);
    expect(stored.demo.size + stored.attic.size).toBe(20);
    await move();
    expect(stored.demo.size).toBe(0);
    expect([...stored.attic].sort()).toEqual(
      images.slice(0, 20).map((path) => path.replace('images/', 'old/')),
    );
    expect([...done.moved]).toEqual([['images/', 'old/']]);
  });

  test('between buckets moves an entry whose path stays the same', async () => {
    const { storage, stored } = buckets();
    const entries = [fileOf('images/1000.png')];
    await moveEntries({ storage, ...across }, entries, ({ path }) => path);
    expect([...stored.attic]).toEqual(['images/1000.png']);
  });
});

describe('passageRefusal', () => {
  test('names the end-to-end bucket, and permits every move within one bucket', () => {
    const plain = { id: 'demo' };
    const sealed = { id: 'letters', endToEnd: {} as never };
    expect(passageRefusal(plain, { id: 'attic' })).toBeUndefined();
    expect(passageRefusal(sealed, sealed)).toBeUndefined();
    expect(passageRefusal(plain, sealed)).toContain('The bucket letters is end-to-end encrypted');
    expect(passageRefusal(sealed, plain)).toContain('The bucket letters is end-to-end encrypted');
  });
});

describe('targetsIn', () => {
  test('gives a copy in the folder of its source another name', () => {
    expect(targetsIn('old/', false)(folder)).toBe('old/images/');
    expect(targetsIn('', false)(fileOf('a/b.txt'))).toBe('b.txt');
    expect(targetsIn('a/', true)(fileOf('a/b.txt'))).toBe('a/b (2).txt');
    expect(targetsIn('a/', false)(fileOf('a/b.txt'))).toBe('a/b.txt');
    expect(targetsIn('', true)(folder)).toBe('images (2)/');
  });
});

describe('renamedPath', () => {
  test('keeps the folder, and refuses an empty name and one with a slash', () => {
    expect(renamedPath(fileOf('a/b.txt'), ' c.txt ')).toBe('a/c.txt');
    expect(renamedPath(folder, 'pictures')).toBe('pictures/');
    expect(() => renamedPath(folder, ' ')).toThrow('The name is empty.');
    expect(() => renamedPath(folder, 'a/b')).toThrow('A name cannot contain "/".');
  });
});
