// Former versions: which replaced and deleted files are kept, for how long, and what they count.

import { beforeEach, describe, expect, test } from 'vitest';
import {
  deleteBucket,
  updateBucket,
} from '../../src/domain/administration/bucket-administration.ts';
import { continueRotation, rotateBucketKey } from '../../src/domain/administration/key-rotation.ts';
import { findBucket, getBucket } from '../../src/domain/buckets/buckets.ts';
import { moveFile } from '../../src/domain/files/copies.ts';
import { findFile } from '../../src/domain/files/file-records.ts';
import { deleteFile, readFilePart } from '../../src/domain/files/files.ts';
import { eraseVersions } from '../../src/domain/files/version-erasure.ts';
import { expireVersions } from '../../src/domain/files/version-records.ts';
import {
  getVersion,
  listVersions,
  readVersionPart,
  restoreVersion,
} from '../../src/domain/files/versions.ts';
import { listFiles } from '../../src/domain/listing/listing.ts';
import {
  bucketChange,
  callOf,
  createScene,
  expectRefusal,
  makeKey,
  putTestFile,
  type Scene,
  startNs,
  testBytes,
} from '../support/domain-fixture.ts';
import { checkInvariants } from '../support/invariants.ts';

const dayNs = 86_400_000_000_000n;
const alice = callOf('alice');
const none = { bucket: 'box', apiKey: undefined };

let scene: Scene;

beforeEach(async () => {
  scene = await createScene();
  updateBucket(scene.stores, alice, bucketChange({ keepVersionsDays: 3n }));
});

function put(path: string, seed: number, nowNs = startNs): void {
  putTestFile(scene.stores, { path: `/${path}`, bytes: testBytes(100, seed) }, nowNs);
}

function remove(path: string, nowNs = startNs): void {
  deleteFile(scene.stores, callOf('alice', nowNs), { ...none, path, conditions: {} });
}

function read(path: string): Buffer {
  const part = { offset: 0n, length: 1_000n };
  return Buffer.from(readFilePart(scene.stores, alice, { ...none, path, ...part }));
}

function readVersion(path: string, version: number, part = { offset: 0n, length: 1_000n }) {
  const wanted = { ...none, path, version, ...part };
  return Buffer.from(readVersionPart(scene.stores, alice, wanted));
}

function listed(request: { path?: string; prefix?: string } = {}): string[] {
  const { items } = listVersions(scene.stores, alice, { ...none, ...request });
  return items.map(({ file }) => `${file.path} ${file.version}`);
}

function restore(path: string, version: number) {
  return restoreVersion(scene.stores, alice, { ...none, path, version, conditions: {} });
}

