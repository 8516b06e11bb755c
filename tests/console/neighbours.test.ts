// The files before and after a file, with a storage in memory.

import { expect, test } from 'vitest';
import { neighboursOf } from '../../console/src/files/neighbours.ts';
import type { Storage } from '../../packages/client/src/storage.ts';
import type { FileRecord } from '../../packages/client/src/types/files.ts';

const folders = Array.from({ length: 120 }, (_, index) => `d/m${1_000 + index}/`);
const files = ['d/a', 'd/m', 'd/z'];

/** Lists the folder `d/` as the service does: files and folders in one order of names. */
function listFolder(request: Parameters<Storage['listFolder']>[0]) {
  const { sort = 'name_asc', startAfter, cursor, limit = 100 } = request;
  const all = [...files, ...folders].sort();
  if (sort === 'name_desc') all.reverse();
  const after = startAfter === undefined ? Number(cursor ?? 0) : all.indexOf(startAfter) + 1;
  const page = all.slice(after, after + limit);
  const items = page.filter((path) => !path.endsWith('/')).map((path) => ({ path }) as FileRecord);
  const next = after + limit < all.length ? { nextCursor: String(after + limit) } : {};
  return Promise.resolve({ items, folders: [], ...next });
}

const storage = { listFolder } as unknown as Storage;
const of = (path: string, isSealed = false) =>
  neighboursOf({ storage, bucket: 'demo', path, signal: AbortSignal.abort() }, isSealed);

test.each([false, true])('neighboursOf() skips folders; encrypted names: %s', async (isSealed) => {
  expect(await of('d/a', isSealed)).toEqual({ previous: undefined, next: 'd/m' });
  expect(await of('d/m', isSealed)).toEqual({ previous: 'd/a', next: 'd/z' });
  expect(await of('d/z', isSealed)).toEqual({ previous: 'd/m', next: undefined });
});

test('neighboursOf() of a file that is not listed has none among encrypted names', async () => {
  expect(await of('d/gone', true)).toEqual({ previous: undefined, next: undefined });
});
