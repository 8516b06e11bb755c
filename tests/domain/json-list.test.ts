// Lists of files as JSON: the kernel joins every record of the present layouts, because JavaScript
// takes far more instructions for a file.

import { beforeEach, expect, test } from 'vitest';
import { kernelOperations } from '../../src/crypto/kernel.ts';
import { laidOutJsonEnd } from '../../src/domain/files/file-layout.ts';
import { entityTag, findFile } from '../../src/domain/files/file-records.ts';
import { listJson } from '../../src/domain/files/json-list.ts';
import { putThumbnail } from '../../src/domain/files/thumbnails.ts';
import { callOf, createScene, putTestFile, testPicture } from '../support/domain-fixture.ts';
import { operationsOf } from '../support/kernel-operations.ts';
import type { MemoryStores } from '../support/memory-stores.ts';
import { recordsOf } from '../support/read-files.ts';

const { recordsJson } = kernelOperations;
const utf8 = (text: string) => new Uint8Array(Buffer.from(text));
let stores: MemoryStores;

beforeEach(async () => {
  ({ stores } = await createScene());
});

function list(names: readonly string[]) {
  const paths = names.map(utf8);
  let listed: { path: string }[] = [];
  const operations = operationsOf(() => {
    listed = recordsOf(listJson(stores, { bucketId: 'box', paths, limit: 1e9 }).json);
  });
  return { listed: listed.map(({ path }) => path), operations };
}

test('listJson(): the kernel knows the versions that hasPresentLayout() accepts', () => {
  putTestFile(stores, { path: '/p' });
  const key = utf8('box\0p');
  const record = stores.files.get(key) ?? expect.fail('no record');
  const joined: number[] = [];
  const accepted: number[] = [];
  for (let version = 0; version < 256; version++) {
    record[0] = version;
    stores.files.set(key, record);
    if (laidOutJsonEnd(record) > 0) accepted.push(version);
    const paths = [utf8('p')];
    const calls = operationsOf(() => listJson(stores, { bucketId: 'box', paths, limit: 1e9 }));
    if (calls.length === 1) joined.push(version);
  }
  expect(joined).toEqual(accepted);
  expect(accepted).toEqual([6, 7, 8, 9]);
});

test('listJson(): files with thumbnails take as many calls of the kernel as others', () => {
  const names = Array.from({ length: 300 }, (_, index) => `photo-${index}`);
  for (const name of names) putTestFile(stores, { path: `/${name}` });
  const plain = list(names);
  for (const path of names) {
    const etag = entityTag(findFile(stores, 'box', path) ?? expect.fail('no file'));
    const named = { bucket: 'box', path, apiKey: undefined };
    putThumbnail(stores, callOf('alice'), { ...named, etag, bytes: testPicture(100) });
  }
  const shown = list(names);
  expect(plain.operations).toEqual(Array.from({ length: 3 }, () => recordsJson));
  expect(shown.operations).toEqual(plain.operations);
  expect(shown.listed).toEqual(names);
});
