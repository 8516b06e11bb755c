// Ranges that are returned in full: an update returns status and headers, and queries with a token
// return the bytes. The token is valid for nothing else.

import { beforeEach, describe, expect, test } from 'vitest';
import { updateBucket } from '../../src/domain/administration/bucket-administration.ts';
import { findBucket } from '../../src/domain/buckets/buckets.ts';
import { reclaimContents } from '../../src/domain/contents/contents.ts';
import { keptContents, releaseKept } from '../../src/domain/contents/kept-contents.ts';
import { commitFile } from '../../src/domain/files/file-records.ts';
import { readStream } from '../../src/domain/files/streams.ts';
import { withFileKey } from '../../src/domain/keys/file-keys.ts';
import { completeUpload } from '../../src/domain/uploads/upload-end.ts';
import { getSession } from '../../src/domain/uploads/upload-session.ts';
import type { HttpResponse } from '../../src/http/message.ts';
import { knownStreamCountMax } from '../../src/limits.ts';
import {
  begin,
  bucketChange,
  callOf,
  createScene,
  expectRefusal,
  hourNs,
  putChunks,
  putTestFile,
  type Scene,
  startNs,
  testBytes,
} from '../support/domain-fixture.ts';
import { bodyOf, headersOf, send, sendRefused, type TestRequest } from '../support/http-fixture.ts';
import { checkInvariants } from '../support/invariants.ts';
import type { MemoryStores } from '../support/memory-stores.ts';

const partBytes = 100_000;
const whole = testBytes(3 * partBytes - 1, 3);
const url = '/cloud/box/film';
const anonymous = callOf('anonymous');
const minuteNs = 60_000_000_000n;

let stores: MemoryStores;
let scene: Scene;

function putParts(path: string, bytes: Uint8Array): void {
  const alice = callOf('alice');
  const { uploadId } = begin(stores, alice, { path, size: BigInt(bytes.length) });
  const chunks = [0, 1, 2].map((index) => {
    return [index, bytes.subarray(index * partBytes, (index + 1) * partBytes)] as const;
  });
  putChunks(stores, alice, { uploadId, chunks });
  completeUpload(stores, alice, { uploadId, apiKey: undefined });
}

beforeEach(async () => {
  scene = await createScene();
  ({ stores } = scene);
  putParts('/film', whole);
});

const collect = (response: HttpResponse, nowNs?: bigint) => bodyOf(stores, response, nowNs);

function ask(headers: Record<string, string>, sent: Partial<TestRequest> = {}): HttpResponse {
  return send(stores, { url, headers, phase: 'update', ...sent });
}

describe('GET /cloud/{bucket}/{path}: a range of a file of several parts', () => {
  test.each([
    ['bytes=0-', 0, whole.length],
    ['bytes=1-', 1, whole.length],
    [`bytes=${partBytes}-`, partBytes, whole.length],
    [`bytes=${partBytes}-${2 * partBytes - 1}`, partBytes, 2 * partBytes],
    ['bytes=99999-100000', 99_999, 100_001],
    ['bytes=-5', whole.length - 5, whole.length],
    ['bytes=4096-8191', 4_096, 8_192],
    ['bytes=0-4096', 0, 4_097],
  ])('%s is complete and has the announced length', (range, start, end) => {
    const response = ask({ range });
    expect(response.status).toBe(206);
    const headers = headersOf(response);
    expect(headers['content-range']).toBe(`bytes ${start}-${end - 1}/${whole.length}`);
    expect(response.body.length).toBe(0);
    expect(response.stream).toBeDefined();
    expect(headers['content-length']).toBe(String(end - start));
    expect(Buffer.compare(collect(response), whole.subarray(start, end))).toBe(0);
  });

  test('is answered by an update if no certified answer exists', () => {
    const asked = ask({ range: 'bytes=1-' }, { phase: 'query' });
    expect(asked.publicAnswer).toBeUndefined();
  });

  test.each<[string, Record<string, string>]>([
    ['a gateway, which capitalizes `Range`', { Range: `bytes=${partBytes}-` }],
    ['a video', { range: `bytes=${partBytes}-`, 'sec-fetch-dest': 'video' }],
    ['an audio', { range: `bytes=${partBytes}-`, 'sec-fetch-dest': 'audio' }],
    ['a client that sends `prefer: part`', { range: `bytes=${partBytes}-`, prefer: 'part' }],
    ['a client that sends `RANGE`', { RANGE: `bytes=${partBytes}-` }],
  ])('is the certified part for %s', (_, headers) => {
    const response = ask(headers, { phase: 'query' });
    expect(response.publicAnswer?.row).toEqual({ row: 'part', index: 1 });
    expect(headersOf(response)['content-range']).toBe(
      `bytes ${partBytes}-${2 * partBytes - 1}/${whole.length}`,
    );
  });

  test('that begins with the last part is the certified part, for every client', () => {
    const response = ask({ range: `bytes=${2 * partBytes}-` }, { phase: 'query' });
    expect(response.publicAnswer?.row).toEqual({ row: 'part', index: 2 });
  });

  test.each([
    { range: 'bytes=0-1,5-6' },
    { range: 'bytes=5-', 'if-range': '"another"' },
    { range: 'lines=1-2' },
    { 'if-range': '"another"' },
  ])(
    'that is ignored (%j) returns the whole file, since no gateway would join its parts',
    (headers) => {
      const response = ask(headers as Record<string, string>);
      expect(response.status).toBe(200);
      expect(headersOf(response)['content-length']).toBe(String(whole.length));
      expect(Buffer.compare(collect(response), whole)).toBe(0);
    },
  );
});

