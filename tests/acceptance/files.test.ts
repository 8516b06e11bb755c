// Files by URL and by actor methods: records, deletion, digests, tags, overwriting, error shapes.

import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AgentName, openActor } from '../support/actors.ts';
import type { FileUpload } from '../support/candid-interface.ts';
import { bytesOf, type FileClient, openFileClient, refusalOf } from '../support/http-client.ts';
import { openService, type Service, sampleBytes, sha256Hex } from '../support/service.ts';

let service: Service;
let client: FileClient;

beforeAll(async () => {
  service = await openService();
  client = openFileClient(service);
});

afterAll(() => service?.stop());

function digestField(body: string | Uint8Array): string {
  return `sha-256=:${createHash('sha256').update(body).digest('base64')}:`;
}

describe('a file', () => {
  test('of zero bytes has length 0', async () => {
    await client.put('files/zero', '');
    const head = await client.head('files/zero');
    expect([head.status, head.headers.get('content-length')]).toEqual([200, '0']);
    expect((await bytesOf(await client.get('files/zero'))).length).toBe(0);
  });

  test('is replaced by one of another length and type', async () => {
    await client.put('files/over', 'x'.repeat(70_000));
    const response = await client.put('files/over', 'short', { 'Content-Type': 'text/csv' });
    expect(response.status).toBe(200);
    const read = await client.get('files/over');
    expect([await read.text(), read.headers.get('content-type')]).toEqual(['short', 'text/csv']);
  });

  test('has a record that may not be cached', async () => {
    const created = await client.put('files/dir/é.txt', 'hello', { 'X-File-Tags': 'a, b' });
    const response = await client.send('GET', 'files/dir/%C3%A9.txt');
    expect(response.status).toBe(200);
    expect(response.headers.get('cache-control')).toBe('private, no-store');
    const record = await response.json();
    expect(record).toEqual(await created.json());
    expect(record).toMatchObject({ path: 'files/dir/é.txt', tags: ['a', 'b'], size: 5 });
    expect(response.headers.get('etag')).toBe(created.headers.get('etag'));
    const without = { headers: { Authorization: '' } };
    expect((await client.send('GET', 'files/dir/%C3%A9.txt', without)).status).toBe(401);
  });

  test('is deleted with 204, and a second DELETE answers 404', async () => {
    await client.put('files/gone', 'hello');
    const response = await client.send('DELETE', 'files/gone');
    expect([response.status, await response.text()]).toEqual([204, '']);
    expect((await client.get('files/gone')).status).toBe(404);
    const again = await refusalOf(await client.send('DELETE', 'files/gone'));
    expect(again).toMatchObject({ status: 404, code: 'NoSuchFile' });
    const anew = await client.put('files/gone', 'again');
    expect([anew.status, ((await anew.json()) as { version: number }).version]).toEqual([201, 1]);
  });
});

describe('a digest', () => {
  test('that matches is accepted, also next to one of an unknown algorithm', async () => {
    const body = sampleBytes('digest', 2_000_000);
    const headers = { 'Content-Digest': digestField(body), 'Repr-Digest': 'crc32c=:AAAAAA==:' };
    expect((await client.put('files/digest', body, headers)).status).toBe(201);
    expect(sha256Hex(await bytesOf(await client.get('files/digest')))).toBe(sha256Hex(body));
  });

  test.each([
    ['Content-Digest', digestField('other'), 'BadDigest'],
    ['Repr-Digest', digestField('other'), 'BadDigest'],
    ['Content-Digest', 'sha-256=AAAA', 'InvalidArgument'],
    ['Content-Digest', 'nonsense', 'InvalidArgument'],
  ])('in %s: %s is refused with %s', async (name, value, code) => {
    const response = await client.put('files/undigested', 'hello', { [name]: value });
    expect(await refusalOf(response)).toMatchObject({ status: 400, code });
    expect((await client.get('files/undigested')).status).toBe(404);
  });
});

describe('tags', () => {
  const tags = (count: number) => Array.from({ length: count }, (_, index) => `tag${index}`);

  test('are stored up to 20, and a replacement without tags clears them', async () => {
    const max = await client.put('files/tags', 'x', { 'X-File-Tags': tags(20).join(', ') });
    expect(await max.json()).toMatchObject({ tags: tags(20) });
    expect(await (await client.send('GET', 'files/tags')).json()).toMatchObject({ tags: tags(20) });
    expect(await (await client.put('files/tags', 'x')).json()).toMatchObject({ tags: [] });
  });

  test.each([
    ['21 tags', tags(21).join(',')],
    ['a tag of 65 characters', 'x'.repeat(65)],
  ])('are refused: %s', async (_, value) => {
    const response = await client.put('files/many-tags', 'x', { 'X-File-Tags': value });
    expect(await refusalOf(response)).toMatchObject({ status: 400, code: 'InvalidArgument' });
    expect((await client.get('files/many-tags')).status).toBe(404);
  });
});

