import { beforeEach, describe, expect, test } from 'vitest';
import { findBucket } from '../../src/domain/buckets/buckets.ts';
import type { RefusalCode } from '../../src/domain/shared/refusal.ts';
import { putChunk } from '../../src/domain/uploads/upload-chunks.ts';
import { cancelUpload, completeUpload } from '../../src/domain/uploads/upload-end.ts';
import { chunkCount, getSession, missingChunks } from '../../src/domain/uploads/upload-session.ts';
import {
  beginUpload,
  checkUploadRequest,
  getUpload,
  type UploadRequest,
} from '../../src/domain/uploads/uploads.ts';
import {
  begin,
  callOf,
  createScene,
  expectRefusal,
  putChunks,
  type Scene,
  startNs,
  testBytes,
} from '../support/domain-fixture.ts';
import { checkInvariants } from '../support/invariants.ts';

let scene: Scene;
const alice = callOf('alice');

beforeEach(async () => {
  scene = await createScene();
});

function chunk(uploadId: string, index: number, bytes: Uint8Array) {
  return { uploadId, chunkIndex: BigInt(index), bytes };
}

describe('beginUpload()', () => {
  test('creates a session whose id is the first 16 random bytes', () => {
    const { stores } = scene;
    stores.secrets.random = (length) => testBytes(length, 5);
    const request = {
      bucket: 'box',
      path: '/v/film.mp4',
      contentType: 'video/mp4',
      tags: [' a '],
      size: 5_000_000n,
      apiKey: undefined,
    };
    const session = beginUpload(stores, alice, request);
    expect(session.uploadId).toBe(Buffer.from(testBytes(16, 5)).toString('hex'));
    expect(session).toMatchObject({ status: 'active', path: 'v/film.mp4', tags: ['a'] });
    expect(getSession(stores, session.uploadId)).toEqual(session);
    expect(chunkCount(session)).toBe(3);
    expect(missingChunks(session)).toEqual([0, 1, 2]);
    expect(findBucket(stores, 'box')?.openUploadCount).toBe(1);
    checkInvariants(stores);
  });

  test('writes the documented layout', () => {
    const { stores } = scene;
    const metadata = [['by', 'me']] as const;
    const session = begin(stores, alice, {
      ...{ path: '/p', tags: ['t'], size: 3n, metadata, token: 'T' },
    });
    putChunk(stores, alice, chunk(session.uploadId, 1, testBytes(2)));
    const [[, record] = []] = stores.uploads.entries();
    const time = 'f2670d45f2ca8618';
    // The slot after that of the first chunk, which takes 64 bytes and a tag
    const secondSlot = '5010000000000000';
    expect(Buffer.from(record ?? []).toString('hex')).toBe(
      `0600${'0300000000000000'}${'0300000000000000'}${'0200000000000000'}` +
        `${'01000000'}${'02000000'}${'02000000'}${'01000000'}02${'03020202'}${'00'}${time}${time}` +
        `${'00000000'}${'00'}${'01'}${secondSlot}${'00040000'}${'00'}${'00000000'}${'00'.repeat(8)}` +
        `${'0300000000000000'}${'01000000'}0201` +
        Buffer.from('box\0p\0video/mp4\0\0\0\0\0\0\0\0T\0t\0by\0me').toString('hex'),
    );
  });

  test.each<[RefusalCode, Partial<UploadRequest>]>([
    ['InvalidArgument', { chunkSize: 65_535n }],
    ['InvalidArgument', { chunkSize: 1_900_001n }],
    ['InvalidArgument', { chunkSize: 65_536n, size: 655_360_001n }],
    ['InvalidArgument', { sha256: 'ab' }],
    ['InvalidArgument', { sha256: 'x'.repeat(64) }],
    ['InvalidArgument', { sha256: 'ab'.repeat(32), size: 19_000_001n }],
    ['InvalidArgument', { headers: [['X-Other', 'a']] }],
    ['InvalidArgument', { headers: [['Cache-Control', 'a\nb']] }],
    ['InvalidArgument', { headers: [['Cache-Control', 'a'.repeat(1_025)]] }],
    ['InvalidArgument', { ifMatch: 'a b' }],
    ['InvalidArgument', { ifNoneMatch: `"${'a'.repeat(1_100)}"` }],
    ['PreconditionFailed', { ifMatch: '*' }],
    ['InvalidBucketId', { bucket: '' }],
    ['NoSuchBucket', { bucket: 'none' }],
    ['InvalidPath', { path: '/' }],
    ['MissingContentType', { contentType: '' }],
    ['InvalidContentType', { contentType: 'mp4' }],
    ['InvalidArgument', { tags: ['a,b'] }],
    ['EntityTooLarge', { size: 19_000_000_001n }],
    ['EntityTooLarge', { size: 2n ** 100n }],
    ['InvalidApiKey', { apiKey: 'efs_x' }],
  ])('answers %s and changes nothing (%#)', (code, change) => {
    const { stores } = scene;
    expectRefusal(stores, code, () => begin(stores, alice, change));
  });

  test('accepts a file of 19,000,000,000 bytes', () => {
    expect(chunkCount(begin(scene.stores, alice, { size: 19_000_000_000n }))).toBe(10_000);
  });

  test('refuses strangers, the anonymous caller and a key without write', () => {
    const { stores, readKey } = scene;
    expectRefusal(stores, 'AccessDenied', () => begin(stores, callOf('bob')));
    expectRefusal(stores, 'AccessDenied', () => begin(stores, callOf('anonymous')));
    expectRefusal(stores, 'AccessDenied', () => begin(stores, alice, { apiKey: readKey }));
  });

  test('allows 50 open sessions a bucket, and one more for each that ends', () => {
    const { stores } = scene;
    const sessions = Array.from({ length: 50 }, () => begin(stores, alice, { size: 0n }));
    const refusal = expectRefusal(stores, 'SlowDown', () => begin(stores, alice));
    expect(refusal.details).toEqual({ limit: 50 });
    begin(stores, alice, { bucket: 'other' });
    const [first, second] = sessions.map(({ uploadId }) => uploadId);
    cancelUpload(stores, alice, { uploadId: first ?? '' });
    begin(stores, alice);
    expectRefusal(stores, 'SlowDown', () => begin(stores, alice));
    completeUpload(stores, alice, { uploadId: second ?? '', apiKey: undefined });
    begin(stores, alice);
    expectRefusal(stores, 'SlowDown', () => begin(stores, alice));
    checkInvariants(stores);
  });

  test('refuses the same requests in checkUploadRequest()', () => {
    const request = { bucket: 'box', path: '/', contentType: 'a/b', tags: [], size: 1n };
    const asked = { ...request, apiKey: undefined };
    const { stores } = scene;
    expectRefusal(stores, 'InvalidPath', () => checkUploadRequest(stores, alice, asked));
    expectRefusal(stores, 'InvalidPath', () => beginUpload(stores, alice, asked));
  });
});

