// Conditional requests (RFC 9110 §13) by URL, with the cases of ceph/s3-tests' test_s3.py.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bytesOf, type FileClient, openFileClient, refusalOf } from '../support/http-client.ts';
import { openService, type Service, sampleBytes } from '../support/service.ts';

let service: Service;
let client: FileClient;
let etag: string;
let modified: string;
const past = 'Sat, 29 Oct 1994 19:43:31 GMT';
const future = 'Sat, 29 Oct 2130 19:43:31 GMT';

beforeAll(async () => {
  service = await openService();
  client = openFileClient(service);
  await client.put('conditional/read.txt', 'bar');
  const response = await client.get('conditional/read.txt');
  etag = response.headers.get('etag') ?? '';
  modified = response.headers.get('last-modified') ?? '';
});

afterAll(() => service?.stop());

describe('a GET and a HEAD', () => {
  test.each<[number, string, () => Record<string, string>]>([
    [200, 'If-Match with its tag', () => ({ 'If-Match': etag })],
    [412, 'If-Match with another tag', () => ({ 'If-Match': '"ABCORZ"' })],
    [304, 'If-None-Match with its tag', () => ({ 'If-None-Match': etag })],
    [304, 'If-None-Match with its tag, weak', () => ({ 'If-None-Match': `"x", W/${etag}` })],
    [200, 'If-None-Match with another tag', () => ({ 'If-None-Match': '"ABCORZ"' })],
    [200, 'If-Modified-Since long ago', () => ({ 'If-Modified-Since': past })],
    [304, 'If-Modified-Since with its date', () => ({ 'If-Modified-Since': modified })],
    [412, 'If-Unmodified-Since long ago', () => ({ 'If-Unmodified-Since': past })],
    [200, 'If-Unmodified-Since far ahead', () => ({ 'If-Unmodified-Since': future })],
    [200, 'an invalid If-Modified-Since', () => ({ 'If-Modified-Since': 'yesterday' })],
    [304, 'the tag, not the date', () => ({ 'If-None-Match': etag, 'If-Modified-Since': past })],
    [200, 'If-Match, not the date', () => ({ 'If-Match': etag, 'If-Unmodified-Since': past })],
  ])('answer %i to %s', async (status, _, headers) => {
    for (const send of [client.get, client.head]) {
      const response = await send('conditional/read.txt', headers());
      expect(response.status).toBe(status);
      const text = await response.text();
      if (status === 304) {
        expect(text).toBe('');
        expect(response.headers.get('etag')).toBe(etag);
        expect(response.headers.get('cache-control')).toBe('public, max-age=3600');
        expect(response.headers.get('last-modified')).toBe(modified);
      }
    }
  });

  test('check conditions before the range', async () => {
    const headers = { 'If-Match': '"x"', Range: 'bytes=99-' };
    const refused = await refusalOf(await client.get('conditional/read.txt', headers));
    expect(refused).toMatchObject({ status: 412, code: 'PreconditionFailed' });
  });
});

describe('If-Range and Range', () => {
  test.each(['"another"', 'W/"weak"', past, 'etag'])(
    'If-Range of %s without a Range is ignored',
    async (ifRange) => {
      const headers = { 'If-Range': ifRange.replace('etag', etag) };
      const response = await client.get('conditional/read.txt', headers);
      expect([response.status, await response.text()]).toEqual([200, 'bar']);
      const head = await client.head('conditional/read.txt', headers);
      expect([head.status, head.headers.get('content-length')]).toEqual([200, '3']);
    },
  );

  test('If-Range without a Range is ignored for a file of several parts', async () => {
    const url = `${service.base}/api/v1/bucket/${service.bucket}/upload`;
    const headers = { Authorization: `Bearer ${service.apiKey}` };
    const bytes = sampleBytes('several parts', 2_100_000);
    const body = JSON.stringify({ path: 'conditional/parts', size: bytes.length });
    const started = await fetch(`${url}/start`, { method: 'POST', headers, body });
    const { sessionId, chunkSize } = (await started.json()) as Record<string, number>;
    for (const index of [0, 1]) {
      const start = index * (chunkSize ?? 0);
      const chunk = bytes.slice(start, start + (chunkSize ?? 0));
      await fetch(`${url}/${sessionId}/chunk/${index}`, { method: 'PUT', headers, body: chunk });
    }
    await fetch(`${url}/${sessionId}/complete`, { method: 'POST', headers });
    for (const ifRange of ['"another"', past]) {
      const response = await client.get('conditional/parts', { 'If-Range': ifRange });
      expect(response.status).toBe(200);
      expect(Buffer.compare(await bytesOf(response), bytes)).toBe(0);
    }
  });

  test.each<[string, string, string]>([
    ['bytes=,0-0', 'b', 'bytes 0-0/3'],
    ['bytes=1-1,', 'a', 'bytes 1-1/3'],
    ['bytes= ,\t, 2-2 ,', 'r', 'bytes 2-2/3'],
  ])('an empty element of a list of ranges is ignored: %j', async (range, text, shown) => {
    const response = await client.get('conditional/read.txt', { Range: range });
    expect([response.status, await response.text()]).toEqual([206, text]);
    expect(response.headers.get('content-range')).toBe(shown);
  });
});

