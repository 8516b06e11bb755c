// Lists folders with cursors, and compares the results with a reference model.

import { beforeEach, describe, expect, test } from 'vitest';
import { findFile } from '../../src/domain/files/file-records.ts';
import { readJsonPage } from '../../src/domain/files/folder-page.ts';
import { cursorOf } from '../../src/domain/listing/cursors.ts';
import { type FolderRequest, listFolder } from '../../src/domain/listing/folder-listing.ts';
import { encodeBase64Url } from '../../src/lib/base64.ts';
import {
  callOf,
  createScene,
  expectRefusal,
  makeKey,
  plainMetadata,
  putTestFile,
  type Scene,
} from '../support/domain-fixture.ts';
import { randomNumbers } from '../support/random-numbers.ts';
import { recordsOf, removeStored } from '../support/read-files.ts';

let scene: Scene;

beforeEach(async () => {
  scene = await createScene();
});

function put(path: string, tags: readonly string[] = []): void {
  putTestFile(scene.stores, { path, metadata: { ...plainMetadata, tags } });
}

function remove(path: string): void {
  removeStored(scene.stores, findFile(scene.stores, 'box', path) ?? expect.fail(path));
}

const nothing: FolderRequest = {
  bucket: 'box',
  apiKey: undefined,
  prefix: undefined,
  delimiter: undefined,
  cursor: undefined,
  limit: undefined,
  sort: undefined,
  tag: undefined,
};

interface Page {
  readonly items: readonly string[];
  readonly folders: readonly string[];
  readonly nextCursor: string | null;
}

function page(change: Partial<FolderRequest> = {}): Page {
  const list = listFolder(scene.stores, callOf('alice'), { ...nothing, ...change });
  const { items, folders, nextCursor } = readJsonPage(scene.stores, list);
  return {
    items: recordsOf(items).map(({ path }) => path),
    folders: folders.map((path) => Buffer.from(path).toString()),
    nextCursor,
  };
}

/** Collects all pages by their cursors. */
function all(change: Partial<FolderRequest> = {}): Omit<Page, 'nextCursor'> {
  const items: string[] = [];
  const folders: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const found = page({ ...change, cursor });
    items.push(...found.items);
    folders.push(...found.folders);
    cursor = found.nextCursor;
  }
  return { items, folders };
}

