import { beforeAll, describe, expect, test } from 'vitest';
import { type Bucket, findBucket, saveBucket } from '../../src/domain/buckets/buckets.ts';
import { checkQuota, heldBytes, overheadBytesOf } from '../../src/domain/buckets/quota.ts';
import { checkCopy } from '../../src/domain/files/copies.ts';
import { checkFileChange } from '../../src/domain/files/file-changes.ts';
import { deleteFile } from '../../src/domain/files/files.ts';
import { Refusal } from '../../src/domain/shared/refusal.ts';
import { checkSingleUpload } from '../../src/domain/uploads/single-upload.ts';
import { cancelUpload, completeUpload } from '../../src/domain/uploads/upload-end.ts';
import {
  begin,
  callOf,
  createScene,
  expectRefusal,
  makeKey,
  plainMetadata,
  putChunks,
  putTestFile,
  testBytes,
} from '../support/domain-fixture.ts';
import { checkInvariants } from '../support/invariants.ts';
import { installNodeText } from '../support/memory-stores.ts';
import { oldFileRecord } from '../support/old-file-record.ts';

beforeAll(installNodeText);

const bucket = {
  id: 'box',
  fileCount: 3,
  byteCount: 50,
  versionBytes: 0,
  overheadBytes: 10,
  openUploadCount: 1,
  openUploadByteCount: 30,
  quotaBytes: 100,
};

test('heldBytes() counts files, their overhead, and open uploads', () => {
  expect(heldBytes(bucket)).toBe(90);
});

describe('checkQuota()', () => {
  test.each([
    [10, 100],
    [0, 100],
    [-5, 100],
    [0, 50],
    [-1, 50],
    [1_000_000_000_000, undefined],
  ])('accepts %i more bytes with a quota of %s', (additional, quotaBytes) => {
    const addition = { files: 1, bytes: additional };
    expect(() => checkQuota({ ...bucket, quotaBytes }, addition)).not.toThrow();
  });

  test.each([
    [11, 100],
    [1, 90],
    [1, 0],
    [1, 50],
  ])(
    'refuses %i more bytes with a quota of %i, and reports the figures',
    (additional, quotaBytes) => {
      const error = (() => {
        try {
          return checkQuota({ ...bucket, quotaBytes }, { files: 1, bytes: additional });
        } catch (thrown) {
          return thrown;
        }
      })();
      expect(error).toBeInstanceOf(Refusal);
      expect(error).toMatchObject({
        code: 'QuotaExceeded',
        details: { limit: quotaBytes, held: 90, additional },
      });
    },
  );
});

