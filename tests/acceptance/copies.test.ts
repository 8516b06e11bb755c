// Copies, moves and changes of files over HTTP, by the verifying gateway, and by actor methods.

import { IDL } from '@dfinity/candid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bytesOf, type FileClient, openFileClient, refusalOf } from '../support/http-client.ts';
import { openService, type Service, sampleBytes, sha256Hex } from '../support/service.ts';
import { uploadInChunks } from '../support/whole-uploads.ts';

let service: Service;
let client: FileClient;

beforeAll(async () => {
  service = await openService();
  client = openFileClient(service);
});

afterAll(() => service?.stop());

function post(operation: string, body: object, bucket = service.bucket): Promise<Response> {
  return fetch(`${service.base}/api/v1/bucket/${bucket}/${operation}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${service.apiKey}` },
    body: JSON.stringify(body),
  });
}

interface Shown {
  readonly path: string;
  readonly etag: string;
  readonly version: number;
  readonly contentType: string;
  readonly metadata?: Record<string, string>;
}

async function shown(response: Response): Promise<Shown> {
  return (await response.json()) as Shown;
}

describe('a copy', () => {
  test('of a file of several chunks is served whole, also after the source is deleted', async () => {
    const bytes = sampleBytes('copied', 4_000_000);
    await uploadInChunks(service, { path: 'copies/large', bytes, contentType: 'video/mp4' });
    const made = await post('copy', { from: 'copies/large', to: { path: 'copies/of/it.bin' } });
    expect([made.status, made.headers.get('location')]).toEqual([
      201,
      `/cloud/${service.bucket}/copies/of/it.bin`,
    ]);
    const record = await shown(made);
    expect(record).toMatchObject({
      path: 'copies/of/it.bin',
      version: 1,
      contentType: 'video/mp4',
    });
    const response = await client.get('copies/of/it.bin');
    expect(response.headers.get('etag')).toBe(`"${record.etag}"`);
    expect(sha256Hex(await bytesOf(response))).toBe(sha256Hex(bytes));
    await client.send('DELETE', 'copies/large');
    expect(sha256Hex(await bytesOf(await client.get('copies/of/it.bin')))).toBe(sha256Hex(bytes));
  });

  test('over a file answers 200, and 412 with ifNoneMatch', async () => {
    await client.put('copies/a', 'first');
    await client.put('copies/b', 'second');
    const order = { from: '/copies/a', to: { path: '/copies/b' } };
    const refused = await refusalOf(await post('copy', { ...order, ifNoneMatch: '*' }));
    expect(refused).toMatchObject({ status: 412, code: 'PreconditionFailed' });
    expect((await post('copy', order)).status).toBe(200);
    expect(await (await client.get('copies/b')).text()).toBe('first');
  });

  test('applies the fields of the request, and checks version and ifSourceMatch', async () => {
    await client.put('copies/a', 'first', { 'Content-Type': 'text/plain' });
    const notes = { contentType: 'text/html', tags: ['t'], metadata: { by: 'me' } };
    const headers = { 'Cache-Control': 'max-age=7' };
    const to = { path: 'copies/noted' };
    const noted = await post('copy', { from: 'copies/a', to, ...notes, headers });
    const record = await shown(noted);
    expect(record).toMatchObject({ ...notes, path: 'copies/noted' });
    const got = await client.get('copies/noted');
    expect([got.headers.get('content-type'), got.headers.get('cache-control')]).toEqual([
      'text/html',
      'max-age=7',
    ]);
    const present = { from: 'copies/noted', to: { path: 'copies/c' }, version: record.version };
    expect((await post('copy', { ...present, ifSourceMatch: `"${record.etag}"` })).status).toBe(
      201,
    );
    const other = await refusalOf(await post('copy', { ...present, ifSourceMatch: '"x"' }));
    expect(other).toMatchObject({ status: 412, code: 'PreconditionFailed' });
    const none = await refusalOf(await post('copy', { ...present, version: 99 }));
    expect(none).toMatchObject({ status: 404, code: 'NoSuchFile' });
    expect(none.message).toContain('Version 99');
  });

  test.each([
    [{ from: 'copies/none', to: { path: 'x' } }, 404, 'NoSuchFile'],
    [{ from: 'copies/a' }, 400, 'InvalidArgument'],
    [{ from: 'copies/a', to: 'x' }, 400, 'InvalidArgument'],
    [{ from: 'copies/a', to: { path: 'x/../y' } }, 400, 'InvalidPath'],
    [{ from: 'copies/a', to: { path: 'copies/a' } }, 400, 'InvalidArgument'],
    [{ from: 'copies/a', to: { path: 'b' }, version: 'x' }, 400, 'InvalidArgument'],
    [{ from: 'copies/a', to: { path: 'b' }, tags: 'x' }, 400, 'InvalidArgument'],
    [{ from: 'copies/a', to: { bucket: 'nowhere', path: 'x' } }, 403, 'AccessDenied'],
  ])('of %o is refused', async (order, status, code) => {
    await client.put('copies/a', 'first');
    expect(await refusalOf(await post('copy', order))).toMatchObject({ status, code });
  });

  test('needs a key', async () => {
    const url = `${service.base}/api/v1/bucket/${service.bucket}/copy`;
    const response = await fetch(url, { method: 'POST', body: '{}' });
    expect(await refusalOf(response)).toMatchObject({ status: 401, code: 'Unauthorized' });
  });
});

