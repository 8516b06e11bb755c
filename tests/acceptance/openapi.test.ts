// The service answers each operation as docs/reference/openapi.json describes it: with success and
// with errors, through the verifying gateway.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { testPicture } from '../support/domain-fixture.ts';
import { formBody } from '../support/forms.ts';
import { httpRows, type Spot } from '../support/keyed-operations.ts';
import { faultsOf, operationOf, operations } from '../support/openapi-check.ts';
import { changeOf, keyFor, personOf } from '../support/people.ts';
import { openService, type Service } from '../support/service.ts';

const B = '/api/v1/bucket/described';
const boundary = 'part';
let service: Service;
/** Secrets of a key for all buckets, and of a key that only reads `described`. */
let key: string;
let reader: string;
/** Statuses of each operation so far. */
const seen = new Map<string, Set<number>>();

beforeAll(async () => {
  service = await openService();
  const owner = personOf(service, 'owner');
  await owner.get('createBucket', 'described', []);
  await owner.get('updateBucket', changeOf('described', { keepVersionsDays: [7n] }));
  await owner.get('createBucket', 'pages', [
    { isPublic: [true], isSite: [true], isListed: [true] },
  ]);
  const made = await owner.get<{ secret: string }>(
    'createApiKey',
    keyFor(
      ['described', 'pages', 'demo'],
      ['read', 'write', 'delete', 'retain', 'audit', 'monitor'],
    ),
  );
  const read = await owner.get<{ secret: string }>('createApiKey', keyFor(['described'], ['read']));
  ({ secret: key } = made);
  ({ secret: reader } = read);
  await owner.get('setWellKnown', {
    name: 'security.txt',
    content: [{ body: 'x', contentType: [] }],
  });
});

afterAll(() => service?.stop());

interface Sent {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string | object;
  /** By default `key`; undefined sends none. */
  readonly key?: string | undefined;
}

async function exchange(method: string, url: string, sent: Sent = {}) {
  const secret = 'key' in sent ? sent.key : key;
  const isKeyed = secret !== undefined && !url.startsWith('/s/');
  const [, bucket = ''] = /^\/(?:cloud|api\/v1\/(?:bucket|tus))\/([^/]*)/.exec(url) ?? [];
  const { body = null } = sent;
  const isObject = typeof body === 'object' && body !== null && !(body instanceof Uint8Array);
  const response = await fetch(`${service.base}${url}`, {
    method,
    redirect: 'manual',
    headers: {
      ...(isKeyed && { Authorization: `Bearer ${secret}`, 'X-Bucket-Id': bucket }),
      ...sent.headers,
    },
    body: (isObject ? JSON.stringify(body) : body) as BodyInit | null,
  });
  const bytes = new Uint8Array(await response.arrayBuffer());
  const { path = 'none' } = operationOf(method, url) ?? {};
  const statuses = seen.get(`${method} ${path}`) ?? new Set();
  seen.set(`${method} ${path}`, statuses.add(response.status));
  return { faults: faultsOf({ method, url, response, body: bytes }), response, bytes };
}

/** Sends a request and compares the response with openapi.json. */
async function send(method: string, url: string, status: number, sent: Sent = {}) {
  const { faults, response, bytes } = await exchange(method, url, sent);
  const text = new TextDecoder().decode(bytes);
  expect(faults).toEqual([]);
  expect(response.status, `${method} ${url}: ${text.slice(0, 500)}`).toBe(status);
  const isJson = text.startsWith('{');
  return { etag: response.headers.get('etag') ?? '', json: isJson ? JSON.parse(text) : undefined };
}

async function put(path: string, status = 201, body: string | Uint8Array = 'hello') {
  const headers = { 'Content-Type': 'text/plain' };
  return send('PUT', `${B}/files/${path}`, status, { headers, body });
}

/** Sends HEAD and GET, which must answer with the same status. */
async function read(url: string, status: number, sent: Sent = {}) {
  await send('HEAD', url, status, sent);
  return send('GET', url, status, sent);
}