describe('GET /cloud/{bucket}/{path}: a token', () => {
  const streamed = () => {
    const { stream } = ask({ range: 'bytes=1-' });
    return stream ?? expect.fail('no stream');
  };

  test('is the same for the same request, and different for any other', () => {
    expect(streamed()).toEqual(streamed());
    expect(ask({ range: 'bytes=2-' }).stream).not.toEqual(streamed());
  });

  test('is refused if any of its bytes is changed, or if it is truncated', () => {
    const token = streamed();
    for (let index = 0; index < token.length; index++) {
      const bad = token.slice();
      bad[index] = (bad[index] ?? 0) ^ 1;
      expectRefusal(stores, 'InvalidArgument', () => readStream(stores, anonymous, bad));
    }
    for (const length of [0, 11, 28, token.length - 1]) {
      const cut = token.slice(0, length);
      expectRefusal(stores, 'InvalidArgument', () => readStream(stores, anonymous, cut));
    }
    const long = new Uint8Array(1_000_000);
    expectRefusal(stores, 'InvalidArgument', () => readStream(stores, anonymous, long));
  });

  test('is valid for ten minutes', () => {
    const token = streamed();
    const at = (nowNs: bigint) => () => readStream(stores, { ...anonymous, nowNs }, token);
    expect(at(startNs + 10n * minuteNs - 1n)().body.length).toBeGreaterThan(0);
    expectRefusal(stores, 'InvalidArgument', at(startNs + 10n * minuteNs));
  });

  test('is refused if the bucket is no longer public', () => {
    const token = streamed();
    updateBucket(stores, callOf('alice'), bucketChange({ isPublic: false }));
    expectRefusal(stores, 'InvalidArgument', () => readStream(stores, anonymous, token));
  });
});

test('noteStream() makes room by removing streams that have ended, and no others', () => {
  const { streams } = stores.heap;
  const others = Array.from({ length: knownStreamCountMax }, (_, index) => 1_000_000 + index);
  for (const id of others) streams.set(id, startNs + 1n);
  ask({ range: 'bytes=0-' });
  expect([...streams.keys()]).toEqual(others);
  const [over = 0, ...live] = others;
  streams.set(over, startNs - 1n);
  ask({ range: 'bytes=0-' });
  const [added, ...more] = [...streams.keys()].filter((id) => !others.includes(id));
  expect([more, streams.get(added ?? 0)]).toEqual([[], startNs + 10n * minuteNs]);
  expect([...streams.keys()]).toEqual([...live, added]);
});

describe('GET /cloud/{bucket}/{path}: a file that is replaced while it is read', () => {
  test('can be read to its end, and its space is released ten minutes later', () => {
    const response = ask({ range: 'bytes=0-' });
    putTestFile(stores, { path: '/film', bytes: testBytes(50, 9) }, startNs + 1n);
    expect(keptContents(stores)).toHaveLength(1);
    checkInvariants(stores);
    expect(Buffer.compare(collect(response, startNs + minuteNs), whole)).toBe(0);
    expect(releaseKept(stores, startNs + minuteNs)).toBe(false);
    expect(releaseKept(stores, startNs + 10n * minuteNs)).toBe(true);
    while (reclaimContents(stores));
    expect(keptContents(stores)).toEqual([]);
    checkInvariants(stores);
  });

  test('is not kept if nobody reads it, or if it is deleted', () => {
    putTestFile(stores, { path: '/film', bytes: testBytes(50, 9) }, startNs + 1n);
    expect(keptContents(stores)).toEqual([]);
    putParts('/film', whole);
    const response = ask({ range: 'bytes=0-' });
    send(stores, {
      method: 'DELETE',
      url: '/api/v1/bucket/box/files/film',
      headers: { authorization: `Bearer ${scene.writeKey}` },
      phase: 'update',
    });
    expect(keptContents(stores)).toEqual([]);
    const refused = expectRefusal(stores, 'InvalidArgument', () => collect(response));
    expect(refused.message).toMatch(/replaced or deleted; start it again/);
    checkInvariants(stores);
  });

  test('is not kept if a query began the download, which then must be started again', () => {
    updateBucket(stores, callOf('alice'), bucketChange({ isPublic: false }));
    const bytes = testBytes(3 * 700_000, 4);
    const { uploadId } = begin(stores, callOf('alice'), { path: '/wide', size: 2_100_000n });
    const chunks = [0, 1, 2].map((index) => {
      return [index, bytes.subarray(index * 700_000, (index + 1) * 700_000)] as const;
    });
    putChunks(stores, callOf('alice'), { uploadId, chunks });
    completeUpload(stores, callOf('alice'), { uploadId, apiKey: undefined });
    const headers = { range: 'bytes=0-', authorization: `Bearer ${scene.readKey}` };
    const response = ask(headers, { url: '/cloud/box/wide', phase: 'query' });
    expect(Buffer.compare(collect(response), bytes)).toBe(0);
    // The system discards what a query writes
    stores.heap.streams.clear();
    putTestFile(stores, { path: '/wide', bytes: testBytes(50, 9) }, startNs + 1n);
    const refused = expectRefusal(stores, 'InvalidArgument', () => collect(response));
    expect(refused.message).toMatch(/replaced or deleted; start it again/);
  });

  test('is kept together with at most 63 others', () => {
    for (let version = 0; version < 70; version++) {
      stores.heap.tokens.clear();
      ask({ range: 'bytes=0-5000' });
      putParts('/film', testBytes(3 * partBytes - 1, version));
    }
    expect(keptContents(stores)).toHaveLength(64);
    checkInvariants(stores);
  });
});

