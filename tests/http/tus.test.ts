// The tus protocol 1.0.0, request by request. tests/client and tests/clients have real clients.

import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { updateBucket } from '../../src/domain/administration/bucket-administration.ts';
import { expireUploads } from '../../src/domain/uploads/upload-end.ts';
import type { HttpResponse } from '../../src/http/message.ts';
import { upgrade } from '../../src/http/router.ts';
import {
  bucketChange,
  callOf,
  createScene,
  hourNs,
  makeKey,
  putTestFile,
  type Scene,
  startNs,
  testBytes,
} from '../support/domain-fixture.ts';
import {
  bodyOf,
  exchange,
  headersOf,
  refusedInBoth,
  send,
  sendRefused,
  type TestRequest,
} from '../support/http-fixture.ts';
import { checkInvariants } from '../support/invariants.ts';

let scene: Scene;
const root = '/api/v1/tus/box';
const bytesType = 'application/offset+octet-stream';

beforeEach(async () => {
  scene = await createScene();
});

type Fields = Readonly<Record<string, string>>;

interface TusRequest {
  readonly method: string;
  readonly url: string;
  readonly fields?: Fields;
  readonly body?: Uint8Array;
  readonly key?: string;
  readonly nowNs?: bigint;
}

function tus({ method, url, fields = {}, body, key, nowNs = startNs }: TusRequest): TestRequest {
  const headers = {
    Authorization: `Bearer ${key ?? scene.writeKey}`,
    'Tus-Resumable': '1.0.0',
    ...fields,
  };
  return { method, url, headers, phase: 'update', nowNs, ...(body === undefined ? {} : { body }) };
}

const base64 = (text: string | Uint8Array) => Buffer.from(text).toString('base64');

/** Formats Upload-Metadata. */
function metadata(pairs: Fields): Fields {
  const all = Object.entries(pairs).map(([name, value]) => `${name} ${base64(value)}`);
  return { 'Upload-Metadata': all.join(',') };
}

function creation(size: number, fields: Fields = metadata({ filename: 'a.bin' })): TusRequest {
  return { method: 'POST', url: root, fields: { 'Upload-Length': String(size), ...fields } };
}

function create(size: number, fields?: Fields): string {
  const response = send(scene.stores, tus(creation(size, fields)));
  expect(response.status).toBe(201);
  return headersOf(response).location ?? expect.fail('no Location');
}

function patch(url: string, offset: number, body: Uint8Array, fields: Fields = {}): TusRequest {
  const all = { 'Content-Type': bytesType, 'Upload-Offset': String(offset), ...fields };
  return { method: 'PATCH', url, fields: all, body };
}

function offsetOf(url: string, nowNs = startNs): number {
  const response = send(scene.stores, { ...tus({ method: 'HEAD', url, nowNs }), phase: 'query' });
  expect(response.status).toBe(200);
  return Number(headersOf(response)['upload-offset']);
}

function stored(path: string): Buffer {
  const headers = { Authorization: `Bearer ${scene.readKey}` };
  const file = send(scene.stores, { url: `/cloud/box/${path}`, headers, phase: 'update' });
  expect(file.status).toBe(200);
  return bodyOf(scene.stores, file);
}

/** Sends as a query, which changes nothing, and as an update. */
function refused(sent: TusRequest, status: number, code: string): void {
  refusedInBoth(scene.stores, tus(sent), { status, code });
}

function headersAfter(response: HttpResponse, status: number): Record<string, string> {
  expect(response.status).toBe(status);
  const headers = headersOf(response);
  expect(headers['tus-resumable']).toBe('1.0.0');
  return headers;
}