test('/api/v1/bucket/{bucket}/files/{path} answers as described', async () => {
  const { etag } = await put('a.txt');
  await put('a.txt', 200, 'again');
  await put('folder%2Fwith%20space.txt');
  await read(`${B}/files/folder/with%20space.txt`, 200);
  const tagged = { 'X-File-Tags': 'sea, summer', 'X-File-Metadata': '{"by":"me"}' };
  const notes = { ...tagged, 'Content-Type': 'text/html', 'Content-Language': 'en' };
  await send('PUT', `${B}/files/b.html`, 201, { headers: notes, body: '<p>' });
  const { etag: present } = await read(`${B}/files/b.html`, 200);
  await read(`${B}/files/b.html`, 304, { headers: { 'If-None-Match': present } });
  await read(`${B}/files/a.txt?version=1`, 200);
  await read(`${B}/files/none.txt`, 404);
  const wrong = { 'Content-Digest': 'sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:' };
  const typed = { 'Content-Type': 'text/plain' };
  await send('PUT', `${B}/files/a.txt`, 400, { headers: { ...typed, ...wrong }, body: 'x' });
  await send('PUT', `${B}/files/a.txt`, 400, { body: new Uint8Array(1) });
  await send('PUT', `${B}/files/a.txt`, 403, { key: reader, headers: typed, body: 'x' });
  const stale = { ...typed, 'If-Match': etag };
  await send('PUT', `${B}/files/a.txt`, 412, { headers: stale, body: 'x' });
  await send('PUT', `${B}/files/a.txt`, 413, { headers: typed, body: new Uint8Array(2_000_001) });
  await send('PATCH', `${B}/files/a.txt`, 200, { body: { tags: ['t'], metadata: { by: 'me' } } });
  await send('PATCH', `${B}/files/a.txt`, 400, { body: { tags: 't' } });
  await send('PATCH', `${B}/files/none.txt`, 404, { body: { tags: [] } });
  await send('DELETE', `${B}/files/a.txt`, 204);
  await send('DELETE', `${B}/files/a.txt`, 404);
});

test('/api/v1/bucket/{bucket}/thumbnails/{path} answers as described', async () => {
  const { etag } = await put('pictured.txt');
  const url = `${B}/thumbnails/pictured.txt`;
  await read(url, 404);
  const type = { 'Content-Type': 'image/webp' };
  const headers = { ...type, 'If-Match': etag };
  const body = testPicture(1_000);
  await send('PUT', url, 204, { headers, body });
  const { etag: own } = await read(url, 200);
  await read(url, 304, { headers: { 'If-None-Match': own } });
  const beside = '/cloud/described/pictured.txt?thumbnail';
  await read(beside, 200);
  await read(beside, 304, { headers: { 'If-None-Match': own } });
  await read('/cloud/described/a.txt?thumbnail', 404);
  await send('POST', `${B}/thumbnails`, 200, { body: { paths: ['pictured.txt', 'none'] } });
  await send('POST', `${B}/thumbnails`, 400, { body: {} });
  await send('PUT', url, 400, { headers: type, body });
  await send('PUT', url, 400, { headers, body: '<svg/>' });
  await send('PUT', url, 403, { headers, body, key: reader });
  await send('PUT', `${B}/thumbnails/none.txt`, 404, { headers, body });
  await send('PUT', url, 412, { headers: { ...type, 'If-Match': '"x"' }, body });
  await send('PUT', url, 413, { headers, body: testPicture(33_000) });
});

test('/cloud/{bucket}/{path} answers as described', async () => {
  const typed = { headers: { 'Content-Type': 'text/html', 'Content-Language': 'en' } };
  const pages = '/api/v1/bucket/pages/files';
  await send('PUT', `${pages}/folder/index.html`, 201, { ...typed, body: '<p>index' });
  await send('PUT', `${pages}/404.html`, 201, { ...typed, body: '<p>missing' });
  const { etag } = await read('/cloud/pages/folder/index.html', 200, { key: undefined });
  const url = '/cloud/pages/folder%2Findex.html';
  await read(url, 200, { key: undefined });
  await read(url, 304, { key: undefined, headers: { 'If-None-Match': etag } });
  await read(url, 412, { key: undefined, headers: { 'If-Match': '"other"' } });
  await send('GET', url, 206, { key: undefined, headers: { Range: 'bytes=1-2' } });
  await send('GET', url, 416, { key: undefined, headers: { Range: 'bytes=99-' } });
  await read('/cloud/pages/folder', 308, { key: undefined });
  await read('/cloud/pages/none', 404, { key: undefined });
  await put('a.txt');
  await read('/cloud/described/a.txt', 200);
  await read('/cloud/described/a.txt', 404, { key: undefined });
  await read('/cloud/described/a.txt', 401, { key: 'wrong' });
});

