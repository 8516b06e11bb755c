// Large files of private buckets over HTTP are read by a link that a download creates and removes.

import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import { createStorage, type Storage } from '../../packages/client/src/storage.ts';
import { chunkBytesMax } from '../../packages/wire/src/limits.ts';
import { isSentUpdate } from '../support/method-reports.ts';
import { reported } from '../support/network/elsewhere.ts';
import { openService, type Service, sampleBytes, sha256Hex } from '../support/service.ts';

let service: Service;
let owner: Storage;
/** Uses a key that only allows reading. */
let reader: Storage;
let readerKey: string;
const bucket = 'hidden';
const chunkBytes = 500_000;
const large = { bucket, path: 'large' };
const bytes = sampleBytes('private', 20_000_000);

beforeAll(async () => {
  service = await openService();
  const { base: url, host, canisterId, identityPem } = service;
  owner = createStorage({ host, canisterId, identity: identityFromPem(identityPem) });
  await owner.buckets.create(bucket);
  readerKey = await makeKey('read');
  reader = createStorage({ url, apiKey: readerKey });
  await owner.upload(bytes, { ...large, chunkBytes: chunkBytesMax, contentType: 'a/b' });
  await owner.upload(bytes.subarray(0, 10), { bucket, path: 'small', contentType: 'a/b' });
});

afterAll(() => service?.stop());

afterEach(() => expect.poll(linkCount).toBe(0));

async function makeKey(permission: 'read' | 'write'): Promise<string> {
  const request = { name: permission, buckets: [bucket], permissions: [permission] };
  return (await owner.keys.create(request)).secret;
}

async function linkCount(): Promise<number> {
  let count = 0;
  for await (const _ of owner.links.list({ bucket })) count++;
  return count;
}

async function digestOf(body: ReadableStream<Uint8Array>): Promise<string> {
  return sha256Hex(new Uint8Array(await new Response(body as BodyInit).arrayBuffer()));
}

/** Returns the number of updates that were sent to the replica during `work`. */
async function callsOf(work: () => Promise<unknown>): Promise<{ updates: number }> {
  const { reports = [] } = service.replica ?? {};
  const before = new Set(reports);
  await work();
  const made = reports.filter((report) => !before.has(report));
  return { updates: reported(made.filter(isSentUpdate).length) };
}

interface Watching {
  /** Key reads before the request for the link is sent. */
  readonly keyReads?: number;
  /** Reads through the link that get 503, as from a gateway that cannot verify the response. */
  readonly refusedReads?: number;
}

/** Records requests by method and the first segment of the path, and whether they had the key. */
function watched({ keyReads = 0, refusedReads = 0 }: Watching = {}) {
  const sent: string[] = [];
  const count = (kind: string) => sent.filter((one) => one === kind).length;
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const [, first] = new URL(String(input)).pathname.split('/');
    const hasKey = new Headers(init?.headers).has('authorization');
    if (init?.method === 'POST') while (count(byKey) <= keyReads) await delay(5);
    const kind = `${init?.method} ${first}${hasKey ? ' key' : ''}`;
    sent.push(kind);
    const isRefused = kind === byLink && count(byLink) <= refusedReads;
    return isRefused ? new Response('', { status: 503 }) : globalThis.fetch(input, init);
  };
  const storage = createStorage({ url: service.base, apiKey: readerKey, fetch });
  return { storage, sent, count };
}

const byKey = 'GET cloud key';
const byLink = 'GET s';

test.each([0, 4, 9])(
  'Storage.download(): 20 MB are read with the key for %i chunks, then by a link, with two updates',
  async (keyReads) => {
    const { storage, sent, count } = watched({ keyReads });
    const { updates } = await callsOf(async () => {
      const { body } = await storage.download(large, { concurrency: 2 });
      expect(await digestOf(body)).toBe(sha256Hex(bytes));
    });
    expect(updates).toEqual(2);
    // The first chunk arrives with the file's record, and the last one always by the link.
    expect(sent.slice(0, 2)).toEqual(['GET cloud', byKey]);
    expect(count(byKey)).toBeGreaterThan(keyReads);
    expect(count(byKey) + count(byLink)).toBe(11);
    expect(sent.slice(-2)).toEqual([byLink, 'DELETE api key']);
  },
);