describe('POST /api/v1/tus/{bucket}', () => {
  test('creates an upload, which HEAD describes, and PATCH fills', () => {
    const notes = metadata({ path: 'docs/ä b.txt', filetype: 'text/plain', tags: 'x,y' });
    expect(exchange(scene.stores, { ...tus(creation(11, notes)), phase: 'query' })).toBe(upgrade);
    const url = create(11, notes);
    const head = send(scene.stores, { ...tus({ method: 'HEAD', url }), phase: 'query' });
    expect(headersAfter(head, 200)).toMatchObject({
      'upload-length': '11',
      'upload-offset': '0',
      'upload-metadata': notes['Upload-Metadata'],
      'cache-control': 'private, no-store',
    });
    const hello = Buffer.from('hello');
    const first = headersAfter(send(scene.stores, tus(patch(url, 0, hello))), 204);
    expect(first['upload-offset']).toBe('5');
    expect(Date.parse(first['upload-expires'] ?? '')).toBeGreaterThan(Number(startNs / 1_000_000n));
    const rest = tus(patch(url, 5, Buffer.from(' world')));
    expect(exchange(scene.stores, { ...rest, phase: 'query' })).toBe(upgrade);
    expect(headersAfter(send(scene.stores, rest), 204)).toMatchObject({
      'upload-offset': '11',
      'content-location': '/cloud/box/docs/%C3%A4%20b.txt',
    });
    expect(offsetOf(url)).toBe(11);
    const headers = { Authorization: `Bearer ${scene.readKey}` };
    const file = send(scene.stores, { url: '/cloud/box/docs/%C3%A4%20b.txt', headers });
    expect(file.body).toEqual(new Uint8Array(Buffer.from('hello world')));
    expect(headersOf(file)['content-type']).toBe('text/plain');
    checkInvariants(scene.stores);
  });

  test.each<[string, Fields, string]>([
    ['path before all others', { filename: 'f', relativePath: 'r/f', path: 'p/f' }, 'p/f'],
    ['relativePath of a folder', { name: 'f', relativePath: 'r/f' }, 'r/f'],
    ['name if relativePath is null', { name: 'f.png', relativePath: 'null' }, 'f.png'],
    ['filename before name', { name: 'n', filename: 'f' }, 'f'],
  ])('takes as the path: %s', (_, pairs, path) => {
    create(0, metadata(pairs));
    expect(stored(path)).toHaveLength(0);
  });

  test('stores an empty file at once, with the media type of its name', () => {
    const response = send(scene.stores, tus(creation(0, metadata({ filename: 'a.css' }))));
    expect(headersAfter(response, 201)['content-location']).toBe('/cloud/box/a.css');
    const headers = { Authorization: `Bearer ${scene.readKey}` };
    const file = send(scene.stores, { url: '/cloud/box/a.css', headers });
    expect(headersOf(file)['content-type']).toBe('text/css');
  });

  test('stores the first bytes that come with the creation', () => {
    const body = Buffer.from('hello');
    const fields = { 'Content-Type': bytesType, ...metadata({ filename: 'a' }) };
    const response = send(scene.stores, tus({ ...creation(6, fields), body }));
    const { location = '', 'upload-offset': offset } = headersAfter(response, 201);
    expect(offset).toBe('5');
    send(scene.stores, tus(patch(location, 5, Buffer.from('!'))));
    expect(stored('a').toString()).toBe('hello!');
  });

  test('refuses too many first bytes and leaves no upload', () => {
    const before = scene.stores.writeCount();
    const fields = { 'Content-Type': bytesType, ...metadata({ filename: 'a' }) };
    refused({ ...creation(4, fields), body: Buffer.from('hello') }, 413, 'EntityTooLarge');
    expect(scene.stores.writeCount()).toBe(before);
  });

  test.each<[string, Fields, number, string]>([
    ['another version', { 'Tus-Resumable': '0.2.2' }, 412, 'PreconditionFailed'],
    ['a part of an upload', { 'Upload-Concat': 'partial' }, 400, 'InvalidArgument'],
    ['no length', { 'Upload-Length': '' }, 400, 'InvalidArgument'],
    ['a negative length', { 'Upload-Length': '-1' }, 400, 'InvalidArgument'],
    ['a length above the maximum', { 'Upload-Length': '99999999999999' }, 413, 'EntityTooLarge'],
    ['no path', { 'Upload-Metadata': 'other eA==' }, 400, 'InvalidPath'],
    ['a path not in base64', { 'Upload-Metadata': 'path x!' }, 400, 'InvalidArgument'],
    ['long metadata', { 'Upload-Metadata': `x ${'A'.repeat(4_096)}` }, 400, 'InvalidArgument'],
    ['a NUL in the metadata', { 'Upload-Metadata': 'path eA==,x\0y eA==' }, 400, 'InvalidArgument'],
    ['a path outside', metadata({ path: '../x' }), 400, 'InvalidPath'],
    [
      'If-None-Match of a file',
      { ...metadata({ path: 'old' }), 'If-None-Match': '*' },
      412,
      'PreconditionFailed',
    ],
  ])('refuses %s', (_, fields, status, code) => {
    putTestFile(scene.stores, { path: 'old' });
    refused(creation(3, { ...metadata({ path: 'a' }), ...fields }), status, code);
  });

  test('refuses paths outside the prefix of the key', () => {
    const key = makeKey(scene.stores, { permissions: ['write'], prefix: 'inbox/' });
    refused({ ...creation(3, metadata({ path: 'a' })), key }, 403, 'AccessDenied');
  });
});

