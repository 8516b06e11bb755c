// Upload sessions over HTTP, by URL: start, chunks, completion, record, cancelling, and every refusal.

import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openService, type Service, sampleBytes, sha256Hex } from '../support/service.ts';

const chunkSize = 65_536;
let service: Service;
let root: string;

beforeAll(async () => {
  service = await openService();
  root = `${service.base}/api/v1/bucket/${service.bucket}/upload`;
});

afterAll(() => service?.stop());

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly json: Record<string, unknown>;
}

interface Sent {
  readonly headers?: Record<string, string>;
  readonly body?: string | Uint8Array;
}

async function request(method: string, url: string, sent: Sent = {}): Promise<Answer> {
  const { body } = sent;
  const response = await fetch(url, {
    method,
    headers: { Authorization: `Bearer ${service.apiKey}`, ...sent.headers },
    ...(body === undefined ? {} : { body: body as BodyInit }),
  });
  const text = await response.text();
  expect(response.headers.get('cache-control')).toBe('private, no-store');
  const json = text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
  return { status: response.status, headers: response.headers, json };
}

async function refused(promise: Promise<Answer>): Promise<unknown[]> {
  const { status, json } = await promise;
  return [status, (json.error as { code: string }).code];
}

function start(fields: object, headers: Record<string, string> = {}): Promise<Answer> {
  return request('POST', `${root}/start`, { headers, body: JSON.stringify(fields) });
}

/** Begins a session and returns its URL. */
async function begin(fields: object): Promise<string> {
  const { status, json } = await start({ chunkSize, ...fields });
  expect([status, json.error]).toEqual([201, undefined]);
  return `${root}/${json.sessionId}`;
}

function put(session: string, index: number | string, body: Uint8Array, digest?: string) {
  const headers = digest === undefined ? {} : { 'Content-Digest': `sha-256=:${digest}:` };
  return request('PUT', `${session}/chunk/${index}`, { headers, body });
}

async function putAll(session: string, bytes: Uint8Array): Promise<void> {
  const count = Math.ceil(bytes.length / chunkSize);
  const parts = Array.from({ length: count }, (_, index) =>
    put(session, index, bytes.subarray(index * chunkSize, (index + 1) * chunkSize)),
  );
  expect((await Promise.all(parts)).map(({ status }) => status)).toEqual(parts.map(() => 200));
}

const complete = (session: string, fields?: object) =>
  request('POST', `${session}/complete`, fields ? { body: JSON.stringify(fields) } : {});

async function download(path: string): Promise<Uint8Array> {
  const response = await fetch(`${service.base}/cloud/${service.bucket}/${path}`);
  expect(response.status).toBe(200);
  return new Uint8Array(await response.arrayBuffer());
}