describe('GET /cloud/{bucket}/{path}: requests without a key', () => {
  const refusedAt = (nowNs: bigint) => ask({ range: 'bytes=0-1' }, { nowNs });

  test('cause 300 updates at once and 20 a minute, then 429 with Retry-After', () => {
    for (let count = 0; count < 300; count++) expect(refusedAt(startNs).status).toBe(206);
    const refused = refusedAt(startNs);
    expect(refused.status).toBe(429);
    // The limit is 20 a minute: the next request is allowed in three seconds
    expect(headersOf(refused)['retry-after']).toBe('3');
    for (let count = 0; count < 20; count++) {
      expect(refusedAt(startNs + minuteNs).status).toBe(206);
    }
    expect(refusedAt(startNs + minuteNs).status).toBe(429);
    expect(refusedAt(startNs + hourNs).status).toBe(206);
  });

  test('are limited, and requests with a valid key are not', () => {
    for (let count = 0; count < 300; count++) refusedAt(startNs);
    const headers = { range: 'bytes=0-1', authorization: `Bearer ${scene.readKey}` };
    expect(ask(headers).status).toBe(206);
    expect(ask({ ...headers, authorization: 'Bearer efs_x' }).status).toBe(429);
  });
});

describe('GET /cloud/{bucket}/{path}: a response that no gateway can join', () => {
  const size = 5_000_000_000;

  /** Writes the record of a file of 5 GB without its chunks, which no test reads. */
  function pretendLarge(chunkCount: number): void {
    const { uploadId } = begin(stores, callOf('alice'), { path: '/large', size: 2n });
    const chunks = [0, 1].map((index) => [index, testBytes(1, index)] as const);
    putChunks(stores, callOf('alice'), { uploadId, chunks });
    const session = getSession(stores, uploadId);
    const chunkSize = Math.ceil(size / chunkCount);
    const bucket = findBucket(stores, 'box') ?? expect.fail('no bucket');
    withFileKey(stores, { ...session, bucket }, (key) => {
      const file = { ...session, digest: testBytes(32), size, chunkSize, chunkCount, key };
      const chunkDigests = new Uint8Array(32 * chunkCount);
      const sealNumber = session.contentId;
      commitFile(
        stores,
        { ...file, chunkDigests, sealNumber },
        { nowNs: startNs, bucket, old: undefined },
      );
    });
  }

  const url = '/cloud/box/large';

  test('is refused with a reason, for a GET and for a range that is too long', () => {
    pretendLarge(2_632);
    for (const phase of ['query', 'update'] as const) {
      for (const headers of [undefined, { range: 'bytes=0-' }, { range: 'bytes=5-1900000005' }]) {
        const refused = sendRefused(
          stores,
          { url, phase, ...(headers === undefined ? {} : { headers }) },
          { status: 413, code: 'EntityTooLarge' },
        );
        expect(refused.error.message).toMatch(/efs get.* Range of at most 1900000000 bytes/);
      }
    }
    expect(send(stores, { url, method: 'HEAD' }).status).toBe(200);
    const range = { range: 'bytes=4294967290-4294967400' };
    const beyond = send(stores, { url, phase: 'update', headers: range });
    expect(headersOf(beyond)['content-range']).toBe('bytes 4294967290-4294967400/5000000000');
    const all = { range: 'bytes=3100000000-' };
    expect(send(stores, { url, phase: 'update', headers: all }).status).toBe(206);
  });
});
