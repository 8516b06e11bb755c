import { beforeEach, describe, expect, test } from 'vitest';
import { updateBucket } from '../../src/domain/administration/bucket-administration.ts';
import { getBucket } from '../../src/domain/buckets/buckets.ts';
import { entityTag, findFile } from '../../src/domain/files/file-records.ts';
import { Refusal } from '../../src/domain/shared/refusal.ts';
import {
  type BatchFile,
  type BatchResult,
  checkBatch,
  uploadBatch,
} from '../../src/domain/uploads/batch-upload.ts';
import type { SentFile } from '../../src/domain/uploads/single-upload.ts';
import {
  bucketChange,
  callOf,
  createScene,
  expectRefusal,
  plainMetadata,
  putTestFile,
  type Scene,
  testBytes,
} from '../support/domain-fixture.ts';
import { checkInvariants } from '../support/invariants.ts';
import { readStored } from '../support/read-files.ts';

let scene: Scene;

beforeEach(async () => {
  scene = await createScene();
});

type Change = Partial<Omit<SentFile, 'path'>>;

function fileOf(path: string, change: Change = {}): BatchFile {
  return { path, read: () => ({ metadata: plainMetadata, bytes: testBytes(10), ...change }) };
}

function batchOf(files: readonly BatchFile[], apiKey: string | undefined = scene.writeKey) {
  return { bucket: 'box', apiKey, readFiles: () => files };
}

const anonymous = callOf('anonymous');

function upload(...files: readonly BatchFile[]): readonly BatchResult[] {
  return uploadBatch(scene.stores, anonymous, batchOf(files));
}

const codesOf = (results: readonly BatchResult[] | undefined) =>
  results?.map(({ refusal }) => refusal?.code);

/** Expects that the batch fails with these codes and writes nothing. */
function expectNotStored(files: readonly BatchFile[], codes: readonly string[]): void {
  const before = scene.stores.writeCount();
  expect(codesOf(upload(...files))).toEqual(codes);
  expect(scene.stores.writeCount() - before, 'writes of a refused batch').toBe(0);
}

describe('uploadBatch()', () => {
  test('stores every file, each with its bytes, and counts them all', () => {
    const { stores } = scene;
    const files = Array.from({ length: 200 }, (_, index) =>
      fileOf(`dir/${index}.txt`, { bytes: testBytes(index, index + 1) }),
    );
    const results = upload(...files);
    expect(results.map(({ path, stored }) => [path, stored?.isNew])).toEqual(
      files.map(({ path }) => [path, true]),
    );
    for (const [index, { stored }] of results.entries()) {
      const { file } = stored ?? expect.fail('not stored');
      expect(findFile(stores, 'box', `dir/${index}.txt`)).toEqual(file);
      const read = readStored(stores, file, { start: 0, end: index });
      expect(Buffer.compare(read, testBytes(index, index + 1))).toBe(0);
    }
    expect(getBucket(stores, 'box')).toMatchObject({ fileCount: 200, byteCount: 19_900 });
    checkInvariants(stores);
  });

  test('replaces existing files, and reports which files are new', () => {
    putTestFile(scene.stores, { path: 'a' });
    const results = upload(fileOf('/a', { bytes: testBytes(20) }), fileOf('b'));
    expect(results.map(({ path, stored }) => [path, stored?.isNew, stored?.file.version])).toEqual([
      ['/a', false, 2],
      ['b', true, 1],
    ]);
    checkInvariants(scene.stores);
  });

  test('stores none if one is refused, and reports the reason for each', () => {
    const old = putTestFile(scene.stores, { path: 'old' }).file;
    const files = [
      fileOf('good'),
      fileOf('../bad'),
      fileOf('old', { conditions: { ifNoneMatch: '*' } }),
      fileOf('type', { metadata: { ...plainMetadata, contentType: 'none' } }),
      {
        path: 'fault',
        read: () => {
          throw new Refusal('InvalidArgument', 'This file is malformed.');
        },
      },
    ];
    const codes = ['NotStored', 'InvalidPath', 'PreconditionFailed', 'InvalidContentType'];
    expectNotStored(files, [...codes, 'InvalidArgument']);
    expect(codesOf(checkBatch(scene.stores, anonymous, batchOf(files)))).toEqual([
      ...codes,
      'InvalidArgument',
    ]);
    expect(findFile(scene.stores, 'box', 'old')).toEqual(old);
  });

  test('compares digests before it writes, and checkBatch does not compare them', () => {
    const files = [fileOf('a', { digests: [new Uint8Array(32)] }), fileOf('b')];
    expectNotStored(files, ['BadDigest', 'NotStored']);
    expect(checkBatch(scene.stores, anonymous, batchOf(files))).toBeUndefined();
  });

  test('checks the preconditions of each file separately', () => {
    const { file } = putTestFile(scene.stores, { path: 'a' });
    const conditions = { ifMatch: entityTag(file) };
    const results = upload(
      fileOf('a', { conditions }),
      fileOf('b', { conditions: { ifNoneMatch: '*' } }),
    );
    expect(codesOf(results)).toEqual([undefined, undefined]);
  });

  test('refuses a path that occurs twice, with or without a leading slash', () => {
    const { stores } = scene;
    const refusal = expectRefusal(stores, 'InvalidArgument', () =>
      upload(fileOf('/a'), fileOf('a')),
    );
    expect(refusal.message).toContain('"a" occurs twice');
  });

  test.each([
    ['no file', 0, 1, 'InvalidArgument'],
    ['201 files', 201, 1, 'InvalidArgument'],
    ['2,000,001 bytes', 3, 666_667, 'EntityTooLarge'],
  ] as const)('refuses %s as a whole', (_, count, bytes, code) => {
    const files = Array.from({ length: count }, (_, index) =>
      fileOf(`${index}`, { bytes: testBytes(bytes) }),
    );
    expectRefusal(scene.stores, code, () => upload(...files));
    expectRefusal(scene.stores, code, () => checkBatch(scene.stores, anonymous, batchOf(files)));
  });

  test('checks the quotas for all files together', () => {
    const { stores } = scene;
    updateBucket(stores, callOf('alice'), bucketChange({ quotaFiles: 2n }));
    expectRefusal(stores, 'QuotaExceeded', () => upload(fileOf('a'), fileOf('b'), fileOf('c')));
    updateBucket(stores, callOf('alice'), bucketChange({ quotaFiles: 0n, quotaBytes: 10_000n }));
    const large = { bytes: testBytes(4_000) };
    expectRefusal(stores, 'QuotaExceeded', () => upload(fileOf('a', large), fileOf('b', large)));
    expect(codesOf(upload(fileOf('a', large)))).toEqual([undefined]);
  });

  test('does not decode the files before it knows that the caller may write', () => {
    const { stores, readKey } = scene;
    const readFiles = () => expect.fail('the files are read');
    for (const apiKey of [readKey, undefined]) {
      expectRefusal(stores, 'AccessDenied', () =>
        uploadBatch(stores, anonymous, { bucket: 'box', apiKey, readFiles }),
      );
    }
  });
});
