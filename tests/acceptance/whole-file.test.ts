// Whole files over HTTP: PUT with a key, public GET and HEAD, and all refusals.

import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openService, type Service, sampleBytes, sha256Hex } from '../support/service.ts';

let service: Service;

beforeAll(async () => {
  service = await openService();
});

afterAll(() => service?.stop());

function fileUrl(path: string): string {
  return `${service.base}/cloud/${service.bucket}/${path}`;
}

interface PutOptions {
  readonly headers?: Record<string, string>;
  readonly bucket?: string;
  readonly key?: string;
}

/** Sends a PUT as `curl -T` does; `headers` replace the usual ones. */
function put(path: string, body: Uint8Array | string, options: PutOptions = {}): Promise<Response> {
  const { bucket = service.bucket, key = service.apiKey } = options;
  return fetch(`${service.base}/api/v1/bucket/${bucket}/files/${path}`, {
    method: 'PUT',
    body: body as BodyInit,
    headers: options.headers ?? { Authorization: `Bearer ${key}`, 'Content-Type': 'text/plain' },
  });
}

async function errorOf(response: Response) {
  const { error } = (await response.json()) as {
    error: { code: string; message: string; requestId: string; details?: Record<string, unknown> };
  };
  return { status: response.status, ...error };
}

describe('a stored file', () => {
  const bytes = sampleBytes('whole', 2_000_000);

  test('is identical when downloaded, with its type, validators and caching headers', async () => {
    const created = await put('photos/été 1.png', bytes, {
      headers: {
        Authorization: `Bearer ${service.apiKey}`,
        'Content-Type': 'image/png',
        'X-Bucket-Id': service.bucket,
        'X-File-Tags': 'summer, sea ,, sea',
        'Content-Disposition': 'inline; filename="sea.png"',
      },
    });
    expect(created.status).toBe(201);
    const location = created.headers.get('location') ?? '';
    expect(location).toBe(`/cloud/${service.bucket}/photos/%C3%A9t%C3%A9%201.png`);
    expect(await created.json()).toMatchObject({
      bucketId: service.bucket,
      path: 'photos/été 1.png',
      name: 'été 1.png',
      size: 2_000_000,
      contentType: 'image/png',
      tags: ['summer', 'sea'],
      sha256: sha256Hex(bytes),
      version: 1,
      url: location,
    });
    const response = await fetch(service.base + location);
    expect(response.status).toBe(200);
    expect(sha256Hex(new Uint8Array(await response.arrayBuffer()))).toBe(sha256Hex(bytes));
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'image/png',
      'content-length': '2000000',
      'content-disposition': 'inline; filename="sea.png"',
      etag: `"${sha256Hex(bytes)}"`,
      'cache-control': 'public, max-age=3600',
      'accept-ranges': 'bytes',
      'x-content-type-options': 'nosniff',
    });
    expect(Date.parse(response.headers.get('last-modified') ?? '')).toBeLessThan(
      Date.now() + 2_000,
    );
  });

  test('is replaced as a whole by the next PUT', async () => {
    expect((await put('replaced.txt', 'one')).status).toBe(201);
    const second = await put('replaced.txt', 'two!');
    expect(second.status).toBe(200);
    expect(await second.json()).toMatchObject({ version: 2, size: 4 });
    expect(await (await fetch(fileUrl('replaced.txt'))).text()).toBe('two!');
  });

  test.each([0, 1, 65_536, 65_537])('may have %i bytes', async (length) => {
    const body = sampleBytes('sizes', length);
    expect((await put(`sizes/${length}`, body)).status).toBe(201);
    const response = await fetch(fileUrl(`sizes/${length}`));
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(body);
  });

  test('answers HEAD without a body and with the size', async () => {
    await put('head.txt', 'hello');
    const response = await fetch(fileUrl('head.txt'), { method: 'HEAD' });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-length')).toBe('5');
    expect(await response.text()).toBe('');
  });

  test('answers 304 to its own entity tag', async () => {
    await put('cached.txt', 'hello');
    const etag = (await fetch(fileUrl('cached.txt'))).headers.get('etag') ?? '';
    const response = await fetch(fileUrl('cached.txt'), { headers: { 'If-None-Match': etag } });
    expect(response.status).toBe(304);
    expect(await response.text()).toBe('');
  });

  test('is sandboxed if its type can run scripts', async () => {
    const headers = { Authorization: `Bearer ${service.apiKey}`, 'Content-Type': 'text/html' };
    await put('page.html', '<script>1</script>', { headers });
    const response = await fetch(fileUrl('page.html'));
    expect(response.headers.get('content-security-policy')).toBe('sandbox');
  });
});

