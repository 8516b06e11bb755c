// Thumbnails: who may store them, what they count, which records share them, and random histories
// against a model of plain data.

import { beforeEach, describe, expect, test } from 'vitest';
import {
  deleteBucket,
  updateBucket,
} from '../../src/domain/administration/bucket-administration.ts';
import {
  continueRotation,
  isRotating,
  rotateBucketKey,
} from '../../src/domain/administration/key-rotation.ts';
import { findBucket } from '../../src/domain/buckets/buckets.ts';
import { heldBytes } from '../../src/domain/buckets/quota.ts';
import { reclaimContents } from '../../src/domain/contents/contents.ts';
import { copyFile, moveFile } from '../../src/domain/files/copies.ts';
import { changeFile } from '../../src/domain/files/file-changes.ts';
import { readFiles } from '../../src/domain/files/file-reads.ts';
import { entityTag, findFile } from '../../src/domain/files/file-records.ts';
import { deleteFile } from '../../src/domain/files/files.ts';
import {
  checkThumbnail,
  getThumbnail,
  putThumbnail,
  type ThumbnailUpload,
} from '../../src/domain/files/thumbnails.ts';
import { eraseVersions } from '../../src/domain/files/version-erasure.ts';
import { listVersions, restoreVersion } from '../../src/domain/files/versions.ts';
import { Refusal } from '../../src/domain/shared/refusal.ts';
import {
  bucketChange,
  callOf,
  createScene,
  expectRefusal,
  makeKey,
  putTestFile,
  type Scene,
  testBytes,
  testPicture,
} from '../support/domain-fixture.ts';
import { chunkOf, realOffset } from '../support/encryption-reference.ts';
import { checkInvariants } from '../support/invariants.ts';
import { randomNumbers } from '../support/random-numbers.ts';
import { seedOr } from '../support/seed.ts';

const alice = callOf('alice');
const named = { bucket: 'box', path: 'a', apiKey: undefined };
const picture = testPicture(1_000);

let scene: Scene;

beforeEach(async () => {
  scene = await createScene();
});

function etagOf(bucket: string, path: string): string {
  return entityTag(findFile(scene.stores, bucket, path) ?? expect.fail(`no file ${path}`));
}

function put(change: Partial<ThumbnailUpload> = {}, call = alice): void {
  const { bucket, path } = { ...named, ...change };
  const etag = 'etag' in change ? change.etag : etagOf(bucket, path);
  putThumbnail(scene.stores, call, {
    ...named,
    etag,
    bytes: picture,
    ...change,
  });
}

function read(path = 'a', bucket = 'box'): Buffer {
  return Buffer.from(getThumbnail(scene.stores, alice, { ...named, bucket, path }).bytes);
}

function copy(from: string, to: { bucket?: string; path: string }) {
  copyFile(scene.stores, alice, { ...named, from, to, conditions: {} });
}

