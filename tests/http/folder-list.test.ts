import { beforeEach, describe, expect, test } from 'vitest';
import { skipUpgrade } from '../../src/domain/administration/record-upgrade.ts';
import { createScene, makeKey, putTestFile, type Scene } from '../support/domain-fixture.ts';
import { bodyText, headersOf, send, sendRefused } from '../support/http-fixture.ts';

let scene: Scene;

beforeEach(async () => {
  scene = await createScene();
});

function request(query: string, key = scene.readKey) {
  return { url: `/api/v1/bucket/box/${query}`, headers: { authorization: `Bearer ${key}` } };
}

function json(query: string): Record<string, unknown> & { items: { path: string }[] } {
  const response = send(scene.stores, request(query));
  expect(response.status).toBe(200);
  return JSON.parse(bodyText(response));
}

function putAll(...paths: string[]) {
  for (const path of paths) putTestFile(scene.stores, { path });
}

describe('GET /api/v1/bucket/{bucket}/files?delimiter: folder', () => {
  test('answers records of files, full paths of folders, and a cursor', () => {
    putAll('a "b"/1', 'a.txt', 'b/c/1', 'b/d', 'ü/1');
    const response = send(scene.stores, request('files?delimiter=/'));
    expect(headersOf(response)).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'private, no-store',
    });
    const record = JSON.parse(bodyText(send(scene.stores, request('files/a.txt'))));
    expect(JSON.parse(bodyText(response))).toEqual({
      items: [record],
      folders: [{ path: 'a "b"/' }, { path: 'b/' }, { path: 'ü/' }],
      nextCursor: null,
      prefix: '',
      delimiter: '/',
    });
    expect(json('files?delimiter=%2F&prefix=b%2F')).toMatchObject({
      items: [{ path: 'b/d' }],
      folders: [{ path: 'b/c/' }],
      prefix: 'b/',
    });
  });

  test('continues by its cursor, in either order', () => {
    putAll('a', 'b/1', 'c', 'd');
    const first = json('files?delimiter=/&limit=2');
    const cursor = String(first.nextCursor);
    expect(cursor).toMatch(/^[A-Za-z0-9_-]+$/);
    expect(json(`files?delimiter=/&limit=2&cursor=${cursor}`)).toMatchObject({
      items: [{ path: 'c' }, { path: 'd' }],
      folders: [],
      nextCursor: null,
    });
    expect(json(`files?delimiter=/&sort=name_desc&cursor=${cursor}`)).toMatchObject({
      items: [{ path: 'a' }],
      folders: [],
    });
  });

  test('begins after startAfter, which cannot be combined with a cursor', () => {
    putAll('a', 'b/1', 'c d', 'e');
    const list = json('files?startAfter=b%2F1');
    expect(list.items.map(({ path }) => path)).toEqual(['c d', 'e']);
    expect(json('files?delimiter=/&startAfter=c+d')).toMatchObject({ items: [{ path: 'e' }] });
  });

  test.each(['limit=10', 'delimiter=', 'limit=1000&sort=name_asc'])(
    'with %s lists all files and no folders',
    (query) => {
      putAll('a', 'b/1');
      const list = json(`files?${query}`);
      expect(list.items.map(({ path }) => path)).toEqual(['a', 'b/1']);
      expect(list).toMatchObject({ folders: [], delimiter: '', nextCursor: null });
      expect(list).not.toHaveProperty('total');
    },
  );

  test.each([
    'delimiter=/&page=1',
    'limit=5&pageSize=5',
    'cursor=AQ&page=1',
    'startAfter=a&page=1',
    'startAfter=a&cursor=AWFi',
    'delimiter=-',
    'delimiter=//',
    'limit=0',
    'limit=1001',
    'limit=',
    'limit=1e2',
    'cursor=',
    'cursor=x',
    'cursor=AWE%3D',
    'cursor=!!',
    'limit=5&sort=date_asc',
    'delimiter=/&sort=date_desc',
    'limit=5&sort=size',
    'limit=5&tag=',
    'limit=5&limit=5',
  ])('refuses files?%s', (query) => {
    sendRefused(scene.stores, request(`files?${query}`), { status: 400, code: 'InvalidArgument' });
  });

  test('requires a key that may read the bucket', () => {
    const blind = makeKey(scene.stores, { permissions: ['write', 'delete'] });
    for (const query of ['files?delimiter=/', 'usage']) {
      const { url } = request(query);
      sendRefused(scene.stores, { url }, { status: 401, code: 'Unauthorized' });
      sendRefused(scene.stores, request(query, blind), { status: 403, code: 'AccessDenied' });
    }
  });

  test('supports HEAD', () => {
    const response = send(scene.stores, { ...request('files?delimiter=/'), method: 'HEAD' });
    expect([response.status, response.body.length]).toEqual([200, 0]);
  });
});

describe('GET /api/v1/bucket/{bucket}/usage: a prefix', () => {
  test('answers files and bytes below the prefix', () => {
    skipUpgrade(scene.stores);
    putAll('a/1', 'a/2', 'b');
    const response = send(scene.stores, request('usage?prefix=a%2F'));
    expect(headersOf(response)['cache-control']).toBe('private, no-store');
    expect(JSON.parse(bodyText(response))).toEqual({ prefix: 'a/', files: 2, bytes: 20 });
    expect(json('usage')).toEqual({ prefix: '', files: 3, bytes: 30 });
  });

  test('reports when to retry while sizes are still being counted', () => {
    const refused = { status: 503, code: 'ServiceUnavailable' } as const;
    sendRefused(scene.stores, request('usage'), refused);
    const response = send(scene.stores, request('usage'));
    expect(headersOf(response)['retry-after']).toBe('10');
  });
});
