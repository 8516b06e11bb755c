// Uploads whose size is unknown until completion.

import { beforeEach, describe, expect, test } from 'vitest';
import { sha256 } from '../../src/crypto/hash.ts';
import { findBucket, saveBucket } from '../../src/domain/buckets/buckets.ts';
import { overheadBytesOf } from '../../src/domain/buckets/quota.ts';
import { findFile } from '../../src/domain/files/file-records.ts';
import { noStoredHeaders } from '../../src/domain/shared/stored-headers.ts';
import { checkChunk, putChunk } from '../../src/domain/uploads/upload-chunks.ts';
import { cancelUpload, completeUpload } from '../../src/domain/uploads/upload-end.ts';
import {
  chunkCount,
  getSession,
  missingChunks,
  shownStatus,
  type UploadSession,
} from '../../src/domain/uploads/upload-session.ts';
import {
  begin,
  callOf,
  createScene,
  expectRefusal,
  type Scene,
  startNs,
  testBytes,
} from '../support/domain-fixture.ts';
import { checkInvariants } from '../support/invariants.ts';
import { readStored } from '../support/read-files.ts';

let scene: Scene;
const alice = callOf('alice');
const chunkSize = 65_536n;
const whole = Number(chunkSize);

beforeEach(async () => {
  scene = await createScene();
});

function beginOpen(change: Parameters<typeof begin>[2] = {}): UploadSession {
  return begin(scene.stores, alice, { size: undefined, ...change });
}

function request(uploadId: string, index: number, length: number) {
  return { uploadId, chunkIndex: BigInt(index), bytes: testBytes(length, index) };
}

function put(uploadId: string, index: number, length: number): UploadSession {
  return putChunk(scene.stores, alice, request(uploadId, index, length));
}

function complete(uploadId: string, hash?: string): UploadSession {
  const named = { uploadId, apiKey: undefined, sha256: hash };
  return completeUpload(scene.stores, alice, named);
}

