import { beforeEach, describe, expect, test } from 'vitest';
import { sha256 } from '../../src/crypto/hash.ts';
import { expireUploads } from '../../src/domain/upload-end.ts';
import { upgrade } from '../../src/http/router.ts';
import {
  begin,
  callOf,
  createScene,
  hourNs,
  makeKey,
  putTestFile,
  revokeKeyRecord,
  type Scene,
  startNs,
  testBytes,
} from '../support/domain-fixture.ts';
import {
  bodyText,
  exchange,
  send,
  sendRefused,
  type TestRequest,
} from '../support/http-fixture.ts';
import { checkInvariants } from '../support/invariants.ts';

let scene: Scene;
const root = '/api/v1/bucket/box/upload';

beforeEach(async () => {
  scene = await createScene();
});

function signed(sent: TestRequest, key = scene.writeKey): TestRequest {
  return { phase: 'update', headers: { Authorization: `Bearer ${key}` }, ...sent };
}

function start(fields: object, key?: string): string {
  const body = new Uint8Array(Buffer.from(JSON.stringify(fields)));
  const response = send(scene.stores, signed({ method: 'POST', url: `${root}/start`, body }, key));
  expect(response.status).toBe(201);
  return `${root}/${JSON.parse(bodyText(response)).sessionId}`;
}

function refusal(sent: TestRequest, status: number, code: string): void {
  for (const phase of ['query', 'update'] as const) {
    sendRefused(scene.stores, { ...sent, phase }, { status, code });
  }
}

/** Every request that names a session, and a chunk that fits a file of one byte. */
function requests(session: string, nowNs = startNs, key?: string): TestRequest[] {
  const body = Uint8Array.of(1);
  return [
    { method: 'GET', url: session },
    { method: 'DELETE', url: session },
    { method: 'PUT', url: `${session}/chunk/0`, body },
    { method: 'POST', url: `${session}/complete` },
  ].map((sent) => signed({ ...sent, nowNs }, key));
}

describe('an upload session', () => {
  test('is answered with upgrade by a query, which changes nothing', () => {
    const session = start({ path: 'a', size: 1 });
    const before = scene.stores.writeCount();
    const [, remove, chunk] = requests(session).map((sent) => ({
      ...sent,
      phase: 'query' as const,
    }));
    for (const sent of [remove, chunk]) {
      expect(exchange(scene.stores, sent ?? expect.fail())).toBe(upgrade);
    }
    expect(scene.stores.writeCount()).toBe(before);
  });

  test('is unknown under another bucket, also to a key for both', () => {
    const session = start({ path: 'a', size: 1 });
    const both = makeKey(scene.stores, { buckets: ['box', 'other'] });
    const elsewhere = session.replace('/box/', '/other/');
    for (const sent of requests(elsewhere, startNs, both)) {
      const headers = { Authorization: `Bearer ${both}`, 'X-Bucket-Id': 'other' };
      refusal({ ...sent, headers }, 404, 'NoSuchUpload');
    }
  });

  test('that a principal began is not for keys', () => {
    const { uploadId } = begin(scene.stores, callOf('alice'), { size: 1n });
    for (const sent of requests(`${root}/${uploadId}`)) refusal(sent, 403, 'AccessDenied');
  });

  test('needs a key that may write', () => {
    const session = start({ path: 'a', size: 1 });
    for (const sent of requests(session, startNs, scene.readKey)) {
      refusal(sent, 403, 'AccessDenied');
    }
  });

  test('is gone when it has expired, before and after its space is given back', () => {
    const session = start({ path: 'a', size: 1 });
    const late = startNs + 24n * hourNs;
    for (const sent of requests(session, late)) refusal(sent, 410, 'UploadExpired');
    expireUploads(scene.stores, late);
    expect(scene.stores.blobs.bytesInUse()).toBe(0);
    for (const sent of requests(session, late)) refusal(sent, 410, 'UploadExpired');
    expireUploads(scene.stores, late + 24n * hourNs);
    for (const sent of requests(session, late)) refusal(sent, 404, 'NoSuchUpload');
  });

  test('answers its completion again by a query, to whoever knows it, after key and file went', () => {
    const key = makeKey(scene.stores);
    const session = start({ path: 'a', size: 1, headers: { 'Content-Language': 'de' } }, key);
    const [, , chunk, complete] = requests(session, startNs, key);
    send(scene.stores, chunk ?? expect.fail());
    const first = send(scene.stores, complete ?? expect.fail());
    expect(first.status).toBe(201);
    revokeKeyRecord(scene.stores, sha256(new Uint8Array(Buffer.from(key))));
    putTestFile(scene.stores, { path: '/a', bytes: testBytes(5) });
    const before = scene.stores.writeCount();
    const nowNs = startNs + 23n * hourNs;
    const again = send(scene.stores, { method: 'POST', url: `${session}/complete`, nowNs });
    expect([again.status, bodyText(again)]).toEqual([200, bodyText(first)]);
    expect(scene.stores.writeCount()).toBe(before);
    checkInvariants(scene.stores);
  });
});
