// Lost answers to the beginning of an upload leave one session, however many are lost.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import { createStorage, type StorageOptions } from '../../packages/client/src/storage.ts';
import { openService, type Service } from '../support/service.ts';
import { startProxy, type UnreliableProxy } from './unreliable-proxy.ts';

let service: Service;
let proxy: UnreliableProxy;

beforeAll(async () => {
  service = await openService();
  proxy = await startProxy(service.host, () => 1);
});
afterAll(async () => {
  await proxy?.stop();
  await service?.stop();
});

const lostMax = 30;
const retry = { attemptsMax: lostMax + 1, delayMsMin: 1, delayMsMax: 1 };

test.each<[string, () => StorageOptions]>([
  ['HTTP', () => ({ url: proxy.url, apiKey: service.apiKey, transport: 'http', retry })],
  ['both', () => ({ url: proxy.url, apiKey: service.apiKey, retry })],
  [
    'the actor',
    () => ({
      host: proxy.url,
      canisterId: service.canisterId,
      apiKey: service.apiKey,
      identity: identityFromPem(service.identityPem),
      retry,
    }),
  ],
])('uploads.begin over %s leaves one session after 30 lost answers', async (way, options) => {
  const storage = createStorage(options());
  let lost = 0;
  proxy.losesAnswer = (url, body) => {
    const isBeginning = url.includes('/upload/start') || body.includes('startUpload');
    if (isBeginning && lost < lostMax) {
      lost += 1;
      return true;
    }
    return false;
  };
  const path = `lost over ${way}`;
  const session = await storage.uploads.begin({
    bucket: service.bucket,
    path,
    size: 9,
    chunkBytes: 65_536,
  });
  expect(lost).toBe(lostMax);
  const open = await storage.uploads.list({ bucket: service.bucket });
  const found = open.filter((upload) => upload.path === path);
  expect(found.map(({ uploadId }) => uploadId)).toEqual([session.uploadId]);
  // A second upload of the same file has its own session.
  const other = await storage.uploads.begin({
    bucket: service.bucket,
    path,
    size: 9,
    chunkBytes: 65_536,
  });
  expect(other.uploadId).not.toBe(session.uploadId);
});