describe('a refused PUT changes nothing and explains why', () => {
  const type = { 'Content-Type': 'text/plain' };

  test.each<[string, number, string, () => Promise<Response>]>([
    ['without a key', 401, 'Unauthorized', () => put('x', 'x', { headers: type })],
    ['with a wrong key', 401, 'InvalidApiKey', () => put('x', 'x', { key: 'efs_wrong' })],
    [
      'with a mistyped key',
      401,
      'InvalidApiKey',
      () => put('x', 'x', { key: `${service.apiKey.slice(0, -1)}-` }),
    ],
    ['with 2,000,001 bytes', 413, 'EntityTooLarge', () => put('x', new Uint8Array(2_000_001))],
    [
      'without a Content-Type',
      400,
      'MissingContentType',
      () => put('x', Buffer.from('x'), { headers: { Authorization: `Bearer ${service.apiKey}` } }),
    ],
    [
      'with a malformed Content-Type',
      400,
      'InvalidContentType',
      () =>
        put('x', 'x', {
          headers: { Authorization: `Bearer ${service.apiKey}`, 'Content-Type': 'nonsense' },
        }),
    ],
    ['to a path with ..', 400, 'InvalidPath', () => put('a/%2e%2e%2Fb', 'x')],
    ['to a path with an empty segment', 400, 'InvalidPath', () => put('a//b', 'x')],
    ['to a malformed percent-encoding', 400, 'InvalidPath', () => put('a%zz', 'x')],
    ['to a malformed bucket id', 400, 'InvalidBucketId', () => put('x', 'x', { bucket: 'a-' })],
    ['to a bucket of another key', 403, 'AccessDenied', () => put('x', 'x', { bucket: 'other' })],
    [
      'with another bucket in X-Bucket-Id',
      400,
      'BucketMismatch',
      () =>
        put('x', 'x', {
          headers: {
            Authorization: `Bearer ${service.apiKey}`,
            'X-Bucket-Id': 'other',
            ...type,
          },
        }),
    ],
  ])('%s', async (_, status, code, send) => {
    const response = await send();
    // The network's gateways replace the canister's X-Request-Id by their own.
    expect(response.headers.get('x-request-id')).toMatch(/.{8,}/);
    const error = await errorOf(response);
    expect(error).toMatchObject({ status, code, requestId: expect.stringMatching(/^\w{8,}$/) });
    expect(error.message.length).toBeGreaterThan(20);
    expect(error.message).not.toContain(service.apiKey.slice(4, 40));
    expect((await fetch(fileUrl('x'))).status).toBe(404);
  });

  test('names the authentication scheme', async () => {
    const none = await put('x', 'x', { headers: type });
    expect(none.headers.get('www-authenticate')).toBe('Bearer');
    const wrong = await put('x', 'x', { key: 'efs_wrong' });
    expect(wrong.headers.get('www-authenticate')).toBe('Bearer error="invalid_token"');
    expect(wrong.headers.get('cache-control')).toBe('private, no-store');
  });

  test('states the limit for a body', async () => {
    const error = await errorOf(await put('x', new Uint8Array(2_000_001)));
    expect(error.details).toEqual({ limit: 2_000_000, size: 2_000_001 });
  });

  test('stores nothing if its body ends early', async () => {
    const { hostname, port } = new URL(service.base);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => {});
    const head = [
      `PUT /api/v1/bucket/${service.bucket}/files/early.txt HTTP/1.1`,
      `Host: ${new URL(service.base).host}`,
      `Authorization: Bearer ${service.apiKey}`,
      'Content-Type: text/plain',
      'Content-Length: 100',
    ];
    socket.end(`${head.join('\r\n')}\r\n\r\nonly these`);
    await new Promise((resolve) => socket.on('close', resolve).resume());
    expect((await fetch(fileUrl('early.txt'))).status).toBe(404);
  });
});

describe('a refused request', () => {
  test.each([
    ['a missing file', 404, 'NoSuchFile', () => fileUrl('none')],
    ['a missing bucket', 404, 'NoSuchFile', () => `${service.base}/cloud/nobody/x`],
    ['an unknown route', 404, 'NoSuchFile', () => `${service.base}/nowhere`],
    ['an invalid bucket id', 404, 'NoSuchFile', () => `${service.base}/cloud/a_b/x`],
    ['an invalid path', 404, 'NoSuchFile', () => `${service.base}/cloud/${service.bucket}/a/%00`],
  ])('for %s answers %i', async (_, status, code, url) => {
    const response = await fetch(url());
    expect(await errorOf(response)).toMatchObject({ status, code });
  });

  test('with a wrong method lists the allowed methods', async () => {
    const response = await fetch(fileUrl('x'), { method: 'POST' });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
  });

  test('warns about a key in the URL, without repeating it', async () => {
    const response = await fetch(fileUrl(service.apiKey));
    const text = await response.text();
    expect(response.status).toBe(404);
    expect(text).toContain('URLs are logged');
    expect(text).not.toContain(service.apiKey);
  });
});

describe('the gateway', () => {
  function get(
    host: string,
    path: string,
  ): Promise<{ status: number; headers: IncomingHttpHeaders }> {
    const { hostname, port } = new URL(service.base);
    return new Promise((resolve, reject) => {
      httpRequest({ hostname, port, path, headers: { Host: `${host}:${port}` } }, (response) => {
        response.resume();
        resolve({ status: response.statusCode ?? 0, headers: response.headers });
      })
        .on('error', reject)
        .end();
    });
  }

  test('serves the canister at its own host, verified, and at its raw host, unverified', async () => {
    await put('hosts.txt', 'hello');
    const path = `/cloud/${service.bucket}/hosts.txt`;
    const verified = await get(`${service.canisterId}.localhost`, path);
    expect(verified.status).toBe(200);
    expect(verified.headers['ic-certificate']).toMatch(/version=2/);
    expect((await get(`${service.canisterId}.raw.localhost`, path)).status).toBe(200);
    expect((await get('aaaaa-aa.localhost', path)).status).toBeGreaterThanOrEqual(400);
  });

  test('answers a preflight request with the methods and headers that browsers may send', async () => {
    const response = await fetch(fileUrl('x'), {
      method: 'OPTIONS',
      headers: { Origin: 'https://example.com', 'Access-Control-Request-Method': 'PUT' },
    });
    expect(response.status).toBe(204);
    expect(response.headers.get('access-control-allow-headers')).toContain('Authorization');
    expect(response.headers.get('access-control-expose-headers')).toContain('ETag');
  });
});
