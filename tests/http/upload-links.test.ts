// Upload links: addresses by which whoever has them adds files, without an API key.

import { beforeEach, describe, expect, test } from 'vitest';
import {
  createKey,
  listKeys,
  revokeKey,
  withdrawKeys,
} from '../../src/domain/administration/api-key-administration.ts';
import { updateBucket } from '../../src/domain/administration/bucket-administration.ts';
import { createUploadLink, listUploadLinks } from '../../src/domain/administration/upload-links.ts';
import { secretHash } from '../../src/domain/rights/api-key-secrets.ts';
import { keyId } from '../../src/domain/rights/api-keys.ts';
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
import { formBody } from '../support/forms.ts';
import {
  bodyText,
  exchange,
  headersOf,
  json,
  send,
  sendRefused,
  type TestRequest,
} from '../support/http-fixture.ts';
import { checkInvariants } from '../support/invariants.ts';

let scene: Scene;
const links = '/api/v1/bucket/box/upload-links';

beforeEach(async () => {
  scene = await createScene();
});

function signed(sent: TestRequest, key = scene.writeKey): TestRequest {
  return { phase: 'update', headers: { Authorization: `Bearer ${key}` }, ...sent };
}

interface MadeLink {
  readonly id: string;
  readonly putUrl: string;
  readonly formUrl: string;
  readonly tusUrl: string;
}

function createLink(fields: object, key?: string): MadeLink {
  const sent = signed({ method: 'POST', url: links, body: json(fields) }, key);
  expect(exchange(scene.stores, { ...sent, phase: 'query' })).toBe(upgrade);
  const response = send(scene.stores, sent);
  expect(response.status).toBe(201);
  return JSON.parse(bodyText(response));
}

function put(url: string, bytes: Uint8Array = testBytes(3), nowNs = startNs): TestRequest {
  const headers = { 'Content-Type': 'a/b' };
  return { method: 'PUT', url, body: bytes, headers, phase: 'update', nowNs };
}

function form(url: string, fields: Parameters<typeof formBody>[0]): TestRequest {
  const headers = { 'Content-Type': 'multipart/form-data; boundary=b' };
  return { method: 'POST', url, body: formBody(fields, 'b'), headers, phase: 'update' };
}

/** Creates a tus upload of three bytes of a file with that name. */
function creation(url: string, filename = 'a', fields: object = {}): TestRequest {
  const metadata = { 'Upload-Length': '3', 'Upload-Metadata': `filename ${btoa(filename)}` };
  const headers = { 'Tus-Resumable': '1.0.0', ...metadata, ...fields };
  return { method: 'POST', url, headers, phase: 'update' };
}

function refused(sent: TestRequest, status: number, code: string): void {
  for (const phase of ['query', 'update'] as const) {
    sendRefused(scene.stores, { ...sent, phase }, { status, code });
  }
}

function listed(key?: string): { id: string; fileCount?: number }[] {
  const { phase: _, ...sent } = signed({ url: links }, key);
  return JSON.parse(bodyText(send(scene.stores, sent))).items;
}