describe('listFolder(): a list of a folder', () => {
  test('has its files, and folders in place of the files below them', () => {
    for (const path of ['a', 'b/1', 'b/2/3', 'b-', 'c/x/y', 'd']) put(path);
    expect(page({ delimiter: '/' })).toEqual({
      items: ['a', 'b-', 'd'],
      folders: ['b/', 'c/'],
      nextCursor: null,
    });
    expect(page({ delimiter: '/', prefix: 'b/' })).toMatchObject({
      items: ['b/1'],
      folders: ['b/2/'],
    });
    expect(page({ delimiter: '/', prefix: 'c' })).toMatchObject({ items: [], folders: ['c/'] });
    expect(page({ delimiter: '/', prefix: 'none/' })).toMatchObject({ items: [], folders: [] });
    expect(page({ delimiter: '/', sort: 'name_desc' })).toMatchObject({
      items: ['d', 'b-', 'a'],
      folders: ['c/', 'b/'],
    });
  });

  test('without a delimiter has all files and no folders', () => {
    for (const path of ['a', 'b/1', 'c']) put(path);
    const everything = { items: ['a', 'b/1', 'c'], folders: [], nextCursor: null };
    expect(page()).toEqual(everything);
    expect(page({ delimiter: '' })).toEqual(everything);
  });

  test('has a hundred entries by default, files and folders together', () => {
    for (let at = 0; at < 60; at++) {
      put(`f${at}`);
      put(`d${at}/x`);
    }
    const { items, folders, nextCursor } = page({ delimiter: '/' });
    expect(items.length + folders.length).toBe(100);
    expect(nextCursor).not.toBeNull();
    expect(page({ delimiter: '/', limit: 120 }).nextCursor).toBeNull();
    expect(all({ delimiter: '/', limit: 7 })).toMatchObject({
      items: { length: 60 },
      folders: { length: 60 },
    });
  });

  test('continues after the name of its cursor, whatever was deleted or stored meanwhile', () => {
    for (const path of ['a', 'b/1', 'c', 'd/1', 'e']) put(path);
    const first = page({ delimiter: '/', limit: 2 });
    expect(first).toMatchObject({ items: ['a'], folders: ['b/'] });
    for (const path of ['a', 'b/1']) remove(path);
    put('b/9');
    put('bb');
    const cursor = first.nextCursor ?? expect.fail('no cursor');
    expect(page({ delimiter: '/', cursor })).toEqual({
      items: ['bb', 'c', 'e'],
      folders: ['d/'],
      nextCursor: null,
    });
    const before = page({ delimiter: '/', cursor, sort: 'name_desc' });
    expect(before).toEqual({ items: [], folders: [], nextCursor: null });
  });

  test('begins after a name, whether it exists or not, and after the folder that contains it', () => {
    for (const path of ['a', 'b/1', 'b/2', 'c', 'd/1', 'e']) put(path);
    const shown = (startAfter: string, change: Partial<FolderRequest> = {}) => {
      const { items, folders } = page({ startAfter, ...change });
      return [...folders, ...items].join(' ');
    };
    expect(shown('')).toBe('a b/1 b/2 c d/1 e');
    expect(shown('a')).toBe('b/1 b/2 c d/1 e');
    expect(shown('b/1')).toBe('b/2 c d/1 e');
    expect(shown('b/1', { prefix: 'b/' })).toBe('b/2');
    expect(shown('bb', { prefix: 'b/' })).toBe('');
    expect(shown('zzz')).toBe('');
    const folders = { delimiter: '/' };
    expect(shown('b', folders)).toBe('b/ d/ c e');
    expect(shown('b/', folders)).toBe('d/ c e');
    expect(shown('b/1', folders)).toBe('d/ c e');
    expect(shown('b/1', { ...folders, prefix: 'b/' })).toBe('b/2');
    const down = { ...folders, sort: 'name_desc' };
    expect(shown('b/1', down)).toBe('b/ a');
    expect(shown('b/', down)).toBe('a');
    expect(page({ startAfter: 'a', limit: 2 }).nextCursor).toBe(cursorOf(Buffer.from('b/2')));
  });

  test('ends early if the records do not fit into one response', () => {
    const tags = Array.from({ length: 20 }, (_, at) => `${'"'.repeat(62)}${at + 10}`);
    for (let at = 0; at < 220; at++) {
      put(`${'x'.repeat(900)}${String(at).padStart(3, '0')}`, tags);
    }
    const { items, nextCursor } = page({ limit: 1_000 });
    expect(items.length).toBeGreaterThan(100);
    expect(items.length).toBeLessThan(220);
    expect(nextCursor).not.toBeNull();
    expect(all({ limit: 1_000 }).items).toHaveLength(220);
    expect(all({ limit: 1_000, sort: 'name_desc', delimiter: '/' }).items).toHaveLength(220);
  });

  test('of folders with long names also ends early', () => {
    for (let at = 0; at < 500; at++) put(`${'y'.repeat(1_000)}${at + 100}/f`);
    const { folders, nextCursor } = page({ delimiter: '/', limit: 1_000 });
    expect(folders.length).toBeLessThan(500);
    expect(nextCursor).not.toBeNull();
    expect(all({ delimiter: '/', limit: 1_000 }).folders).toHaveLength(500);
  });

  test('accepts the longest names, and cursors made of them', () => {
    const long = `${'ü'.repeat(500)}/${'é'.repeat(11)}`;
    put(`${long}a`);
    put(`${long}b`);
    const { items, nextCursor } = page({ limit: 1 });
    expect(items).toEqual([`${long}a`]);
    expect(page({ cursor: nextCursor ?? '' }).items).toEqual([`${long}b`]);
  });

  test('is refused without the right to read, and for invalid arguments', () => {
    const refused = (code: Parameters<typeof expectRefusal>[1], change: Partial<FolderRequest>) =>
      expectRefusal(scene.stores, code, () => page(change));
    for (const limit of [0, -1, 1.5, 1_001, Number.NaN]) refused('InvalidArgument', { limit });
    for (const delimiter of ['//', '-', ' ', 'ab']) refused('InvalidArgument', { delimiter });
    for (const sort of ['date_asc', 'date_desc', '', 'size']) refused('InvalidArgument', { sort });
    for (const tag of ['', 'a,b']) refused('InvalidArgument', { tag });
    const good = cursorOf(Buffer.from('ab'));
    const malformed = [
      '',
      'AQ',
      `${good}=`,
      `${good.slice(0, -1)}!`,
      encodeBase64Url(Uint8Array.of(2, 97)),
      encodeBase64Url(Uint8Array.of(1, 0xff)),
      encodeBase64Url(new Uint8Array(1_043).fill(1)),
      'x'.repeat(5_000),
    ];
    for (const cursor of malformed) refused('InvalidArgument', { cursor });
    refused('InvalidArgument', { startAfter: 'a', cursor: good });
    refused('InvalidArgument', { startAfter: 'ü'.repeat(513) });
    refused('NoSuchBucket', { bucket: 'nobody' });
    refused('InvalidApiKey', { apiKey: 'efs_nonsense' });
    refused('AccessDenied', { apiKey: makeKey(scene.stores, { permissions: ['write'] }) });
    expectRefusal(scene.stores, 'AccessDenied', () =>
      listFolder(scene.stores, callOf('bob'), nothing),
    );
    expect(page({ apiKey: scene.readKey }).items).toEqual([]);
  });
});