describe('putChunk()', () => {
  test('accepts chunks in any order and learns their length', () => {
    const { stores } = scene;
    const { uploadId } = begin(stores, alice, { size: 250n });
    const last = putChunk(stores, alice, chunk(uploadId, 2, testBytes(50)));
    expect(last).toMatchObject({ uploadedSize: 50, receivedChunks: 1, chunkIndexEnd: 3 });
    const first = putChunk(stores, alice, chunk(uploadId, 0, testBytes(100)));
    expect(first).toMatchObject({ uploadedSize: 150, receivedChunks: 2, chunkSize: 100 });
    expect(chunkCount(first)).toBe(3);
    expect(missingChunks(first)).toEqual([1]);
    const all = putChunk(stores, alice, chunk(uploadId, 1, testBytes(100)));
    expect(all).toMatchObject({ uploadedSize: 250, receivedChunks: 3 });
    expect(missingChunks(all)).toEqual([]);
    checkInvariants(stores);
  });

  test('replaces a chunk and releases its old bytes', () => {
    const { stores } = scene;
    const { uploadId } = begin(stores, alice, { size: 200_000n });
    putChunk(stores, alice, chunk(uploadId, 0, testBytes(150_000, 1)));
    const inUse = stores.blobs.bytesInUse();
    const next = putChunk(stores, alice, chunk(uploadId, 0, testBytes(150_000, 2)));
    expect(next).toMatchObject({ uploadedSize: 150_000, receivedChunks: 1 });
    expect(stores.blobs.bytesInUse()).toBe(inUse);
    checkInvariants(stores);
  });

  test('reports the length of the stored chunks when smaller ones replace larger ones', () => {
    const { stores } = scene;
    const { uploadId } = begin(stores, alice, { size: 250n });
    putChunk(stores, alice, chunk(uploadId, 0, testBytes(200)));
    const smaller = putChunk(stores, alice, chunk(uploadId, 0, testBytes(50)));
    expect(smaller).toMatchObject({ uploadedSize: 50, chunkSize: 50 });
    expect(missingChunks(smaller)).toEqual([1, 2, 3, 4]);
    checkInvariants(stores);
  });

  test('writes nothing if the same bytes are sent again', () => {
    const { stores } = scene;
    const { uploadId } = begin(stores, alice);
    const session = putChunk(stores, alice, chunk(uploadId, 0, testBytes(100)));
    const before = stores.writeCount();
    const later = callOf('alice', startNs + 99n);
    expect(putChunk(stores, later, chunk(uploadId, 0, testBytes(100)))).toEqual(session);
    expect(stores.writeCount()).toBe(before);
  });

  test('accepts a full file again chunk by chunk', () => {
    const { stores } = scene;
    const { uploadId } = begin(stores, alice, { size: 100n });
    putChunk(stores, alice, chunk(uploadId, 0, testBytes(100, 1)));
    const again = putChunk(stores, alice, chunk(uploadId, 0, testBytes(100, 2)));
    expect(again.uploadedSize).toBe(100);
  });

  test.each<[RefusalCode, number, number]>([
    ['EntityTooLarge', 0, 251],
    ['EntityTooLarge', 0, 1_900_001],
    ['ChunkSizeMismatch', 0, 0],
    ['InvalidChunkIndex', 10_000, 10],
    ['InvalidChunkIndex', 2 ** 53, 10],
  ])('answers %s for chunk %i of %i bytes', (code, index, length) => {
    const { stores } = scene;
    const { uploadId } = begin(stores, alice);
    const request = chunk(uploadId, index, new Uint8Array(length));
    expectRefusal(stores, code, () => putChunk(stores, alice, request));
  });

  test('counts all chunks towards the announced size', () => {
    const { stores } = scene;
    const { uploadId } = begin(stores, alice, { size: 250n });
    putChunks(stores, alice, {
      uploadId,
      chunks: [
        [0, testBytes(100)],
        [5, testBytes(100)],
      ],
    });
    const refusal = expectRefusal(stores, 'EntityTooLarge', () =>
      putChunk(stores, alice, chunk(uploadId, 1, testBytes(51))),
    );
    expect(refusal.details).toEqual({ limit: 250, size: 251 });
    expect(putChunk(stores, alice, chunk(uploadId, 1, testBytes(50))).uploadedSize).toBe(250);
  });

  test('accepts a chunk of 1,900,000 bytes and the index 9,999', () => {
    const { stores } = scene;
    const { uploadId } = begin(stores, alice, { size: 19_000_000_000n });
    putChunk(stores, alice, chunk(uploadId, 0, testBytes(1_900_000)));
    const session = putChunk(stores, alice, chunk(uploadId, 9_999, testBytes(3)));
    expect(session).toMatchObject({ uploadedSize: 1_900_003, chunkIndexEnd: 10_000 });
    expect(missingChunks(session)).toEqual(Array.from({ length: 100 }, (_, index) => index + 1));
    checkInvariants(stores);
  });
});