describe('a GET and a HEAD of a record', () => {
  test("answer 304 to the file's entity tag, and 200 to another one", async () => {
    const ask = (method: string, tag: string) =>
      client.send(method, 'conditional/read.txt', { headers: { 'If-None-Match': tag } });
    for (const method of ['GET', 'HEAD']) {
      for (const tag of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
        const response = await ask(method, tag);
        expect([response.status, await response.text()], tag).toEqual([304, '']);
        expect(response.headers.get('etag')).toBe(etag);
      }
      expect((await ask(method, '"x"')).status).toBe(200);
    }
  });
});

describe('a PUT', () => {
  test('with If-Match replaces only the version with this entity tag', async () => {
    const path = 'conditional/match.txt';
    const first = (await client.put(path, 'bar')).headers.get('etag') ?? '';
    const other = await client.put(path, 'zar', { 'If-Match': '"ABCORZ"' });
    expect(await refusalOf(other)).toMatchObject({ status: 412, code: 'PreconditionFailed' });
    expect(await (await client.get(path)).text()).toBe('bar');
    expect((await client.put(path, 'zar', { 'If-Match': first })).status).toBe(200);
    expect(await (await client.get(path)).text()).toBe('zar');
    expect((await client.put(path, 'car', { 'If-Match': first })).status).toBe(412);
    expect((await client.put(path, 'car', { 'If-Match': '*' })).status).toBe(200);
  });

  test('with If-Match answers 412 for a missing file and creates none', async () => {
    for (const ifMatch of ['*', '"ABCORZ"']) {
      const response = await client.put('conditional/none.txt', 'bar', { 'If-Match': ifMatch });
      expect(response.status).toBe(412);
    }
    expect((await client.get('conditional/none.txt')).status).toBe(404);
  });

  test('with If-None-Match: * creates the file only once', async () => {
    const path = 'conditional/once.txt';
    expect((await client.put(path, 'bar', { 'If-None-Match': '*' })).status).toBe(201);
    const again = await client.put(path, 'zar', { 'If-None-Match': '*' });
    expect(await refusalOf(again)).toMatchObject({ status: 412, code: 'PreconditionFailed' });
    expect(await (await client.get(path)).text()).toBe('bar');
  });

  test('with If-None-Match and an entity tag replaces only other versions', async () => {
    const path = 'conditional/nonmatch.txt';
    const first = (await client.put(path, 'bar')).headers.get('etag') ?? '';
    expect((await client.put(path, 'zar', { 'If-None-Match': first })).status).toBe(412);
    expect((await client.put(path, 'zar', { 'If-None-Match': '"ABCORZ"' })).status).toBe(200);
  });

  test('with a malformed condition is refused', async () => {
    const response = await client.put('conditional/bad.txt', 'bar', { 'If-Match': 'a b' });
    expect(await refusalOf(response)).toMatchObject({ status: 400, code: 'InvalidArgument' });
  });

  test('with If-None-Match: * succeeds for only one of several concurrent requests', async () => {
    const bodies = ['a', 'b', 'c', 'd'];
    const path = 'conditional/race.txt';
    const responses = await Promise.all(
      bodies.map((body) => client.put(path, body, { 'If-None-Match': '*' })),
    );
    const winners = bodies.filter((_, index) => responses[index]?.status === 201);
    expect(winners).toHaveLength(1);
    expect(responses.filter(({ status }) => status === 412)).toHaveLength(3);
    expect(await (await client.get(path)).text()).toBe(winners[0]);
  });
});

describe('a DELETE', () => {
  test('with If-Match deletes only the version with this entity tag', async () => {
    const path = 'conditional/delete.txt';
    const first = (await client.put(path, 'bar')).headers.get('etag') ?? '';
    const other = await client.send('DELETE', path, { headers: { 'If-Match': '"x"' } });
    expect(await refusalOf(other)).toMatchObject({ status: 412, code: 'PreconditionFailed' });
    const same = await client.send('DELETE', path, { headers: { 'If-Match': first } });
    expect([same.status, await same.text()]).toEqual([204, '']);
    expect((await client.get(path)).status).toBe(404);
  });
});