describe('PUT /api/v1/bucket/{bucket}/files/{path}?upload=', () => {
  test('stores the one file of a link for a path, once, and never replaces a file', () => {
    const link = createLink({ path: 'photos/ä 1.jpg' });
    expect(link.putUrl).toMatch(
      /^\/api\/v1\/bucket\/box\/files\/photos\/%C3%A4%201\.jpg\?upload=efu_/,
    );
    expect(exchange(scene.stores, { ...put(link.putUrl), phase: 'query' })).toBe(upgrade);
    expect(send(scene.stores, put(link.putUrl)).status).toBe(201);
    expect(listed()[0]).toMatchObject({ id: link.id, maxFiles: 1, fileCount: 1 });
    refused(put(link.putUrl), 507, 'QuotaExceeded');
    const taken = createLink({ path: 'taken' });
    putTestFile(scene.stores, { path: 'taken' });
    refused(put(taken.putUrl), 412, 'PreconditionFailed');
    checkInvariants(scene.stores);
  });

  test('stores files below the prefix, as many as the link allows', () => {
    const { putUrl } = createLink({ prefix: 'in/', maxFiles: 2, maxFileBytes: 3 });
    const at = (name: string) => putUrl.replace('{name}', name);
    refused(put(at('big'), testBytes(4)), 413, 'EntityTooLarge');
    for (const name of ['a', 'b']) expect(send(scene.stores, put(at(name))).status).toBe(201);
    refused(put(at('c')), 507, 'QuotaExceeded');
    refused(put(putUrl.replace('in/{name}', 'out/a')), 403, 'AccessDenied');
  });

  test.each<[string, (url: string) => TestRequest]>([
    ['GET of a file', (url) => ({ url: url.replace('{name}', 'a') })],
    ['DELETE', (url) => ({ method: 'DELETE', url: url.replace('{name}', 'a') })],
    [
      'PATCH',
      (url) => ({ method: 'PATCH', url: url.replace('{name}', 'a'), body: json({ tags: [] }) }),
    ],
    ['a list', (url) => ({ url: url.replace('/in/{name}', '') })],
    [
      'another link',
      (url) => ({
        method: 'POST',
        url: url.replace('files/in/{name}', 'upload-links'),
        body: json({ prefix: 'in/' }),
      }),
    ],
    ['another bucket', (url) => put(url.replace('/box/', '/other/').replace('{name}', 'a'))],
  ])('refuses %s', (_, request) => {
    putTestFile(scene.stores, { path: 'in/a' });
    refused(request(createLink({ prefix: 'in/', maxFiles: 0 }).putUrl), 403, 'AccessDenied');
  });

  test('refuses an API key in the URL, and says why', () => {
    const url = `/api/v1/bucket/box/files/a?upload=${scene.writeKey}`;
    refused(put(url), 401, 'InvalidApiKey');
  });
});

describe('POST /api/v1/bucket/{bucket}/files?upload=', () => {
  test('stores files of a form by their names, and ignores other fields', () => {
    const { formUrl } = createLink({ prefix: 'in/', maxFiles: 0 });
    const fields = [
      { name: 'name', text: 'photo.png' },
      { name: 'file', filename: 'photo.png', text: 'png' },
      { name: 'filepond', filename: 'b c.txt', text: 'text' },
    ];
    const response = send(scene.stores, form(formUrl, fields));
    expect(response.status).toBe(200);
    const paths = JSON.parse(bodyText(response)).items.map(({ path }: { path: string }) => path);
    expect(paths).toEqual(['in/photo.png', 'in/b c.txt']);
  });

  test('refuses a form without a file, and names that leave the prefix', () => {
    const { formUrl } = createLink({ prefix: 'in/', maxFiles: 0 });
    refused(form(formUrl, [{ name: 'file', text: 'x' }]), 400, 'InvalidArgument');
    const outside = [{ name: 'file', filename: '../out', text: 'x' }];
    refused(form(formUrl, outside), 400, 'InvalidPath');
    expect(send(scene.stores, form(createLink({ path: 'one' }).formUrl, outside)).status).toBe(200);
  });
});

describe('POST /api/v1/tus/{bucket}?upload=', () => {
  const patch = (url: string): TestRequest => ({
    method: 'PATCH',
    url,
    headers: {
      'Tus-Resumable': '1.0.0',
      'Upload-Offset': '0',
      'Content-Type': 'application/offset+octet-stream',
    },
    body: testBytes(3),
    phase: 'update',
  });

  test('names the file below the prefix, and gives the upload an address with the secret', () => {
    const { tusUrl } = createLink({ prefix: 'in/', maxFiles: 1 });
    const [first = '', second = ''] = ['a.bin', 'b.bin'].map(
      (name) => headersOf(send(scene.stores, creation(tusUrl, name))).location,
    );
    expect(first).toContain('?upload=efu_');
    const done = headersOf(send(scene.stores, patch(first)));
    expect(done['content-location']).toBe('/cloud/box/in/a.bin');
    // A link for one file can have two open uploads, of which the first to end is stored
    refused(patch(second), 507, 'QuotaExceeded');
    const head = { method: 'HEAD', url: first, headers: { 'Tus-Resumable': '1.0.0' } };
    expect(headersOf(send(scene.stores, head))['upload-offset']).toBe('3');
    checkInvariants(scene.stores);
  });

  test('uses the path of the link, whatever the file is called', () => {
    const { tusUrl } = createLink({ path: 'avatars/me' });
    const { location = '' } = headersOf(send(scene.stores, creation(tusUrl, 'x.png')));
    expect(headersOf(send(scene.stores, patch(location)))['content-location']).toBe(
      '/cloud/box/avatars/me',
    );
  });
});

