import { beforeEach, describe, expect, test } from 'vitest';
import { findFile } from '../../src/domain/files/file-records.ts';
import { cursorOf } from '../../src/domain/listing/cursors.ts';
import { upgrade } from '../../src/http/router.ts';
import { createScene, makeKey, putTestFile, type Scene } from '../support/domain-fixture.ts';
import { type FormPart, formBody } from '../support/forms.ts';
import {
  bodyText,
  exchange,
  send,
  sendRefused,
  type TestRequest,
} from '../support/http-fixture.ts';
import { checkInvariants } from '../support/invariants.ts';
import { readStored } from '../support/read-files.ts';

let scene: Scene;

beforeEach(async () => {
  scene = await createScene();
});

const boundary = 'X-BOUNDARY';

function formRequest(parts: readonly FormPart[], change: Partial<TestRequest> = {}): TestRequest {
  return {
    method: 'POST',
    url: '/api/v1/bucket/box/files',
    headers: {
      authorization: `Bearer ${scene.writeKey}`,
      'content-type': `multipart/form-data; boundary=${boundary}`,
    },
    body: formBody(parts, boundary),
    ...change,
  };
}

interface Answered {
  readonly status: number;
  readonly error?: { code: string; message: string };
  readonly items: {
    path: string;
    status: number;
    file?: Record<string, unknown>;
    error?: { code: string; message: string };
  }[];
}

/** Posts as a gateway does: a query, then an update if the query asks for one. */
function post(request: TestRequest): Answered {
  const { stores } = scene;
  const before = stores.writeCount();
  const asked = exchange(stores, request);
  expect(stores.writeCount()).toBe(before);
  const response = asked === upgrade ? send(stores, { ...request, phase: 'update' }) : asked;
  if (asked !== upgrade) {
    expect(send(stores, { ...request, phase: 'update' })).toEqual(response);
    expect(stores.writeCount(), 'writes of a refused form').toBe(before);
  }
  return { status: response.status, ...JSON.parse(bodyText(response)) };
}

describe('POST /api/v1/bucket/{bucket}/files: form', () => {
  test('stores each part as a file, and reports each', () => {
    const { stores } = scene;
    putTestFile(stores, { path: 'old.css' });
    const { status, items, error } = post(
      formRequest([
        { name: 'dir/a.txt', text: 'hello', type: 'text/x-told', filename: 'c:\\x"; name="y' },
        { name: 'old.css', text: '' },
        {
          name: '/ä b/ü.bin',
          text: '\r\n--X-BOUNDARX\r\n\r\n',
          fields: { 'X-File-Tags': 'one, two', 'X-File-Metadata': '{"by":"ü"}' },
        },
        { name: 'none', text: 'x', fields: { 'cache-control': 'no-cache' } },
      ]),
    );
    expect([status, error]).toEqual([200, undefined]);
    expect(items.map((item) => [item.path, item.status, item.file?.contentType])).toEqual([
      ['dir/a.txt', 201, 'text/x-told'],
      ['old.css', 200, 'text/css'],
      ['/ä b/ü.bin', 201, 'application/octet-stream'],
      ['none', 201, 'application/octet-stream'],
    ]);
    const noted = { tags: ['one', 'two'], metadata: { by: 'ü' } };
    expect(items[2]?.file).toMatchObject({ path: 'ä b/ü.bin', size: 18, ...noted });
    const stored = findFile(stores, 'box', 'ä b/ü.bin') ?? expect.fail('no file');
    const bytes = readStored(stores, stored, { start: 0, end: stored.size });
    expect(Buffer.from(bytes).toString()).toBe('\r\n--X-BOUNDARX\r\n\r\n');
    expect(findFile(stores, 'box', 'none')?.headers[0]).toBe('no-cache');
    checkInvariants(stores);
  });

  test('stores no file if one part is refused, and returns the first error with an item for each part', () => {
    const { status, error, items } = post(
      formRequest([
        { name: 'a', text: 'a' },
        { name: 'b/../c', text: 'b' },
        { name: 'd', text: 'd', fields: { 'If-Match': '*' } },
      ]),
    );
    expect([status, error?.code]).toEqual([400, 'InvalidPath']);
    expect(error?.message).toContain('None of the files is stored. "b/../c": ');
    expect(items.map((item) => [item.path, item.status, item.error?.code])).toEqual([
      ['a', 424, 'NotStored'],
      ['b/../c', 400, 'InvalidPath'],
      ['d', 412, 'PreconditionFailed'],
    ]);
  });

  test('checks the digest of a part only in the update', () => {
    const digest = 'sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:';
    const fields = { 'Content-Digest': digest };
    expect(post(formRequest([{ name: 'a', text: '', fields }])).status).toBe(200);
    const { status, error } = post(formRequest([{ name: 'a', text: 'x', fields }]));
    expect([status, error?.code]).toEqual([400, 'BadDigest']);
  });

  test.each([
    ['no key', { headers: {} }, 401, 'Unauthorized'],
    ['no form', { 'content-type': 'application/json' }, 400, 'InvalidContentType'],
    ['no boundary', { 'content-type': 'multipart/form-data' }, 400, 'InvalidContentType'],
    [
      'a boundary of 71 characters',
      { 'content-type': `multipart/form-data; boundary=${'b'.repeat(71)}` },
      400,
      'InvalidContentType',
    ],
    [
      'another boundary',
      { 'content-type': 'multipart/form-data; boundary=other' },
      400,
      'InvalidArgument',
    ],
  ])('refuses a request with %s', (_, change, status, code) => {
    const request = formRequest([{ name: 'a', text: 'a' }]);
    const headers = 'headers' in change ? {} : { ...request.headers, ...change };
    sendRefused(
      scene.stores,
      { ...request, headers: headers as Record<string, string> },
      { status, code },
    );
  });

  test('does not read the form of a key that may not write', () => {
    const apiKey = makeKey(scene.stores, { permissions: ['read', 'delete'] });
    const headers = { authorization: `Bearer ${apiKey}` };
    const request = formRequest([], { headers, body: Buffer.from('nonsense') });
    sendRefused(scene.stores, request, { status: 403, code: 'AccessDenied' });
  });
});

