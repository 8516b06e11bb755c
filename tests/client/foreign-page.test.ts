// Simulates a page of another origin by setting `location`: it reads public files by plain GETs,
// which need no preflight, and sends a key only to the actor. The browser test of
// docs/how-to/browser-app.md runs such a page at both kinds of gateway.

import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { createHttpStorage } from '../../packages/client/src/http-storage.ts';
import { openLink } from '../../packages/client/src/open-link.ts';
import { createStorage } from '../../packages/client/src/storage.ts';
import { isSentUpdate } from '../support/method-reports.ts';
import { openService, type Service, sampleBytes } from '../support/service.ts';

const chunkBytes = 1_900_000;
const large = sampleBytes('large', 2 * chunkBytes + 5);
const retry = { attemptsMax: 1 };

let service: Service;
let sent: { url: URL; method: string; headers: string[] }[];

const watched = (input: string | URL | Request, init?: RequestInit) => {
  const headers = [...new Headers(init?.headers).keys()];
  const url = new URL(input instanceof Request ? input.url : input);
  sent.push({ url, method: init?.method ?? 'GET', headers });
  return fetch(input, init);
};

beforeAll(async () => {
  service = await openService();
  const { base: url, apiKey, bucket } = service;
  const storage = createStorage({ url, apiKey });
  await storage.upload(large, { bucket, path: 'large', contentType: 'a/b', chunkBytes });
});
beforeEach(() => {
  sent = [];
  vi.stubGlobal('location', { origin: 'https://example.org' });
});
afterEach(() => {
  vi.unstubAllGlobals();
});
afterAll(() => service?.stop());

/** Expects requests that need no preflight (Fetch standard, "CORS-safelisted"). */
function expectPlain(): void {
  expect(sent.length).toBeGreaterThan(0);
  for (const { method, headers } of sent) {
    expect(['GET', 'HEAD']).toContain(method);
    expect(headers.filter((name) => name !== 'range')).toEqual([]);
  }
}

const updates = () => service.replica?.reports.filter(isSentUpdate).length;

test('createHttpStorage() reads a public file of several chunks by plain GETs and queries', async () => {
  const { base: url, bucket } = service;
  const before = updates();
  const storage = createHttpStorage({ url, fetch: watched, retry });
  const { bytes } = await storage.download({ bucket, path: 'large' });
  expect(Buffer.compare(await bytes(), large)).toBe(0);
  expect(sent).toHaveLength(3);
  expectPlain();
  expect(updates()).toBe(before);
});

test('openLink() reads a file of several chunks by plain GETs and queries', async () => {
  const { base: url, apiKey, bucket } = service;
  const link = await createStorage({ url, apiKey }).links.create({ bucket, path: 'large' });
  const before = updates();
  const { bytes } = await openLink(link.url, { fetch: watched, retry });
  expect(Buffer.compare(await bytes(), large)).toBe(0);
  expectPlain();
  expect(updates()).toBe(before);
});

test('createStorage() sends a key only to the actor', async () => {
  const { base: url, apiKey, bucket } = service;
  const storage = createStorage({ url, apiKey, fetch: watched, retry });
  const name = { bucket, path: 'abroad' };
  await storage.upload(large, { ...name, contentType: 'a/b' });
  expect((await storage.stat(name)).size).toBe(large.length);
  const calls = sent.filter(({ url }) => url.pathname.startsWith('/api/v'));
  expect(calls.length).toBeGreaterThan(1);
  expect(calls.filter(({ url }) => url.pathname.startsWith('/api/v1'))).toEqual([]);
  expect(sent.flatMap(({ headers }) => headers)).not.toContain('authorization');
  sent = [];
  const { bytes } = await storage.download(name);
  expect(Buffer.compare(await bytes(), large)).toBe(0);
  expectPlain();
  const link = await storage.links.create(name);
  expect(link.url.startsWith(`${url}/s/`)).toBe(true);
});
