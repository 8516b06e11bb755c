// Paths and bucket ids that a URL would resolve elsewhere are refused, and keys work as created.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import { createStorage, type Storage } from '../../packages/client/src/storage.ts';
import { openService, type Service, sampleBytes } from '../support/service.ts';

let service: Service;
let http: Storage;
let owner: Storage;

beforeAll(async () => {
  service = await openService();
  const { base: url, apiKey, host, canisterId, identityPem } = service;
  http = createStorage({ url, apiKey });
  owner = createStorage({ host, canisterId, identity: identityFromPem(identityPem) });
  const file = { bucket: service.bucket, path: 'names/kept', contentType: 'a/b' };
  await http.upload(sampleBytes('kept', 10), file);
});
afterAll(() => service?.stop());

describe('createStorage(): a path with segments that fetch would resolve', () => {
  test.each([
    '../priv/secret.txt',
    '../../api/v1/status',
    'names/../names/kept',
    'names/./kept',
    'names//kept',
    '..',
    'names/',
    '\ud800',
  ])('%j is refused by every call before anything is sent', async (path) => {
    const sent: unknown[] = [];
    const fetch: typeof globalThis.fetch = async (input) => {
      sent.push(input);
      throw new TypeError('nothing should be sent');
    };
    const storage = createStorage({ url: service.base, apiKey: service.apiKey, fetch });
    const file = { bucket: service.bucket, path };
    const code = 'InvalidPath';
    await expect(storage.stat(file)).rejects.toMatchObject({ code });
    await expect(storage.remove(file)).rejects.toMatchObject({ code });
    await expect(storage.download(file)).rejects.toMatchObject({ code });
    const upload = storage.upload(sampleBytes('x', 3), { ...file, contentType: 'a/b' });
    await expect(upload).rejects.toMatchObject({ code });
    expect(sent).toEqual([]);
  });

  test.each(['..', '../x', 'a/b', '', '%2e'])('bucket %j is refused too', async (bucket) => {
    const stat = http.stat({ bucket, path: 'x' });
    await expect(stat).rejects.toMatchObject({ code: 'InvalidBucketId' });
  });
});

test('createStorage(): a leading slash makes no difference to any call', async () => {
  const { bucket } = service;
  const path = '/names/slash';
  const bytes = sampleBytes('slash', 5);
  const { path: stored } = await http.upload(bytes, { bucket, path, contentType: 'a/b' });
  expect(stored).toBe('names/slash');
  expect((await http.stat({ bucket, path })).size).toBe(5);
  const { body } = await http.download({ bucket, path });
  expect(new Uint8Array(await new Response(body as BodyInit).arrayBuffer())).toEqual(bytes);
  await http.remove({ bucket, path });
});

test('createStorage(): a key for several buckets works in each', async () => {
  const { base: url, bucket } = service;
  const second = 'names2';
  await owner.buckets.create(second);
  await owner.buckets.update(second, { isPublic: false });
  const buckets = [bucket, second];
  const permissions = ['read', 'write', 'delete'] as const;
  const { secret } = await owner.keys.create({ name: 'both', buckets, permissions });
  const storage = createStorage({ url, apiKey: secret });
  for (const each of buckets) {
    const file = { bucket: each, path: 'names/both' };
    await storage.upload(sampleBytes(each, 4), { ...file, contentType: 'a/b' });
    const { body } = await storage.download(file);
    const read = new Uint8Array(await new Response(body as BodyInit).arrayBuffer());
    expect(read).toEqual(sampleBytes(each, 4));
    await storage.remove(file);
  }
});

test('createStorage(): the largest file of one HTTP request can be read by actor calls', async () => {
  const { bucket } = service;
  const bytes = sampleBytes('longest', 2_000_000);
  const file = { bucket, path: 'names/longest' };
  await http.upload(bytes, { ...file, contentType: 'a/b' });
  const { body } = await owner.download(file);
  const read = new Uint8Array(await new Response(body as BodyInit).arrayBuffer());
  expect(Buffer.compare(read, bytes)).toBe(0);
});

test('createStorage(): an invalid key is refused at once, and the error does not contain it', () => {
  for (const apiKey of ['efs_SECRET\r\nX: 1', 'efs SECRET', '']) {
    const open = () => createStorage({ url: service.base, apiKey });
    expect(open).toThrow(/API key/);
    expect(open).not.toThrow(/SECRET/);
  }
});
