// The zip of the console's selection, with a storage in memory.

import { expect, test } from 'vitest';
import type { Entry } from '../../console/src/files/folder.ts';
import { type LeftOut, sizeOfEntries, zipOf } from '../../console/src/files/zip.ts';
import type { Session } from '../../console/src/session.ts';
import type { Storage } from '../../packages/client/src/storage.ts';
import type { FileRecord } from '../../packages/client/src/types/files.ts';

const recordOf = (path: string) =>
  ({ path, updatedAt: '2026-11-22T00:00:00.000Z' }) as unknown as FileRecord;

function sessionOf(paths: readonly string[]): Session {
  const storage: Partial<Storage> = {
    async *list({ prefix = '' }) {
      yield* paths.filter((path) => path.startsWith(prefix)).map(recordOf);
    },
    download: async ({ path }: { path: string }) =>
      ({ body: new Blob([`bytes of ${path}`]).stream(), size: 9 + path.length }) as never,
  };
  return { kind: 'device', storage } as unknown as Session;
}

/** Returns the names of the zip's central directory. */
async function namesOf(zip: Response): Promise<string[]> {
  const bytes = Buffer.from(await zip.arrayBuffer());
  const names: string[] = [];
  const mark = Buffer.from('PK\x01\x02');
  for (let at = bytes.indexOf(mark); at >= 0; at = bytes.indexOf(mark, at + 1)) {
    names.push(bytes.toString('utf8', at + 46, at + 46 + bytes.readUInt16LE(at + 28)));
  }
  return names.sort();
}

const fileOf = (path: string): Entry => ({ path, isFolder: false, file: recordOf(path) });

test('zipOf gives files of several folders, found by a tag, a name each', async () => {
  const paths = ['2026/01/invoice.pdf', '2026/02/invoice.pdf'];
  const source = { session: sessionOf(paths), bucket: 'demo', prefix: '2026/' };
  const names = await namesOf(zipOf(source, paths.map(fileOf)));
  expect(names).toEqual(['01/invoice.pdf', '02/invoice.pdf']);
});

test('zipOf names files and the contents of folders relative to the shown folder', async () => {
  const session = sessionOf(['2026/01/a.pdf', '2026/01/deep/b.pdf', '2026/c.pdf']);
  const entries: Entry[] = [{ path: '2026/01/', isFolder: true }, fileOf('2026/c.pdf')];
  const names = await namesOf(zipOf({ session, bucket: 'demo', prefix: '2026/' }, entries));
  expect(names).toEqual(['01/a.pdf', '01/deep/b.pdf', 'c.pdf']);
});

test('zipOf and sizeOfEntries leave out what a link does not open, and unsafe names', async () => {
  const unsafe = ['../a', 'b/../c', './d', 'e//f', '/g', '..\\h', 'i\n', 'j\u202etxt'];
  const safe = ['a.txt', '.hidden', 'b/..c', 'd...', 'ä/写真.txt'];
  const records = [...safe, ...unsafe, 'later'].map((path) => ({ ...recordOf(path), size: 10 }));
  const storage: Partial<Storage> = {
    ...sessionOf([]).storage,
    async *list() {
      for (const record of records) {
        yield record.path === 'later' ? { ...record, afterSharing: 'added' } : record;
      }
    },
  };
  const shared = { address: { sealed: {} } };
  const session = { kind: 'key', shared, storage } as unknown as Session;
  const leftOut: LeftOut[] = [];
  const onLeftOut = (reason: LeftOut) => void leftOut.push(reason);
  const source = { session, bucket: 'demo', prefix: '', onLeftOut };
  const entries: Entry[] = [{ path: '', isFolder: true }];
  expect(await namesOf(zipOf(source, entries))).toEqual([...safe].sort());
  expect(leftOut.sort()).toEqual(['later', ...unsafe.map(() => 'name')]);
  expect(await sizeOfEntries(source, entries)).toBe(10 * (safe.length + unsafe.length));
});