describe('an upload session over HTTP', () => {
  test('creates a file, and returns the same answer when the completion is repeated', async () => {
    const bytes = sampleBytes('whole', 2 * chunkSize + 5);
    const fields = { path: '/s/a b.mp4', size: bytes.length, chunkSize, tags: ['x'] };
    const headers = { 'Content-Disposition': 'inline', 'cache-control': 'no-cache' };
    const begun = await start({ ...fields, headers }, { 'X-File-Tags': 'y, x' });
    expect(begun.status).toBe(201);
    const { sessionId } = begun.json;
    expect(begun.json).toMatchObject({
      uploadId: sessionId,
      bucketId: service.bucket,
      path: 's/a b.mp4',
      contentType: 'video/mp4',
      tags: ['x', 'y'],
      totalSize: bytes.length,
      chunkSize,
      chunkCount: 3,
      missing: [0, 1, 2],
      status: 'active',
    });
    expect(Date.parse(String(begun.json.expiresAt))).toBeGreaterThan(Date.now() - 60_000);
    const session = `${root}/${sessionId}`;
    expect(begun.headers.get('location')).toBe(new URL(session).pathname);
    const part = bytes.subarray(chunkSize, 2 * chunkSize);
    const digest = createHash('sha256').update(part).digest('base64');
    expect((await put(session, 1, part, digest)).json).toEqual({
      chunkIndex: 1,
      size: chunkSize,
      sha256: sha256Hex(part),
      uploadedSize: chunkSize,
      receivedChunks: 1,
      chunkCount: 3,
    });
    expect((await request('GET', session)).json).toMatchObject({ missing: [0, 2] });
    await putAll(session, bytes);
    expect((await request('GET', session)).json).toMatchObject({ status: 'ready', missing: [] });
    const made = await complete(session, { sha256: sha256Hex(bytes) });
    expect(made.status).toBe(201);
    expect(made.json).toMatchObject({ path: 's/a b.mp4', size: bytes.length, version: 1 });
    expect(made.headers.get('etag')).toBe(`"${made.json.etag}"`);
    expect(made.headers.get('location')).toBe(`/cloud/${service.bucket}/s/a%20b.mp4`);
    expect(await download('s/a%20b.mp4')).toEqual(bytes);
    const head = await fetch(`${service.base}${made.headers.get('location')}`, { method: 'HEAD' });
    expect(head.headers.get('content-disposition')).toBe('inline');
    expect(head.headers.get('cache-control')).toBe('no-cache');
    const again = await request('POST', `${session}/complete`);
    expect([again.status, again.json]).toEqual([200, made.json]);
    const keyless = { headers: { Authorization: '' } };
    const completion = request('POST', `${session}/complete`, keyless);
    expect(await refused(completion)).toEqual([401, 'Unauthorized']);
    expect(await refused(put(session, 0, part))).toEqual([409, 'UploadCompleted']);
    expect(await refused(request('DELETE', session))).toEqual([409, 'UploadCompleted']);
    expect((await request('GET', session)).json).toMatchObject({
      status: 'completed',
      fileId: made.json.id,
    });
  });

  test.each([
    0,
    1,
    chunkSize - 1,
    chunkSize,
    chunkSize + 1,
    2 * chunkSize - 1,
    2 * chunkSize,
    2 * chunkSize + 1,
  ])('accepts a file of %i bytes', async (size) => {
    const bytes = sampleBytes('border', size);
    const session = await begin({ path: `border/${size}`, size });
    await putAll(session, bytes);
    expect((await complete(session)).status).toBe(201);
    expect(sha256Hex(await download(`border/${size}`))).toBe(sha256Hex(bytes));
  });

  test('needs no size: the received bytes become the file', async () => {
    const begun = await start({ path: '/s/piped.txt' });
    expect(begun.json).toMatchObject({
      totalSize: 0,
      isSizeKnown: false,
      chunkCount: 0,
      missing: [],
      status: 'active',
    });
    const session = `${root}/${begun.json.sessionId}`;
    expect((await put(session, 1, Buffer.from('c'))).json).toMatchObject({ chunkCount: 2 });
    const { json } = await request('GET', session);
    expect(json).toMatchObject({ totalSize: 1, uploadedSize: 1, isSizeKnown: false, missing: [0] });
    expect(await refused(complete(session))).toEqual([409, 'UploadIncomplete']);
    await put(session, 0, Buffer.from('ab'));
    expect((await complete(session)).json).toMatchObject({ size: 3, chunkSize: 2 });
    const after = await request('GET', session);
    expect(after.json).toMatchObject({ totalSize: 3, isSizeKnown: true, status: 'completed' });
    const file = await fetch(`${service.base}/cloud/${service.bucket}/s/piped.txt`);
    expect(await file.text()).toBe('abc');
  });

  test('uses the media type of the request, else that of the extension, else application/octet-stream', async () => {
    const typeOf = async (fields: object) => (await start({ size: 0, ...fields })).json.contentType;
    expect(await typeOf({ path: 'a/page.html' })).toBe('text/html');
    expect(await typeOf({ path: 'a/nothing' })).toBe('application/octet-stream');
    expect(await typeOf({ path: 'a.html', contentType: 'a/b; c="D"' })).toBe('a/b; c="D"');
  });

  test('stores the last of two chunks with one index', async () => {
    const session = await begin({ path: 'resent', size: 3 });
    await put(session, 0, Buffer.from('old'));
    expect((await put(session, 0, Buffer.from('new'))).json).toMatchObject({ uploadedSize: 3 });
    await complete(session);
    expect(Buffer.from(await download('resent')).toString()).toBe('new');
  });

  test('reports missing chunks and can continue', async () => {
    const bytes = sampleBytes('holes', 3 * chunkSize);
    const session = await begin({ path: 'holes', size: bytes.length });
    expect(await refused(complete(session))).toEqual([409, 'UploadIncomplete']);
    await put(session, 1, bytes.subarray(chunkSize, 2 * chunkSize));
    const { json } = await complete(session);
    expect((json.error as { details: unknown }).details).toMatchObject({ missing: [0, 2] });
    await putAll(session, bytes);
    expect((await complete(session)).status).toBe(201);
  });

  test('stays open after a wrong digest of a chunk or of the file', async () => {
    const bytes = sampleBytes('digest', chunkSize + 1);
    const session = await begin({ path: 'digest', size: bytes.length });
    const wrong = createHash('sha256').update('wrong').digest();
    const part = bytes.subarray(0, chunkSize);
    const sent = put(session, 0, part, wrong.toString('base64'));
    expect(await refused(sent)).toEqual([400, 'BadDigest']);
    expect((await request('GET', session)).json).toMatchObject({ receivedChunks: 0 });
    await putAll(session, bytes);
    const sha256 = wrong.toString('hex');
    expect(await refused(complete(session, { sha256 }))).toEqual([400, 'BadDigest']);
    expect((await request('GET', session)).json).toMatchObject({ status: 'ready' });
    expect((await complete(session, { sha256: sha256Hex(bytes) })).status).toBe(201);
  });

  test('checks the digest that the start declared', async () => {
    const session = await begin({ path: 'declared', size: 2, sha256: 'ab'.repeat(32) });
    await put(session, 0, Buffer.from('ab'));
    expect(await refused(complete(session))).toEqual([400, 'BadDigest']);
    const right = await begin({ path: 'declared', size: 2, sha256: sha256Hex(Buffer.from('ab')) });
    await put(right, 0, Buffer.from('ab'));
    expect((await complete(right)).json).toMatchObject({ sha256: sha256Hex(Buffer.from('ab')) });
  });

  test('leaves the old file readable until completion, and the session that completes last wins', async () => {
    const [first, second] = await Promise.all(
      [1, 2].map(() => begin({ path: 'contested', size: 3 })),
    );
    await put(first ?? '', 0, Buffer.from('one'));
    await put(second ?? '', 0, Buffer.from('two'));
    expect((await complete(second ?? '')).status).toBe(201);
    expect(Buffer.from(await download('contested')).toString()).toBe('two');
    const replaced = await complete(first ?? '');
    expect([replaced.status, replaced.json.version]).toEqual([200, 2]);
    const path = `${service.base}/cloud/${service.bucket}/contested`;
    const after = await fetch(path, { headers: { 'Cache-Control': 'no-cache' } });
    expect(after.headers.get('etag')).toBe(`"${replaced.json.etag}"`);
  });

  test('checks its preconditions at the start and again at completion', async () => {
    const session = await begin({ path: 'guarded', size: 1, ifNoneMatch: '*' });
    await put(session, 0, Buffer.from('a'));
    const other = await begin({ path: 'guarded', size: 1, ifNoneMatch: '*' });
    await put(other, 0, Buffer.from('b'));
    const { json } = await complete(other);
    expect(await refused(complete(session))).toEqual([412, 'PreconditionFailed']);
    expect((await request('GET', session)).json).toMatchObject({ status: 'ready' });
    const late = start({ path: 'guarded', size: 1, ifNoneMatch: '*' });
    expect(await refused(late)).toEqual([412, 'PreconditionFailed']);
    const matching = await begin({ path: 'guarded', size: 1, ifMatch: `"${json.etag}"` });
    await put(matching, 0, Buffer.from('c'));
    expect((await complete(matching)).status).toBe(200);
  });

  test('can be cancelled, also twice', async () => {
    const session = await begin({ path: 'cancelled', size: 3 });
    await put(session, 0, Buffer.from('abc'));
    expect((await request('DELETE', session)).status).toBe(204);
    expect((await request('DELETE', session)).status).toBe(204);
    const gone = [410, 'UploadCancelled'];
    expect(await refused(request('GET', session))).toEqual(gone);
    expect(await refused(put(session, 0, Buffer.from('abc')))).toEqual(gone);
    expect(await refused(complete(session))).toEqual(gone);
  });
});