describe('putThumbnail()', () => {
  test('stores a picture; file, number, dates and ETag stay', () => {
    const { file } = putTestFile(scene.stores);
    put();
    expect(read()).toEqual(picture);
    const shown = { contentType: 'image/webp', sha256: expect.any(String) };
    const after = findFile(scene.stores, 'box', 'a');
    expect(after).toEqual({
      ...file,
      thumbnail: { ...shown, index: expect.any(Number), size: 1_012 },
    });
    checkInvariants(scene.stores);
  });

  test('replaces a picture and frees the former one', () => {
    putTestFile(scene.stores);
    put();
    const before = scene.stores.blobs.bytesInUse();
    put({ bytes: testPicture(1_000, 2) });
    expect(read()).toEqual(testPicture(1_000, 2));
    expect(scene.stores.blobs.bytesInUse()).toBe(before);
    checkInvariants(scene.stores);
  });

  test.each<[string, Uint8Array]>([
    ['image/webp', picture],
    ['image/jpeg', Buffer.from('ffd8ffe000104a46', 'hex')],
    ['image/png', Buffer.from('89504e470d0a1a0a0000', 'hex')],
    ['image/avif', Buffer.from('0000001c6674797061766966', 'hex')],
  ])('knows the type by the first bytes: %s', (type, bytes) => {
    putTestFile(scene.stores);
    put({ bytes });
    expect(getThumbnail(scene.stores, alice, named).contentType).toBe(type);
  });

  test.each<[string, string | Uint8Array]>([
    ['SVG', '<svg xmlns="http://www.w3.org/2000/svg"/>'],
    ['HTML', '<!doctype html>'],
    ['GIF', 'GIF89a'],
    ['RIFF without WEBP', 'RIFF....WAVE'],
    ['no bytes', ''],
  ])('refuses other bytes: %s', (_, bytes) => {
    putTestFile(scene.stores);
    expectRefusal(scene.stores, 'InvalidContentType', () => put({ bytes: Buffer.from(bytes) }));
  });

  test('refuses more than 32,768 bytes', () => {
    putTestFile(scene.stores);
    put({ bytes: testPicture(32_768 - 12) });
    expect(read()).toHaveLength(32_768);
    expectRefusal(scene.stores, 'EntityTooLarge', () => put({ bytes: testPicture(32_757) }));
  });

  test('refuses another version of the file, and a request without an ETag', () => {
    putTestFile(scene.stores);
    const etag = etagOf('box', 'a');
    putTestFile(scene.stores, { bytes: testBytes(10, 2) });
    expectRefusal(scene.stores, 'PreconditionFailed', () => put({ etag }));
    expectRefusal(scene.stores, 'PreconditionFailed', () => put({ etag: etag.slice(1, -1) }));
    expectRefusal(scene.stores, 'InvalidArgument', () => put({ etag: '*' }));
    expectRefusal(scene.stores, 'InvalidArgument', () => put({ etag: undefined }));
    expectRefusal(scene.stores, 'NoSuchFile', () => put({ path: 'none', etag }));
  });

  test('needs the right to write the path', () => {
    const { stores } = scene;
    putTestFile(stores);
    put({ apiKey: scene.writeKey }, callOf('anonymous'));
    for (const permissions of [['read'], ['upload'], ['delete']]) {
      const apiKey = makeKey(stores, { permissions });
      expectRefusal(stores, 'AccessDenied', () => put({ apiKey }));
    }
    const apiKey = makeKey(stores, { prefix: 'b/' });
    expectRefusal(stores, 'AccessDenied', () => put({ apiKey }));
    expectRefusal(stores, 'AccessDenied', () => put({}, callOf('bob')));
  });

  test('counts its bytes in the quota of the bucket', () => {
    const { stores } = scene;
    putTestFile(stores);
    const used = heldBytes(findBucket(stores, 'box') ?? expect.fail());
    put();
    const counted = heldBytes(findBucket(stores, 'box') ?? expect.fail());
    expect(counted - used).toBe(1_012 + 1_600);
    updateBucket(stores, alice, bucketChange({ quotaBytes: BigInt(counted) }));
    put({ bytes: testPicture(1_000, 2) });
    expectRefusal(stores, 'QuotaExceeded', () => put({ bytes: testPicture(1_001) }));
  });

  test('gives a held file its first thumbnail and refuses another one', () => {
    const { stores } = scene;
    updateBucket(
      stores,
      alice,
      bucketChange({ keepVersionsDays: 1n, retention: [{ mode: 'compliance', days: 1n }] }),
    );
    putTestFile(stores);
    put();
    expect(findFile(stores, 'box', 'a')?.retention?.mode).toBe('compliance');
    expect(read()).toEqual(picture);
    expectRefusal(stores, 'FileHeld', () => put());
    checkInvariants(stores);
  });

  test('never changes what another record of the content shows', () => {
    putTestFile(scene.stores);
    copy('a', { bucket: 'other', path: 'b' });
    put({ bucket: 'other', path: 'b', bytes: testPicture(50, 7) });
    expectRefusal(scene.stores, 'NoSuchFile', () => read());
    put();
    expect(read()).toEqual(picture);
    expect(read('b', 'other')).toEqual(testPicture(50, 7));
    checkInvariants(scene.stores);
  });
});

describe('getThumbnail()', () => {
  test('refuses altered bytes, a thumbnail of another file, and one of a former record', () => {
    const { stores } = scene;
    putTestFile(stores);
    putTestFile(stores, { path: '/b', bytes: testBytes(10, 5) });
    put();
    put({ path: 'b', bytes: testPicture(1_000, 9) });
    const chunks = stores.chunks.entries().filter((entry) => chunkOf(entry).index >= 2 ** 31);
    expect(chunks).toHaveLength(2);
    const [[one, record] = expect.fail(), [two, other] = expect.fail()] = chunks;
    stores.chunks.set(one, other);
    stores.chunks.set(two, record);
    for (const path of ['a', 'b']) expectRefusal(stores, 'IntegrityError', () => read(path));
    stores.chunks.set(one, record);
    expect(read()).toEqual(picture);
    const offset = (chunkOf([one, record]).slots[0] ?? 0) + 20;
    const at = realOffset(stores.system.stable, { space: 1, offset });
    stores.system.stable[at] = (stores.system.stable[at] ?? 0) ^ 1;
    expectRefusal(stores, 'IntegrityError', () => read());
    stores.chunks.delete(one);
    expectRefusal(stores, 'IntegrityError', () => read());
  });

  test('of many files shows each one, or why not', () => {
    const { stores } = scene;
    putTestFile(stores);
    putTestFile(stores, { path: '/b' });
    put();
    const asked = { bucket: 'box', paths: ['a', 'b', 'c'], asThumbnails: true };
    const { results, left } = readFiles(stores, callOf('bob'), { ...asked, apiKey: undefined });
    expect(left).toEqual([]);
    const etag = etagOf('box', 'a').slice(1, -1);
    expect(results[0]).toMatchObject({ path: 'a', etag, contentType: 'image/webp' });
    expect(results.slice(1).map((result) => result instanceof Refusal && result.message)).toEqual([
      'File "b" has no thumbnail.',
      'File "c" does not exist in bucket box.',
    ]);
  });
});

