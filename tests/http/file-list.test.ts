import { beforeEach, describe, expect, test } from 'vitest';
import {
  createScene,
  makeKey,
  plainMetadata,
  putTestFile,
  type Scene,
  startNs,
} from '../support/domain-fixture.ts';
import { bodyText, headersOf, send, sendRefused } from '../support/http-fixture.ts';

let scene: Scene;

beforeEach(async () => {
  scene = await createScene();
});

function request(query = '', change: { key?: string; headers?: Record<string, string> } = {}) {
  const authorization = `Bearer ${change.key ?? scene.readKey}`;
  const headers = { authorization, ...change.headers };
  return { url: `/api/v1/bucket/box/files${query}`, headers };
}

function list(query = '') {
  const response = send(scene.stores, request(query));
  expect(response.status).toBe(200);
  return JSON.parse(bodyText(response)) as {
    items: { path: string }[];
    total: number;
    [field: string]: unknown;
  };
}

function paths(query = ''): string[] {
  return list(query).items.map(({ path }) => path);
}

function putAll(...names: string[]) {
  names.forEach((path, index) => {
    putTestFile(scene.stores, { path }, startNs + BigInt(index));
  });
}

describe('GET /api/v1/bucket/{bucket}/files: list of files', () => {
  test('answers the records of the files and the position of the page', () => {
    const metadata = { ...plainMetadata, tags: ['a "tag"'] };
    putTestFile(scene.stores, { path: 'dir/a "b" \\ ü.txt', metadata });
    putTestFile(scene.stores, { path: 'z' });
    const response = send(scene.stores, request('?pageSize=1'));
    expect(headersOf(response)).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'private, no-store',
      'x-request-id': expect.any(String),
    });
    const record = send(scene.stores, request(`/dir/${encodeURIComponent('a "b" \\ ü.txt')}`));
    expect(JSON.parse(bodyText(response))).toEqual({
      items: [JSON.parse(bodyText(record))],
      page: 1,
      pageSize: 1,
      total: 2,
      pages: 2,
      hasMore: true,
      nextPage: 2,
      prefix: '',
      sort: 'name_asc',
    });
    expect(list('?pageSize=1&page=2')).toMatchObject({ hasMore: false, nextPage: null });
    expect(list('?page=3&prefix=q')).toMatchObject({ items: [], total: 0, pages: 0, prefix: 'q' });
  });

  test('reads parameters as forms and URLSearchParams encode them', () => {
    putAll('a b/1', 'a+b/1', 'a%b/1', 'ü/1', 'a&b=c/1', 'plain');
    for (const prefix of ['a b/', 'a+b/', 'a%b/', 'ü/', 'a&b=c/']) {
      const searchParams = new URLSearchParams({ prefix, sort: 'date_desc' }).toString();
      expect(paths(`?${searchParams}`)).toEqual([`${prefix}1`]);
      expect(paths(`?prefix=${encodeURIComponent(prefix)}`)).toEqual([`${prefix}1`]);
    }
    expect(paths('?prefix=plain&prefix2=x&&=&other=%41')).toEqual(['plain']);
    expect(paths('?%70refix=plain#?prefix=b')).toEqual(['plain']);
    expect(list('?prefix')).toMatchObject({ total: 6, prefix: '' });
  });

  test.each([
    '?page=0',
    '?page=-1',
    '?page=1.5',
    '?page=',
    '?page',
    '?page=one',
    '?page=%31%20',
    '?page=0x1',
    '?page=1e3',
    '?pageSize=0',
    '?pageSize=ten',
    '?sort=',
    '?sort=size',
    '?sort=Name_asc',
    '?tag=',
    '?tag=a%2Cb',
    '?page=1&page=2',
    '?prefix=a&prefix=a',
    '?prefix=%',
    '?prefix=%ff',
    '?prefix=%E2%82',
  ])('refuses %s', (query) => {
    sendRefused(scene.stores, request(query), { status: 400, code: 'InvalidArgument' });
  });

  test('accepts any page that is a whole number', () => {
    putAll('a');
    expect(list('?page=99999999999999999999')).toMatchObject({ items: [], total: 1, pages: 1 });
    expect(list('?pageSize=99999999999999999999')).toMatchObject({ pageSize: 50 });
    expect(list('?page=001')).toMatchObject({ page: 1 });
  });

  test('requires a key that may read the bucket', () => {
    const { url } = request();
    sendRefused(scene.stores, { url }, { status: 401, code: 'Unauthorized' });
    const blind = makeKey(scene.stores, { permissions: ['write', 'delete'] });
    sendRefused(scene.stores, request('', { key: blind }), { status: 403, code: 'AccessDenied' });
    const headers = { 'x-bucket-id': 'other' };
    sendRefused(scene.stores, request('', { headers }), { status: 400, code: 'BucketMismatch' });
    const elsewhere = { ...request(), url: '/api/v1/bucket/other/files' };
    sendRefused(scene.stores, elsewhere, { status: 403, code: 'AccessDenied' });
  });
});
