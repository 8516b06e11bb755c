import { beforeEach, describe, expect, test } from 'vitest';
import { deleteBucket } from '../../src/domain/administration/bucket-administration.ts';
import { createBucket } from '../../src/domain/administration/bucket-creation.ts';
import { findFile } from '../../src/domain/files/file-records.ts';
import { type ListRequest, listFiles } from '../../src/domain/listing/listing.ts';
import {
  callOf,
  createScene,
  expectRefusal,
  makeKey,
  plainMetadata,
  putTestFile,
  type Scene,
  startNs,
} from '../support/domain-fixture.ts';
import { checkInvariants } from '../support/invariants.ts';
import { randomNumbers } from '../support/random-numbers.ts';
import { removeStored } from '../support/read-files.ts';

let scene: Scene;

beforeEach(async () => {
  scene = await createScene();
});

const everything: ListRequest = {
  bucket: 'box',
  apiKey: undefined,
  prefix: undefined,
  page: undefined,
  pageSize: undefined,
  sort: undefined,
  tag: undefined,
};

function list(change: Partial<ListRequest> = {}) {
  return listFiles(scene.stores, callOf('alice'), { ...everything, ...change });
}

function textsOf({ paths }: { readonly paths: readonly Uint8Array[] }): string[] {
  return paths.map((path) => Buffer.from(path).toString('utf8'));
}

function paths(change: Partial<ListRequest> = {}): string[] {
  return textsOf(list({ pageSize: 50, ...change }));
}

function put(path: string, nowNs = startNs, tags: readonly string[] = []) {
  const metadata = { ...plainMetadata, tags };
  putTestFile(scene.stores, { path, metadata, bytes: new Uint8Array(0) }, nowNs);
}

function putAll(...names: string[]) {
  names.forEach((name, index) => {
    put(name, startNs + BigInt(index));
  });
}