describe('putThumbnail() in an end-to-end bucket', () => {
  const ageStart = 'age-encryption.org/v1\n-> ';
  const sealed = Buffer.concat([Buffer.from(`${ageStart}X25519 `), testBytes(1_000)]);

  beforeEach(() => {
    updateBucket(scene.stores, alice, bucketChange({ endToEnd: {} }));
    putTestFile(scene.stores, { bytes: sealed });
  });

  test('stores an age file, of up to 49,152 bytes, with the type of its file', () => {
    put({ bytes: sealed });
    const shown = getThumbnail(scene.stores, alice, named);
    expect(shown.contentType).toBe('application/age');
    expect(Buffer.from(shown.bytes)).toEqual(sealed);
    const largest = Buffer.concat([Buffer.from(ageStart), testBytes(49_152 - ageStart.length)]);
    put({ bytes: largest });
    expect(read()).toEqual(largest);
    const larger = Buffer.concat([largest, Buffer.from('x')]);
    expectRefusal(scene.stores, 'EntityTooLarge', () => put({ bytes: larger }));
    checkInvariants(scene.stores);
  });

  test.each<[string, Uint8Array]>([
    ['a picture', picture],
    ['no bytes', Buffer.from('')],
    ['the beginning of an age file', Buffer.from('age-encryption.org/v1\n')],
    ['age in its armor', Buffer.from('-----BEGIN AGE ENCRYPTED FILE-----\n')],
  ])('refuses %s', (_, bytes) => {
    const etag = etagOf('box', 'a');
    const upload = { ...named, etag, bytes };
    expectRefusal(scene.stores, 'NotEncrypted', () => checkThumbnail(scene.stores, alice, upload));
    expectRefusal(scene.stores, 'NotEncrypted', () => put({ bytes }));
  });

  test('refuses an age file in other buckets, except with a copied file', () => {
    putTestFile(scene.stores, { bucket: 'other' });
    const elsewhere = { bucket: 'other', bytes: sealed };
    expectRefusal(scene.stores, 'InvalidContentType', () => put(elsewhere));
    put({ bytes: sealed });
    copy('a', { bucket: 'other', path: 'b' });
    expect(read('b', 'other')).toEqual(sealed);
    checkInvariants(scene.stores);
  });

  test('keeps it in copies, moves, former versions and through rotations of keys', () => {
    const { stores } = scene;
    updateBucket(stores, alice, bucketChange({ keepVersionsDays: 9n }));
    put({ bytes: sealed });
    copy('a', { path: 'copy' });
    moveFile(stores, alice, { ...named, from: 'copy', to: { path: 'moved' }, conditions: {} });
    putTestFile(stores, { bytes: Buffer.concat([sealed, sealed]) });
    expectRefusal(stores, 'NoSuchFile', () => read());
    rotateBucketKey(stores, alice, 'box');
    while (isRotating(stores)) continueRotation(stores);
    const { items } = listVersions(stores, alice, { bucket: 'box', apiKey: undefined, limit: 9 });
    const version = items.find(({ file }) => file.path === 'a')?.file.version ?? 0;
    restoreVersion(stores, alice, { ...named, version, conditions: {} });
    for (const path of ['a', 'moved']) expect(read(path)).toEqual(sealed);
    checkInvariants(stores);
  });
});

const seed = seedOr(20_261_128);
const rounds = 400;

