// Range requests (RFC 9110 §14) by URL, with the cases of ceph/s3-tests' test_s3.py, also for a
// file of several chunks.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openActor } from '../support/actors.ts';
import { bytesOf, type FileClient, openFileClient, refusalOf } from '../support/http-client.ts';
import { openService, type Service, sampleBytes } from '../support/service.ts';

let service: Service;
let client: FileClient;
const content = 'testcontent';
const large = sampleBytes('ranges', 8 * 1_024 * 1_024);
const chunkBytes = 1_850_000;

beforeAll(async () => {
  service = await openService();
  client = openFileClient(service);
  await client.put('ranges/small.txt', content);
  await client.put('ranges/empty.txt', '');
  await uploadLarge();
});

afterAll(() => service?.stop());

async function uploadLarge(): Promise<void> {
  const actor = await openActor(service, { agent: '@icp-sdk/core', asOwner: false });
  const { bucket, apiKey } = service;
  const size = BigInt(large.length);
  const begun = await actor.beginFileUpload(bucket, '/ranges/large', 'a/b', size, [apiKey]);
  const uploadId = begun.ok ?? expect.fail(begun.err);
  for (let index = 0; index * chunkBytes < large.length; index++) {
    const bytes = large.subarray(index * chunkBytes, (index + 1) * chunkBytes);
    expect(await actor.uploadFileChunkIndexed(uploadId, BigInt(index), bytes)).toHaveProperty('ok');
  }
  expect(await actor.completeFileUpload(uploadId, [apiKey])).toHaveProperty('ok');
}

describe('a range', () => {
  test.each([
    ['bytes=4-7', 'bytes 4-7/11', 'cont'],
    ['bytes=4-', 'bytes 4-10/11', 'content'],
    ['bytes=-7', 'bytes 4-10/11', 'content'],
    ['bytes=0-0', 'bytes 0-0/11', 't'],
    ['bytes=5-99', 'bytes 5-10/11', 'ontent'],
  ])('of %s is answered 206 with %s', async (range, contentRange, text) => {
    const response = await client.get('ranges/small.txt', { Range: range });
    expect(response.status).toBe(206);
    expect(response.headers.get('content-range')).toBe(contentRange);
    expect(response.headers.get('content-length')).toBe(String(text.length));
    expect(await response.text()).toBe(text);
  });

  test.each(['bytes=0-1,4-5', 'bytes=7-4', 'bytes=a-b', 'lines=0-1', 'bytes=-99', 'bytes=0-'])(
    'of %s is answered 200 with the whole file',
    async (range) => {
      const response = await client.get('ranges/small.txt', { Range: range });
      expect([response.status, await response.text()]).toEqual([200, content]);
    },
  );

  test.each([
    ['ranges/small.txt', 'bytes=40-50', 11],
    ['ranges/small.txt', 'bytes=11-', 11],
    ['ranges/small.txt', 'bytes=-0', 11],
    ['ranges/empty.txt', 'bytes=40-50', 0],
    ['ranges/empty.txt', 'bytes=0-', 0],
  ])('beyond %s, %s, is answered 416 with the size', async (path, range, size) => {
    const response = await client.get(path, { Range: range });
    expect(response.headers.get('content-range')).toBe(`bytes */${size}`);
    expect(await refusalOf(response)).toMatchObject({ status: 416, code: 'InvalidRange' });
  });

  test('is ignored by HEAD', async () => {
    const response = await client.head('ranges/small.txt', { Range: 'bytes=4-7' });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-length')).toBe('11');
  });

  test('with If-Range applies only to the same version', async () => {
    const etag = (await client.head('ranges/small.txt')).headers.get('etag') ?? '';
    const statusOf = async (ifRange: string) => {
      const headers = { Range: 'bytes=4-7', 'If-Range': ifRange };
      return (await client.get('ranges/small.txt', headers)).status;
    };
    expect(await statusOf(etag)).toBe(206);
    expect(await statusOf(`W/${etag}`)).toBe(200);
    expect(await statusOf('"x"')).toBe(200);
    expect(await statusOf('Sat, 29 Oct 1994 19:43:31 GMT')).toBe(200);
  });
});

describe('a file of several chunks', () => {
  /** Reads a range, which must arrive in one response with the declared length. */
  async function readRange(first: number, last: number | ''): Promise<Buffer> {
    const response = await client.get('ranges/large', { Range: `bytes=${first}-${last}` });
    expect(response.status).toBe(206);
    const end = last === '' ? large.length - 1 : last;
    const { headers } = response;
    expect(headers.get('content-range')).toBe(`bytes ${first}-${end}/${large.length}`);
    expect(headers.get('content-length')).toBe(String(end - first + 1));
    return bytesOf(response);
  }

  test.each([0, 1, chunkBytes, 4 * chunkBytes, large.length - 1])(
    'answers a range from byte %i to the end in one response',
    async (first) => {
      expect(Buffer.compare(await readRange(first, ''), large.subarray(first))).toBe(0);
    },
  );

  test.each([
    ['by a header', '', { Prefer: 'part' }],
    ['by the query', '?v=1&prefer=part', undefined],
  ])('answers one certified part to Prefer: part, %s', async (_, query, preference) => {
    const headers = { Range: `bytes=${chunkBytes}-`, ...preference };
    const response = await client.get(`ranges/large${query}`, headers);
    expect(response.headers.get('ic-certificate')).not.toBeNull();
    const part = large.subarray(chunkBytes, 2 * chunkBytes);
    expect(Buffer.compare(await bytesOf(response), part)).toBe(0);
  });

  test.each([
    [3_145_728, 5_242_880],
    [chunkBytes - 1, chunkBytes],
    [chunkBytes, chunkBytes],
    [0, 0],
    [large.length - 1, large.length - 1],
    [4 * chunkBytes - 10, large.length - 1],
  ])('answers bytes %i-%i exactly', async (first, last) => {
    const bytes = await readRange(first, last);
    expect(bytes.length).toBe(last - first + 1);
    expect(Buffer.compare(bytes, large.subarray(first, last + 1))).toBe(0);
  });

  test('answers a range across two chunks in one response', async () => {
    const range = `bytes=${chunkBytes - 500}-${chunkBytes + 499}`;
    const response = await client.get('ranges/large', { Range: range });
    expect((await bytesOf(response)).length).toBe(1_000);
  });

  test('is served whole without a range', async () => {
    const response = await client.get('ranges/large');
    expect(response.status).toBe(200);
    expect(Buffer.compare(await bytesOf(response), large)).toBe(0);
    const head = await client.head('ranges/large');
    expect(head.headers.get('content-length')).toBe(String(large.length));
  });

  test('is deleted by one request', async () => {
    const response = await client.send('DELETE', 'ranges/large');
    expect(response.status).toBe(204);
    expect((await client.get('ranges/large')).status).toBe(404);
  });
});