describe('eraseVersions(): a bucket that keeps versions', () => {
  test('stores replaced and deleted files', () => {
    const { stores } = scene;
    put('a', 1);
    put('a', 2);
    put('a', 3);
    remove('a');
    expect(findFile(stores, 'box', 'a')).toBeUndefined();
    expect(listed()).toEqual(['a 1', 'a 2', 'a 3']);
    const box = getBucket(stores, 'box');
    expect(box).toMatchObject({ fileCount: 0, byteCount: 0, versionCount: 3 });
    expect(box.versionBytes).toBeGreaterThan(300);
    checkInvariants(stores);
    put('a', 4);
    expect(findFile(stores, 'box', 'a')?.version).toBe(4);
    checkInvariants(stores);
  });

  test('lists by path, by prefix, and page by page', () => {
    for (const path of ['a', 'a/b', 'ab', 'c']) for (const seed of [1, 2, 3]) put(path, seed);
    expect(listed({ path: 'a' })).toEqual(['a 1', 'a 2']);
    expect(listed({ prefix: 'a' })).toEqual(['a 1', 'a 2', 'a/b 1', 'a/b 2', 'ab 1', 'ab 2']);
    expect(listed({ prefix: 'zz' })).toEqual([]);
    const { stores } = scene;
    const seen: string[] = [];
    for (let cursor: string | undefined, turn = 0; turn < 9; turn++) {
      const page = listVersions(stores, alice, { ...none, limit: 3, cursor });
      seen.push(...page.items.map(({ file }) => `${file.path} ${file.version}`));
      if (page.nextCursor === null) break;
      cursor = page.nextCursor;
    }
    expect(seen).toEqual(listed());
    expect(seen).toHaveLength(8);
    for (const bad of [
      { limit: 0 },
      { limit: 1_001 },
      { cursor: '!' },
      { path: 'a', prefix: 'b' },
    ]) {
      expectRefusal(stores, 'InvalidArgument', () =>
        listVersions(stores, alice, { ...none, ...bad }),
      );
    }
  });

  test('returns fewer versions than requested if their texts are long, and skips none', () => {
    const { stores } = scene;
    const metadata = Array.from({ length: 32 }, (_, index) => [`n${index}`, 'x'] as const);
    const notes = { contentType: 'a/b', tags: [], headers: ['', '', '', ''], metadata };
    for (let seed = 0; seed < 151; seed++) {
      putTestFile(stores, { path: '/a', bytes: testBytes(1, seed), metadata: notes });
    }
    const pages: number[] = [];
    const numbers: number[] = [];
    for (let cursor: string | undefined; pages.length === 0 || cursor !== undefined; ) {
      const page = listVersions(stores, alice, { ...none, limit: 1_000, cursor });
      expect(page.items.every(({ file }) => file.metadata.length === 32)).toBe(true);
      numbers.push(...page.items.map(({ file }) => file.version));
      pages.push(page.items.length);
      cursor = page.nextCursor ?? undefined;
    }
    expect(numbers).toEqual(Array.from({ length: 150 }, (_, index) => index + 1));
    expect(pages).toEqual([69, 69, 12]);
  });

  test('lists only the requested path or prefix, also with the cursor of another list', () => {
    for (const path of ['a', 'b', 'c']) for (const seed of [1, 2]) put(path, seed);
    const { stores } = scene;
    const { nextCursor } = listVersions(stores, alice, { ...none, limit: 1 });
    const cursor = nextCursor ?? expect.fail('no further page');
    for (const wanted of [{ prefix: 'c' }, { path: 'c' }]) {
      const { items } = listVersions(stores, alice, { ...none, ...wanted, cursor });
      expect(items.map(({ file }) => file.path)).toEqual(['c']);
    }
  });

  test('gives a restored file a greater number than its former one', () => {
    put('a', 1);
    put('a', 2);
    remove('a');
    eraseVersions(scene.stores, alice, { ...none, path: 'a', version: 1 });
    const { file, isNew } = restore('a', 2);
    expect([isNew, file.version]).toEqual([true, 3]);
    checkInvariants(scene.stores);
  });

  test('restores a version, and keeps the file that it replaces', () => {
    const { stores } = scene;
    put('a', 1);
    put('a', 2);
    const { file, isNew } = restore('a', 1);
    expect(isNew).toBe(false);
    expect(file).toMatchObject({ version: 3, updatedAtNs: startNs });
    expect(read('a')).toEqual(Buffer.from(testBytes(100, 1)));
    expect(listed()).toEqual(['a 2']);
    checkInvariants(stores);
    remove('a');
    expect(restore('a', 2).isNew).toBe(true);
    expect(read('a')).toEqual(Buffer.from(testBytes(100, 2)));
    expect(listed()).toEqual(['a 3']);
    checkInvariants(stores);
    expectRefusal(stores, 'NoSuchFile', () => restore('a', 1));
    expectRefusal(stores, 'PreconditionFailed', () =>
      restoreVersion(stores, alice, {
        ...{ ...none, path: 'a', version: 3 },
        conditions: { ifNoneMatch: '*' },
      }),
    );
  });

  test('erases expired versions, a bounded number per message, and no others', () => {
    const { stores } = scene;
    for (let seed = 0; seed <= 25; seed++) put('a', seed);
    expect(expireVersions(stores, startNs + 3n * dayNs - 1n)).toBe(false);
    expect(listed()).toHaveLength(25);
    expect(expireVersions(stores, startNs + 3n * dayNs)).toBe(true);
    expect(listed()).toHaveLength(5);
    checkInvariants(stores);
    expect(expireVersions(stores, startNs + 3n * dayNs)).toBe(false);
    expect(listed()).toEqual([]);
    expect(getBucket(stores, 'box')).toMatchObject({ versionCount: 0, versionBytes: 0 });
    checkInvariants(stores);
  });

  test('keeps existing former versions when the setting is turned off', () => {
    const { stores } = scene;
    put('a', 1);
    put('a', 2);
    updateBucket(stores, alice, bucketChange({ keepVersionsDays: 0n }));
    put('a', 3);
    remove('a');
    expect(listed()).toEqual(['a 1']);
    checkInvariants(stores);
    expectRefusal(stores, 'InvalidArgument', () =>
      updateBucket(stores, alice, bucketChange({ keepVersionsDays: 3_651n })),
    );
  });

  test('keeps no version at the path that a file is moved from', () => {
    const { stores } = scene;
    put('a', 1);
    put('b', 2);
    moveFile(stores, alice, { ...none, from: 'a', to: { path: 'b' }, conditions: {} });
    expect(listed()).toEqual(['b 1']);
    expect(findFile(stores, 'box', 'b')?.version).toBe(2);
    checkInvariants(stores);
  });

  test('counts former versions in its quota', () => {
    const { stores } = scene;
    put('a', 1);
    const { byteCount, overheadBytes } = getBucket(stores, 'box');
    const quotaBytes = BigInt(byteCount + overheadBytes + 99);
    updateBucket(stores, alice, bucketChange({ quotaBytes }));
    expectRefusal(stores, 'QuotaExceeded', () => put('a', 2));
    remove('a');
    expectRefusal(stores, 'QuotaExceeded', () => put('a', 2));
    restore('a', 1);
    checkInvariants(stores);
  });

  test('can be deleted when no version is left', () => {
    const { stores } = scene;
    put('a', 1);
    remove('a');
    const deletion = { bucket: 'box', isForced: true };
    expectRefusal(stores, 'BucketNotEmpty', () => deleteBucket(stores, alice, deletion));
    const erased = eraseVersions(stores, alice, { ...none, prefix: '' });
    expect(erased).toEqual({ erased: 1, held: 0, isDone: true });
    deleteBucket(stores, alice, deletion);
    expect(findBucket(stores, 'box')).toBeUndefined();
    checkInvariants(stores);
  });
});

