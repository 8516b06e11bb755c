import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { findBucket, saveBucket } from '../../src/domain/buckets/buckets.ts';
import { heldBytes } from '../../src/domain/buckets/quota.ts';
import { entityTag, findFile } from '../../src/domain/files/file-records.ts';
import type { RefusalCode } from '../../src/domain/shared/refusal.ts';
import { putChunk } from '../../src/domain/uploads/upload-chunks.ts';
import {
  cancelUpload,
  completeUpload,
  expireUploads,
} from '../../src/domain/uploads/upload-end.ts';
import { expiresAtNs } from '../../src/domain/uploads/upload-session.ts';
import { getUpload } from '../../src/domain/uploads/uploads.ts';
import {
  begin,
  callOf,
  createScene,
  expectRefusal,
  hourNs,
  makeKey,
  putChunks,
  putTestFile,
  revokeKeyRecord,
  startNs,
  type TestKey,
  testBytes,
} from '../support/domain-fixture.ts';
import { allSessions, checkInvariants } from '../support/invariants.ts';
import type { MemoryStores } from '../support/memory-stores.ts';
import { readStored } from '../support/read-files.ts';

let stores: MemoryStores;
let writeKey: string;
const alice = callOf('alice');

beforeEach(async () => {
  ({ stores, writeKey } = await createScene());
});

function sha256(...parts: Uint8Array[]): Buffer {
  return createHash('sha256').update(Buffer.concat(parts)).digest();
}

function complete(uploadId: string, call = alice, apiKey?: string) {
  return completeUpload(stores, call, { uploadId, apiKey });
}

/** Begins an upload by alice, and sends chunks of these lengths. */
function upload(lengths: readonly number[], size = lengths.reduce((sum, next) => sum + next, 0)) {
  const { uploadId } = begin(stores, alice, { size: BigInt(size) });
  const chunks = lengths.map((length, index) => [index, testBytes(length, index + 1)] as const);
  putChunks(stores, alice, { uploadId, chunks });
  return { uploadId, parts: chunks.map(([, bytes]) => bytes) };
}

