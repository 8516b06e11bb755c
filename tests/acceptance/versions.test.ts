// Former versions over HTTP, through the verifying gateway, and by actor methods.

import { IDL } from '@dfinity/candid';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createStorage } from '../../packages/client/src/storage.ts';
import { type FileClient, openFileClient, refusalOf } from '../support/http-client.ts';
import { openService, type Service, sampleBytes } from '../support/service.ts';

let service: Service;
let client: FileClient;

const Change = IDL.Record({ bucketId: IDL.Text, keepVersionsDays: IDL.Opt(IDL.Nat) });
const Bucket = IDL.Record({ keepVersionsDays: IDL.Nat, versionCount: IDL.Nat });

async function call(method: string, type: IDL.Type, argument: object, ok: IDL.Type) {
  const { network, canisterId } = service;
  const send = method.startsWith('list') ? network.query : network.call;
  const reply = await send(canisterId, method, IDL.encode([type], [argument]), 'owner');
  return IDL.decode([IDL.Variant({ ok, err: IDL.Text })], reply)[0];
}

beforeAll(async () => {
  service = await openService();
  client = openFileClient(service);
  const change = { bucketId: service.bucket, keepVersionsDays: [7n] };
  expect(await call('updateBucket', Change, change, Bucket)).toEqual({
    ok: { keepVersionsDays: 7n, versionCount: 0n },
  });
});

afterAll(() => service?.stop());

function send(method: string, path: string, body?: object): Promise<Response> {
  return fetch(`${service.base}/api/v1/bucket/${service.bucket}/${path}`, {
    method,
    headers: { Authorization: `Bearer ${service.apiKey}` },
    body: body === undefined ? null : JSON.stringify(body),
  });
}

interface Page {
  readonly items: { path: string; version: number; size: number; expiresAt: string }[];
  readonly nextCursor: string | null;
}

async function listed(query: string): Promise<string[]> {
  const page = (await (await send('GET', `versions${query}`)).json()) as Page;
  return page.items.map(({ path, version, size }) => `${path} ${version} ${size}`);
}

test('replaced and deleted files can be listed, restored and erased', async () => {
  await client.put('v/a.txt', 'one');
  await client.put('v/a.txt', 'three');
  await client.send('DELETE', 'v/a.txt');
  expect((await client.get('v/a.txt')).status).toBe(404);
  expect(await listed('?path=v/a.txt')).toEqual(['v/a.txt 1 3', 'v/a.txt 2 5']);
  const first = (await (await send('GET', 'versions?prefix=v/&limit=1')).json()) as Page;
  expect(first.items).toHaveLength(1);
  expect(await listed(`?prefix=v/&cursor=${first.nextCursor}`)).toEqual(['v/a.txt 2 5']);
  expect(Date.parse(first.items[0]?.expiresAt ?? '')).toBeGreaterThan(Date.now());

  const restored = await send('POST', 'restore', { path: 'v/a.txt', version: 1 });
  expect(restored.status).toBe(201);
  expect(await (await client.get('v/a.txt')).text()).toBe('one');
  expect(await listed('?path=v/a.txt')).toEqual(['v/a.txt 2 5']);
  const again = await refusalOf(await send('POST', 'restore', { path: 'v/a.txt', version: 1 }));
  expect(again).toMatchObject({ status: 404, code: 'NoSuchFile' });

  expect((await send('DELETE', 'versions/v/a.txt?version=2')).status).toBe(204);
  const gone = await refusalOf(await send('DELETE', 'versions/v/a.txt?version=2'));
  expect(gone).toMatchObject({ status: 404, code: 'NoSuchFile' });
  await client.put('v/a.txt', 'two');
  const all = await send('DELETE', 'versions?prefix=v/');
  expect(await all.json()).toEqual({ erased: 1, held: 0, isDone: true });
  expect(await listed('')).toEqual([]);
});