describe('eraseVersions(): a version can be read by its number', () => {
  const isOf = (seed: number) => Buffer.from(testBytes(100, seed));

  test('whether it is former, current, or of a deleted file', () => {
    const { stores } = scene;
    for (const seed of [1, 2, 3]) put('a', seed);
    for (const version of [1, 2, 3]) {
      expect(readVersion('a', version)).toEqual(isOf(version));
      const file = getVersion(stores, alice, { ...none, path: '/a', version });
      expect(file).toMatchObject({ path: 'a', version, size: 100 });
    }
    remove('a');
    expect(readVersion('a', 3)).toEqual(isOf(3));
    for (const version of [0, 4, 1.5, Number.NaN, 2 ** 32 + 1, 1e300]) {
      expectRefusal(stores, 'NoSuchFile', () => readVersion('a', version));
    }
    eraseVersions(stores, alice, { ...none, path: 'a', version: 3 });
    expectRefusal(stores, 'NoSuchFile', () => readVersion('a', 3));
    expectRefusal(stores, 'NoSuchFile', () => readVersion('b', 1));
    expectRefusal(stores, 'InvalidPath', () => readVersion('a/../b', 1));
  });

  test('in parts, like a file', () => {
    put('a', 1);
    put('a', 2);
    expect(readVersion('a', 1, { offset: 90n, length: 20n })).toEqual(isOf(1).subarray(90));
    expect(readVersion('a', 1, { offset: 100n, length: 1n })).toHaveLength(0);
    const { stores } = scene;
    const beyond = { offset: 101n, length: 1n };
    expectRefusal(stores, 'InvalidRange', () => readVersion('a', 1, beyond));
    const tooLong = { offset: 0n, length: 1_900_001n };
    expectRefusal(stores, 'EntityTooLarge', () => readVersion('a', 1, tooLong));
  });

  test("after the bucket's key was rotated", () => {
    const { stores } = scene;
    put('a', 1);
    put('a', 2);
    rotateBucketKey(stores, alice, 'box');
    for (let turn = 0; turn < 9 && continueRotation(stores); turn++);
    expect(readVersion('a', 1)).toEqual(isOf(1));
  });

  test('but not if it was altered, or stored in place of another one', () => {
    const { stores } = scene;
    for (const seed of [1, 2, 3]) put('a', seed);
    const key = (version: number) => Buffer.from(`\0box\0a\0${version}`);
    const record = (version: number) => stores.files.get(key(version)) ?? expect.fail('no record');
    stores.files.set(key(1), record(2));
    const size = record(2).slice();
    size[60] = (size[60] ?? 0) ^ 1;
    stores.files.set(key(2), size);
    for (const version of [1, 2]) {
      expectRefusal(stores, 'IntegrityError', () => readVersion('a', version));
    }
    expect(readVersion('a', 3)).toEqual(isOf(3));
  });

  test('by callers who may read the bucket, and not by everybody if it is public', () => {
    const { stores } = scene;
    put('a', 1);
    put('a', 2);
    expect(getBucket(stores, 'box').isPublic).toBe(true);
    const bob = callOf('bob');
    const as = (permissions: string[], prefix = '') => {
      const apiKey = makeKey(stores, { permissions, prefix });
      return { bucket: 'box', apiKey, path: 'a', version: 1 };
    };
    const reads = as(['read']);
    expect(getVersion(stores, bob, reads).version).toBe(1);
    expect(getVersion(stores, bob, { ...reads, version: 2 }).version).toBe(2);
    for (const wanted of [
      as(['write', 'delete']),
      as(['read'], 'b/'),
      { ...reads, apiKey: undefined },
    ]) {
      expectRefusal(stores, 'AccessDenied', () => getVersion(stores, bob, wanted));
      const part = { ...wanted, offset: 0n, length: 1n };
      expectRefusal(stores, 'AccessDenied', () => readVersionPart(stores, bob, part));
    }
  });
});