describe('checkQuota(): the quota of a bucket', () => {
  const alice = callOf('alice');
  /** Bytes that the quota counts for each of these files in addition to its content. */
  const overheadOfOne = () => overheadBytesOf({ ...plainMetadata, bucketId: 'box', path: 'a' });

  async function limitedScene(limits: Partial<Bucket>) {
    const { stores } = await createScene();
    const box = findBucket(stores, 'box') ?? expect.fail('no bucket');
    saveBucket(stores, { ...box, ...limits }, box);
    return stores;
  }

  test('limits whole uploads, and a replacement releases the old size', async () => {
    const stores = await limitedScene({ quotaBytes: 100 + 2 * overheadOfOne() });
    putTestFile(stores, { path: '/a', bytes: testBytes(60) });
    const put = (path: string, length: number) => () =>
      putTestFile(stores, { path, bytes: testBytes(length) });
    expectRefusal(stores, 'QuotaExceeded', put('/b', 41));
    expectRefusal(stores, 'QuotaExceeded', put('/a', 101 + overheadOfOne()));
    put('/a', 100)();
    put('/b', 0)();
    expectRefusal(stores, 'QuotaExceeded', put('/b', 1));
    expectRefusal(stores, 'QuotaExceeded', put('/c', 0));
    put('/a', 10)();
    put('/b', 90)();
    checkInvariants(stores);
  });

  test('lets a file of version 0.1.0 be replaced before its overhead is counted', async () => {
    const stores = await limitedScene({ quotaBytes: 3, fileCount: 1, byteCount: 3 });
    stores.files.set(Buffer.from('box\0p'), oldFileRecord());
    const named = { bucket: 'box', path: 'p', apiKey: undefined };
    const replace = (length: number) => () => {
      const metadata = { ...plainMetadata, contentType: 'a/b', tags: ['x', 'y'] };
      checkSingleUpload(stores, alice, { ...named, metadata, bytes: testBytes(length) });
    };
    replace(3)();
    expectRefusal(stores, 'QuotaExceeded', replace(12));
    checkFileChange(stores, alice, { ...named, tags: ['x', 'z'], conditions: {} });
    const moved = { ...named, from: 'p', to: { path: 'q' }, conditions: {} };
    checkCopy(stores, alice, 'move', moved);
    expectRefusal(stores, 'QuotaExceeded', () => checkCopy(stores, alice, 'copy', moved));
  });

  test('counts an upload from its beginning to its end, whatever has arrived', async () => {
    const stores = await limitedScene({ quotaBytes: 100 + 2 * overheadOfOne() });
    putTestFile(stores, { path: '/a', bytes: testBytes(40) });
    const wish = (path: string, size: number) => () =>
      begin(stores, alice, { path, size: BigInt(size), contentType: 'text/plain' });
    expectRefusal(stores, 'QuotaExceeded', wish('/b', 61));
    const first = wish('/a', 60)();
    expectRefusal(stores, 'QuotaExceeded', wish('/b', 0));
    expectRefusal(stores, 'QuotaExceeded', () => putTestFile(stores, { path: '/b' }));
    putChunks(stores, alice, { uploadId: first.uploadId, chunks: [[0, testBytes(60)]] });
    checkInvariants(stores);
    completeUpload(stores, alice, { uploadId: first.uploadId, apiKey: undefined });
    expect(findBucket(stores, 'box')).toMatchObject({ byteCount: 60, openUploadByteCount: 0 });
    const second = wish('/b', 40)();
    cancelUpload(stores, alice, { uploadId: second.uploadId });
    expect(findBucket(stores, 'box')).toMatchObject({ byteCount: 60, openUploadByteCount: 0 });
    checkInvariants(stores);
  });

  test('has room again after a deletion', async () => {
    const stores = await limitedScene({ quotaBytes: 100 + overheadOfOne() });
    putTestFile(stores, { path: '/a', bytes: testBytes(100) });
    const request = { bucket: 'box', path: '/a', apiKey: undefined, conditions: {} };
    deleteFile(stores, alice, request);
    putTestFile(stores, { path: '/b', bytes: testBytes(100) });
    checkInvariants(stores);
  });

  test('for the number of files counts existing files and open uploads', async () => {
    const stores = await limitedScene({ quotaFiles: 3 });
    putTestFile(stores, { path: '/a' });
    putTestFile(stores, { path: '/b' });
    const { uploadId } = begin(stores, alice, { path: '/c', size: 0n });
    expectRefusal(stores, 'QuotaExceeded', () => putTestFile(stores, { path: '/d' }));
    expectRefusal(stores, 'QuotaExceeded', () => begin(stores, alice, { path: '/d', size: 0n }));
    putTestFile(stores, { path: '/a' });
    completeUpload(stores, alice, { uploadId, apiKey: undefined });
    expectRefusal(stores, 'QuotaExceeded', () => putTestFile(stores, { path: '/d' }));
    checkInvariants(stores);
  });
});

describe('checkQuota(): open uploads', () => {
  const alice = callOf('alice');

  test("of one key are at most half of the bucket's sessions and of its free sessions", async () => {
    const { stores, writeKey } = await createScene();
    const anonymous = callOf('anonymous');
    const byKey =
      (path: string, size = 0n) =>
      () =>
        begin(stores, anonymous, { path, size, apiKey: writeKey });
    for (let index = 0; index < 25; index++) byKey(`/${index}`)();
    expectRefusal(stores, 'SlowDown', byKey('/more'));
    const other = makeKey(stores);
    begin(stores, anonymous, { path: '/other', apiKey: other, size: 0n });
    for (let index = 0; index < 24; index++) begin(stores, alice, { path: `/o${index}`, size: 0n });
    expectRefusal(stores, 'SlowDown', () => begin(stores, alice, { path: '/last', size: 0n }));
    checkInvariants(stores);
  });

  test('of one key leave half of the quota to others, and owners may use all of it', async () => {
    const { stores, writeKey } = await createScene();
    const box = findBucket(stores, 'box') ?? expect.fail('no bucket');
    saveBucket(stores, { ...box, quotaBytes: 1_000_000 }, box);
    const byKey = { path: '/a', apiKey: writeKey };
    const wish = (size: bigint) => () => begin(stores, callOf('anonymous'), { ...byKey, size });
    expectRefusal(stores, 'QuotaExceeded', wish(500_000n));
    wish(400_000n)();
    expectRefusal(stores, 'QuotaExceeded', wish(100_000n));
    begin(stores, alice, { path: '/b', size: 580_000n });
    checkInvariants(stores);
  });
});
