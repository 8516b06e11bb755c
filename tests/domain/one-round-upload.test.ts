// Uploads in one round: each chunk brings its upload's request.

import { beforeEach, describe, expect, test } from 'vitest';
import { findBucket } from '../../src/domain/buckets/buckets.ts';
import { entityTag, findFile } from '../../src/domain/files/file-records.ts';
import type { RefusalCode } from '../../src/domain/shared/refusal.ts';
import {
  checkUploadChunk,
  type OneRoundChunk,
  uploadChunk,
} from '../../src/domain/uploads/one-round-upload.ts';
import { cancelUpload, expireUploads, finishUpload } from '../../src/domain/uploads/upload-end.ts';
import { listUploads, type UploadRequest } from '../../src/domain/uploads/uploads.ts';
import {
  begin,
  callOf,
  createScene,
  expectRefusal,
  hourNs,
  makeKey,
  putTestFile,
  type Scene,
  startNs,
  testBytes,
} from '../support/domain-fixture.ts';
import { checkInvariants } from '../support/invariants.ts';
import { etagOf as quotedTagOf } from '../support/model-reference.ts';

const alice = callOf('alice');
const chunkSize = 65_536;
const content = testBytes(2 * chunkSize + 100);
const chunks = [0, 1, 2].map((index) =>
  content.subarray(index * chunkSize, (index + 1) * chunkSize),
);
const etagOf = (parts: Uint8Array[]) => quotedTagOf(parts).slice(1, -1);
const etag = etagOf(chunks);
const upload: UploadRequest = {
  bucket: 'box',
  path: 'film',
  contentType: 'video/mp4',
  tags: ['t'],
  size: BigInt(content.length),
  chunkSize: BigInt(chunkSize),
  token: 'first',
  apiKey: undefined,
};

let scene: Scene;
beforeEach(async () => {
  scene = await createScene();
});

function chunkAt(index: number, change: Partial<OneRoundChunk> = {}): OneRoundChunk {
  const bytes = chunks[index] ?? new Uint8Array(0);
  return { upload, chunkIndex: BigInt(index), bytes, etag: undefined, ...change };
}

function send(index: number, change: Partial<OneRoundChunk> = {}, call = alice) {
  return uploadChunk(scene.stores, call, chunkAt(index, change));
}

const openUploads = () => findBucket(scene.stores, 'box')?.openUploadCount;

