// A verifying gateway passes on only certified answers and answers of updates.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { createStorage } from '../../packages/client/src/storage.ts';
import { openActor } from '../support/actors.ts';
import { openClient } from '../support/bucket-actor.ts';
import { bytesOf, type FileClient, openFileClient } from '../support/http-client.ts';
import { openService, type Service, sampleBytes } from '../support/service.ts';

let service: Service;
let client: FileClient;
const hidden = `hidden${Date.now()}`;

beforeAll(async () => {
  service = await openService();
  client = openFileClient(service);
  await client.put('certified/a.txt', 'hello');
  const { actor } = await openClient(service, 'owner');
  expect(await actor.createBucket(hidden, [])).toHaveProperty('ok');
});

afterAll(() => service?.stop());

test('a response has a certificate that covers all its headers', async () => {
  const response = await client.get('certified/a.txt');
  expect([response.status, await response.text()]).toEqual([200, 'hello']);
  expect(response.headers.get('ic-certificate')).toMatch(/^certificate=:.*:, version=2$/);
  expect(response.headers.get('ic-certificateexpression')).toContain(
    'response_header_exclusions:ResponseHeaderList{headers:[]}',
  );
});

test('a missing file, bucket or route gets the same certified 404', async () => {
  const urls = [
    `${service.base}/none`,
    `${service.base}/cloud/nobody/x`,
    `${service.base}/cloud/a_b/x`,
    `${service.base}/cloud/${hidden}/x`,
  ];
  const expressions = new Set<string | null>();
  const texts = new Set<string>();
  for (const response of [
    await client.get('certified/none'),
    ...(await Promise.all(urls.map((url) => fetch(url)))),
  ]) {
    expect(response.status).toBe(404);
    expressions.add(response.headers.get('ic-certificateexpression'));
    expect(response.headers.get('cache-control')).toBe('private, no-store');
    texts.add(await response.text());
  }
  expect(texts.size).toBe(1);
  // The public bucket has one expression, and all other paths share another.
  expect(expressions.size).toBe(2);
  const { error } = JSON.parse([...texts][0] ?? '');
  expect(error).toEqual({
    code: 'NoSuchFile',
    message: expect.stringContaining('/cloud/{bucket}/'),
  });
  expect((await client.head('certified/none')).status).toBe(404);
});

test('a request with a key gets the certified public response, whole and in parts', async () => {
  const headers = { Authorization: `Bearer ${service.apiKey}` };
  const response = await client.get('certified/a.txt', headers);
  expect([response.status, await response.text()]).toEqual([200, 'hello']);
  expect(response.headers.get('ic-certificate')).not.toBeNull();
  const bytes = sampleBytes('in parts', 150_000);
  const storage = createStorage({ url: service.base, apiKey: service.apiKey });
  const file = { bucket: service.bucket, path: 'certified/parts', contentType: 'a/b' };
  const size = bytes.length;
  const { etag } = await storage.upload(new Blob([bytes as BlobPart]).stream(), {
    ...file,
    size,
    chunkBytes: 65_536,
  });
  const whole = await client.get('certified/parts', { ...headers, 'If-Match': `"${etag}"` });
  expect(Buffer.compare(await bytesOf(whole), bytes)).toBe(0);
  const ranges = await client.get('certified/parts', { Range: 'bytes=0-1,5-6' });
  expect(ranges.status).toBe(200);
  expect(Buffer.compare(await bytesOf(ranges), bytes)).toBe(0);
  const part = { Range: 'bytes=65536-', 'If-Match': '"of another version"' };
  expect((await client.get('certified/parts', part)).status).toBe(412);
});

test('a range without a certified answer is answered by an update', async () => {
  const response = await client.get('certified/a.txt', { Range: 'bytes=1-2' });
  expect([response.status, await response.text()]).toEqual([206, 'el']);
  expect(response.headers.get('ic-certificate')).toBeNull();
  const whole = await client.get('certified/a.txt', { Range: 'bytes=0-' });
  expect([whole.status, await whole.text()]).toEqual([200, 'hello']);
  expect(whole.headers.get('ic-certificate')).not.toBeNull();
});

test('a request with a key gets the largest single-chunk file', async () => {
  const bytes = sampleBytes('large', 2_000_000);
  await client.put('certified/large', bytes);
  const headers = { Authorization: `Bearer ${service.apiKey}` };
  const response = await client.get('certified/large', headers);
  expect(Buffer.compare(await bytesOf(response), bytes)).toBe(0);
});

test('a replaced file of several chunks is assembled from the new chunks only', async () => {
  const actor = await openActor(service, { agent: '@icp-sdk/core', asOwner: false });
  for (const [name, chunkBytes] of [
    ['old', 100],
    ['new', 70],
  ] as const) {
    const bytes = sampleBytes(name, 1_000);
    const key: [string] = [service.apiKey];
    const begun = await actor.beginFileUpload(service.bucket, '/certified/p', 'a/b', 1_000n, key);
    const uploadId = begun.ok ?? expect.fail(begun.err);
    for (let index = 0; index * chunkBytes < bytes.length; index++) {
      const chunk = bytes.subarray(index * chunkBytes, (index + 1) * chunkBytes);
      await actor.uploadFileChunkIndexed(uploadId, BigInt(index), chunk);
    }
    expect(await actor.completeFileUpload(uploadId, key)).toHaveProperty('ok');
    const response = await client.get('certified/p');
    expect(Buffer.compare(await bytesOf(response), bytes)).toBe(0);
  }
});