describe('PATCH /api/v1/tus/{bucket}/{upload}', () => {
  test.each<[string, (url: string) => TusRequest, number, string]>([
    ['an offset below', (url) => patch(url, 1, Uint8Array.of(1)), 409, 'OffsetMismatch'],
    [
      'no offset',
      (url) => patch(url, 2, Uint8Array.of(1), { 'Upload-Offset': '' }),
      400,
      'InvalidArgument',
    ],
    [
      'another type',
      (url) => patch(url, 2, Uint8Array.of(1), { 'Content-Type': 'text/plain' }),
      415,
      'UnsupportedMediaType',
    ],
    [
      'another version',
      (url) => patch(url, 2, Uint8Array.of(1), { 'Tus-Resumable': '2' }),
      412,
      'PreconditionFailed',
    ],
    ['too many bytes', (url) => patch(url, 2, testBytes(9)), 413, 'EntityTooLarge'],
    [
      'an unknown upload',
      () => patch(`${root}/${'0'.repeat(32)}`, 2, testBytes(1)),
      404,
      'NoSuchUpload',
    ],
    [
      'an unknown checksum',
      (url) => patch(url, 2, testBytes(1), { 'Upload-Checksum': 'md5 eA==' }),
      400,
      'InvalidArgument',
    ],
  ])('refuses %s and stores nothing', (_, ask, status, code) => {
    const url = create(10);
    send(scene.stores, tus(patch(url, 0, testBytes(2))));
    const before = scene.stores.writeCount();
    refused(ask(url), status, code);
    expect(scene.stores.writeCount()).toBe(before);
    expect(offsetOf(url)).toBe(2);
  });

  test('asks for an update at an offset above, which a node that lags does not know', () => {
    const url = create(10);
    const above = tus(patch(url, 3, testBytes(1)));
    expect(exchange(scene.stores, { ...above, phase: 'query' })).toBe(upgrade);
    sendRefused(scene.stores, above, { status: 409, code: 'OffsetMismatch' });
  });

  test('refuses the last bytes of a faulty _redirects of a site, and keeps the upload', () => {
    updateBucket(scene.stores, callOf('alice'), bucketChange({ isSite: true }));
    const text = Buffer.from('/a /b 301\n/c nowhere 999\n');
    const url = create(text.length, metadata({ path: '_redirects' }));
    send(scene.stores, tus(patch(url, 0, text.subarray(0, 4))));
    refused(patch(url, 4, text.subarray(4)), 400, 'InvalidArgument');
    expect(offsetOf(url)).toBe(4);
    const notes = { ...metadata({ path: '_redirects' }), 'Content-Type': bytesType };
    const before = scene.stores.writeCount();
    refused({ ...creation(text.length, notes), body: text }, 400, 'InvalidArgument');
    expect(scene.stores.writeCount()).toBe(before);
  });

  test.each(['sha1', 'sha256'])('refuses with 460 bytes without the declared %s', (name) => {
    const url = create(5);
    const declared = (text: string) => ({
      'Upload-Checksum': `${name} ${createHash(name).update(text).digest('base64')}`,
    });
    const bytes = Buffer.from('hello');
    refused(patch(url, 0, bytes, declared('hellO')), 460, 'ChecksumMismatch');
    expect(
      exchange(scene.stores, { ...tus(patch(url, 0, bytes, declared('hello'))), phase: 'query' }),
    ).toBe(upgrade);
  });

  test('keeps the old file and the upload if the file may not be replaced any more', () => {
    const url = create(3, { ...metadata({ path: 'a' }), 'If-None-Match': '*' });
    send(scene.stores, tus(patch(url, 0, testBytes(2))));
    putTestFile(scene.stores, { path: 'a', bytes: new Uint8Array(Buffer.from('other')) });
    refused(patch(url, 2, testBytes(1)), 412, 'PreconditionFailed');
    expect(offsetOf(url)).toBe(2);
    expect(stored('a').toString()).toBe('other');
  });

  test('refuses an upload that was begun for chunks, whose chunks a tus upload refuses', () => {
    const headers = { Authorization: `Bearer ${scene.writeKey}` };
    const body = new Uint8Array(Buffer.from('{"path":"a","size":3}'));
    const start = '/api/v1/bucket/box/upload/start';
    const begun = send(scene.stores, {
      method: 'POST',
      url: start,
      headers,
      body,
      phase: 'update',
    });
    const { uploadId } = JSON.parse(Buffer.from(begun.body).toString());
    refused(patch(`${root}/${uploadId}`, 0, testBytes(3)), 400, 'InvalidArgument');
    const chunk = create(3).replace(root, '/api/v1/bucket/box/upload');
    const put = { method: 'PUT', url: `${chunk}/chunk/0`, headers, body: testBytes(3) };
    sendRefused(scene.stores, put, { status: 400, code: 'InvalidArgument' });
  });

  test('stores the same file however the bytes are divided', () => {
    const lengths = fc.array(fc.nat({ max: 150_000 }), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(lengths, (parts) => {
        const size = parts.reduce((sum, length) => sum + length, 0);
        const bytes = Buffer.from(testBytes(size, size));
        const url = create(size);
        let offset = 0;
        for (const length of parts) {
          if (offset === size) break;
          const next = patch(url, offset, bytes.subarray(offset, offset + length));
          offset += length;
          expect(
            headersOf(
              send(scene.stores, length === 0 ? { ...tus(next), phase: 'query' } : tus(next)),
            )['upload-offset'],
          ).toBe(String(offset));
        }
        expect(stored('a.bin').equals(bytes)).toBe(true);
        checkInvariants(scene.stores);
      }),
      { numRuns: 25 },
    );
  });

  test.each([
    [1_900_000, 2],
    [2_000_000, 1],
    [1_000_001, 3],
    [1_999_999, 2],
    [65_535, 2],
  ])('stores requests of %i bytes, %i of them, and a shorter one', (length, count) => {
    const size = length * count + 7;
    const bytes = Buffer.from(testBytes(size));
    const url = create(size);
    for (let offset = 0; offset < size; offset += length) {
      send(scene.stores, tus(patch(url, offset, bytes.subarray(offset, offset + length))));
    }
    expect(stored('a.bin').equals(bytes)).toBe(true);
    checkInvariants(scene.stores);
  });

  test('refuses more than 2,000,000 bytes with the limit', () => {
    const url = create(3_000_000);
    refused(patch(url, 0, testBytes(2_000_001)), 413, 'EntityTooLarge');
  });
});