test('lists and batches answer as described', async () => {
  const form = (...names: string[]) => ({
    headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}` },
    body: formBody(
      names.map((name) => ({ name, text: name })),
      boundary,
    ),
  });
  await send('POST', `${B}/files`, 200, form('list/1.txt', 'list/2.txt', 'list/in/3.txt'));
  await send('POST', `${B}/files`, 400, form('list/4.txt', 'list//5.txt'));
  await read(`${B}/files?prefix=list/&page=1&pageSize=2&sort=date_desc`, 200);
  const { json } = await read(`${B}/files?prefix=list/&delimiter=/&limit=2`, 200);
  await read(`${B}/files?prefix=list/&delimiter=/&cursor=${json.nextCursor}`, 200);
  await read(`${B}/files?sort=other`, 400);
  await read('/api/v1/bucket/pages/files?limit=1', 200, { key: undefined });
  await read(`${B}/files`, 401, { key: undefined });
  await read(`${B}/usage?prefix=list/`, 200);
  await read(`${B}/rules`, 200);
  await read(`${B}/journal?limit=10`, 200);
  await read(`${B}/journal?limit=0`, 400);
  await read(`${B}/usage?prefix=%zz`, 400);
  await send('POST', `${B}/copy`, 201, { body: { from: 'list/1.txt', to: { path: 'copied' } } });
  await send('POST', `${B}/copy`, 200, { body: { from: 'list/2.txt', to: { path: 'copied' } } });
  await send('POST', `${B}/copy`, 404, { body: { from: 'none', to: { path: 'copied' } } });
  await send('POST', `${B}/move`, 201, { body: { from: 'copied', to: { path: 'moved' } } });
  await send('POST', `${B}/move`, 200, { body: { from: 'moved', to: { path: 'list/1.txt' } } });
  await send('POST', `${B}/move`, 200, { body: { fromPrefix: 'list/', toPrefix: 'other/' } });
  await send('POST', `${B}/move`, 400, { body: { fromPrefix: 'list/' } });
  const switched = { fromPrefix: 'none/', toPrefix: '', deletes: ['none'] };
  await send('POST', `${B}/switch`, 200, { body: switched });
  await send('POST', `${B}/switch`, 412, { body: { ...switched, ifResult: 'x' } });
  const paths = ['other/1.txt', 'none.txt'];
  await send('POST', `${B}/read`, 200, { body: { paths: [...paths, 'none'] } });
  await send('POST', `${B}/read`, 400, { body: {} });
  await send('POST', `${B}/delete`, 200, { body: { paths } });
  await send('POST', `${B}/delete`, 200, { body: { prefix: 'other/' } });
  await send('POST', `${B}/delete`, 400, { body: {} });
});

test('former versions answer as described', async () => {
  await put('v.txt');
  await put('v.txt', 200, 'second');
  await put('v.txt', 200, 'third');
  await read(`${B}/versions?path=v.txt&limit=1`, 200);
  await read(`${B}/versions?path=v.txt&prefix=v`, 400);
  const url = `${B}/versions/v.txt?version=1`;
  const { etag } = await read(url, 200);
  await read(url, 304, { headers: { 'If-None-Match': etag } });
  await send('GET', url, 206, { headers: { Range: 'bytes=1-2' } });
  await send('GET', url, 416, { headers: { Range: 'bytes=9-' } });
  await read(`${B}/versions/v.txt`, 400);
  await read(`${B}/versions/v.txt?version=99`, 404);
  await send('POST', `${B}/restore`, 200, { body: { path: 'v.txt', version: 1 } });
  await send('DELETE', `${B}/files/v.txt`, 204);
  await send('POST', `${B}/restore`, 201, { body: { path: 'v.txt', version: 2 } });
  await send('POST', `${B}/restore`, 404, { body: { path: 'v.txt', version: 99 } });
  await send('DELETE', `${B}/versions/v.txt?version=3`, 204);
  await send('DELETE', `${B}/versions/v.txt?version=3`, 404);
  await send('DELETE', `${B}/versions/v.txt`, 200);
  await send('DELETE', `${B}/versions?prefix=`, 200);
  await send('DELETE', `${B}/versions`, 400);
});

test('retention and holds answer as described', async () => {
  await put('retained.txt');
  const path = 'retained.txt';
  const retention = { mode: 'governance', retainUntil: '2060-01-31T12:00:00Z' };
  await send('POST', `${B}/retention`, 200, { body: { path, ...retention } });
  await send('POST', `${B}/retention`, 409, { body: { path } });
  await send('POST', `${B}/retention`, 400, { body: { path, mode: 'compliance' } });
  await send('POST', `${B}/hold`, 200, { body: { path, hold: true } });
  await send('POST', `${B}/hold`, 400, { body: { path } });
  await read(`${B}/files/retained.txt`, 200);
  await send('DELETE', `${B}/versions/retained.txt?version=1&bypassGovernance=true`, 409);
  await send('POST', `${B}/hold`, 200, { body: { path, hold: false } });
  await send('DELETE', `${B}/versions/retained.txt?version=1&bypassGovernance=true`, 204);
});

test('upload sessions answer as described', async () => {
  const start = { path: 'chunked.txt', size: 70_000, chunkSize: 65_536, token: 'one' };
  const { json } = await send('POST', `${B}/upload/start`, 201, { body: start });
  await send('POST', `${B}/upload/start`, 200, { body: start });
  await send('POST', `${B}/upload/start`, 400, { body: { size: 1 } });
  const url = `${B}/upload/${json.sessionId}`;
  await read(url, 200);
  await read(`${B}/upload`, 200);
  await read(`${B}/upload`, 403, { key: reader });
  await send('PUT', `${url}/chunk/0`, 200, { body: new Uint8Array(65_536) });
  await send('PUT', `${url}/chunk/1`, 400, { body: new Uint8Array(3) });
  await send('PUT', `${url}/chunk/x`, 400, { body: new Uint8Array(3) });
  await send('POST', `${url}/complete`, 409);
  await send('PUT', `${url}/chunk/1`, 200, { body: new Uint8Array(4_464) });
  await read(url, 200);
  await send('POST', `${url}/complete`, 201, { body: { metadata: { by: 'me' } } });
  await send('POST', `${url}/complete`, 200);
  await read(url, 200);
  await send('DELETE', url, 409);
  const { json: open } = await send('POST', `${B}/upload/start`, 201, { body: { path: 'b.txt' } });
  const other = `${B}/upload/${open.sessionId}`;
  await send('DELETE', other, 204);
  await read(other, 410);
  await read(`${B}/upload/${'00'.repeat(16)}`, 404);
});

test('uploads by tus answer as described', async () => {
  const root = '/api/v1/tus/described';
  const version = { 'Tus-Resumable': '1.0.0' };
  const creation = { ...version, 'Upload-Length': '3', 'Upload-Metadata': 'path dHVz' };
  const type = { 'Content-Type': 'application/offset+octet-stream' };
  const create = async (headers: Record<string, string>) => {
    const { faults, response } = await exchange('POST', root, { headers });
    expect([faults, response.status]).toEqual([[], 201]);
    return response.headers.get('location') ?? '';
  };
  const url = await create(creation);
  await send('HEAD', url, 200, { headers: version });
  const patch = { ...version, ...type, 'Upload-Offset': '0' };
  await send('PATCH', url, 204, { headers: patch, body: 'ab' });
  await send('PATCH', url, 409, { headers: patch, body: 'c' });
  await send('PATCH', url, 415, { headers: { ...patch, 'Content-Type': 'a/b' }, body: 'c' });
  await send('PATCH', url, 204, { headers: { ...patch, 'Upload-Offset': '2' }, body: 'c' });
  await send('DELETE', url, 409, { headers: version });
  const other = await create(creation);
  await send('DELETE', other, 204, { headers: version });
  await send('HEAD', other, 410, { headers: version });
  await send('POST', root, 412, { headers: { ...creation, 'Tus-Resumable': '9' } });
});

test('upload links answer as described', async () => {
  const body = { prefix: 'sent/', maxFiles: 3 };
  const { json } = await send('POST', `${B}/upload-links`, 201, { body });
  await send('POST', `${B}/upload-links`, 400, { body: {} });
  await read(`${B}/upload-links`, 200);
  await read(`${B}/upload-links`, 403, { key: reader });
  const [address = '', query = ''] = json.putUrl.split('?');
  const url = `${address.replace('{name}', 'a.txt')}?${query}`;
  await send('PUT', url, 201, { key: undefined, body: 'sent' });
  await send('PUT', url, 412, { key: undefined, body: 'again' });
  await send('DELETE', `${B}/upload-links/${json.id}`, 204);
  await send('DELETE', `${B}/upload-links/${json.id}`, 404);
});

test('links answer as described', async () => {
  await put('linked.txt', 201, 'linked');
  const wish = { path: 'linked.txt', expiresAt: '2530-01-31T12:00:00Z', downloadName: 'l.txt' };
  const { json } = await send('POST', `${B}/links`, 201, { body: wish });
  await send('POST', `${B}/links`, 201, { body: { path: 'linked.txt' } });
  await send('POST', `${B}/links`, 404, { body: { path: 'none.txt' } });
  await read(`${B}/links?path=linked.txt&limit=1`, 200);
  await read(`${B}/links?limit=0`, 400);
  const { etag } = await read(json.url, 200);
  await read(json.url, 304, { headers: { 'If-None-Match': etag } });
  await send('GET', json.url, 206, { headers: { Range: 'bytes=1-2' } });
  await read('/s/none/l.txt?k=wrong', 404);
  const passwordProof = '07'.repeat(32);
  const body = { path: 'linked.txt', passwordProof, maxDownloads: 2 };
  const { json: locked } = await send('POST', `${B}/links`, 201, { body });
  const [address = ''] = locked.url.split('?');
  await send('POST', address, 200, { body: { proof: passwordProof }, key: undefined });
  await send('POST', address, 403, { body: { proof: '08'.repeat(32) }, key: undefined });
  await send('POST', address, 400, { body: { proof: '' }, key: undefined });
  await send('GET', locked.url, 200);
  await read(`${B}/links?path=linked.txt`, 200);
  await send('DELETE', `${B}/links/${json.id}`, 204);
  await send('DELETE', `${B}/links/${json.id}`, 404);
});

test('the other operations answer as described', async () => {
  await read(`${B}/end-to-end`, 200);
  await read('/api/v1/status', 200, { key: undefined });
  await read('/metrics', 200);
  await read('/metrics', 200, { headers: { Accept: 'text/plain' } });
  await read('/metrics', 401, { key: undefined });
  await read('/metrics', 403, { key: reader });
  const { etag } = await read('/.well-known/security.txt', 200, { key: undefined });
  const headers = { 'If-None-Match': etag };
  await read('/.well-known/security.txt', 304, { key: undefined, headers });
  await read('/.well-known/none', 404, { key: undefined });
});

test('every operation refuses invalid keys and requests that are too long, as described', async () => {
  for (const { method, path, security } of operations) {
    const url = path
      .replace('{bucket}', 'described')
      .replace('{index}', '0')
      .replaceAll(/\{\w+\}/g, 'name');
    // At other addresses gateways replace the response by their own
    if (!url.startsWith('/api/')) continue;
    await send(method, `${url}?q=${'x'.repeat(5_400)}`, 414, { key: undefined });
    if (security.length === 0) continue;
    await send(method, url, 401, { key: undefined });
    await send(method, url, 401, { key: 'wrong' });
  }
});

test('requests with a key for another bucket answer as described', async () => {
  const spot: Spot = {
    bucket: 'elsewhere',
    key,
    path: 'a.txt',
    uploadId: '00'.repeat(16),
    own: 'own.txt',
    fresh: 'fresh.txt',
  };
  for (const { method, url, body, type, headers: fields } of httpRows) {
    const headers = { ...(type && { 'Content-Type': type }), ...fields?.(spot) };
    const sent = { headers, ...(body && { body: body(spot) }) };
    const { faults, response } = await exchange(method, url(spot), sent);
    expect(faults).toEqual([]);
    expect([403, 404], `${method} ${url(spot)}`).toContain(response.status);
  }
});

test('the tests above have seen every success status of openapi.json, and an error of each operation', () => {
  const unseen = operations.flatMap(({ method, path, responses }) => {
    const statuses = seen.get(`${method} ${path}`) ?? new Set();
    const answers = Object.keys(responses).map(Number);
    const hasError = [...statuses].some((status) => status >= 400);
    const missing = answers.filter((status) => status < 400 && !statuses.has(status));
    return [
      ...missing.map((status) => `${method} ${path} ${status}`),
      ...(hasError ? [] : [`an error of ${method} ${path}`]),
    ];
  });
  expect(unseen).toEqual([]);
});