test(`putThumbnail(): ${rounds} random operations, seed ${seed}`, () => {
  const { stores } = scene;
  const random = randomNumbers(seed);
  const places = ['box', 'other'].flatMap((bucket) =>
    ['a', 'b', 'c'].map((path) => ({ bucket, path })),
  );
  const nameOf = ({ bucket, path }: { bucket: string; path: string }) => `${bucket}/${path}`;
  /** The thumbnail of each file, and of each former version by its number. */
  const files = new Map<string, Buffer | undefined>();
  const versions = new Map<string, Buffer | undefined>();
  const some = () => places[random(places.length)] ?? expect.fail();
  const version = (place: { bucket: string; path: string }) =>
    findFile(stores, place.bucket, place.path)?.version ?? 0;
  const retire = (place: { bucket: string; path: string }) => {
    const keeps = (findBucket(stores, place.bucket)?.keepVersionsDays ?? 0) > 0;
    const name = nameOf(place);
    if (keeps && files.has(name)) versions.set(`${name} ${version(place)}`, files.get(name));
    files.delete(name);
  };
  const set = (place: { bucket: string; path: string }, bytes: Buffer | undefined) => {
    retire(place);
    files.set(nameOf(place), bytes);
  };
  const operations = [
    () => {
      const place = some();
      set(place, undefined);
      putTestFile(stores, { ...place, bytes: testBytes(50, random(9)) });
    },
    () => {
      const place = some();
      if (!files.has(nameOf(place))) return;
      const bytes = testPicture(random(9_000), random(99));
      put({ ...place, bytes });
      files.set(nameOf(place), Buffer.from(bytes));
    },
    () => {
      const [from, to] = [some(), some()];
      if (!files.has(nameOf(from)) || nameOf(from) === nameOf(to)) return;
      const isMove = random(2) === 0;
      const bytes = files.get(nameOf(from));
      const order = { ...named, bucket: from.bucket, from: from.path, to, conditions: {} };
      set(to, bytes);
      if (isMove) files.delete(nameOf(from));
      (isMove ? moveFile : copyFile)(stores, alice, order);
    },
    () => {
      const place = some();
      if (!files.has(nameOf(place))) return;
      retire(place);
      deleteFile(stores, alice, { ...place, apiKey: undefined, conditions: {} });
    },
    () => {
      const place = some();
      if (!files.has(nameOf(place))) return;
      const tags = [`${random(3)}`];
      changeFile(stores, alice, { ...place, tags, apiKey: undefined, conditions: {} });
    },
    () => {
      const [name, bytes] = [...versions][random(Math.max(1, versions.size))] ?? [];
      const [place = '', number = ''] = name?.split(' ') ?? [];
      const [bucket = '', path = ''] = place.split('/');
      if (name === undefined) return;
      const chosen = { bucket, path, version: Number(number), apiKey: undefined };
      versions.delete(name);
      if (random(2) === 0) {
        eraseVersions(stores, alice, chosen);
        return;
      }
      set({ bucket, path }, bytes);
      restoreVersion(stores, alice, { ...chosen, conditions: {} });
    },
    () => {
      const bucket = ['box', 'other'][random(2)] ?? '';
      updateBucket(stores, alice, bucketChange({ bucket, keepVersionsDays: BigInt(random(2)) }));
    },
    () => {
      if (isRotating(stores)) return void continueRotation(stores);
      rotateBucketKey(stores, alice, ['box', 'other'][random(2)] ?? '');
    },
    () => void reclaimContents(stores),
  ];
  for (let round = 0; round < rounds; round++) {
    operations[random(operations.length)]?.();
    for (const [name, bytes] of files) {
      const [bucket = '', path = ''] = name.split('/');
      if (bytes === undefined) expectRefusal(stores, 'NoSuchFile', () => read(path, bucket));
      else expect(read(path, bucket)).toEqual(bytes);
    }
    if (round % 20 === 0) checkInvariants(stores);
  }
  for (const bucket of ['box', 'other']) {
    updateBucket(stores, alice, bucketChange({ bucket, keepVersionsDays: 0n }));
    for (const { path } of places) {
      if (findFile(stores, bucket, path) === undefined) continue;
      deleteFile(stores, alice, { bucket, path, apiKey: undefined, conditions: {} });
    }
    const { items } = listVersions(stores, alice, { bucket, apiKey: undefined, limit: 1_000 });
    for (const { file } of items) {
      eraseVersions(stores, alice, { bucket, path: file.path, apiKey: undefined });
    }
    expect(heldBytes(findBucket(stores, bucket) ?? expect.fail())).toBe(0);
    deleteBucket(stores, alice, { bucket, isForced: false });
  }
  while (reclaimContents(stores));
  expect(stores.chunks.entries()).toEqual([]);
  expect(stores.blobs.bytesInUse()).toBe(0);
  checkInvariants(stores);
}, 60_000);
