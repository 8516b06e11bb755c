// An upload that is begun again with the same token.

import { beforeEach, expect, test } from 'vitest';
import { findBucket } from '../../src/domain/buckets/buckets.ts';
import { cancelUpload, completeUpload } from '../../src/domain/uploads/upload-end.ts';
import { checkUploadRequest, type UploadRequest } from '../../src/domain/uploads/uploads.ts';
import {
  begin,
  callOf,
  createScene,
  expectRefusal,
  hourNs,
  makeKey,
  type Scene,
  startNs,
} from '../support/domain-fixture.ts';
import { checkInvariants } from '../support/invariants.ts';

let scene: Scene;
const alice = callOf('alice');
const token = 'first';

beforeEach(async () => {
  scene = await createScene();
});

test('beginUpload returns the open session of the same token, and writes nothing', () => {
  const { stores, writeKey } = scene;
  const asked = { token, tags: ['t'], metadata: [['by', 'me']] as const, chunkSize: 65_536n };
  for (const who of [{ apiKey: undefined }, { apiKey: writeKey }]) {
    const first = begin(stores, alice, { ...asked, ...who });
    const writes = stores.writeCount();
    expect(begin(stores, alice, { ...asked, ...who })).toEqual(first);
    expect(stores.writeCount()).toBe(writes);
  }
  expect(findBucket(stores, 'box')?.openUploadCount).toBe(2);
  checkInvariants(stores);
});

test('beginUpload returns the open session even if no other session is allowed', () => {
  const { stores } = scene;
  const first = begin(stores, alice, { token });
  for (let count = 1; count < 50; count++)
    begin(stores, alice, { token: `other ${count}`.replace(' ', '-') });
  expectRefusal(stores, 'SlowDown', () => begin(stores, alice));
  expect(begin(stores, alice, { token })).toEqual(first);
});

test.each<[string, Partial<UploadRequest>]>([
  ['path', { path: '/other' }],
  ['size', { size: 251n }],
  ['size', { size: undefined }],
  ['contentType', { contentType: 'a/b' }],
  ['tags', { tags: ['t'] }],
  ['metadata', { metadata: [['by', 'you']] }],
  ['headers', { headers: [['Cache-Control', 'no-store']] }],
  ['chunkSize', { chunkSize: 65_536n }],
  ['sha256', { sha256: 'ab'.repeat(32) }],
  ['ifMatch', { ifMatch: '*' }],
  ['ifNoneMatch', { ifNoneMatch: '"a"' }],
])('beginUpload refuses the same token with another %s', (name, change) => {
  const { stores } = scene;
  begin(stores, alice, { token });
  const again = () => begin(stores, alice, { token, ...change });
  const { message } = expectRefusal(stores, 'InvalidArgument', again);
  expect(message).toContain(`an upload with another ${name}.`);
});

test('beginUpload never returns the session of another caller, key, bucket or interface for the same token', () => {
  const { stores, writeKey } = scene;
  const otherKey = makeKey(stores, { permissions: ['write'] });
  const ids = [
    begin(stores, alice, { token }),
    begin(stores, alice, { token, bucket: 'other' }),
    begin(stores, alice, { token, apiKey: writeKey }),
    begin(stores, callOf('bob'), { token, apiKey: writeKey }),
    begin(stores, callOf('anonymous'), { token, apiKey: writeKey }),
    begin(stores, callOf('anonymous'), { token, apiKey: writeKey, isOverHttp: true }),
    begin(stores, callOf('anonymous'), { token, apiKey: otherKey, isOverHttp: true }),
  ].map(({ uploadId }) => uploadId);
  expect(new Set(ids).size).toBe(ids.length);
  // A caller without the right is refused before the token is looked up.
  expectRefusal(stores, 'AccessDenied', () => begin(stores, callOf('bob'), { token }));
  checkInvariants(stores);
});

test("beginUpload begins a new session once the token's session has ended", () => {
  const { stores } = scene;
  const first = begin(stores, alice, { token, size: 0n });
  cancelUpload(stores, alice, { uploadId: first.uploadId });
  const second = begin(stores, alice, { token, size: 0n });
  completeUpload(stores, alice, { uploadId: second.uploadId, apiKey: undefined });
  const third = begin(stores, alice, { token });
  const later = callOf('alice', startNs + 25n * hourNs);
  const fourth = begin(stores, later, { token, path: '/other' });
  expect(new Set([first, second, third, fourth].map(({ uploadId }) => uploadId)).size).toBe(4);
  expect(begin(stores, later, { token, path: '/other' })).toEqual(fourth);
  checkInvariants(stores);
});

test.each(['', 'a b', 'é', 'a\0', 'x'.repeat(65)])(
  'checkUploadRequest refuses the token %j',
  (wrong) => {
    const { stores } = scene;
    const request = { bucket: 'box', path: 'a', contentType: 'a/b', tags: [], size: 1n };
    const asked = { ...request, apiKey: undefined, token: wrong };
    const check = () => checkUploadRequest(stores, alice, asked);
    expectRefusal(stores, 'InvalidArgument', check);
    expect(check).toThrow('token must have 1 to 64 visible ASCII characters');
  },
);