test.each([
  ['GET', 'versions?limit=0', undefined, 'InvalidArgument'],
  ['GET', 'versions?cursor=x', undefined, 'InvalidArgument'],
  ['GET', 'versions?path=a&prefix=b', undefined, 'InvalidArgument'],
  ['DELETE', 'versions', undefined, 'InvalidArgument'],
  ['DELETE', 'versions/a?version=x', undefined, 'InvalidArgument'],
  ['POST', 'restore', { path: 'a' }, 'InvalidArgument'],
  ['POST', 'restore', { path: 'a', version: 1.5 }, 'InvalidArgument'],
  ['POST', 'restore', { path: '..', version: 1 }, 'InvalidPath'],
])('%s %s with %o is refused with %s', async (method, path, body, code) => {
  expect(await refusalOf(await send(method, path, body))).toMatchObject({ status: 400, code });
});

test('a version number selects its record and its bytes', async () => {
  await client.put('r/a.txt', 'first', { 'Content-Type': 'text/plain' });
  await client.put('r/a.txt', 'second, longer');
  const at = 'r/a.txt?version=1';
  const record = await send('GET', `files/${at}`);
  const { etag, ...shown } = (await record.json()) as { etag: string };
  expect([record.status, shown]).toMatchObject([200, { version: 1, size: 5 }]);
  const got = await send('GET', `versions/${at}`);
  expect([got.status, await got.text()]).toEqual([200, 'first']);
  expect(Object.fromEntries(got.headers)).toMatchObject({
    ...{ 'content-type': 'text/plain', etag: `"${etag}"` },
    'cache-control': 'private, no-store',
  });
  expect(got.headers.has('last-modified')).toBe(true);
  const present = await send('GET', 'versions/r/a.txt?version=2');
  expect(await present.text()).toBe('second, longer');

  const base = `${service.base}/api/v1/bucket/${service.bucket}/versions/${at}`;
  const ask = (method: string, headers: Record<string, string>) =>
    fetch(base, { method, headers: { Authorization: `Bearer ${service.apiKey}`, ...headers } });
  const head = await ask('HEAD', {});
  expect([head.status, head.headers.get('content-length')]).toEqual([200, '5']);
  const part = await ask('GET', { Range: 'bytes=1-3' });
  expect([part.status, await part.text()]).toEqual([206, 'irs']);
  expect(part.headers.get('content-range')).toBe('bytes 1-3/5');
  expect((await ask('GET', { 'If-None-Match': `"${etag}"` })).status).toBe(304);
  expect((await ask('GET', { Range: 'bytes=9-' })).status).toBe(416);
});

test('DELETE versions/{path} of the current version makes the former one current, also for links', async () => {
  await client.put('p/a.txt', 'one');
  await client.put('p/a.txt', 'two');
  const { url } = (await (await send('POST', 'links', { path: 'p/a.txt' })).json()) as {
    url: string;
  };
  const shown = async () => {
    const [file, link] = await Promise.all([client.get('p/a.txt'), fetch(`${service.base}${url}`)]);
    return [file.status, await file.text(), link.status, await link.text()];
  };
  expect(await shown()).toEqual([200, 'two', 200, 'two']);
  const erase = (version: number) => send('DELETE', `versions/p/a.txt?version=${version}`);
  expect((await erase(2)).status).toBe(204);
  expect(await shown()).toEqual([200, 'one', 200, 'one']);
  expect(await listed('?path=p/a.txt')).toEqual([]);
  expect(await (await send('GET', 'files/p/a.txt')).json()).toMatchObject({ version: 1, size: 3 });
  expect((await erase(1)).status).toBe(204);
  const [status, , linkStatus] = await shown();
  expect([status, linkStatus]).toEqual([404, 404]);
});

test.each([
  ['GET', 'versions/r/a.txt', 400, 'InvalidArgument'],
  ['GET', 'versions/r/a.txt?version=x', 400, 'InvalidArgument'],
  ['GET', 'files/r/a.txt?version=', 400, 'InvalidArgument'],
  ['GET', 'versions/r/a.txt?version=99', 404, 'NoSuchFile'],
  ['GET', 'files/r/a.txt?version=99', 404, 'NoSuchFile'],
  ['GET', 'versions/none?version=1', 404, 'NoSuchFile'],
  ['DELETE', 'files/r/a.txt?version=1', 400, 'InvalidArgument'],
  ['PATCH', 'files/r/a.txt?version=1', 400, 'InvalidArgument'],
  ['PUT', 'files/r/a.txt?version=1', 400, 'InvalidArgument'],
])('%s %s is refused with %i %s', async (method, path, status, code) => {
  const body = method === 'PATCH' ? { tags: [] } : undefined;
  expect(await refusalOf(await send(method, path, body))).toMatchObject({ status, code });
});