describe('a refusal', () => {
  test.each<[number, string, object]>([
    [400, 'InvalidArgument', { path: 'a', size: -1 }],
    [400, 'InvalidArgument', { path: 'a', size: 1.5 }],
    [400, 'InvalidArgument', { path: 'a', size: '1' }],
    [400, 'InvalidArgument', { path: 'a', size: 1, tags: 'x' }],
    [400, 'InvalidArgument', { path: 'a', size: 1, headers: { Other: 'x' } }],
    [400, 'InvalidArgument', { path: 'a', size: 1, chunkSize: 65_535 }],
    [400, 'InvalidArgument', { path: 'a', size: 1, chunkSize: 1_900_001 }],
    [400, 'InvalidArgument', { path: 'a', size: 19_000_001, sha256: 'ab'.repeat(32) }],
    [400, 'InvalidArgument', []],
    [400, 'InvalidPath', { size: 1 }],
    [400, 'InvalidPath', { path: 'a/../b', size: 1 }],
    [400, 'InvalidContentType', { path: 'a', size: 1, contentType: 'x' }],
    [400, 'MissingContentType', { path: 'a', size: 1, contentType: '' }],
    [412, 'PreconditionFailed', { path: 'never', size: 1, ifMatch: '*' }],
    [413, 'EntityTooLarge', { path: 'a', size: 19_000_000_001 }],
    [413, 'EntityTooLarge', { path: 'a', size: 1, note: 'x'.repeat(70_000) }],
  ])('of a start with %i %s: %j', async (status, code, fields) => {
    expect(await refused(start(fields))).toEqual([status, code]);
  });

  test('of a body that is not JSON', async () => {
    const sent = request('POST', `${root}/start`, { body: '{' });
    expect(await refused(sent)).toEqual([400, 'InvalidArgument']);
  });

  test('of requests without a valid key, or with one for another bucket', async () => {
    const session = await begin({ path: 'keys', size: 1 });
    const as = (Authorization: string, extra = {}) =>
      refused(request('GET', session, { headers: { Authorization, ...extra } }));
    expect(await as('')).toEqual([401, 'Unauthorized']);
    expect(await as('Bearer efs_wrong')).toEqual([401, 'InvalidApiKey']);
    const good = `Bearer ${service.apiKey}`;
    expect(await as(good, { 'X-Bucket-Id': 'elsewhere' })).toEqual([400, 'BucketMismatch']);
    const elsewhere = session.replace(`/bucket/${service.bucket}/`, '/bucket/elsewhere/');
    expect(await refused(request('GET', elsewhere))).toEqual([403, 'AccessDenied']);
    const unkeyed = request('POST', `${session}/complete`, { headers: { Authorization: '' } });
    expect(await refused(unkeyed)).toEqual([401, 'Unauthorized']);
  });

  test.each([
    ['GET', ''],
    ['DELETE', ''],
    ['PUT', '/chunk/0'],
    ['POST', '/complete'],
  ])('of %s of an unknown session', async (method, tail) => {
    const sent = request(method, `${root}/${'0'.repeat(32)}${tail}`);
    expect(await refused(sent)).toEqual([404, 'NoSuchUpload']);
  });

  test('of chunks that do not fit the declared size', async () => {
    const session = await begin({ path: 'fit', size: chunkSize + 10 });
    const bytes = sampleBytes('fit', chunkSize);
    const of = (index: number | string, length: number) =>
      refused(put(session, index, bytes.subarray(0, length)));
    expect(await of(2, 10)).toEqual([400, 'InvalidChunkIndex']);
    expect(await of('x', 10)).toEqual([400, 'InvalidChunkIndex']);
    expect(await of(-1, 10)).toEqual([400, 'InvalidChunkIndex']);
    expect(await of(0, chunkSize - 1)).toEqual([400, 'ChunkSizeMismatch']);
    expect(await of(1, 11)).toEqual([400, 'ChunkSizeMismatch']);
    expect(await of(1, 9)).toEqual([400, 'ChunkSizeMismatch']);
    expect(await of(0, 0)).toEqual([400, 'ChunkSizeMismatch']);
    const large = put(session, 0, sampleBytes('large', 1_900_001));
    expect(await refused(large)).toEqual([413, 'EntityTooLarge']);
    expect((await request('GET', session)).json).toMatchObject({ receivedChunks: 0 });
  });

  test('of a wrong method lists the allowed methods', async () => {
    const { status, headers } = await request('GET', `${root}/start`);
    expect([status, headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
  });
});
