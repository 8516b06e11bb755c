import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { findFile } from '../../src/domain/files/file-records.ts';
import type { RefusalCode } from '../../src/domain/shared/refusal.ts';
import { noStoredHeaders } from '../../src/domain/shared/stored-headers.ts';
import {
  checkSingleUpload,
  type SingleUpload,
  uploadSingle,
} from '../../src/domain/uploads/single-upload.ts';
import {
  callOf,
  createScene,
  expectRefusal,
  makeKey,
  plainMetadata,
  putTestFile,
  type Scene,
  singleUpload,
  testBytes,
} from '../support/domain-fixture.ts';
import { checkInvariants } from '../support/invariants.ts';
import { readStored } from '../support/read-files.ts';

let scene: Scene;

beforeEach(async () => {
  scene = await createScene();
});

describe('uploadSingle()', () => {
  test.each([0, 1, 65_535, 65_536, 65_537, 2_000_000])('stores %i bytes', (length) => {
    const { stores } = scene;
    const bytes = testBytes(length);
    const { file } = putTestFile(stores, { path: '/x/y.bin', bytes });
    expect(file).toMatchObject({ bucketId: 'box', path: 'x/y.bin', size: length });
    expect(file.chunkCount).toBe(length === 0 ? 0 : 1);
    const digest = createHash('sha256').update(bytes).digest();
    expect(Buffer.from(file.digest)).toEqual(digest);
    const stored = findFile(stores, 'box', 'x/y.bin') ?? expect.fail('no file');
    expect(stored).toEqual(file);
    const read = readStored(stores, stored, { start: 0, end: length });
    expect(Buffer.compare(read, bytes)).toBe(0);
    checkInvariants(stores);
  });

  test('refuses 2,000,001 bytes and states the limit', () => {
    const { stores } = scene;
    const bytes = new Uint8Array(2_000_001);
    const refusal = expectRefusal(stores, 'EntityTooLarge', () => putTestFile(stores, { bytes }));
    expect(refusal.details).toEqual({ limit: 2_000_000, size: 2_000_001 });
  });

  test('stores tags and headers, and a replacement without them clears them', () => {
    const { stores } = scene;
    const metadata = {
      ...plainMetadata,
      tags: [' a', 'b', 'a'],
      headers: ['no-cache', '', '', ''],
    };
    expect(putTestFile(stores, { metadata }).file).toMatchObject({
      tags: ['a', 'b'],
      headers: ['no-cache', '', '', ''],
    });
    expect(putTestFile(stores).file).toMatchObject({ tags: [], headers: noStoredHeaders });
  });

  test('requires an owner or a key with write', () => {
    const { stores, writeKey, readKey } = scene;
    const anonymous = callOf('anonymous');
    const upload = (apiKey: string | undefined) => () =>
      uploadSingle(stores, anonymous, singleUpload({ apiKey }));
    expect(upload(writeKey)().isNew).toBe(true);
    expectRefusal(stores, 'AccessDenied', upload(readKey));
    expectRefusal(stores, 'AccessDenied', upload(undefined));
    expectRefusal(stores, 'InvalidApiKey', upload('efs_nothing'));
    expectRefusal(stores, 'AccessDenied', upload(makeKey(stores, { buckets: ['other'] })));
  });

  const contentType = (text: string) => ({ metadata: { ...plainMetadata, contentType: text } });
  test.each<[RefusalCode, Partial<SingleUpload>]>([
    ['InvalidBucketId', { bucket: 'b/x' }],
    ['NoSuchBucket', { bucket: 'none' }],
    ['InvalidPath', { path: '/a/../b' }],
    ['MissingContentType', contentType('')],
    ['InvalidContentType', contentType('html')],
    ['InvalidArgument', { metadata: { ...plainMetadata, tags: ['a'.repeat(65)] } }],
    ['InvalidArgument', { metadata: { ...plainMetadata, metadata: [['a b', '']] } }],
    ['InvalidArgument', { metadata: { ...plainMetadata, metadata: [['a', 'x'.repeat(2_048)]] } }],
  ])('answers %s and changes nothing for %j', (code, change) => {
    const { stores } = scene;
    const upload = singleUpload(change);
    expectRefusal(stores, code, () => uploadSingle(stores, callOf('alice'), upload));
    expectRefusal(stores, code, () => checkSingleUpload(stores, callOf('alice'), upload));
  });
});

describe('checkSingleUpload()', () => {
  test('accepts what uploadSingle() accepts, and writes nothing', () => {
    const { stores } = scene;
    const before = stores.writeCount();
    const upload = singleUpload({ path: 'x', metadata: { ...plainMetadata, tags: [' a '] } });
    expect(checkSingleUpload(stores, callOf('alice'), upload)).toMatchObject({
      path: 'x',
      metadata: { tags: ['a'] },
    });
    expect(stores.writeCount()).toBe(before);
  });
});