describe('eraseVersions(): an erasure of the current version', () => {
  const erase = (path: string, version: number, nowNs = startNs) =>
    eraseVersions(scene.stores, callOf('alice', nowNs), { ...none, path, version });
  const record = (path: string) => findFile(scene.stores, 'box', path) ?? expect.fail('no file');

  test('makes the latest former one current, with its own number, id and dates', () => {
    const { stores } = scene;
    put('a', 1);
    put('b', 1, startNs + 1n);
    put('a', 2, startNs + 2n);
    const former = record('a');
    put('a', 3, startNs + 3n);
    expect(erase('/a', 3, startNs + 4n)).toEqual({ erased: 1, held: 0, isDone: true });
    const { sealNumber: _, sealedAtNs: __, ...expected } = { ...former } as Record<string, unknown>;
    expect(record('a')).toMatchObject(expected);
    expect(read('a')).toEqual(Buffer.from(testBytes(100, 2)));
    expect(listed()).toEqual(['a 1']);
    expectRefusal(stores, 'NoSuchFile', () => readVersion('a', 3));
    checkInvariants(stores);
    erase('a', 2);
    checkInvariants(stores);
    const byDate = { sort: 'date_asc', tag: undefined, prefix: undefined } as const;
    const page = { page: undefined, pageSize: undefined };
    const { paths } = listFiles(stores, alice, { ...none, ...byDate, ...page });
    expect(paths.map((path) => Buffer.from(path).toString())).toEqual(['a', 'b']);
    erase('a', 1);
    expect(findFile(stores, 'box', 'a')).toBeUndefined();
    expect(getBucket(stores, 'box')).toMatchObject({ fileCount: 1, versionCount: 0 });
    checkInvariants(stores);
  });

  test('deletes a file without a former version, also if none are stored', () => {
    const { stores } = scene;
    updateBucket(stores, alice, bucketChange({ keepVersionsDays: 0n }));
    put('a', 1);
    expectRefusal(stores, 'NoSuchFile', () => erase('a', 2));
    expect(erase('a', 1)).toEqual({ erased: 1, held: 0, isDone: true });
    expect(findFile(stores, 'box', 'a')).toBeUndefined();
    checkInvariants(stores);
  });

  test('changes nothing if the former one is damaged', () => {
    const { stores } = scene;
    put('a', 1);
    put('a', 2);
    const key = Buffer.from('\0box\0a\x001');
    const damaged = (stores.files.get(key) ?? new Uint8Array(0)).slice();
    damaged[80] = (damaged[80] ?? 0) ^ 1;
    stores.files.set(key, damaged);
    expectRefusal(stores, 'IntegrityError', () => erase('a', 2));
    expect(read('a')).toEqual(Buffer.from(testBytes(100, 2)));
  });
});

