import { describe, expect, test } from 'vitest';
import { findBucket, saveBucket } from '../../src/domain/buckets.ts';
import { deleteFile } from '../../src/domain/file-access.ts';
import { checkQuota, heldBytes } from '../../src/domain/quota.ts';
import { Refusal } from '../../src/domain/refusal.ts';
import { cancelUpload, completeUpload } from '../../src/domain/upload-end.ts';
import {
  begin,
  callOf,
  createScene,
  expectRefusal,
  putChunks,
  putTestFile,
  testBytes,
} from '../support/domain-fixture.ts';
import { checkInvariants } from '../support/invariants.ts';

const bucket = { id: 'box', byteCount: 60, openUploadByteCount: 30, quotaBytes: 100 };

test('heldBytes() counts files and open uploads', () => {
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
  ])('takes %i bytes more with a quota of %s', (additional, quotaBytes) => {
    expect(() => checkQuota({ ...bucket, quotaBytes }, additional)).not.toThrow();
  });

  test.each([
    [11, 100],
    [1, 90],
    [1, 0],
    [1, 50],
  ])(
    'refuses %i bytes more with a quota of %i, and tells the numbers',
    (additional, quotaBytes) => {
      const error = (() => {
        try {
          return checkQuota({ ...bucket, quotaBytes }, additional);
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

describe('the quota of a bucket', () => {
  const alice = callOf('alice');

  async function limitedScene(quotaBytes: number) {
    const { stores } = await createScene();
    const box = findBucket(stores, 'box') ?? expect.fail('no bucket');
    saveBucket(stores, { ...box, quotaBytes }, box);
    return stores;
  }

  test('is kept by whole uploads; a replacement frees the old size', async () => {
    const stores = await limitedScene(100);
    putTestFile(stores, { path: '/a', bytes: testBytes(60) });
    const put = (path: string, length: number) => () =>
      putTestFile(stores, { path, bytes: testBytes(length) });
    expectRefusal(stores, 'QuotaExceeded', put('/b', 41));
    expectRefusal(stores, 'QuotaExceeded', put('/a', 101));
    put('/a', 100)();
    put('/b', 0)();
    expectRefusal(stores, 'QuotaExceeded', put('/b', 1));
    put('/a', 10)();
    put('/b', 90)();
    checkInvariants(stores);
  });

  test('counts an upload from its beginning to its end, whatever has arrived', async () => {
    const stores = await limitedScene(100);
    putTestFile(stores, { path: '/a', bytes: testBytes(40) });
    expectRefusal(stores, 'QuotaExceeded', () => begin(stores, alice, { size: 61n }));
    const first = begin(stores, alice, { path: '/a', size: 60n });
    expectRefusal(stores, 'QuotaExceeded', () => begin(stores, alice, { size: 1n }));
    expectRefusal(stores, 'QuotaExceeded', () => putTestFile(stores, { path: '/b' }));
    putChunks(stores, alice, { uploadId: first.uploadId, chunks: [[0, testBytes(60)]] });
    checkInvariants(stores);
    completeUpload(stores, alice, { uploadId: first.uploadId, apiKey: undefined });
    expect(findBucket(stores, 'box')).toMatchObject({ byteCount: 60, openUploadByteCount: 0 });
    const second = begin(stores, alice, { size: 40n });
    cancelUpload(stores, alice, second.uploadId);
    expect(findBucket(stores, 'box')).toMatchObject({ byteCount: 60, openUploadByteCount: 0 });
    checkInvariants(stores);
  });

  test('has room again after a deletion', async () => {
    const stores = await limitedScene(100);
    putTestFile(stores, { path: '/a', bytes: testBytes(100) });
    const request = { bucket: 'box', path: '/a', apiKey: undefined, conditions: {} };
    deleteFile(stores, alice, request);
    putTestFile(stores, { path: '/b', bytes: testBytes(100) });
    checkInvariants(stores);
  });
});
