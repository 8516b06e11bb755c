import { beforeAll, describe, expect, test } from 'vitest';
import { handleRequest } from '../../src/http/router.ts';
import { callOf, createScene, putTestFile, type Scene } from '../support/domain-fixture.ts';
import { bodyText, headersOf, send, sendRefused } from '../support/http-fixture.ts';

let scene: Scene;

beforeAll(async () => {
  scene = await createScene();
  putTestFile(scene.stores, { path: '/a b/ü?#%.txt' });
});

describe('handleRequest()', () => {
  test('refuses an upload while cycles are low, after it has checked the right', () => {
    const { stores, writeKey, readKey } = scene;
    const put = (key: string, expected: { readonly status: number; readonly code: string }) => {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'a/b' };
      const url = '/api/v1/bucket/box/files/new';
      const sent = { method: 'PUT', url, headers, body: Uint8Array.of(1), spendableCycles: 0 };
      sendRefused(stores, { ...sent, phase: 'update' }, expected);
    };
    put('efs_none', { status: 401, code: 'InvalidApiKey' });
    put(readKey, { status: 403, code: 'AccessDenied' });
    put(writeKey, { status: 503, code: 'ServiceUnavailable' });
  });

  test('accepts a deletion by POST while cycles are low, because it frees space', () => {
    const { stores, writeKey } = scene;
    putTestFile(stores, { path: '/unused' });
    const response = send(stores, {
      method: 'POST',
      url: '/api/v1/bucket/box/delete',
      headers: { authorization: `Bearer ${writeKey}`, 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify({ paths: ['unused'] })),
      phase: 'update',
      spendableCycles: 0,
    });
    expect([response.status, bodyText(response)]).toEqual([200, expect.stringContaining('unused')]);
  });

  test.each([
    '/',
    '',
    '/cloud',
    '/cloud/box',
    '/api/v1',
    '/api/v1/bucket/box/file',
    '/Cloud/box/a',
    '/x?/cloud/box/a',
  ])('answers 404 for %j', (url) => {
    sendRefused(scene.stores, { url }, { status: 404, code: 'NoSuchFile' });
  });

  test.each([
    ['POST', '/cloud/box/a', 'GET, HEAD, OPTIONS'],
    ['PUT', '/cloud/box/a', 'GET, HEAD, OPTIONS'],
    ['get', '/cloud/box/a', 'GET, HEAD, OPTIONS'],
    ['constructor', '/cloud/box/a', 'GET, HEAD, OPTIONS'],
    ['__proto__', '/cloud/box/a', 'GET, HEAD, OPTIONS'],
    ['LINK', '/api/v1/bucket/box/files/a', undefined],
  ])('answers 405 with Allow to %s %s', (method, url, allow) => {
    const expected = { status: 405, code: 'MethodNotAllowed' };
    const { headers } = sendRefused(scene.stores, { method, url }, expected);
    expect(headers.allow?.split(', ')).toContain('OPTIONS');
    if (allow !== undefined) expect(headers.allow).toBe(allow);
    expect(headers.allow).not.toContain(method);
  });

  test.each(['/', '/cloud/box/none', '/api/v1/bucket/b/files/x', '/%zz', '*'])(
    'answers OPTIONS %s with 204, no body and the CORS headers',
    (url) => {
      const response = send(scene.stores, { method: 'OPTIONS', url });
      expect(response.status).toBe(204);
      expect(response.body).toHaveLength(0);
      const headers = headersOf(response);
      expect(headers['access-control-allow-origin']).toBe('*');
      const allowed = headers['access-control-allow-headers'] ?? '';
      const wanted =
        'Authorization, Content-Type, X-Bucket-Id, X-File-Tags, If-Match, If-None-Match, Range, Content-Digest';
      expect(allowed.split(', ')).toEqual(expect.arrayContaining(wanted.split(', ')));
      const exposed = (headers['access-control-expose-headers'] ?? '').split(', ');
      expect(exposed).toEqual(
        expect.arrayContaining(['ETag', 'Location', 'Content-Range', 'X-Request-Id']),
      );
    },
  );

  test('decodes the path once and ignores the query', () => {
    const encoded = '/cloud/box/a%20b/%C3%BC%3F%23%25.txt';
    for (const url of [
      encoded,
      `${encoded}?x=%zz`,
      `${encoded}#y`,
      encoded.replace('/box', '/%62ox'),
    ]) {
      expect(send(scene.stores, { url }).status, url).toBe(200);
    }
    const twice = encoded.replaceAll('%', '%25');
    sendRefused(scene.stores, { url: twice }, { status: 404, code: 'NoSuchFile' });
  });

  test.each(['%', '%z0', '%c3', '%ff', '%c0%af', '%ed%a0%80', '%u0041', 'a%2'])(
    'answers 400 to the percent-encoding fault %j',
    (text) => {
      const url = `/cloud/box/${text}`;
      sendRefused(scene.stores, { url }, { status: 400, code: 'InvalidPath' });
    },
  );

  test.each([
    'a%00b',
    'a%0Ab',
    'a//b',
    'a%2F%2Fb',
    './a',
    'a/%2e%2E/b',
    'a/',
    'a%2F',
    '',
    '%7F',
    '%C2%85',
  ])('answers 400 to the path %j', (text) => {
    const url = `/cloud/box/${text}`;
    sendRefused(scene.stores, { url }, { status: 400, code: 'InvalidPath' });
  });

  test('gives HEAD the headers of an error and no body', () => {
    const get = send(scene.stores, { url: '/cloud/box/none' });
    const head = send(scene.stores, { method: 'HEAD', url: '/cloud/box/none' });
    expect(head.status).toBe(404);
    expect(head.body).toHaveLength(0);
    expect(head.headers).toEqual(get.headers);
  });

  test('does not catch a defect, because it must trap', () => {
    const broken = [
      {
        pattern: /^\/$/,
        handlers: {
          GET: () => {
            throw new TypeError('defect');
          },
        },
      },
    ];
    const request = { method: 'GET', url: '/', headers: [], body: new Uint8Array(0) };
    const exchange = {
      stores: scene.stores,
      call: callOf('bob'),
      request,
      phase: 'query',
      system: () => expect.fail('not asked for'),
    } as const;
    expect(() => handleRequest(broken, exchange)).toThrow('defect');
  });
});

