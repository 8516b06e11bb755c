import { beforeEach, describe, expect, test } from 'vitest';
import { sha256 } from '../../src/crypto/hash.ts';
import { findBucket, saveBucket } from '../../src/domain/buckets/buckets.ts';
import { moveFile } from '../../src/domain/files/copies.ts';
import { entityTag, findFile } from '../../src/domain/files/file-records.ts';
import {
  checkDeletion,
  deleteFile,
  type FileName,
  getFile,
  readFilePart,
} from '../../src/domain/files/files.ts';
import { noStoredHeaders } from '../../src/domain/shared/stored-headers.ts';
import {
  checkDigests,
  storeFile,
  uploadByCall,
  uploadSingle,
} from '../../src/domain/uploads/single-upload.ts';
import { encodeHex } from '../../src/lib/hex.ts';
import {
  callOf,
  createScene,
  expectRefusal,
  makeKey,
  putTestFile,
  type Scene,
  singleUpload,
  startNs,
  testBytes,
} from '../support/domain-fixture.ts';
import { checkInvariants } from '../support/invariants.ts';

let scene: Scene;
const alice = callOf('alice');
const anonymous = callOf('anonymous');

beforeEach(async () => {
  scene = await createScene();
});

function named(change: Partial<FileName> = {}): FileName {
  return { bucket: 'box', path: '/a', apiKey: undefined, ...change };
}

function makePrivate(): void {
  const bucket = findBucket(scene.stores, 'box') ?? expect.fail('no bucket');
  saveBucket(scene.stores, { ...bucket, isPublic: false }, bucket);
}

test('getFile(), moveFile() and deleteFile() accept a path of 0.1.0 that a new file must not have', () => {
  const { stores } = scene;
  const path = 'old \u202aname';
  const bytes = testBytes(10);
  const { metadata } = singleUpload();
  const sent = { path, metadata, bytes };
  const bucket = findBucket(stores, 'box') ?? expect.fail('no bucket');
  const addition = { files: 1, bytes: 10 };
  const prepared = { sent, old: undefined, addition, digest: sha256(bytes), nowNs: startNs };
  storeFile(stores, bucket, prepared);
  expect(getFile(stores, anonymous, named({ path })).path).toBe(path);
  const order = { bucket: 'box', conditions: {}, apiKey: undefined };
  moveFile(stores, alice, { ...order, from: path, to: { path: 'new name' } });
  expectRefusal(stores, 'InvalidPath', () =>
    moveFile(stores, alice, { ...order, from: 'new name', to: { path } }),
  );
  deleteFile(stores, alice, { ...named({ path: 'new name' }), conditions: {} });
  checkInvariants(stores);
});

describe('deleteFile()', () => {
  test("removes the file and updates the bucket's counts", () => {
    const { stores } = scene;
    putTestFile(stores, { bytes: testBytes(100_000) });
    putTestFile(stores, { path: '/b', bytes: testBytes(7) });
    const apiKey = makeKey(stores, { permissions: ['delete'] });
    deleteFile(stores, anonymous, { ...named({ apiKey }), conditions: {} });
    expect(findFile(stores, 'box', 'a')).toBeUndefined();
    expect(findBucket(stores, 'box')).toMatchObject({ fileCount: 1, byteCount: 7 });
    expect(stores.blobs.bytesInUse()).toBe(80);
    checkInvariants(stores);
    expect(putTestFile(stores)).toMatchObject({ isNew: true, file: { version: 1 } });
  });

  test('honours preconditions', () => {
    const { stores } = scene;
    const { file } = putTestFile(stores);
    const ifMatch = entityTag(file);
    const remove = (conditions: object) => () =>
      deleteFile(stores, alice, { ...named(), conditions });
    expectRefusal(stores, 'PreconditionFailed', remove({ ifMatch: '"x"' }));
    expectRefusal(stores, 'PreconditionFailed', remove({ ifMatch: `W/${ifMatch}` }));
    expectRefusal(stores, 'PreconditionFailed', remove({ unmodifiedSinceNs: startNs - 10n ** 9n }));
    expectRefusal(stores, 'InvalidArgument', remove({ ifMatch: 'a b' }));
    remove({ ifMatch })();
    expectRefusal(stores, 'NoSuchFile', remove({ ifMatch }));
  });

  test('is refused without the permission, and for a missing file', () => {
    const { stores } = scene;
    putTestFile(stores);
    const writeOnly = makeKey(stores, { permissions: ['read', 'write'] });
    for (const operation of [checkDeletion, deleteFile]) {
      const remove = (call: typeof alice, change: Partial<FileName>) => () =>
        operation(stores, call, { ...named(change), conditions: {} });
      expectRefusal(stores, 'AccessDenied', remove(anonymous, {}));
      expectRefusal(stores, 'AccessDenied', remove(callOf('bob'), {}));
      expectRefusal(stores, 'AccessDenied', remove(anonymous, { apiKey: writeOnly }));
      expectRefusal(stores, 'InvalidApiKey', remove(alice, { apiKey: 'efs_x' }));
      expectRefusal(stores, 'NoSuchFile', remove(alice, { path: '/none' }));
      expectRefusal(stores, 'NoSuchBucket', remove(alice, { bucket: 'none' }));
      expectRefusal(stores, 'InvalidPath', remove(alice, { path: '/a//b' }));
    }
  });
});