describe('eraseVersions(): an erasure', () => {
  test('erases one version, those of a path, or those of a prefix', () => {
    const { stores } = scene;
    for (const path of ['a', 'b/c', 'b/d']) for (const seed of [1, 2, 3]) put(path, seed);
    const erase = (fields: { path?: string; prefix?: string; version?: number }) =>
      eraseVersions(stores, alice, { ...none, ...fields });
    expect(erase({ path: 'a', version: 1 })).toEqual({ erased: 1, held: 0, isDone: true });
    expect(listed()).toEqual(['a 2', 'b/c 1', 'b/c 2', 'b/d 1', 'b/d 2']);
    expectRefusal(stores, 'NoSuchFile', () => erase({ path: 'a', version: 1 }));
    expect(erase({ path: 'b/c' })).toEqual({ erased: 2, held: 0, isDone: true });
    expect(erase({ prefix: 'b/' })).toEqual({ erased: 2, held: 0, isDone: true });
    expect(listed()).toEqual(['a 2']);
    checkInvariants(stores);
    expectRefusal(stores, 'InvalidArgument', () => erase({}));
  });

  test('and every other operation on versions requires its right', () => {
    const { stores } = scene;
    put('a', 1);
    put('a', 2);
    const bob = callOf('bob');
    const as = (permissions: string[]) => ({
      bucket: 'box',
      apiKey: makeKey(stores, { permissions }),
    });
    const [reads, writes, both] = [as(['read']), as(['write']), as(['read', 'write'])];
    const refused = (use: () => unknown) => expectRefusal(stores, 'AccessDenied', use);
    refused(() => listVersions(stores, bob, writes));
    refused(() => eraseVersions(stores, bob, { ...both, path: 'a' }));
    const one = { path: 'a', version: 1, conditions: {} };
    refused(() => restoreVersion(stores, bob, { ...reads, ...one }));
    refused(() => restoreVersion(stores, bob, { ...writes, ...one }));
    expect(restoreVersion(stores, bob, { ...both, ...one }).file.version).toBe(3);
  });

  test('erases damaged versions too, so that the bucket can be emptied', () => {
    const { stores } = scene;
    put('a', 1);
    remove('a');
    const key = Buffer.from('\0box\0a\x001');
    stores.files.set(key, (stores.files.get(key) ?? new Uint8Array(0)).slice(0, 60));
    expect(listed()).toEqual([]);
    expect(eraseVersions(stores, alice, { ...none, path: 'a' }).erased).toBe(1);
    expect(getBucket(stores, 'box').versionCount).toBe(0);
  });
});