describe('listFiles(): a listing', () => {
  test('of an empty bucket has no pages', () => {
    expect(list()).toEqual({
      bucketId: 'box',
      paths: [],
      page: 1,
      pageSize: 10,
      total: 0,
      pages: 0,
      hasMore: false,
      nextPage: null,
      prefix: '',
      sort: 'name_asc',
    });
  });

  test('has ten files per page by default, and at most fifty', () => {
    putAll(...Array.from({ length: 53 }, (_, index) => `f${String(index).padStart(2, '0')}`));
    expect(list()).toMatchObject({ page: 1, pageSize: 10, total: 53, pages: 6, nextPage: 2 });
    expect(list().paths).toHaveLength(10);
    expect(list({ pageSize: 51 })).toMatchObject({ pageSize: 50, pages: 2, hasMore: true });
    expect(textsOf(list({ page: 2, pageSize: 1_000 }))).toEqual(['f50', 'f51', 'f52']);
    expect(list({ page: 6 })).toMatchObject({ hasMore: false, nextPage: null, total: 53 });
    expect(list({ pageSize: 1, page: 53 })).toMatchObject({ pages: 53, hasMore: false });
    const past = { paths: [], page: 7, total: 53, pages: 6, hasMore: false, nextPage: null };
    expect(list({ page: 7 })).toMatchObject(past);
    expect(list({ page: 1e300 })).toMatchObject({ ...past, page: 1e300 });
  });

  test('orders names by their bytes in UTF-8', () => {
    putAll('a', 'B', 'a/b', 'a-b', 'aa', 'ä', '\u{1F600}', '\uFFFD', 'Z/1');
    const sorted = ['B', 'Z/1', 'a', 'a-b', 'a/b', 'aa', 'ä', '\uFFFD', '\u{1F600}'];
    expect(paths()).toEqual(sorted);
    expect(paths({ sort: 'name_desc' })).toEqual([...sorted].reverse());
  });

  test('orders dates by the last change, and files of one date by their paths', () => {
    put('c', startNs);
    put('a', startNs + 1n);
    put('x', startNs + 2n);
    put('b', startNs + 2n);
    put('c', startNs + 3n);
    put('d', startNs + 3n);
    expect(paths({ sort: 'date_asc' })).toEqual(['a', 'b', 'x', 'c', 'd']);
    expect(paths({ sort: 'date_desc' })).toEqual(['c', 'd', 'b', 'x', 'a']);
  });

  test('matches a prefix literally', () => {
    putAll('a%b', 'a_b', 'axb', 'docs/a', 'docs/b/c', 'docsx', 'doc', 'é/1');
    for (const sort of ['name_asc', 'date_asc']) {
      expect(paths({ sort, prefix: 'a%' })).toEqual(['a%b']);
      expect(paths({ sort, prefix: 'a_' })).toEqual(['a_b']);
      expect(paths({ sort, prefix: 'doc' })).toHaveLength(4);
      expect(paths({ sort, prefix: 'docs' })).toHaveLength(3);
      expect(paths({ sort, prefix: 'docs/' })).toEqual(['docs/a', 'docs/b/c']);
      expect(paths({ sort, prefix: 'docs/a' })).toEqual(['docs/a']);
      expect(paths({ sort, prefix: 'é' })).toEqual(['é/1']);
      for (const nothing of ['DOCS', '/docs', 'docs/a/', 'zz', '\0', 'x'.repeat(5_000)]) {
        expect(list({ sort, prefix: nothing })).toMatchObject({ total: 0, paths: [] });
      }
    }
    expect(list({ prefix: 'docs/' })).toMatchObject({ prefix: 'docs/', total: 2 });
  });

  test('of a tag has the files that have it now', () => {
    put('a', startNs, ['red', 'blue']);
    put('b', startNs + 1n, ['red']);
    put('c', startNs + 2n);
    expect(paths({ tag: 'red' })).toEqual(['a', 'b']);
    put('a', startNs + 3n, ['green', 'blue']);
    expect(paths({ tag: 'red' })).toEqual(['b']);
    expect(paths({ tag: 'blue', sort: 'date_desc' })).toEqual(['a']);
    expect(paths({ tag: ' green ' })).toEqual(['a']);
    put('a', startNs + 4n);
    expect(['red', 'blue', 'green', 'gr', 'black'].map((tag) => list({ tag }).total)).toEqual([
      1, 0, 0, 0, 0,
    ]);
    checkInvariants(scene.stores);
  });

  test('of a bucket that was deleted and created again is empty', () => {
    put('a', startNs);
    put('b', startNs + 1n);
    for (const path of ['a', 'b']) {
      const file = findFile(scene.stores, 'box', path);
      if (file !== undefined) removeStored(scene.stores, file);
    }
    deleteBucket(scene.stores, callOf('alice'), { bucket: 'box', isForced: false });
    expect(scene.stores.index.count()).toBe(0);
    createBucket(scene.stores, callOf('controller'), { bucket: 'box', isPublic: true });
    const call = callOf('controller');
    expect(listFiles(scene.stores, call, { ...everything, sort: 'date_asc' }).total).toBe(0);
  });

  test('of one bucket has no files of another', () => {
    putAll('a');
    putTestFile(scene.stores, { bucket: 'other', path: 'b' });
    expect(paths()).toEqual(['a']);
    expect(paths({ bucket: 'other', sort: 'date_desc' })).toEqual(['b']);
  });

  test('accepts the longest names with the longest tags', () => {
    const bucket = 'box';
    const path = `${'ü'.repeat(511)}/a`;
    const tags = Array.from({ length: 20 }, (_, index) => `${'\uFFFD'.repeat(62)}${index + 10}`);
    put(path, startNs, tags);
    for (const sort of ['name_desc', 'date_desc']) {
      expect(paths({ bucket, sort, tag: tags[19] ?? '', prefix: path })).toEqual([path]);
    }
  });

  test('is refused without the right to read, and for invalid arguments', () => {
    const refused = (code: Parameters<typeof expectRefusal>[1], change: Partial<ListRequest>) =>
      expectRefusal(scene.stores, code, () => list(change));
    for (const value of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      refused('InvalidArgument', { page: value });
      refused('InvalidArgument', { pageSize: value });
    }
    for (const sort of ['', 'size', 'NAME_ASC', 'name_asc ']) refused('InvalidArgument', { sort });
    for (const tag of ['', ' ', 'a,b', 'x'.repeat(65)]) refused('InvalidArgument', { tag });
    refused('NoSuchBucket', { bucket: 'nobody' });
    refused('InvalidBucketId', { bucket: 'a/b' });
    refused('InvalidApiKey', { apiKey: 'efs_nonsense' });
    const writeOnly = makeKey(scene.stores, { permissions: ['write'] });
    refused('AccessDenied', { apiKey: writeOnly });
    expectRefusal(scene.stores, 'AccessDenied', () =>
      listFiles(scene.stores, callOf('bob'), everything),
    );
    expect(list({ apiKey: scene.readKey }).total).toBe(0);
  });
});

