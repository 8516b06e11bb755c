import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { findFile } from '../../src/domain/files/file-records.ts';
import { noStoredHeaders } from '../../src/domain/shared/stored-headers.ts';
import { upgrade } from '../../src/http/router.ts';
import {
  createScene,
  makeKey,
  putTestFile,
  revokeKeyRecord,
  type Scene,
  startNs,
  testBytes,
} from '../support/domain-fixture.ts';
import {
  bodyText,
  exchange,
  headersOf,
  send,
  sendRefused,
  type TestRequest,
} from '../support/http-fixture.ts';
import { checkInvariants } from '../support/invariants.ts';

let scene: Scene;

beforeEach(async () => {
  scene = await createScene();
});

interface Put {
  readonly url?: string;
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

function putRequest(change: Put = {}): TestRequest {
  const { url = '/api/v1/bucket/box/files/dir/a%20b.txt', body = Buffer.from('hello') } = change;
  const authorization = `Bearer ${change.key ?? scene.writeKey}`;
  const headers = { authorization, 'content-type': 'text/plain', ...change.headers };
  return { method: 'PUT', url, headers, body };
}

describe('PUT /api/v1/bucket/{bucket}/files/{path}: file', () => {
  test('asks in a query for an update, and changes nothing', () => {
    const before = scene.stores.writeCount();
    expect(exchange(scene.stores, putRequest())).toBe(upgrade);
    expect(scene.stores.writeCount()).toBe(before);
  });

  test('answers in an update 201 with the record, Location and ETag', () => {
    const headers = { 'X-File-Tags': ' b, a,,b', 'Cache-Control': 'no-cache' };
    const response = send(scene.stores, { ...putRequest({ headers }), phase: 'update' });
    expect(response.status).toBe(201);
    const sha256 = createHash('sha256').update('hello').digest('hex');
    const location = '/cloud/box/dir/a%20b.txt';
    expect(headersOf(response)).toEqual({
      'content-type': 'application/json',
      location,
      etag: `"${sha256}"`,
      'cache-control': 'private, no-store',
      'access-control-expose-headers': expect.stringMatching(/^ETag, Location, .*X-Request-Id$/),
      'x-request-id': expect.any(String),
    });
    expect(JSON.parse(bodyText(response))).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{16}$/),
      bucketId: 'box',
      path: 'dir/a b.txt',
      name: 'a b.txt',
      size: 5,
      chunkSize: 5,
      contentType: 'text/plain',
      tags: ['b', 'a'],
      etag: sha256,
      sha256,
      version: 1,
      createdAt: '2026-01-02T03:04:05.678Z',
      updatedAt: '2026-01-02T03:04:05.678Z',
      url: location,
    });
    const read = send(scene.stores, { url: location });
    expect([bodyText(read), headersOf(read)['cache-control']]).toEqual(['hello', 'no-cache']);
    checkInvariants(scene.stores);
  });

  test('answers 200 when it replaces a file, and clears tags and headers that are not sent', () => {
    const first = putRequest({ headers: { 'X-File-Tags': 'a', 'Content-Language': 'de' } });
    send(scene.stores, { ...first, phase: 'update' });
    const response = send(scene.stores, { ...putRequest(), phase: 'update', nowNs: startNs + 1n });
    expect(response.status).toBe(200);
    const record = JSON.parse(bodyText(response));
    expect(record).toMatchObject({ version: 2, tags: [] });
    expect(findFile(scene.stores, 'box', 'dir/a b.txt')?.headers).toEqual(noStoredHeaders);
  });

  test('stores metadata that X-File-Metadata carries as JSON, escaped or not', () => {
    const sent = '{"by":"\\u00fc \\ud83d\\ude00","mtime":"17"}';
    const headers = { 'X-File-Metadata': sent };
    const response = send(scene.stores, { ...putRequest({ headers }), phase: 'update' });
    const metadata = { by: 'ü 😀', mtime: '17' };
    expect(JSON.parse(bodyText(response))).toMatchObject({ metadata });
    const bare = putRequest({ headers: { 'X-File-Metadata': '{}' } });
    const cleared = send(scene.stores, { ...bare, phase: 'update' });
    expect(JSON.parse(bodyText(cleared))).not.toHaveProperty('metadata');
  });

  test.each([0, 2_000_000])('stores %i bytes', (length) => {
    const body = testBytes(length);
    const response = send(scene.stores, { ...putRequest({ body }), phase: 'update' });
    expect(response.status).toBe(201);
    const read = send(scene.stores, { url: '/cloud/box/dir/a%20b.txt' });
    expect(Buffer.compare(read.body, body)).toBe(0);
  });

  test('accepts X-Bucket-Id if it names the bucket, and requires it for a key with several buckets', () => {
    const several = makeKey(scene.stores, { buckets: ['box', 'other'] });
    const mismatch = { status: 400, code: 'BucketMismatch' };
    sendRefused(scene.stores, putRequest({ key: several }), mismatch);
    sendRefused(scene.stores, putRequest({ headers: { 'X-Bucket-Id': 'other' } }), mismatch);
    sendRefused(scene.stores, putRequest({ headers: { 'X-Bucket-Id': 'BOX' } }), mismatch);
    sendRefused(scene.stores, putRequest({ headers: { 'X-Bucket-Id': '' } }), mismatch);
    for (const key of [several, scene.writeKey]) {
      const headers = { 'X-Bucket-Id': 'box' };
      expect(exchange(scene.stores, putRequest({ key, headers }))).toBe(upgrade);
    }
  });

  test.each([
    ['absent', undefined],
    ['empty', ''],
    ['of another scheme', 'Basic YTpi'],
    ['only a scheme', 'Bearer'],
    ['a scheme and a space', 'Bearer '],
    ['two keys', 'Bearer a, Bearer b'],
    ['a key without a scheme', 'efs_x'],
    ['a key with a control character', 'Bearer a\nb'],
  ])('answers 401 Unauthorized when Authorization is %s', (_, authorization) => {
    const { method, url, body } = putRequest();
    const headers = authorization === undefined ? {} : { authorization };
    for (const phase of ['query', 'update'] as const) {
      const sent = { method: method ?? '', url, headers, body: body ?? Buffer.of(), phase };
      const refused = sendRefused(scene.stores, sent, { status: 401, code: 'Unauthorized' });
      expect(refused.headers['www-authenticate']).toBe('Bearer');
    }
  });

  test('answers 401 InvalidApiKey to unknown, revoked and expired keys, without repeating them', () => {
    const revoked = makeKey(scene.stores);
    revokeKeyRecord(scene.stores, createHash('sha256').update(revoked).digest());
    const expired = makeKey(scene.stores, { expiresAtNs: startNs + 1n });
    const typo = `${scene.writeKey.slice(0, -1)}${scene.writeKey.endsWith('A') ? 'B' : 'A'}`;
    for (const key of ['efs_x', 'nonsense', typo, revoked, expired]) {
      for (const phase of ['query', 'update'] as const) {
        const sent = { ...putRequest({ key }), phase, nowNs: startNs + 1n };
        const expected = { status: 401, code: 'InvalidApiKey' };
        const { error, headers } = sendRefused(scene.stores, sent, expected);
        expect(headers['www-authenticate']).toBe('Bearer error="invalid_token"');
        expect(JSON.stringify(error)).not.toContain(key);
      }
    }
  });

  test('accepts the scheme in any case', () => {
    const headers = { authorization: `bEARER  ${scene.writeKey}` };
    expect(exchange(scene.stores, putRequest({ headers }))).toBe(upgrade);
  });

  const table: [number, string, Put][] = [
    [400, 'InvalidPath', { url: '/api/v1/bucket/box/files/a/../b' }],
    [400, 'InvalidPath', { url: '/api/v1/bucket/box/files/' }],
    [400, 'InvalidPath', { url: '/api/v1/bucket/box/files//a' }],
    [400, 'InvalidPath', { url: '/api/v1/bucket/box/files/a%00' }],
    [400, 'InvalidBucketId', { url: '/api/v1/bucket/-x/files/a' }],
    [400, 'MissingContentType', { headers: { 'content-type': '' } }],
    [400, 'InvalidContentType', { headers: { 'content-type': 'text' } }],
    [400, 'InvalidArgument', { headers: { 'x-file-tags': 'x'.repeat(65) } }],
    [400, 'InvalidArgument', { headers: { 'x-file-metadata': '{"a b":""}' } }],
    [400, 'InvalidArgument', { headers: { 'x-file-metadata': '{"a":1}' } }],
    [400, 'InvalidArgument', { headers: { 'x-file-metadata': '["a"]' } }],
    [400, 'InvalidArgument', { headers: { 'x-file-metadata': 'a=b' } }],
    [400, 'InvalidArgument', { headers: { 'x-file-metadata': '['.repeat(9_000) } }],
    [400, 'InvalidArgument', { headers: { 'cache-control': 'x\r\nSet-Cookie: a=b' } }],
    [400, 'InvalidArgument', { headers: { 'content-disposition': 'ä' } }],
    [400, 'InvalidArgument', { headers: { 'content-encoding': 'x'.repeat(1_025) } }],
    [403, 'AccessDenied', { url: '/api/v1/bucket/other/files/a' }],
    [403, 'AccessDenied', { url: '/api/v1/bucket/none/files/a' }],
    [413, 'EntityTooLarge', { body: new Uint8Array(2_000_001) }],
  ];
  test.each(table)('answers %i %s and changes nothing (%#)', (status, code, change) => {
    for (const phase of ['query', 'update'] as const) {
      sendRefused(scene.stores, { ...putRequest(change), phase }, { status, code });
    }
  });

  test('answers 403 to a key without write, and lists its permissions', () => {
    const sent = putRequest({ key: scene.readKey });
    const { error } = sendRefused(scene.stores, sent, { status: 403, code: 'AccessDenied' });
    expect(error.message).toContain('read');
  });

  test('answers 413 with the limit', () => {
    const sent = putRequest({ body: new Uint8Array(2_000_001) });
    const { error } = sendRefused(scene.stores, sent, { status: 413, code: 'EntityTooLarge' });
    expect(error.details).toEqual({ limit: 2_000_000, size: 2_000_001 });
  });

  test('answers 400 to two different values of a field that may occur once', () => {
    const { method = '', url } = putRequest();
    const headers = [
      ['authorization', `Bearer ${scene.writeKey}`],
      ['content-type', 'text/plain'],
      ['Content-Type', 'text/html'],
    ] as const;
    const expected = { status: 400, code: 'InvalidArgument' };
    sendRefused(scene.stores, { method, url, headers }, expected);
  });

  test('keeps the old file if the new one is refused', () => {
    putTestFile(scene.stores, { path: '/dir/a b.txt', bytes: Buffer.from('old') });
    const sent = putRequest({ headers: { 'content-type': 'bad' } });
    const update = { ...sent, phase: 'update' } as const;
    sendRefused(scene.stores, update, { status: 400, code: 'InvalidContentType' });
    expect(bodyText(send(scene.stores, { url: '/cloud/box/dir/a%20b.txt' }))).toBe('old');
  });
});