describe('handleRequest(): an API key in a URL', () => {
  const places = [
    (key: string) => `/cloud/box/${key}`,
    (key: string) => `/cloud/${key}/a`,
    (key: string) => `/${key}`,
    (key: string) => `/api/v1/bucket/box/files/x/${key}/y`,
    (key: string) => `/cloud/box/${key.replace('efs_', '%65fs%5F')}`,
    (key: string) => `/cloud/box/a%2F${key}`,
  ];

  test.each(places)('is answered with 404 and a hint, without repeating the key (%#)', (place) => {
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const url = place(scene.writeKey);
      const { error } = sendRefused(
        scene.stores,
        { method, url },
        { status: 404, code: 'NoSuchFile' },
      );
      expect(error.message).toContain('URLs are logged');
      expect(JSON.stringify(error)).not.toContain(scene.writeKey.slice(4, 30));
    }
  });

  test.each([
    (key: string) => `/cloud/box/${key}/%zz`,
    (key: string) => `/cloud/box/${key}.txt`,
    (key: string) => `/cloud/box/x${key}`,
    (key: string) => `/cloud/${key}x/a`,
    (key: string) => `/cloud/box/a//${key}`,
    (key: string) => `/cloud/box/a?key=${key}`,
    (key: string) => `/api/v1/bucket/${key}x/files/a`,
    (key: string) => `/api/v1/bucket/box/files/a//${key}.txt`,
    (key: string) => `/${'p'.repeat(50)}-${key}`,
    (key: string) => `/cloud/box/${key.slice(0, -1)}`,
  ])('is never repeated, whatever else is wrong (%#)', (place) => {
    for (const method of ['GET', 'PUT']) {
      const url = place(scene.writeKey);
      const headers = { authorization: `Bearer ${scene.writeKey}`, 'x-bucket-id': scene.writeKey };
      const text = bodyText(send(scene.stores, { method, url, headers }));
      expect(text).toContain('error');
      expect(text).not.toContain(scene.writeKey.slice(4, 12));
    }
  });
});