describe('putChunk(): a session of unknown size', () => {
  test('counts the received bytes, and becomes a file of that size', () => {
    const { stores } = scene;
    const { uploadId, isSizeKnown } = beginOpen();
    expect(isSizeKnown).toBe(false);
    put(uploadId, 2, 30);
    const session = put(uploadId, 0, 100);
    expect(session).toMatchObject({ totalSize: 130, uploadedSize: 130, isSizeKnown: false });
    expect(getSession(stores, uploadId)).toEqual(session);
    expect([chunkCount(session), missingChunks(session)]).toEqual([3, [1]]);
    expectRefusal(stores, 'UploadIncomplete', () => complete(uploadId));
    expect(shownStatus(put(uploadId, 1, 100), startNs), 'more may come').toBe('active');
    checkInvariants(stores);
    expect(complete(uploadId)).toMatchObject({ totalSize: 230, isSizeKnown: true });
    const file = findFile(stores, 'box', 'big') ?? expect.fail('no file');
    expect(file).toMatchObject({ size: 230, chunkSize: 100, chunkCount: 3 });
    const parts = [testBytes(100, 0), testBytes(100, 1), testBytes(30, 2)];
    const read = readStored(stores, file, { start: 0, end: 230 });
    expect(Buffer.compare(read, Buffer.concat(parts))).toBe(0);
    expect(complete(uploadId), 'again').toMatchObject({ status: 'completed', totalSize: 230 });
    checkInvariants(stores);
  });

  test('becomes an empty file without a chunk', () => {
    complete(beginOpen().uploadId);
    expect(findFile(scene.stores, 'box', 'big')).toMatchObject({ size: 0, chunkCount: 0 });
    checkInvariants(scene.stores);
  });

  test('is refused at completion if its chunks are uneven', () => {
    const { uploadId } = beginOpen();
    for (const [index, length] of [100, 90, 100].entries()) put(uploadId, index, length);
    expectRefusal(scene.stores, 'ChunkSizeMismatch', () => complete(uploadId));
    put(uploadId, 1, 100);
    expect(complete(uploadId).totalSize).toBe(300);
  });

  test('names an uneven chunk only among the first ones, because each takes a look-up', () => {
    const { uploadId } = beginOpen();
    for (let index = 0; index < 60; index++) put(uploadId, index, index === 50 ? 9 : 10);
    const refusal = expectRefusal(scene.stores, 'ChunkSizeMismatch', () => complete(uploadId));
    expect(refusal.message).toContain('A chunk after the first 40 does not have the 10 bytes');
  });

  test.each([1, 3])('checks a declared entity tag of %i chunks at completion', (count) => {
    const { stores } = scene;
    const chunks = Array.from({ length: count }, (_, index) => testBytes(10, index));
    const digests = chunks.map((bytes) => sha256(bytes));
    const tag = (all: readonly Uint8Array[]) =>
      Buffer.from(sha256(Buffer.concat(all))).toString('hex');
    const etag = count === 1 ? tag(chunks) : `${tag(digests)}-${count}`;
    const { uploadId } = beginOpen();
    const finish = () => completeUpload(stores, alice, { uploadId, apiKey: undefined, etag });
    for (let index = 0; index < count; index++) put(uploadId, index, 9);
    expectRefusal(stores, 'BadDigest', finish);
    for (let index = 0; index < count; index++) put(uploadId, index, 10);
    expect(finish().status).toBe('completed');
    checkInvariants(stores);
  });

  test('checks a declared digest at completion, up to the size that one message can hash', () => {
    const { stores } = scene;
    const digest = Buffer.from(sha256(testBytes(10, 0))).toString('hex');
    const { uploadId } = beginOpen({ sha256: digest });
    put(uploadId, 0, 11);
    expectRefusal(stores, 'BadDigest', () => complete(uploadId));
    put(uploadId, 0, 10);
    expect(complete(uploadId).status).toBe('completed');
    const long = beginOpen({ sha256: digest }).uploadId;
    for (let index = 0; index < 11; index++) put(long, index, index < 10 ? 1_900_000 : 1);
    const refusal = expectRefusal(stores, 'InvalidArgument', () => complete(long));
    expect(refusal.message).toContain('can be verified up to 19000000 bytes');
    expectRefusal(stores, 'InvalidArgument', () => complete(long, digest));
    cancelUpload(stores, alice, { uploadId: long });
    checkInvariants(stores);
  });
});

describe('putChunk(): with a declared chunk size', () => {
  let uploadId: string;

  beforeEach(() => {
    ({ uploadId } = beginOpen({ chunkSize }));
  });

  function refuse(index: number, length: number, code = 'ChunkSizeMismatch' as const) {
    const { stores } = scene;
    const asked = request(uploadId, index, length);
    expectRefusal(stores, code, () => checkChunk(stores, alice, asked));
    return expectRefusal(stores, code, () => putChunk(stores, alice, asked)).message;
  }

  test('a shorter chunk is the last one, and no chunk may follow it', () => {
    put(uploadId, 2, 5);
    expectRefusal(scene.stores, 'InvalidChunkIndex', () => put(uploadId, 3, whole));
    expect(refuse(1, 5)).toContain('and chunk 2 exists');
    put(uploadId, 0, whole);
    put(uploadId, 1, whole);
    expect(complete(uploadId).totalSize).toBe(2 * whole + 5);
    checkInvariants(scene.stores);
  });

  test('the last chunk can be replaced, also by a full one, which others can follow', () => {
    put(uploadId, 1, 5);
    expect(put(uploadId, 1, 7)).toMatchObject({ uploadedSize: 7, chunkSize: 7 });
    put(uploadId, 1, whole);
    put(uploadId, 2, whole);
    expect(put(uploadId, 2, 9)).toMatchObject({ totalSize: whole + 9, chunkSize: whole });
    expect(refuse(0, 9)).toContain('only the last chunk may be shorter');
    put(uploadId, 0, whole);
    expect(complete(uploadId).totalSize).toBe(2 * whole + 9);
    checkInvariants(scene.stores);
  });

  test('no chunk may be longer, and no chunk before another one shorter', () => {
    expect(refuse(0, whole + 1)).toContain('at most chunkSize, 65536 bytes');
    put(uploadId, 3, whole);
    refuse(0, whole - 1);
    refuse(0, 0);
  });
});