describe('an error', () => {
  test('has a code, a message and a request id, and no body for HEAD', async () => {
    const response = await client.send('GET', 'files/none');
    expect(response.headers.get('content-type')).toBe('application/json');
    const { requestId, ...error } = await refusalOf(response);
    expect(error).toEqual({ status: 404, code: 'NoSuchFile', message: expect.any(String) });
    expect(requestId).toMatch(/^\w{8,}$/);
    const head = await client.head('files/none');
    expect([head.status, await head.text()]).toEqual([404, '']);
  });

  test('for a wrong method lists the allowed methods', async () => {
    const response = await client.send('POST', 'files/none');
    expect(response.headers.get('allow')).toBe('GET, HEAD, PUT, DELETE, PATCH, OPTIONS');
    expect(await refusalOf(response)).toMatchObject({ status: 405, code: 'MethodNotAllowed' });
  });
});

describe.each<AgentName>(['@dfinity/agent', '@icp-sdk/core'])(
  'through the actor with %s',
  (agent) => {
    const open = (asOwner: boolean) => openActor(service, { agent, asOwner });
    const path = `/actor/${agent}/é.bin`;
    const upload = (change: Partial<FileUpload>): FileUpload => ({
      bucketId: service.bucket,
      path,
      contentType: 'application/octet-stream',
      bytes: sampleBytes(agent, 1_900_000),
      tags: [['x', ' y ']],
      sha256: [],
      ifMatch: [],
      ifNoneMatch: ['*'],
      apiKey: [service.apiKey],
      ...change,
    });

    test('a file is uploaded by one call, read in parts, and deleted', async () => {
      const actor = await open(false);
      const { bucket, apiKey } = service;
      const bytes = sampleBytes(agent, 1_900_000);
      const sha256 = sha256Hex(bytes);
      const { ok: id } = await actor.uploadFile(upload({ sha256: [sha256] }));
      const { ok: file } = await actor.getFile(bucket, path, [apiKey]);
      expect(file).toMatchObject({ id, path: path.slice(1), size: 1_900_000n, tags: ['x', 'y'] });
      expect(file).toMatchObject({ etag: sha256, sha256: [sha256], version: 1n });
      const read = await Promise.all(
        [0n, 1_000_000n, 1_900_000n].map((offset) =>
          actor.readFile(bucket, path, offset, 1_000_000n, []),
        ),
      );
      const parts = read.map(({ ok }) => ok ?? expect.fail('no bytes'));
      expect(parts.map(({ length }) => length)).toEqual([1_000_000, 900_000, 0]);
      expect(sha256Hex(Buffer.concat(parts))).toBe(sha256);
      expect(await actor.deleteFile(bucket, path, [apiKey])).toEqual({ ok: null });
      const gone = await actor.getFile(bucket, path, []);
      expect(gone.err).toMatch(/^NoSuchFile: /);
    });

    test('the owner needs no key, and others do', async () => {
      const bytes = sampleBytes(agent, 5);
      const owner = await open(true);
      const mine = upload({ path: `${path}2`, bytes, apiKey: [], tags: [] });
      expect(await owner.uploadFile(mine)).toHaveProperty('ok');
      const stranger = await open(false);
      expect((await stranger.uploadFile(mine)).err).toMatch(/^AccessDenied: /);
      const denied = await stranger.deleteFile(service.bucket, mine.path, []);
      expect(denied.err).toMatch(/^AccessDenied: /);
      expect(await owner.deleteFile(service.bucket, mine.path, [])).toEqual({ ok: null });
    });

    test.each<[string, Partial<FileUpload>]>([
      ['EntityTooLarge', { bytes: new Uint8Array(1_900_001) }],
      ['BadDigest', { sha256: ['00'.repeat(32)] }],
      ['InvalidArgument', { tags: [Array.from({ length: 21 }, (_, index) => `t${index}`)] }],
      ['PreconditionFailed', { ifMatch: ['*'], ifNoneMatch: [] }],
      ['MissingContentType', { contentType: '' }],
      ['InvalidPath', { path: '/a//b' }],
      ['InvalidApiKey', { apiKey: ['efs_x'] }],
    ])('uploadFile answers %s', async (code, change) => {
      const actor = await open(false);
      const refused = await actor.uploadFile(upload({ path: '/actor/refused', ...change }));
      expect(refused.err).toMatch(new RegExp(`^${code}: .{20,}`));
      expect((await client.get('actor/refused')).status).toBe(404);
    });

    test.each<[string, Partial<FileUpload>]>([
      ['100,000 tags', { tags: [Array.from({ length: 100_000 }, () => '')], bytes: Buffer.of(1) }],
    ])('uploadFile with %s is rejected before execution', async (_, change) => {
      const actor = await open(false);
      await expect(
        actor.uploadFile(upload({ path: '/actor/refused', ...change })),
      ).rejects.toThrow();
      expect((await client.get('actor/refused')).status).toBe(404);
    });

    test('readFile refuses an offset past the end and a length over the limit', async () => {
      await client.put('actor/read', 'hello');
      const actor = await open(false);
      const read = (offset: bigint, length: bigint) =>
        actor.readFile(service.bucket, 'actor/read', offset, length, []);
      expect((await read(6n, 1n)).err).toMatch(/^InvalidRange: /);
      expect((await read(0n, 1_900_001n)).err).toMatch(/^EntityTooLarge: /);
      expect(Buffer.from((await read(1n, 3n)).ok ?? [])).toEqual(Buffer.from('ell'));
    });
  },
);