describe('DELETE /api/v1/bucket/{bucket}/upload-links/{id}: an upload link ends', () => {
  test('with its time, and a later creation deletes its record', () => {
    const { putUrl } = createLink({ path: 'a', expiresAt: '2026-01-02T04:04:05Z' });
    expect(send(scene.stores, put(putUrl, testBytes(1), startNs + hourNs / 2n)).status).toBe(201);
    const late = createLink({ path: 'b' });
    refused(put(late.putUrl, testBytes(1), startNs + 25n * hourNs), 401, 'InvalidApiKey');
    const stored = scene.stores.apiKeys.entries().length;
    const order = { bucket: 'box', prefix: '', apiKey: scene.writeKey };
    createUploadLink(scene.stores, callOf('anonymous', startNs + 30n * hourNs), order);
    expect(scene.stores.apiKeys.entries().length).toBe(stored - 1);
  });

  test('when it is deleted, by its creator, an owner, or a key that may delete', () => {
    const maker = makeKey(scene.stores, { permissions: ['upload'] });
    const other = makeKey(scene.stores, { permissions: ['upload'] });
    const link = createLink({ path: 'a' }, maker);
    expect([listed(maker).length, listed(other).length, listed().length]).toEqual([1, 0, 1]);
    const remove = (key: string) => signed({ method: 'DELETE', url: `${links}/${link.id}` }, key);
    refused(remove(other), 404, 'NoSuchFile');
    expect(exchange(scene.stores, { ...remove(maker), phase: 'query' })).toBe(upgrade);
    expect(send(scene.stores, remove(maker)).status).toBe(204);
    refused(put(link.putUrl), 401, 'InvalidApiKey');
    expect(listed(maker)).toEqual([]);
  });

  test('with the key that created it, which deletes its record', () => {
    const maker = makeKey(scene.stores, { permissions: ['write'] });
    const { putUrl } = createLink({ path: 'a' }, maker);
    const stored = scene.stores.apiKeys.entries().length;
    revokeKey(scene.stores, callOf('alice'), keyId(secretHash(maker)));
    refused(put(putUrl), 401, 'InvalidApiKey');
    expect(scene.stores.apiKeys.entries().length).toBe(stored - 1);
    checkInvariants(scene.stores);
  });

  test('when its creator is no longer a writer', () => {
    const writer = { principal: callOf('bob').caller.principal, role: 'writer' };
    updateBucket(scene.stores, callOf('alice'), bucketChange({ addMembers: [writer] }));
    const order = { bucket: 'box', path: 'a', apiKey: undefined };
    const { secret } = createUploadLink(scene.stores, callOf('bob'), order);
    const url = `/api/v1/bucket/box/files/a?upload=${secret}`;
    expect(exchange(scene.stores, { ...put(url), phase: 'query' })).toBe(upgrade);
    const { principal } = writer;
    updateBucket(scene.stores, callOf('alice'), bucketChange({ removeMembers: [principal] }));
    refused(put(url), 401, 'InvalidApiKey');
    withdrawKeys(scene.stores, callOf('alice'), { bucketId: 'box' });
  });
});