describe('POST /api/v1/bucket/{bucket}/delete: several files', () => {
  function remove(body: object | string, change: Partial<TestRequest> = {}): TestRequest {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    return {
      method: 'POST',
      url: '/api/v1/bucket/box/delete',
      headers: { authorization: `Bearer ${scene.writeKey}` },
      body: Buffer.from(text),
      ...change,
    };
  }

  test('asks for an update, which reports each path', () => {
    const { stores } = scene;
    putTestFile(stores, { path: 'a' });
    expect(exchange(stores, remove({ paths: ['a', 'b'] }))).toBe(upgrade);
    const response = send(stores, remove({ paths: ['a', 'b'] }, { phase: 'update' }));
    expect(response.status).toBe(200);
    expect(JSON.parse(bodyText(response))).toEqual({
      results: [
        { path: 'a', deleted: true },
        {
          path: 'b',
          error: { code: 'NoSuchFile', message: 'File "b" does not exist in bucket box.' },
        },
      ],
      nextCursor: null,
    });
  });

  test('accepts a thousand paths with brackets in them, and a prefix with a cursor', () => {
    const { stores } = scene;
    const paths = Array.from({ length: 1_000 }, (_, index) => `app/[slug]/{${index}}`);
    expect(exchange(stores, remove({ paths }))).toBe(upgrade);
    putTestFile(stores, { path: 'p/1' });
    putTestFile(stores, { path: 'p/2' });
    const response = send(
      stores,
      remove({ prefix: 'p/', cursor: cursorOf(Buffer.from('p/1')) }, { phase: 'update' }),
    );
    expect(JSON.parse(bodyText(response)).results).toEqual([{ path: 'p/2', deleted: true }]);
  });

  test.each([
    ['nothing', {}, 400, 'InvalidArgument'],
    ['no JSON', '[', 400, 'InvalidArgument'],
    ['paths that are not strings', { paths: [1] }, 400, 'InvalidArgument'],
    ['1,001 paths', { paths: Array(1_001).fill('a') }, 400, 'InvalidArgument'],
    ['too many bytes', { paths: ['a'.repeat(98_304)] }, 413, 'EntityTooLarge'],
  ])('refuses %s', (_, body, status, code) => {
    sendRefused(scene.stores, remove(body), { status, code });
  });

  test('requires a key that may delete, before the body is read', () => {
    const apiKey = makeKey(scene.stores, { permissions: ['read', 'write'] });
    const headers = { authorization: `Bearer ${apiKey}` };
    sendRefused(scene.stores, remove('nonsense', { headers }), {
      status: 403,
      code: 'AccessDenied',
    });
    sendRefused(scene.stores, remove('{}', { headers: {} }), { status: 401, code: 'Unauthorized' });
  });
});