interface ReferenceFile {
  readonly path: string;
  readonly tags: readonly string[];
}

/** Names of files and folders directly below the prefix, in the order of their bytes. */
function referenceEntries(
  files: Iterable<ReferenceFile>,
  change: Partial<FolderRequest>,
): string[] {
  const { prefix = '', delimiter, tag } = change;
  const names = new Set<string>();
  for (const { path, tags } of files) {
    if (!path.startsWith(prefix) || (tag !== undefined && !tags.includes(tag))) continue;
    const slash = delimiter === '/' ? path.indexOf('/', prefix.length) : -1;
    names.add(slash === -1 ? path : path.slice(0, slash + 1));
  }
  const sorted = [...names].sort((one, other) =>
    Buffer.compare(Buffer.from(one), Buffer.from(other)),
  );
  return change.sort === 'name_desc' ? sorted.reverse() : sorted;
}

function randomPath(random: (limit: number) => number): string {
  const names = ['a', 'b', 'b-', 'b0', 'ab', 'é', '日', '.x', 'A', 'a a'];
  const part = () => `${names[random(names.length)]}${random(3) === 0 ? random(30) : ''}`;
  return Array.from({ length: 1 + random(4) }, part).join('/');
}

test.each([1, 2, 3, 4])(
  'listFolder(): pages equal those of a plain list under random changes, seed %i',
  (seed) => {
    const random = randomNumbers(seed);
    const files = new Map<string, ReferenceFile>();
    const change = () => {
      const path = randomPath(random);
      if (files.has(path) && random(2) === 0) {
        remove(path);
        files.delete(path);
      } else {
        const tags = random(3) === 0 ? ['red'] : [];
        put(path, tags);
        files.set(path, { path, tags });
      }
    };
    for (let turn = 0; turn < 400; turn++) change();
    for (let turn = 0; turn < 60; turn++) {
      const request: Partial<FolderRequest> = {
        delimiter: ['/', '/', undefined][random(3)],
        prefix: ['', '', 'a', 'b/', 'b', 'a/b', 'é/', 'zz'][random(8)],
        sort: [undefined, 'name_asc', 'name_desc'][random(3)],
        tag: [undefined, undefined, 'red'][random(3)],
      };
      const where = `seed ${seed}, turn ${turn}, ${JSON.stringify(request)}`;
      let left = referenceEntries(files.values(), request);
      for (let cursor: string | null | undefined; cursor !== null; ) {
        const limit = [1, 2, 3, 10, 100][random(5)] ?? 1;
        const found = page({ ...request, cursor, limit });
        const wanted = left.slice(0, limit);
        const isFolder = (name: string) => name.endsWith('/');
        expect(found.items, where).toEqual(wanted.filter((name) => !isFolder(name)));
        expect(found.folders, where).toEqual(wanted.filter(isFolder));
        expect(found.nextCursor === null, where).toBe(left.length <= limit);
        cursor = found.nextCursor;
        const last = wanted.at(-1);
        for (let changes = random(4); changes > 0; changes--) change();
        // Continues after the last name returned, in the files as they are now.
        const sign = request.sort === 'name_desc' ? -1 : 1;
        left = referenceEntries(files.values(), request).filter(
          (name) => sign * Buffer.compare(Buffer.from(name), Buffer.from(last ?? '')) > 0,
        );
        if (cursor !== null && left.length === 0) break;
      }
    }
  },
);