describe('POST /api/v1/tus/{bucket}?upload=: room for others', () => {
  test('a link has one open upload more than files left, and links leave places free', () => {
    const { tusUrl } = createLink({ prefix: 'in/', maxFiles: 1 });
    for (let count = 0; count < 2; count++) {
      expect(send(scene.stores, creation(tusUrl)).status).toBe(201);
    }
    refused(creation(tusUrl), 429, 'SlowDown');
    for (let link = 0; link < 5; link++) {
      const { tusUrl: next } = createLink({ prefix: 'in/', maxFiles: 0 });
      for (let count = 0; count < 11; count++) send(scene.stores, creation(next));
    }
    expect(openUploads()).toBe(40);
    expect(send(scene.stores, creation('/api/v1/tus/box', 'a', authorized())).status).toBe(201);
  });

  const authorized = () => ({ Authorization: `Bearer ${scene.writeKey}` });
  const openUploads = () => {
    const url = '/api/v1/bucket/box/upload';
    return JSON.parse(bodyText(send(scene.stores, { url, headers: authorized() }))).total;
  };

  test('a link of a key without limits has the usual limits of a key that cannot read', () => {
    const { id } = createLink({ path: 'a' });
    const { items } = listUploadLinks(scene.stores, callOf('alice'), {
      bucket: 'box',
      apiKey: undefined,
    });
    const link = items.find((one) => one.id === id);
    expect(link?.budget).toEqual({ updatesPerHour: 2_000, bytesPerHour: 2_000_000_000 });
  });

  test('If-Match does not tell the content of a file that the link may not read', () => {
    putTestFile(scene.stores, { path: 'in/a' });
    const { tusUrl } = createLink({ prefix: 'in/' });
    for (const tag of ['"00"', '*']) {
      refused(creation(tusUrl, 'a', { 'If-Match': tag }), 412, 'PreconditionFailed');
      const response = send(scene.stores, creation(tusUrl, 'a', { 'If-Match': tag }));
      expect(bodyText(response)).toContain('can only add files');
    }
  });
});

describe('POST /api/v1/bucket/{bucket}/upload-links', () => {
  test.each<[string, object, number, string]>([
    ['neither path nor prefix', {}, 400, 'InvalidArgument'],
    ['both', { path: 'a', prefix: 'b' }, 400, 'InvalidArgument'],
    ['a path that no file can have', { path: '../a' }, 400, 'InvalidPath'],
    [
      'a time in the past',
      { path: 'a', expiresAt: '2020-01-31T12:00:00Z' },
      400,
      'InvalidArgument',
    ],
    [
      'a time after more than a year',
      { path: 'a', expiresAt: '2030-01-31T12:00:00Z' },
      400,
      'InvalidArgument',
    ],
  ])('refuses %s', (_, fields, status, code) => {
    refused(signed({ method: 'POST', url: links, body: json(fields) }), status, code);
  });

  test('refuses keys that may not upload, and paths outside the prefix of the key', () => {
    const sent = { method: 'POST', url: links, body: json({ path: 'a' }) };
    refused(signed(sent, scene.readKey), 403, 'AccessDenied');
    const key = makeKey(scene.stores, { permissions: ['upload'], prefix: 'in/' });
    refused(signed(sent, key), 403, 'AccessDenied');
    const wide = { ...sent, body: json({ prefix: '' }) };
    refused(signed(wide, key), 403, 'AccessDenied');
  });
});

describe('PUT /api/v1/bucket/{bucket}/files/{path} by an API key with `upload`', () => {
  test('adds files and replaces none', () => {
    const key = makeKey(scene.stores, { permissions: ['upload'] });
    const sent = signed(put('/api/v1/bucket/box/files/a'), key);
    const headers = { ...sent.headers, Authorization: `Bearer ${key}`, 'Content-Type': 'a/b' };
    expect(send(scene.stores, { ...sent, headers }).status).toBe(201);
    refused({ ...sent, headers }, 412, 'PreconditionFailed');
  });

  test('stores as many files, and as large ones, as its owner has allowed', () => {
    const request = {
      name: 'box',
      buckets: ['box'],
      permissions: ['upload'],
      expiresAtNs: undefined,
    };
    const limits = { maxFiles: 1n, maxFileBytes: 3n };
    const { secret } = createKey(scene.stores, callOf('alice'), { ...request, ...limits });
    const headers = { Authorization: `Bearer ${secret}`, 'Content-Type': 'a/b' };
    const at = (name: string, length: number) => ({
      ...put(`/api/v1/bucket/box/files/${name}`, testBytes(length)),
      headers,
    });
    refused(at('a', 4), 413, 'EntityTooLarge');
    expect(send(scene.stores, at('a', 3)).status).toBe(201);
    refused(at('b', 3), 507, 'QuotaExceeded');
    const [key] = listKeys(scene.stores, callOf('alice'), 'box').filter(
      ({ name }) => name === 'box',
    );
    expect(key?.bounds).toMatchObject({ filesMax: 1, fileCount: 1, fileBytesMax: 3 });
    const writer = { ...request, permissions: ['write'], maxFiles: 1n };
    const refusal = () => createKey(scene.stores, callOf('alice'), writer);
    expect(refusal).toThrow('maxFileBytes and maxFiles are for keys with upload and without write');
  });
});