describe('completeUpload()', () => {
  test.each([
    [[1]],
    [[65_536]],
    [[100, 100, 100]],
    [[100, 100, 1]],
    [[70_000, 70_000, 69_999]],
    [[1_850_000, 3]],
  ])('creates a file of chunks of %j bytes', (lengths) => {
    const { uploadId, parts } = upload(lengths);
    const session = complete(uploadId);
    const file = findFile(stores, 'box', 'big') ?? expect.fail('no file');
    expect(session).toMatchObject({ status: 'completed', fileId: file.id });
    const whole = Buffer.concat(parts);
    expect(file).toMatchObject({ size: whole.length, contentType: 'video/mp4', version: 1 });
    const read = readStored(stores, file, { start: 0, end: whole.length });
    expect(Buffer.compare(read, whole)).toBe(0);
    const digests = parts.map((part) => sha256(part));
    const tag =
      parts.length === 1
        ? sha256(whole).toString('hex')
        : `${sha256(...digests).toString('hex')}-${parts.length}`;
    expect(entityTag(file)).toBe(`"${tag}"`);
    expect(findBucket(stores, 'box')).toMatchObject({ openUploadCount: 0, fileCount: 1 });
    checkInvariants(stores);
  });

  test('creates an empty file from no chunk', () => {
    const { uploadId } = upload([]);
    complete(uploadId);
    const file = findFile(stores, 'box', 'big') ?? expect.fail('no file');
    expect(file).toMatchObject({ size: 0, chunkCount: 0 });
    expect(entityTag(file)).toBe(`"${sha256(new Uint8Array(0)).toString('hex')}"`);
    expect(readStored(stores, file, { start: 0, end: 0 })).toHaveLength(0);
    checkInvariants(stores);
  });

  test('refuses missing chunks, names them, and keeps the session', () => {
    const { uploadId } = begin(stores, alice, { size: 450n });
    putChunks(stores, alice, {
      uploadId,
      chunks: [
        [0, testBytes(100)],
        [3, testBytes(100)],
      ],
    });
    const refusal = expectRefusal(stores, 'UploadIncomplete', () => complete(uploadId));
    expect(refusal.details).toEqual({ missing: [1, 2, 4], uploadedSize: 200, totalSize: 450 });
    expect(getUpload(stores, alice, { uploadId })).toMatchObject({ status: 'active' });
    const rest = [1, 2, 4].map((index) => [index, testBytes(index === 4 ? 50 : 100)] as const);
    putChunks(stores, alice, { uploadId, chunks: rest });
    expect(complete(uploadId).status).toBe('completed');
  });

  test('refuses a missing chunk even if the sum of the sizes is right', () => {
    const { uploadId } = begin(stores, alice, { size: 200n });
    putChunks(stores, alice, {
      uploadId,
      chunks: [
        [0, testBytes(100)],
        [2, testBytes(100)],
      ],
    });
    const { details } = expectRefusal(stores, 'UploadIncomplete', () => complete(uploadId));
    expect(details?.missing).toEqual([1]);
  });

  test('refuses an upload without any chunk', () => {
    const { uploadId } = begin(stores, alice, { size: 10n });
    const { details } = expectRefusal(stores, 'UploadIncomplete', () => complete(uploadId));
    expect(details?.missing).toEqual([0]);
  });

  test.each([[[100, 50, 100]], [[100, 100, 101]], [[50, 100]]])(
    'refuses chunks of %j bytes and keeps the session',
    (lengths) => {
      const { uploadId } = upload(lengths);
      expectRefusal(stores, 'ChunkSizeMismatch', () => complete(uploadId));
      expect(getUpload(stores, alice, { uploadId })).toMatchObject({ status: 'active' });
      checkInvariants(stores);
    },
  );

  test('adds the metadata of the completion to that of the start, and replaces entries of the same name', () => {
    const begun = [
      ['by', 'me'],
      ['mtime', '1'],
    ] as const;
    const { uploadId } = begin(stores, alice, { size: 0n, metadata: begun });
    const metadata = [
      ['mtime', '2'],
      ['digest', 'ü'],
    ] as const;
    const first = completeUpload(stores, alice, { uploadId, apiKey: undefined, metadata });
    const noted = [['by', 'me'], ...metadata];
    expect(findFile(stores, 'box', 'big')?.metadata).toEqual(noted);
    expect(findBucket(stores, 'box')?.openUploadByteCount).toBe(0);
    checkInvariants(stores);
    const other = { uploadId, apiKey: undefined, metadata: [['by', 'you']] as const };
    expect(completeUpload(stores, alice, other)).toEqual(first);
    expect(findFile(stores, 'box', 'big')?.metadata).toEqual(noted);
  });

  test('refuses invalid metadata, and metadata that exceeds the quota', () => {
    const long = [['begun', 'x'.repeat(1_500)]] as const;
    const { uploadId } = begin(stores, alice, { size: 0n, metadata: long });
    const refused = (code: RefusalCode, ...metadata: [string, string][]) => {
      const request = { uploadId, apiKey: undefined, metadata };
      expectRefusal(stores, code, () => completeUpload(stores, alice, request));
    };
    refused('InvalidArgument', ['a b', '']);
    refused('InvalidArgument', ['a', '1'], ['a', '2']);
    refused('InvalidArgument', ['brought', 'x'.repeat(600)]);
    const bucket = findBucket(stores, 'box') ?? expect.fail('no bucket');
    saveBucket(stores, { ...bucket, quotaBytes: heldBytes(bucket) }, bucket);
    refused('QuotaExceeded', ['more', '']);
    const shorter = [['begun', '']] as const;
    completeUpload(stores, alice, { uploadId, apiKey: undefined, metadata: shorter });
    expect(findFile(stores, 'box', 'big')?.metadata).toEqual(shorter);
    checkInvariants(stores);
  });

  test('can be repeated, with the same answer and without a write', () => {
    const { uploadId } = upload([10]);
    const first = complete(uploadId);
    const before = stores.writeCount();
    expect(complete(uploadId)).toEqual(first);
    expect(complete(uploadId, callOf('alice', startNs + hourNs))).toEqual(first);
    expect(stores.writeCount()).toBe(before);
  });

  test('makes the session refuse chunks and cancellation', () => {
    const { uploadId } = upload([10]);
    complete(uploadId);
    const chunk = { uploadId, chunkIndex: 0n, bytes: testBytes(10, 1) };
    expectRefusal(stores, 'UploadCompleted', () => putChunk(stores, alice, chunk));
    expectRefusal(stores, 'UploadCompleted', () =>
      cancelUpload(stores, alice, { uploadId: uploadId }),
    );
  });

  test('keeps the old file readable until one step replaces it', () => {
    const old = testBytes(150_000, 9);
    putTestFile(stores, { path: '/big', bytes: old });
    const { uploadId, parts } = upload([70_000, 70_000]);
    const before = findFile(stores, 'box', 'big') ?? expect.fail('no file');
    expect(Buffer.compare(readStored(stores, before, { start: 0, end: 150_000 }), old)).toBe(0);
    complete(uploadId);
    const after = findFile(stores, 'box', 'big') ?? expect.fail('no file');
    expect(after).toMatchObject({ version: 2, id: before.id, size: 140_000 });
    const read = readStored(stores, after, { start: 0, end: 140_000 });
    expect(Buffer.compare(read, Buffer.concat(parts))).toBe(0);
    checkInvariants(stores);
  });

  test('lets the last completion of two sessions for one path win', () => {
    const first = upload([100, 20]);
    const second = upload([300]);
    complete(second.uploadId);
    complete(first.uploadId);
    expect(findFile(stores, 'box', 'big')).toMatchObject({ size: 120, version: 2 });
    expect(complete(second.uploadId).status).toBe('completed');
    checkInvariants(stores);
  });

  test("checks again that the session's key is valid", () => {
    const expiring = makeKey(stores, { expiresAtNs: startNs + 100n });
    const anonymous = callOf('anonymous');
    const { uploadId } = begin(stores, anonymous, { apiKey: expiring, size: 0n });
    const late = callOf('anonymous', startNs + 100n);
    expectRefusal(stores, 'InvalidApiKey', () => complete(uploadId, late));
    expectRefusal(stores, 'InvalidApiKey', () => complete(uploadId, late, expiring));
    expect(complete(uploadId, callOf('anonymous', startNs + 99n)).status).toBe('completed');

    const revoked = begin(stores, anonymous, { apiKey: writeKey, size: 0n }).uploadId;
    revokeKeyRecord(stores, sha256(Buffer.from(writeKey)));
    expectRefusal(stores, 'InvalidApiKey', () => complete(revoked, anonymous));
    const another = makeKey(stores);
    expectRefusal(stores, 'InvalidApiKey', () => complete(revoked, late, another));
  });

  test.each<[RefusalCode, TestKey]>([
    ['AccessDenied', { permissions: ['read', 'delete'] }],
    ['AccessDenied', { buckets: ['other'] }],
  ])('answers %s if the key sent with the completion may not write there', (code, key) => {
    const { uploadId } = upload([10]);
    const apiKey = makeKey(stores, key);
    expectRefusal(stores, code, () => complete(uploadId, alice, apiKey));
  });
});

