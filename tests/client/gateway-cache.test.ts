// A simulated network, about twenty times as fast as mainnet, with caching gateways and limited
// blocks. A client that has stored a file reads the new bytes at once, whatever is cached.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { createStorage } from '../../packages/client/src/storage.ts';
import { mainnetProfile } from '../../packages/replica/src/network/profile.ts';
import { openService, type Service, sampleBytes } from '../support/service.ts';

const profile = {
  ...mainnetProfile,
  roundMs: 50,
  roundJitterMs: 5,
  finalizationMs: 25,
  certificationMs: 20,
  latencyMs: [5, 10],
  instructionsPerSecond: 20 * mainnetProfile.instructionsPerSecond,
} as const;
const chunkBytes = 200_000;

let service: Service;

beforeAll(async () => {
  service = await openService({ profile });
});
afterAll(() => service?.stop());

test.each([
  ['of one request', 1_000],
  ['of several chunks', 900_000],
])(
  'createStorage(): a download %s gets the newest version, although gateways cache the former one',
  async (name, size) => {
    const { base: url, apiKey, bucket } = service;
    const storage = createStorage({ url, apiKey });
    const path = `kept/${size}`;
    const address = `${url}/cloud/${bucket}/${path}`;
    const former = sampleBytes(`${name} former`, size);
    const latter = sampleBytes(`${name} latter`, size);
    const put = (bytes: Uint8Array) =>
      storage.upload(bytes, { bucket, path, contentType: 'a/b', chunkBytes });
    const got = async () =>
      Buffer.from(await (await storage.download({ bucket, path })).bytes()).toString('hex');
    await put(former);
    const isSmall = size < chunkBytes;
    if (isSmall) await (await fetch(address)).arrayBuffer();
    expect(await got()).toBe(Buffer.from(former).toString('hex'));
    await put(latter);
    expect(await got()).toBe(Buffer.from(latter).toString('hex'));
    if (!isSmall) return;
    // The plain address serves the former file for the duration of its Cache-Control.
    const kept = Buffer.from(await (await fetch(address)).arrayBuffer());
    expect(kept.equals(Buffer.from(former))).toBe(true);
  },
);

test('GET /api/v1/bucket/{id}/files with a key is not served from a cache to another key', async () => {
  const { base: url, apiKey, bucket } = service;
  const address = `${url}/api/v1/bucket/${bucket}/files`;
  const headers = { authorization: `Bearer ${apiKey}` };
  const first = await fetch(address, { headers });
  expect(first.status).toBe(200);
  const stranger = await fetch(address, { headers: { authorization: 'Bearer efs_wrong' } });
  expect(stranger.status).not.toBe(200);
});