describe('DELETE /api/v1/tus/{bucket}/{upload}', () => {
  test('ends the upload: it is gone afterwards, as after a day without bytes', () => {
    const url = create(10);
    const remove = { method: 'DELETE', url };
    expect(exchange(scene.stores, { ...tus(remove), phase: 'query' })).toBe(upgrade);
    headersAfter(send(scene.stores, tus(remove)), 204);
    expect(send(scene.stores, tus({ method: 'HEAD', url })).status).toBe(410);
    refused(remove, 410, 'UploadCancelled');
    refused(patch(url, 0, testBytes(1)), 410, 'UploadCancelled');
    const idle = create(10);
    const nowNs = startNs + 25n * hourNs;
    expect(send(scene.stores, tus({ method: 'HEAD', url: idle, nowNs })).status).toBe(410);
    while (expireUploads(scene.stores, nowNs));
    checkInvariants(scene.stores);
  });

  test('works by POST with X-HTTP-Method-Override, as PATCH does', () => {
    const url = create(3);
    const fields = { ...patch(url, 0, testBytes(1)).fields, 'X-HTTP-Method-Override': 'PATCH' };
    headersAfter(send(scene.stores, tus({ method: 'POST', url, fields, body: testBytes(1) })), 204);
    expect(offsetOf(url)).toBe(1);
    const remove = { 'X-HTTP-Method-Override': 'DELETE' };
    headersAfter(send(scene.stores, tus({ method: 'POST', url, fields: remove })), 204);
    refused({ method: 'POST', url }, 405, 'MethodNotAllowed');
  });
});

describe('OPTIONS /api/v1/tus/{bucket}', () => {
  test('answers with the version, the extensions and the maximum, without a key', () => {
    const headers = headersOf(send(scene.stores, { method: 'OPTIONS', url: root }));
    expect(headers).toMatchObject({
      'tus-resumable': '1.0.0',
      'tus-version': '1.0.0',
      'tus-extension': 'creation,creation-with-upload,termination,checksum,expiration',
      'tus-checksum-algorithm': 'sha1,sha256',
      'access-control-allow-origin': '*',
    });
    expect(Number(headers['tus-max-size'])).toBeGreaterThan(10 ** 10);
  });
});