describe('a move', () => {
  test('removes the file from its former path', async () => {
    await client.put('moves/a.txt', 'here');
    const moved = await post('move', { from: 'moves/a.txt', to: { path: 'moves/b.txt' } });
    expect(moved.status).toBe(201);
    expect((await client.get('moves/a.txt')).status).toBe(404);
    expect(await (await client.get('moves/b.txt')).text()).toBe('here');
  });

  test('of a prefix moves all files below it', async () => {
    for (const name of ['x', 'y/z']) await client.put(`moves/in/${name}`, name);
    const moved = await post('move', { fromPrefix: 'moves/in/', toPrefix: 'moves/out/' });
    expect(await moved.json()).toEqual({ moved: 2, isDone: true, nextCursor: null, failed: [] });
    expect(await (await client.get('moves/out/y/z')).text()).toBe('y/z');
    expect((await client.get('moves/in/x')).status).toBe(404);
    const overlap = await post('move', { fromPrefix: 'moves/', toPrefix: 'moves/out/' });
    expect(await refusalOf(overlap)).toMatchObject({ status: 400, code: 'InvalidArgument' });
  });
});

describe('a change', () => {
  function patch(path: string, body: object, headers: Record<string, string> = {}) {
    return client.send('PATCH', path, { body: JSON.stringify(body), headers });
  }

  test('of type, headers, tags and metadata leaves the bytes unchanged', async () => {
    const bytes = sampleBytes('changed', 2_500_000);
    await uploadInChunks(service, { path: 'changes/a', bytes, contentType: 'video/mp4' });
    const before = await shown(await client.send('GET', 'changes/a'));
    const headers = { 'Cache-Control': 'max-age=5' };
    const fields = { contentType: 'text/plain', tags: ['t'], metadata: { by: 'me "é"' } };
    const changed = await patch('changes/a', { ...fields, headers });
    expect(changed.status).toBe(200);
    const after = await shown(changed);
    expect(after).toMatchObject({ ...fields, version: 2, etag: before.etag });
    const response = await client.get('changes/a');
    expect(response.headers.get('content-type')).toBe('text/plain');
    expect(response.headers.get('cache-control')).toBe('max-age=5');
    expect(sha256Hex(await bytesOf(response))).toBe(sha256Hex(bytes));
    expect(await (await client.send('GET', 'changes/a')).json()).toEqual(after);
    const cleared = await shown(await patch('changes/a', { metadata: {} }));
    expect(cleared.metadata).toBeUndefined();
  });

  test.each([
    [{}, {}, 400, 'InvalidArgument'],
    [{ tags: 'x' }, {}, 400, 'InvalidArgument'],
    [{ metadata: { 'a b': 'c' } }, {}, 400, 'InvalidArgument'],
    [{ tags: [] }, { 'If-Match': '"other"' }, 412, 'PreconditionFailed'],
  ])('to %o is refused', async (body, headers, status, code) => {
    await client.put('changes/b', 'x');
    expect(await refusalOf(await patch('changes/b', body, headers))).toMatchObject({
      status,
      code,
    });
  });
});

describe('an actor call', () => {
  const Pair = IDL.Tuple(IDL.Text, IDL.Text);
  const text = IDL.Opt(IDL.Text);
  const Copy = IDL.Record({
    ...{ bucketId: IDL.Text, from: IDL.Text, to: IDL.Text, toBucketId: text },
    ...{ ifMatch: text, ifNoneMatch: text, apiKey: text },
  });
  const Change = IDL.Record({
    ...{ bucketId: IDL.Text, path: IDL.Text, contentType: text, tags: IDL.Opt(IDL.Vec(IDL.Text)) },
    ...{ headers: IDL.Opt(IDL.Vec(Pair)), metadata: IDL.Opt(IDL.Vec(Pair)) },
    ...{ ifMatch: text, ifNoneMatch: text, apiKey: text },
  });
  const File = IDL.Record({ path: IDL.Text, metadata: IDL.Vec(Pair), version: IDL.Nat });

  async function call(method: string, type: IDL.Type, argument: object, ok: IDL.Type) {
    const { network, canisterId } = service;
    const reply = await network.call(canisterId, method, IDL.encode([type], [argument]));
    return IDL.decode([IDL.Variant({ ok, err: IDL.Text })], reply)[0];
  }

  test('copies, moves and changes as the HTTP request does', async () => {
    await client.put('actor/a', 'x');
    const none = { ifMatch: [], ifNoneMatch: [], apiKey: [service.apiKey] };
    const copy = {
      bucketId: service.bucket,
      from: '/actor/a',
      to: '/actor/b',
      toBucketId: [],
      ...none,
    };
    expect(await call('copyFile', Copy, copy, File)).toMatchObject({ ok: { path: 'actor/b' } });
    const move = { ...copy, from: 'actor/b', to: 'actor/c' };
    expect(await call('moveFile', Copy, move, File)).toMatchObject({ ok: { path: 'actor/c' } });
    const fields = { contentType: [], tags: [], headers: [], metadata: [[['k', 'v']]] };
    const change = { bucketId: service.bucket, path: 'actor/c', ...fields, ...none };
    expect(await call('updateFile', Change, change, File)).toEqual({
      ok: { path: 'actor/c', metadata: [['k', 'v']], version: 2n },
    });
    expect(await call('moveFile', Copy, move, File)).toEqual({
      err: expect.stringMatching(/^NoSuchFile: /),
    });
    const Prefix = IDL.Record({
      ...{ bucketId: IDL.Text, fromPrefix: IDL.Text, toPrefix: IDL.Text, apiKey: text },
    });
    const prefixes = { fromPrefix: '/actor/', toPrefix: 'elsewhere/' };
    const Moved = IDL.Record({ moved: IDL.Nat, isDone: IDL.Bool });
    const order = { bucketId: service.bucket, ...prefixes, apiKey: [service.apiKey] };
    expect(await call('moveFiles', Prefix, order, Moved)).toEqual({
      ok: { moved: 2n, isDone: true },
    });
  });
});
