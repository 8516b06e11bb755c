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