test.each([
  [1, 2],
  [3, 3],
])(
  'Storage.download(): after %i refusals by the link, %i reads by it are tried',
  async (refusedReads, tried) => {
    const { storage, count } = watched({ keyReads: 9, refusedReads });
    const { body } = await storage.download(large, { concurrency: 2 });
    expect(await digestOf(body)).toBe(sha256Hex(bytes));
    expect(count(byLink)).toBe(tried);
  },
);

test.each([
  ['a file of one chunk', 'small', {}],
  ['a range', 'large', { range: { start: 100, end: 3_000_000 } }],
])('Storage.download(): %s creates no link', async (_, path, options) => {
  const { updates } = await callsOf(async () => {
    const { body } = await reader.download({ bucket, path }, options);
    await new Response(body as BodyInit).arrayBuffer();
  });
  expect(updates).toEqual(0);
});

test('Storage.download(): a continued download also creates a link', async () => {
  const { etag } = await owner.stat(large);
  const received = bytes.subarray(0, 10_000_000);
  const { updates } = await callsOf(async () => {
    const { body, start } = await reader.download(large, { resume: { etag, received } });
    expect(await digestOf(body)).toBe(sha256Hex(bytes.subarray(start)));
  });
  expect(updates).toEqual(2);
});

test('Storage.download(): if no link can be created, the key is used', async () => {
  const request = { bucket, path: 'large' };
  const links = await Promise.all(Array.from({ length: 16 }, () => owner.links.create(request)));
  const { updates } = await callsOf(async () => {
    const { body } = await reader.download(large);
    expect(await digestOf(body)).toBe(sha256Hex(bytes));
  });
  expect(updates).toEqual(0);
  for (const { id } of links) await owner.links.remove(bucket, id);
});

test('Storage.download(): if the link is removed meanwhile, the key is used', async () => {
  const { body } = await reader.download(large, { concurrency: 1 });
  let received = 0;
  for await (const piece of body as unknown as AsyncIterable<Uint8Array>) {
    received += piece.length;
    for await (const { id } of owner.links.list({ bucket })) await owner.links.remove(bucket, id);
  }
  expect(received).toBe(bytes.length);
});

test('Storage.download(): a download that is stopped, abandoned or fails removes its link', async () => {
  const controller = new AbortController();
  const stopped = await reader.download(large, {
    concurrency: 2,
    signal: controller.signal,
    onProgress: ({ doneBytes }) => doneBytes > 4_000_000 && controller.abort(),
  });
  await expect(digestOf(stopped.body)).rejects.toThrow();
  await expect.poll(linkCount).toBe(0);
  const left = (await reader.download(large)).body.getReader();
  await left.read();
  await left.read();
  await expect.poll(linkCount).toBe(1);
  await left.cancel();
  await expect.poll(linkCount).toBe(0);
  const file = { bucket, path: 'replaced', contentType: 'a/b', chunkBytes };
  await owner.upload(bytes.subarray(0, 4_000_000), file);
  const replaced = await reader.download(file, { concurrency: 1 });
  const failing = replaced.body.getReader();
  await failing.read();
  await failing.read();
  await owner.upload(bytes.subarray(1, 4_000_001), file);
  const rest = async () => {
    while (!(await failing.read()).done);
  };
  await expect(rest()).rejects.toMatchObject({ code: 'PreconditionFailed' });
});

test('Storage.download(): a key without the permission fails without creating a link', async () => {
  const storage = createStorage({ url: service.base, apiKey: await makeKey('write') });
  const { updates } = await callsOf(async () => {
    await expect(storage.download(large)).rejects.toMatchObject({ code: 'AccessDenied' });
  });
  expect(updates).toEqual(0);
});
