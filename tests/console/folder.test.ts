// The list of a folder, with a storage in memory.

import { expect, test } from 'vitest';
import { Folder } from '../../console/src/files/folder.ts';
import type { Storage } from '../../packages/client/src/storage.ts';
import type { FileRecord } from '../../packages/client/src/types/files.ts';

const bucket = 'demo';
const recordOf = (path: string) => ({ bucketId: bucket, path }) as FileRecord;

test('Folder sorts names as the service does, by their UTF-8 bytes', async () => {
  const names = [
    '',
    'a',
    'ab',
    'b',
    'é',
    '\ud7ff',
    '\uffee',
    '\u{1f600}',
    '\u{1f601}',
    '\u{1f601}a',
  ];
  expect(names).toEqual(
    [...names].sort((one, other) => Buffer.from(one).compare(Buffer.from(other))),
  );
  const storage: Partial<Storage> = {
    listFolder: async () => ({ items: names.map(recordOf), folders: [] }),
  };
  const folder = new Folder({ storage: storage as Storage, bucket, prefix: '' });
  await folder.loadMore();
  const shown = () => folder.entries.value.map(({ path }) => path);
  expect(shown()).toEqual(names);
  folder.setSort({ field: 'name', isDescending: true });
  expect(shown()).toEqual([...names].reverse());
});

/** Returns a storage whose lists have two files a page. */
function storageOf(paths: readonly string[]): Storage {
  const storage: Partial<Storage> = {
    async listFolder({ prefix = '', delimiter, cursor = '0' }) {
      const from = Number(cursor);
      const all = paths.filter((path) => path.startsWith(prefix));
      expect(delimiter).toBeUndefined();
      const rest = from + 2 < all.length ? { nextCursor: String(from + 2) } : {};
      return { items: all.slice(from, from + 2).map(recordOf), folders: [], ...rest };
    },
  };
  return storage as Storage;
}

test('Folder asks for pages that the agent decodes within a frame or two', async () => {
  const limits: (number | undefined)[] = [];
  const storage: Partial<Storage> = {
    async listFolder({ limit }) {
      limits.push(limit);
      return { items: [], folders: [], ...(limits.length < 3 && { nextCursor: 'x' }) };
    },
  };
  const folder = new Folder({ storage: storage as Storage, bucket, prefix: '' });
  folder.setFilter('x');
  await expect.poll(() => folder.state.value).toBe('complete');
  expect(limits.length).toBe(3);
  // 1,000 records take 80 ms.
  for (const limit of limits) expect(limit).toBeLessThanOrEqual(500);
});

test('Folder with a name finds all files below its prefix, and counts what it has read', async () => {
  const paths = ['a/Report.txt', 'a/b/old report.md', 'a/b/other.txt', 'a/report/x.txt', 'report'];
  const place = { storage: storageOf(paths), bucket, prefix: 'a/', name: ' REPORT' };
  const folder = new Folder(place);
  await folder.loadMore();
  expect(folder.entries.value.map(({ path }) => path)).toEqual([
    'a/Report.txt',
    'a/b/old report.md',
  ]);
  expect(folder.state.value).toBe('complete');
  expect(folder.searchedCount.value).toBe(4);
  // Files that are stored meanwhile are found too.
  folder.put(['a/new report.txt', 'a/Report.txt', 'a/x.txt', 'report 2'].map(recordOf));
  expect(folder.entries.value.length).toBe(3);
});

test('Folder lists added folders, those within others by their outermost one', async () => {
  const storage: Partial<Storage> = {
    listFolder: async () => ({ items: [recordOf('a/z.txt')], folders: [] }),
  };
  const folder = new Folder({ storage: storage as Storage, bucket, prefix: 'a/' });
  await folder.loadMore();
  folder.putFolders(['a/b/', 'a/c/d/', 'a/', 'other/']);
  const shown = folder.entries.value.map(({ path }) => path);
  expect(shown).toEqual(['a/b/', 'a/c/', 'a/z.txt']);
});