test('a version of several chunks is served whole through the gateway', async () => {
  const bytes = sampleBytes('a long version', 5_000_000);
  const storage = createStorage({ url: service.base, apiKey: service.apiKey });
  const name = { bucket: service.bucket, path: 'r/long' };
  await storage.upload(bytes, { ...name, contentType: 'a/b' });
  await client.put('r/long', 'short');
  const got = await send('GET', 'versions/r/long?version=1');
  expect(Buffer.compare(Buffer.from(await got.arrayBuffer()), bytes)).toBe(0);
});

test('a caller without a key cannot read versions of a public bucket', async () => {
  await client.put('r/open', 'one');
  await client.put('r/open', 'two');
  for (const path of ['versions/r/open?version=1', 'files/r/open?version=1']) {
    const url = `${service.base}/api/v1/bucket/${service.bucket}/${path}`;
    expect((await fetch(url)).status).toBe(401);
  }
  expect(await (await client.get('r/open?version=1')).text()).toBe('two');
});

test('actor methods list, restore, read and erase versions', async () => {
  await client.put('actor/a', 'one');
  await client.put('actor/a', 'two!');
  const text = IDL.Opt(IDL.Text);
  const key = { bucketId: service.bucket, apiKey: [service.apiKey] };
  const List = IDL.Record({
    ...{ bucketId: IDL.Text, path: text, prefix: text, cursor: text, apiKey: text },
    ...{ limit: IDL.Opt(IDL.Nat) },
  });
  const wanted = { ...key, path: [], prefix: ['/actor/'], cursor: [], limit: [] };
  const Version = IDL.Record({ path: IDL.Text, version: IDL.Nat, size: IDL.Nat });
  const Versions = IDL.Record({ items: IDL.Vec(Version), nextCursor: text });
  expect(await call('listVersions', List, wanted, Versions)).toEqual({
    ok: { items: [{ path: 'actor/a', version: 1n, size: 3n }], nextCursor: [] },
  });
  const Restoration = IDL.Record({
    ...{ bucketId: IDL.Text, path: IDL.Text, version: IDL.Nat, apiKey: text },
    ...{ ifMatch: text, ifNoneMatch: text },
  });
  const restoration = { ...key, path: 'actor/a', version: 1n, ifMatch: [], ifNoneMatch: [] };
  expect(await call('restoreVersion', Restoration, restoration, Version)).toMatchObject({
    ok: { version: 3n, size: 3n },
  });
  const { network, canisterId } = service;
  const ask = async (method: string, types: IDL.Type[], values: unknown[], ok: IDL.Type) => {
    const argument = IDL.encode(types, values);
    const reply = await network.query(canisterId, method, argument, 'owner');
    return IDL.decode([IDL.Variant({ ok, err: IDL.Text })], reply)[0];
  };
  const { Text, Nat } = IDL;
  const named = [service.bucket, 'actor/a', 2n];
  expect(await ask('getVersion', [Text, Text, Nat, text], [...named, []], Version)).toEqual({
    ok: { path: 'actor/a', version: 2n, size: 4n },
  });
  const part = [...named, 1n, 2n, [service.apiKey]];
  const read = await ask('readVersion', [Text, Text, Nat, Nat, Nat, text], part, IDL.Vec(IDL.Nat8));
  expect(read).toEqual({ ok: new Uint8Array(Buffer.from('wo')) });
  const Erasure = IDL.Record({
    ...{ bucketId: IDL.Text, path: text, prefix: text, apiKey: text, version: IDL.Opt(IDL.Nat) },
  });
  const erasure = { ...key, path: ['actor/a'], prefix: [], version: [2n] };
  const Erased = IDL.Record({ erased: IDL.Nat, isDone: IDL.Bool });
  expect(await call('eraseVersions', Erasure, erasure, Erased)).toEqual({
    ok: { erased: 1n, isDone: true },
  });
});