describe('uploadChunk()', () => {
  test.each([[[0, 1, 2]], [[2, 1, 0]], [[1, 2, 0]], [[2, 0, 1]]])(
    'begins with the first of the chunks %j and completes with the last one',
    (order) => {
      const answers = order.map((index) => send(index, { etag: index === 2 ? etag : undefined }));
      expect(new Set(answers.map(({ session }) => session.uploadId)).size).toBe(1);
      expect(answers.map(({ written }) => written !== undefined)).toEqual([false, false, true]);
      const file = answers[2]?.written?.file ?? expect.fail();
      expect(file).toMatchObject({ path: 'film', contentType: 'video/mp4', tags: ['t'] });
      expect(entityTag(file)).toBe(`"${etag}"`);
      expect(findFile(scene.stores, 'box', 'film')).toMatchObject({ id: file.id });
      expect(openUploads()).toBe(0);
      checkInvariants(scene.stores);
    },
  );

  test('completes a file of one chunk with one call', () => {
    const bytes = testBytes(70_000);
    const request = { ...upload, size: 70_000n, chunkSize: 100_000n };
    const { written } = send(0, { upload: request, bytes, etag: etagOf([bytes]) });
    expect(written).toMatchObject({ isNew: true, file: { size: 70_000, chunkCount: 1 } });
    checkInvariants(scene.stores);
  });

  test('repeated after the completion writes nothing and returns the same file', () => {
    const [, , last] = [0, 1, 2].map((index) => send(index, { etag }));
    const { stores } = scene;
    const writes = stores.writeCount();
    for (const tag of [etag, undefined]) {
      const { session, written } = send(0, { etag: tag });
      expect(session.uploadId).toBe(last?.session.uploadId);
      expect(written).toMatchObject({ isNew: false, file: { id: last?.written?.file.id } });
    }
    expect(stores.writeCount()).toBe(writes);
    const other = etagOf([...chunks].reverse());
    const { message } = expectRefusal(stores, 'UploadCompleted', () => send(0, { etag: other }));
    expect(message).toContain('send a new token');
  });

  test('without an entity tag leaves the completion to another call', () => {
    const [answer] = [0, 1, 2].map((index) => send(index)).reverse();
    expect(answer?.written).toBeUndefined();
    const uploadId = answer?.session.uploadId ?? '';
    expect(finishUpload(scene.stores, alice, { uploadId, apiKey: undefined, etag }).isNew).toBe(
      true,
    );
    checkInvariants(scene.stores);
  });

  test('that repeats a stored chunk with the entity tag completes the file', () => {
    for (const index of [0, 1, 2]) send(index);
    expect(send(1, { etag }).written?.isNew).toBe(true);
    checkInvariants(scene.stores);
  });

  test('refuses a completion with another entity tag, and keeps the chunks', () => {
    const { stores } = scene;
    const wrong = etagOf([...chunks].reverse());
    send(0);
    send(1);
    expect(() => send(2, { etag: wrong })).toThrow(expect.objectContaining({ code: 'BadDigest' }));
    expect(listUploads(stores, alice, { bucket: 'box', apiKey: undefined })).toMatchObject([
      { receivedChunks: 3, status: 'active' },
    ]);
    expect(send(0, { etag }).written?.isNew).toBe(true);
    checkInvariants(stores);
  });

  test('lets the old file stand if its conditions fail at the completion', () => {
    const { stores } = scene;
    const request = { ...upload, ifNoneMatch: '*' };
    const sendTo = (index: number) => send(index, { upload: request, etag });
    sendTo(0);
    sendTo(1);
    const old = putTestFile(stores, { path: '/film' });
    const refused = expect.objectContaining({ code: 'PreconditionFailed' });
    expect(() => sendTo(2)).toThrow(refused);
    expect(findFile(stores, 'box', 'film')).toMatchObject({ id: old.file.id, size: old.file.size });
    checkInvariants(stores);
    // Other uploads are refused before they begin
    const begun = { ...request, token: 'other' };
    expectRefusal(stores, 'PreconditionFailed', () => send(0, { upload: begun }));
  });

  test.each<[string, Partial<OneRoundChunk>, RefusalCode, string]>([
    ['no size', { upload: { ...upload, size: undefined } }, 'InvalidArgument', 'lacks size'],
    ['no length', { upload: { ...upload, chunkSize: undefined } }, 'InvalidArgument', 'chunkSize'],
    ['no token', { upload: { ...upload, token: undefined } }, 'InvalidArgument', 'lacks token'],
    ['a short chunk', { bytes: content.subarray(0, 9) }, 'ChunkSizeMismatch', '65536'],
    ['an empty chunk', { bytes: new Uint8Array(0) }, 'ChunkSizeMismatch', 'empty'],
    ['an index beyond the end', { chunkIndex: 3n }, 'InvalidChunkIndex', '0 to 2'],
    ['no digest', { etag: 'abc' }, 'InvalidArgument', 'digits and -3'],
    [
      'a tag of another count',
      { etag: etag.replace('-3', '-4') },
      'InvalidArgument',
      'number of chunks, 3',
    ],
    ['a quoted tag', { etag: `"${etag}"` }, 'InvalidArgument', 'etag'],
    ['capitals', { etag: etag.toUpperCase() }, 'InvalidArgument', 'etag'],
    ['a wrong path', { upload: { ...upload, path: '../a' } }, 'InvalidPath', ''],
  ])('refuses a chunk with %s, and begins nothing', (_name, change, code, words) => {
    const { stores } = scene;
    const wrong = chunkAt(0, change);
    for (const call of [checkUploadChunk, uploadChunk]) {
      const { message } = expectRefusal(stores, code, () => call(stores, alice, wrong));
      expect(message).toContain(words);
    }
    expect(openUploads()).toBe(0);
    send(0);
    expect(openUploads()).toBe(1);
  });

  test('refuses a chunk of an empty file', () => {
    const request = { ...upload, size: 0n };
    const empty = { upload: request, bytes: new Uint8Array(0) };
    expectRefusal(scene.stores, 'InvalidChunkIndex', () => send(0, empty));
  });

  test('refuses callers without the right, before and after the beginning', () => {
    const { stores, readKey, writeKey } = scene;
    const bob = callOf('bob');
    for (let turn = 0; turn < 2; turn++) {
      expectRefusal(stores, 'AccessDenied', () => send(0, {}, bob));
      const poor = { upload: { ...upload, apiKey: readKey } };
      expectRefusal(stores, 'AccessDenied', () => send(0, poor));
      send(0);
    }
    // A key has a session of its own
    const withKey = { upload: { ...upload, apiKey: writeKey } };
    expect(send(1, withKey, bob).session.receivedChunks).toBe(1);
    expect(openUploads()).toBe(2);
    const prefixed = makeKey(stores, { prefix: 'mine/' });
    const outside = { upload: { ...upload, apiKey: prefixed } };
    expectRefusal(stores, 'AccessDenied', () => send(0, outside, bob));
    checkInvariants(stores);
  });

  test('shows a key that may only write what it has sent', () => {
    const { stores } = scene;
    putTestFile(stores, { path: '/film' });
    const request = { ...upload, apiKey: makeKey(stores, { permissions: ['write'] }) };
    const later = callOf('bob', startNs + hourNs);
    const answers = [0, 1, 2].map((index) => send(index, { upload: request, etag }, later));
    expect(answers[2]?.written).toMatchObject({ isNew: false, hidden: ['createdAt'] });
  });

  test.each<[string, Partial<UploadRequest>]>([
    ['path', { path: 'other' }],
    ['size', { size: BigInt(content.length - 1) }],
    ['contentType', { contentType: 'a/b' }],
  ])('refuses a chunk whose request has another %s, also after the completion', (name, change) => {
    const { stores } = scene;
    const other = () => send(0, { upload: { ...upload, ...change } });
    send(0);
    expect(expectRefusal(stores, 'InvalidArgument', other).message).toContain(name);
    for (const index of [1, 2]) send(index, { etag });
    expect(expectRefusal(stores, 'InvalidArgument', other).message).toContain(name);
  });

  test('refuses chunks of a cancelled or expired upload, until its token begins another one', () => {
    const { stores } = scene;
    const { session } = send(0);
    cancelUpload(stores, alice, { uploadId: session.uploadId });
    expectRefusal(stores, 'UploadCancelled', () => send(1));
    const second = begin(stores, alice, { ...upload });
    expect(send(1).session.uploadId).toBe(second.uploadId);
    const late = callOf('alice', startNs + 25n * hourNs);
    expectRefusal(stores, 'UploadExpired', () => send(2, {}, late));
    checkInvariants(stores);
    while (expireUploads(stores, late.nowNs));
    expectRefusal(stores, 'UploadExpired', () => send(2, {}, late));
    const later = callOf('alice', startNs + 50n * hourNs);
    while (expireUploads(stores, later.nowNs));
    checkInvariants(stores);
    // The records of both sessions, and the entry of the token, are gone
    expect(send(2, {}, later).session.receivedChunks).toBe(1);
  });
});