interface ReferenceFile {
  readonly path: string;
  readonly date: bigint;
  readonly tags: readonly string[];
}

function referencePage(files: Iterable<ReferenceFile>, change: Partial<ListRequest>) {
  const { prefix = '', tag, sort = 'name_asc', page = 1, pageSize = 10 } = change;
  const sign = sort.endsWith('asc') ? 1 : -1;
  const wanted = [...files]
    .filter(({ path, tags }) => path.startsWith(prefix) && (!tag || tags.includes(tag)))
    .sort((left, right) => {
      const byName = Buffer.compare(Buffer.from(left.path), Buffer.from(right.path));
      if (sort.startsWith('name')) return sign * byName;
      return sign * Number(left.date - right.date) || byName;
    });
  const items = wanted.slice((page - 1) * pageSize, page * pageSize).map(({ path }) => path);
  return { items, total: wanted.length, pages: Math.ceil(wanted.length / pageSize) };
}

test.each([1, 2, 3])(
  'listFiles(): pages equal those of a sorted array under random histories, seed %i',
  (seed) => {
    const random = randomNumbers(seed);
    const files = new Map<string, ReferenceFile>();
    let date = startNs;
    const folders = ['', 'a/', 'a/b/', 'é/', 'photos/2024/', 'photos/2025/'];
    for (let turn = 0; turn < 1_500; turn++) {
      // Several files have the same date, and some files change repeatedly
      if (random(3) > 0) date += BigInt(1 + random(1_000));
      const path = `${folders[random(folders.length)]}f${random(random(3) === 0 ? 20 : 400)}`;
      const old = findFile(scene.stores, 'box', path);
      if (old !== undefined && random(3) === 0) {
        removeStored(scene.stores, old);
        files.delete(path);
      } else {
        const tags = ['red', 'blue', 'green'].filter((_, index) => random(2 + index * 3) === 0);
        put(path, date, tags);
        files.set(path, { path, date, tags });
      }
      if (turn % 10 > 0 && turn < 1_400) continue;
      const change = {
        sort: ['name_asc', 'name_desc', 'date_asc', 'date_desc'][random(4)],
        prefix: ['', '', 'a', 'a/', 'photos/202', 'photos/2025/f1', 'zz'][random(7)],
        tag: [undefined, undefined, 'red', 'blue', 'green'][random(5)],
        page: 1 + random(8),
        pageSize: [1, 7, 10, 50][random(4)],
      };
      const expected = referencePage(files.values(), change as Partial<ListRequest>);
      const found = list(change as Partial<ListRequest>);
      const { total, pages } = found;
      const where = `seed ${seed}, turn ${turn}, ${JSON.stringify(change)}`;
      expect({ items: textsOf(found), total, pages }, where).toEqual(expected);
    }
    checkInvariants(scene.stores);
  },
);