describe('cancelUpload()', () => {
  test('releases the chunks and can be repeated', () => {
    const { uploadId } = upload([70_000, 70_000], 999_999);
    cancelUpload(stores, alice, { uploadId: uploadId });
    expect(stores.blobs.bytesInUse()).toBe(0);
    expect(findBucket(stores, 'box')?.openUploadCount).toBe(0);
    checkInvariants(stores);
    const before = stores.writeCount();
    cancelUpload(stores, callOf('alice', startNs + hourNs), { uploadId: uploadId });
    expect(stores.writeCount()).toBe(before);
  });

  test('makes the session refuse chunks and completion', () => {
    const { uploadId } = upload([10]);
    cancelUpload(stores, alice, { uploadId: uploadId });
    const chunk = { uploadId, chunkIndex: 0n, bytes: testBytes(10) };
    expectRefusal(stores, 'UploadCancelled', () => putChunk(stores, alice, chunk));
    expectRefusal(stores, 'UploadCancelled', () => complete(uploadId));
    expect(getUpload(stores, alice, { uploadId }).status).toBe('cancelled');
  });
});

describe('expireUploads(): expiry', () => {
  const day = 24n * hourNs;
  const at = (nowNs: bigint) => callOf('alice', nowNs);
  const oneByte = (uploadId: string, seed: number) => ({
    uploadId,
    chunkIndex: 0n,
    bytes: testBytes(1_000, seed),
  });

  test('happens 24 hours after the last accepted chunk, to the nanosecond', () => {
    const { uploadId } = begin(stores, alice, { size: 1_000n });
    putChunk(stores, at(startNs + day - 1n), oneByte(uploadId, 1));
    const end = startNs + 2n * day - 1n;
    expect(expiresAtNs(getUpload(stores, alice, { uploadId }))).toBe(end);
    for (const nowNs of [end, end + 1n, end + 30n * day]) {
      expectRefusal(stores, 'UploadExpired', () => complete(uploadId, at(nowNs)));
      expectRefusal(stores, 'UploadExpired', () =>
        cancelUpload(stores, at(nowNs), { uploadId: uploadId }),
      );
      expectRefusal(stores, 'UploadExpired', () =>
        putChunk(stores, at(nowNs), oneByte(uploadId, 2)),
      );
    }
    expect(complete(uploadId, at(end - 1n)).status).toBe('completed');
  });

  test('happens at most 7 days after the beginning', () => {
    const { uploadId } = begin(stores, alice, { size: 1_000n });
    for (let hours = 20n; hours < 168n; hours += 20n) {
      putChunk(stores, at(startNs + hours * hourNs), oneByte(uploadId, Number(hours)));
    }
    const end = startNs + 7n * day;
    expect(expiresAtNs(getUpload(stores, alice, { uploadId }))).toBe(end);
    putChunk(stores, at(end - 1n), oneByte(uploadId, 500));
    expectRefusal(stores, 'UploadExpired', () => putChunk(stores, at(end), oneByte(uploadId, 501)));
  });

  test('releases the space, and removes the session a day later, to the nanosecond', () => {
    const { uploadId } = upload([70_000], 99_999);
    const before = stores.writeCount();
    expect(expireUploads(stores, startNs + day - 1n)).toBe(false);
    expect(stores.writeCount()).toBe(before);
    expect(expireUploads(stores, startNs + day)).toBe(false);
    expect(stores.blobs.bytesInUse()).toBe(0);
    expect(findBucket(stores, 'box')?.openUploadCount).toBe(0);
    expectRefusal(stores, 'UploadExpired', () => complete(uploadId, at(startNs + 2n * day)));
    checkInvariants(stores);
    expireUploads(stores, startNs + 2n * day - 1n);
    expect(getUpload(stores, alice, { uploadId }).status).toBe('expired');
    expireUploads(stores, startNs + 2n * day);
    expectRefusal(stores, 'NoSuchUpload', () => getUpload(stores, alice, { uploadId }));
    checkInvariants(stores);
  });

  test('checks a session again later if it was used meanwhile', () => {
    const { uploadId } = upload([]);
    const { uploadId: used } = begin(stores, alice, { size: 1_000n });
    putChunk(stores, at(startNs + 5n), oneByte(used, 1));
    const statusOf = (id: string) => getUpload(stores, alice, { uploadId: id }).status;
    expireUploads(stores, startNs + day);
    expect([uploadId, used].map(statusOf)).toEqual(['expired', 'active']);
    checkInvariants(stores);
    expireUploads(stores, startNs + day + 4n);
    expect(statusOf(used)).toBe('active');
    expireUploads(stores, startNs + day + 5n);
    expect(statusOf(used)).toBe('expired');
  });

  test('keeps the file of a completed session and the counts after a cancelled one', () => {
    const { uploadId, parts } = upload([70_000, 5]);
    complete(uploadId);
    cancelUpload(stores, alice, { uploadId: upload([10]).uploadId });
    expireUploads(stores, startNs + day);
    expect(allSessions(stores)).toEqual([]);
    const file = findFile(stores, 'box', 'big') ?? expect.fail('no file');
    const read = readStored(stores, file, { start: 0, end: 70_005 });
    expect(Buffer.compare(read, Buffer.concat(parts))).toBe(0);
    expect(findBucket(stores, 'box')?.openUploadCount).toBe(0);
    checkInvariants(stores);
  });

  test('ends only a few sessions per step', () => {
    for (let count = 0; count < 10; count++) upload([10]);
    const activeCount = () =>
      allSessions(stores).filter(({ status }) => status === 'active').length;
    expect(expireUploads(stores, startNs + day)).toBe(true);
    expect(activeCount()).toBe(6);
    checkInvariants(stores);
    expect(expireUploads(stores, startNs + day)).toBe(true);
    expect(expireUploads(stores, startNs + day)).toBe(false);
    expect(activeCount()).toBe(0);
    checkInvariants(stores);
    while (expireUploads(stores, startNs + 2n * day)) checkInvariants(stores);
    expect(allSessions(stores)).toEqual([]);
  });
});