describe('putChunk(): the quota', () => {
  let overhead: number;

  beforeEach(() => {
    const named = { bucketId: 'box', path: 'big', tags: [], contentType: 'video/mp4' };
    overhead = overheadBytesOf({ ...named, headers: noStoredHeaders, metadata: [] });
  });

  function limit(quotaBytes: number): void {
    const box = findBucket(scene.stores, 'box') ?? expect.fail('no bucket');
    saveBucket(scene.stores, { ...box, quotaBytes }, box);
  }

  test('is checked with each chunk, before anything is written', () => {
    const { stores } = scene;
    limit(overhead + 250);
    const { uploadId } = beginOpen();
    expect(findBucket(stores, 'box')).toMatchObject({ openUploadByteCount: overhead });
    put(uploadId, 0, 100);
    put(uploadId, 1, 100);
    expect(findBucket(stores, 'box')).toMatchObject({ openUploadByteCount: overhead + 200 });
    expectRefusal(stores, 'QuotaExceeded', () => put(uploadId, 2, 51));
    expectRefusal(stores, 'QuotaExceeded', () => put(uploadId, 0, 151));
    put(uploadId, 2, 50);
    put(uploadId, 2, 20);
    checkInvariants(stores);
    complete(uploadId);
    expect(findBucket(stores, 'box')).toMatchObject({ byteCount: 220, openUploadByteCount: 0 });
    checkInvariants(stores);
  });

  test('allows one key half of the free bytes', () => {
    const { stores, writeKey } = scene;
    limit(2 * (overhead + 300));
    const anonymous = callOf('anonymous');
    const byKey = { size: undefined, apiKey: writeKey };
    const { uploadId } = begin(stores, anonymous, byKey);
    putChunk(stores, anonymous, request(uploadId, 0, 200));
    const more = request(uploadId, 1, 101);
    expectRefusal(stores, 'QuotaExceeded', () => putChunk(stores, anonymous, more));
    putChunk(stores, anonymous, request(uploadId, 1, 100));
    // The owner's own uploads may use the rest.
    const own = beginOpen({ path: '/big' }).uploadId;
    put(own, 0, 300);
    checkInvariants(stores);
  });
});

test('putChunk(): ten thousand chunks in any order store their digests in growing slots', () => {
  const { stores } = scene;
  const { uploadId } = beginOpen();
  const inUse = () => stores.blobs.bytesInUse();
  put(uploadId, 0, 1);
  expect(inUse(), 'a small upload').toBeLessThan(1_200);
  for (const index of [9_999, 4_100, 31, 32, 2_047, 2_048]) put(uploadId, index, 1);
  checkInvariants(stores);
  expect(missingChunks(getSession(stores, uploadId))).toHaveLength(100);
  for (let index = 0; index < 10_000; index++) put(uploadId, index, 1);
  const session = getSession(stores, uploadId);
  expect(session.received).toHaveLength(1_250);
  expect(session.digestPages.map(({ bytes }) => bytes)).toEqual(
    [2_048, 2_048, 2_048, 2_048, 2_048].map((count) => 32 * count),
  );
  complete(uploadId);
  const digests = Array.from({ length: 10_000 }, (_, index) => sha256(testBytes(1, index)));
  const file = findFile(stores, 'box', 'big') ?? expect.fail('no file');
  expect(file.digest).toEqual(sha256(Buffer.concat(digests)));
});
