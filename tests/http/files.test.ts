import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { entityTag, findFile } from '../../src/domain/files/file-records.ts';
import { upgrade } from '../../src/http/router.ts';
import {
  createScene,
  makeKey,
  putTestFile,
  type Scene,
  startNs,
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
let etag: string;
const url = '/api/v1/bucket/box/files/dir/a%20b.txt';
const bytes = Buffer.from('hello');

beforeEach(async () => {
  scene = await createScene();
  etag = entityTag(putTestFile(scene.stores, { path: '/dir/a b.txt', bytes }).file);
});

function request(method: string, headers: Record<string, string> = {}): TestRequest {
  const authorization = `Bearer ${scene.writeKey}`;
  return { method, url, headers: { authorization, ...headers } };
}

describe('GET /api/v1/bucket/{bucket}/files/{path}: file record', () => {
  test('answers 200 with the record and no caching', () => {
    const response = send(scene.stores, request('GET'));
    expect(response.status).toBe(200);
    expect(JSON.parse(bodyText(response))).toEqual({
      // Ids 1 and 2 belong to the keys of the buckets.
      id: '0000000000000003',
      bucketId: 'box',
      path: 'dir/a b.txt',
      name: 'a b.txt',
      size: 5,
      chunkSize: 5,
      contentType: 'text/plain',
      tags: [],
      etag: etag.slice(1, -1),
      sha256: createHash('sha256').update(bytes).digest('hex'),
      version: 1,
      createdAt: '2026-01-02T03:04:05.678Z',
      updatedAt: '2026-01-02T03:04:05.678Z',
      url: '/cloud/box/dir/a%20b.txt',
    });
    expect(headersOf(response)).toMatchObject({ etag, 'cache-control': 'private, no-store' });
    const head = send(scene.stores, request('HEAD'));
    expect([head.status, head.body.length]).toEqual([200, 0]);
    expect(headersOf(head)['content-length']).toBe(String(response.body.length));
  });

  test('requires a key that may read', () => {
    const { stores } = scene;
    sendRefused(stores, { url }, { status: 401, code: 'Unauthorized' });
    const writeOnly = `Bearer ${makeKey(stores, { permissions: ['write'] })}`;
    const denied = { status: 403, code: 'AccessDenied' };
    sendRefused(stores, request('GET', { authorization: writeOnly }), denied);
    const mismatch = { status: 400, code: 'BucketMismatch' };
    sendRefused(stores, request('GET', { 'x-bucket-id': 'other' }), mismatch);
    const readKey = { authorization: `Bearer ${scene.readKey}` };
    expect(send(stores, request('GET', readKey)).status).toBe(200);
    const none = { ...request('GET'), url: '/api/v1/bucket/box/files/none' };
    sendRefused(stores, none, { status: 404, code: 'NoSuchFile' });
  });
});

describe('DELETE /api/v1/bucket/{bucket}/files/{path}: file', () => {
  test('asks for an update, then answers 204 without a body, then 404', () => {
    const { stores } = scene;
    const before = stores.writeCount();
    expect(exchange(stores, request('DELETE'))).toBe(upgrade);
    expect(stores.writeCount()).toBe(before);
    const response = send(stores, { ...request('DELETE'), phase: 'update' });
    expect([response.status, response.body.length]).toEqual([204, 0]);
    expect(headersOf(response)['cache-control']).toBe('private, no-store');
    expect(send(stores, { url: '/cloud/box/dir/a%20b.txt' }).status).toBe(404);
    checkInvariants(stores);
    for (const phase of ['query', 'update'] as const) {
      const again = { ...request('DELETE'), phase };
      sendRefused(stores, again, { status: 404, code: 'NoSuchFile' });
    }
  });

  test('honours If-Match and If-Unmodified-Since, in the query and in the update', () => {
    const { stores } = scene;
    const failed = { status: 412, code: 'PreconditionFailed' };
    for (const phase of ['query', 'update'] as const) {
      for (const headers of [
        { 'If-Match': '"x"' },
        { 'If-Match': `W/${etag}` },
        { 'If-None-Match': '*' },
        { 'If-Unmodified-Since': 'Fri, 02 Jan 2026 03:04:04 GMT' },
      ]) {
        sendRefused(stores, { ...request('DELETE', headers), phase }, failed);
      }
    }
    const headers = { 'If-Match': etag, 'If-Unmodified-Since': 'Fri, 02 Jan 2026 03:04:04 GMT' };
    expect(send(stores, { ...request('DELETE', headers), phase: 'update' }).status).toBe(204);
  });

  test('requires a key that may delete', () => {
    const { stores } = scene;
    const key = makeKey(stores, { permissions: ['read', 'write'] });
    const sent = request('DELETE', { authorization: `Bearer ${key}` });
    for (const phase of ['query', 'update'] as const) {
      sendRefused(stores, { ...sent, phase }, { status: 403, code: 'AccessDenied' });
      const without = { method: 'DELETE', url, phase };
      sendRefused(stores, without, { status: 401, code: 'Unauthorized' });
    }
  });
});

describe('PUT /api/v1/bucket/{bucket}/files/{path}: file under conditions', () => {
  const put = (headers: Record<string, string>): TestRequest => ({
    ...request('PUT', { 'content-type': 'text/plain', ...headers }),
    body: Buffer.from('new'),
    nowNs: startNs + 10n ** 9n,
  });

  test.each<[string, () => Record<string, string>]>([
    ['If-None-Match: *', () => ({ 'If-None-Match': '*' })],
    ['the entity tag of the file in If-None-Match', () => ({ 'If-None-Match': `"x", ${etag}` })],
    ['another entity tag in If-Match', () => ({ 'If-Match': '"x"' })],
    ['a weak entity tag in If-Match', () => ({ 'If-Match': `W/${etag}` })],
    [
      'an older date in If-Unmodified-Since',
      () => ({ 'If-Unmodified-Since': 'Thu, 01 Jan 2026 00:00:00 GMT' }),
    ],
  ])('with %s answers 412 and keeps the old bytes', (_, headers) => {
    for (const phase of ['query', 'update'] as const) {
      const sent = { ...put(headers()), phase };
      sendRefused(scene.stores, sent, { status: 412, code: 'PreconditionFailed' });
    }
    expect(bodyText(send(scene.stores, { url: '/cloud/box/dir/a%20b.txt' }))).toBe('hello');
  });

  test.each<[string, () => Record<string, string>]>([
    ['the entity tag of the file in If-Match', () => ({ 'If-Match': etag })],
    ['If-Match: *', () => ({ 'If-Match': '*' })],
    ['another entity tag in If-None-Match', () => ({ 'If-None-Match': '"x"' })],
    ['an invalid date in If-Unmodified-Since', () => ({ 'If-Unmodified-Since': 'yesterday' })],
  ])('with %s replaces the file', (_, headers) => {
    expect(exchange(scene.stores, put(headers()))).toBe(upgrade);
    expect(send(scene.stores, { ...put(headers()), phase: 'update' }).status).toBe(200);
  });

  test('checks the conditions again in the update', () => {
    const sent = put({ 'If-Match': etag });
    expect(exchange(scene.stores, sent)).toBe(upgrade);
    send(scene.stores, { ...put({}), body: Buffer.from('other'), phase: 'update' });
    const expected = { status: 412, code: 'PreconditionFailed' };
    sendRefused(scene.stores, { ...sent, phase: 'update' }, expected);
  });

  test('checks digests in the query and in the update', () => {
    const digest = (text: string) =>
      `sha-256=:${createHash('sha256').update(text).digest('base64')}:`;
    for (const phase of ['query', 'update'] as const) {
      for (const name of ['Content-Digest', 'Repr-Digest']) {
        const wrong = { ...put({ [name]: digest('other') }), phase };
        const { error } = sendRefused(scene.stores, wrong, { status: 400, code: 'BadDigest' });
        expect(error.details).toEqual({
          sha256: createHash('sha256').update('new').digest('hex'),
        });
        const malformed = { ...put({ [name]: 'sha-256=x' }), phase };
        sendRefused(scene.stores, malformed, { status: 400, code: 'InvalidArgument' });
      }
    }
    const right = put({ 'Content-Digest': digest('new'), 'Repr-Digest': 'sha-512=:AA==:' });
    expect(exchange(scene.stores, right)).toBe(upgrade);
    expect(send(scene.stores, { ...right, phase: 'update' }).status).toBe(200);
    expect(findFile(scene.stores, 'box', 'dir/a b.txt')?.version).toBe(2);
  });
});