describe('getFile() and readFilePart()', () => {
  test('are open to everybody in a public bucket, and else to callers who may read', () => {
    const { stores, readKey } = scene;
    const { file } = putTestFile(stores);
    expect(getFile(stores, anonymous, named())).toEqual(file);
    makePrivate();
    expectRefusal(stores, 'NoSuchBucket', () => getFile(stores, anonymous, named()));
    expect(getFile(stores, anonymous, named({ apiKey: readKey }))).toEqual(file);
    expect(getFile(stores, alice, named())).toEqual(file);
    const writeKey = makeKey(stores, { permissions: ['write'] });
    expectRefusal(stores, 'AccessDenied', () =>
      getFile(stores, anonymous, named({ apiKey: writeKey })),
    );
  });

  test.each([
    [0n, 10n, 0, 10],
    [0n, 1_900_000n, 0, 10],
    [3n, 4n, 3, 7],
    [9n, 9n, 9, 10],
    [10n, 1n, 10, 10],
    [0n, 0n, 0, 0],
  ])('return for offset %i and %i bytes the range [%i, %i)', (offset, length, start, end) => {
    putTestFile(scene.stores, { bytes: testBytes(10) });
    const read = readFilePart(scene.stores, anonymous, { ...named(), offset, length });
    expect(Buffer.compare(read, testBytes(10).subarray(start, end))).toBe(0);
  });

  test('refuse too many bytes and offsets beyond the end', () => {
    const { stores } = scene;
    putTestFile(stores, { bytes: testBytes(10) });
    const read = (offset: bigint, length: bigint) => () =>
      readFilePart(stores, anonymous, { ...named(), offset, length });
    expectRefusal(stores, 'EntityTooLarge', read(0n, 1_900_001n));
    expectRefusal(stores, 'InvalidRange', read(11n, 1n));
    expectRefusal(stores, 'InvalidRange', read(2n ** 200n, 0n));
  });
});

describe('uploadSingle(): a conditional upload', () => {
  test('is refused if the file does not match, and keeps the old bytes', () => {
    const { stores } = scene;
    const { file } = putTestFile(stores);
    const upload =
      (conditions: object, path = '/a') =>
      () =>
        uploadSingle(stores, alice, singleUpload({ path, bytes: testBytes(3), conditions }));
    expectRefusal(stores, 'PreconditionFailed', upload({ ifNoneMatch: '*' }));
    expectRefusal(stores, 'PreconditionFailed', upload({ ifMatch: '"x"' }));
    expectRefusal(stores, 'PreconditionFailed', upload({ ifMatch: '*' }, '/none'));
    expectRefusal(stores, 'PreconditionFailed', upload({ unmodifiedSinceNs: 0n }));
    expect(findFile(stores, 'box', 'a')).toEqual(file);
    expect(upload({ ifNoneMatch: '*' }, '/new')().isNew).toBe(true);
    expect(upload({ ifMatch: entityTag(file) })().file.version).toBe(2);
    checkInvariants(stores);
  });

  test('is refused if the bytes have another digest', () => {
    const { stores } = scene;
    const wrong = singleUpload({ digests: [new Uint8Array(32)] });
    expectRefusal(stores, 'BadDigest', () => uploadSingle(stores, alice, wrong));
    expectRefusal(stores, 'BadDigest', () => checkDigests(wrong));
    const { file } = putTestFile(stores, { path: '/right' });
    const right = singleUpload({ digests: [file.digest, file.digest] });
    checkDigests(right);
    expect(uploadSingle(stores, alice, right).isNew).toBe(true);
  });
});

describe('uploadByCall()', () => {
  const metadata = [['by', 'me']] as const;
  const named = { bucketId: 'box', path: '/a', contentType: 'text/plain' };
  const argument = { ...named, tags: [' t '], metadata };
  const none = { sha256: undefined, ifMatch: undefined, ifNoneMatch: undefined, apiKey: undefined };

  test('stores at most 1,900,000 bytes with digest, tags, metadata and preconditions', () => {
    const { stores } = scene;
    const upload = (change: object) => () =>
      uploadByCall(stores, alice, { ...argument, ...none, bytes: testBytes(5), ...change });
    expectRefusal(stores, 'EntityTooLarge', upload({ bytes: new Uint8Array(1_900_001) }));
    expectRefusal(stores, 'BadDigest', upload({ sha256: '00'.repeat(32) }));
    expectRefusal(stores, 'InvalidArgument', upload({ sha256: '00' }));
    const file = upload({ ifNoneMatch: '*' })();
    const noted = { tags: ['t'], metadata, headers: noStoredHeaders };
    expect(file).toMatchObject({ path: 'a', size: 5, ...noted });
    expectRefusal(stores, 'PreconditionFailed', upload({ ifNoneMatch: '*' }));
    expect(upload({ sha256: encodeHex(file.digest) })().version).toBe(2);
  });

  test('checks the right first, because only such refusals of strangers are charged', () => {
    const { stores } = scene;
    for (const change of [{ bytes: new Uint8Array(1_900_001) }, { sha256: '00' }]) {
      const sent = { ...argument, ...none, bytes: testBytes(5), ...change };
      expectRefusal(stores, 'AccessDenied', () => uploadByCall(stores, callOf('bob'), sent));
    }
  });
});