describe('getUpload()', () => {
  test('refuses unknown and malformed ids', () => {
    const { stores } = scene;
    for (const id of ['', 'x', '0'.repeat(32), 'g'.repeat(32), '0'.repeat(34), '0'.repeat(31)]) {
      expectRefusal(stores, 'NoSuchUpload', () => getUpload(stores, alice, { uploadId: id }));
    }
  });

  test('is open to that principal and to controllers if a principal began the upload', () => {
    const { stores } = scene;
    const { uploadId } = begin(stores, alice);
    expect(getUpload(stores, alice, { uploadId: uploadId.toUpperCase() }).uploadId).toBe(uploadId);
    expect(getUpload(stores, callOf('controller'), { uploadId }).uploadId).toBe(uploadId);
    for (const person of ['bob', 'anonymous'] as const) {
      const call = callOf(person);
      expectRefusal(stores, 'AccessDenied', () => getUpload(stores, call, { uploadId }));
      const bytes = testBytes(10);
      expectRefusal(stores, 'AccessDenied', () =>
        putChunk(stores, call, chunk(uploadId, 0, bytes)),
      );
      expectRefusal(stores, 'AccessDenied', () =>
        cancelUpload(stores, call, { uploadId: uploadId }),
      );
      expectRefusal(stores, 'AccessDenied', () =>
        completeUpload(stores, call, { uploadId, apiKey: scene.writeKey }),
      );
    }
  });

  test('is open to anybody who knows the id if a key began the upload', () => {
    const { stores, writeKey } = scene;
    const anonymous = callOf('anonymous');
    const { uploadId } = begin(stores, anonymous, { apiKey: writeKey, size: 10n });
    putChunk(stores, anonymous, chunk(uploadId, 0, testBytes(10)));
    expect(getUpload(stores, callOf('bob'), { uploadId }).uploadedSize).toBe(10);
    const done = completeUpload(stores, anonymous, { uploadId, apiKey: undefined });
    expect(done.status).toBe('completed');
  });
});
