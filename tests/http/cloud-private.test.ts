import { beforeEach, expect, test } from 'vitest';
import { findBucket, saveBucket } from '../../src/domain/buckets/buckets.ts';
import { createScene, makeKey, putTestFile, type Scene } from '../support/domain-fixture.ts';
import { bodyText, headersOf, send, sendRefused } from '../support/http-fixture.ts';

let scene: Scene;
const url = '/cloud/box/a';

beforeEach(async () => {
  scene = await createScene();
  const metadata = {
    contentType: 'text/plain',
    tags: [],
    headers: ['public, max-age=99', '', '', ''],
    metadata: [],
  };
  putTestFile(scene.stores, { bytes: Buffer.from('hello'), metadata });
  const box = findBucket(scene.stores, 'box') ?? expect.fail('no bucket');
  saveBucket(scene.stores, { ...box, isPublic: false }, box);
});

test('GET /cloud/{bucket}/{path}: a file of a private bucket requires a key that may read, and is never cached', () => {
  const headers = { Authorization: `Bearer ${scene.readKey}` };
  const response = send(scene.stores, { url, headers });
  expect([response.status, bodyText(response)]).toEqual([200, 'hello']);
  expect(headersOf(response)['cache-control']).toBe('private, no-store');
  const { etag = '' } = headersOf(response);
  const same = send(scene.stores, { url, headers: { ...headers, 'If-None-Match': etag } });
  expect([same.status, headersOf(same)['cache-control']]).toEqual([304, 'private, no-store']);
  const part = send(scene.stores, { url, headers: { ...headers, Range: 'bytes=1-2' } });
  expect([part.status, bodyText(part)]).toEqual([206, 'el']);
});

test('GET /cloud/{bucket}/{path}: a private bucket reveals nothing to others', () => {
  const { stores } = scene;
  const absent = { status: 404, code: 'NoSuchFile' };
  for (const path of [url, '/cloud/box/none']) {
    sendRefused(stores, { url: path }, absent);
    expect(send(stores, { method: 'HEAD', url: path }).status).toBe(404);
    const writeOnly = { Authorization: `Bearer ${makeKey(stores, { permissions: ['write'] })}` };
    const denied = { status: 403, code: 'AccessDenied' };
    sendRefused(stores, { url: path, headers: writeOnly }, denied);
    const wrong = { Authorization: 'Bearer efs_x' };
    sendRefused(stores, { url: path, headers: wrong }, { status: 401, code: 'InvalidApiKey' });
  }
});
