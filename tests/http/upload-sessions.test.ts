import { beforeEach, describe, expect, test } from 'vitest';
import { sha256 } from '../../src/crypto/hash.ts';
import { expireUploads } from '../../src/domain/uploads/upload-end.ts';
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
  refusedInBoth,
  send,
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
  refusedInBoth(scene.stores, sent, { status, code });
}

/** Returns one request of each kind that names a session; the chunk has one byte. */
function requests(session: string, nowNs = startNs, key?: string): TestRequest[] {
  const body = Uint8Array.of(1);
  return [
    { method: 'GET', url: session },
    { method: 'DELETE', url: session },
    { method: 'PUT', url: `${session}/chunk/0`, body },
    { method: 'POST', url: `${session}/complete` },
  ].map((sent) => signed({ ...sent, nowNs }, key));
}

describe('POST /api/v1/bucket/{bucket}/upload/start: an upload session', () => {
  test('is not changed by a query: DELETE and PUT of a chunk answer upgrade', () => {
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

  test('answers 200 and the same session if it is started again with its token', () => {
    const body = new Uint8Array(Buffer.from('{"path":"a","size":1,"token":"T"}'));
    const ask = signed({ method: 'POST', url: `${root}/start`, body });
    expect(exchange(scene.stores, { ...ask, phase: 'query' })).toBe(upgrade);
    const begun = send(scene.stores, ask);
    expect(begun.status).toBe(201);
    const later = { ...ask, nowNs: startNs + 1n };
    const location = ['Location', `${root}/${JSON.parse(bodyText(begun)).sessionId}`];
    for (const phase of ['query', 'update'] as const) {
      const repeated = send(scene.stores, { ...later, phase });
      expect(repeated).toMatchObject({ status: 200, body: begun.body });
      expect(repeated.headers).toContainEqual(location);
    }
    checkInvariants(scene.stores);
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

  test('that a principal began cannot be used with keys', () => {
    const { uploadId } = begin(scene.stores, callOf('alice'), { size: 1n });
    for (const sent of requests(`${root}/${uploadId}`)) refusal(sent, 403, 'AccessDenied');
  });

  test('requires a key that may write', () => {
    const session = start({ path: 'a', size: 1 });
    for (const sent of requests(session, startNs, scene.readKey)) {
      refusal(sent, 403, 'AccessDenied');
    }
  });

  test('is expired after 24 hours, before and after its space is released, and later unknown', () => {
    const session = start({ path: 'a', size: 1 });
    const late = startNs + 24n * hourNs;
    for (const sent of requests(session, late)) refusal(sent, 410, 'UploadExpired');
    expireUploads(scene.stores, late);
    expect(scene.stores.blobs.bytesInUse()).toBe(0);
    for (const sent of requests(session, late)) refusal(sent, 410, 'UploadExpired');
    expireUploads(scene.stores, late + 24n * hourNs);
    for (const sent of requests(session, late)) refusal(sent, 404, 'NoSuchUpload');
  });

  test('answers a repeated completion with a valid key and writes nothing, also after the file was replaced', () => {
    const key = makeKey(scene.stores);
    const session = start({ path: 'a', size: 1, headers: { 'Content-Language': 'de' } }, key);
    const [, , chunk, complete] = requests(session, startNs, key);
    send(scene.stores, chunk ?? expect.fail());
    const first = send(scene.stores, complete ?? expect.fail());
    expect(first.status).toBe(201);
    putTestFile(scene.stores, { path: '/a', bytes: testBytes(5) });
    const before = scene.stores.writeCount();
    const nowNs = startNs + 23n * hourNs;
    const repetition = { method: 'POST', url: `${session}/complete`, nowNs };
    const again = send(scene.stores, signed(repetition));
    expect([again.status, bodyText(again)]).toEqual([200, bodyText(first)]);
    expect(scene.stores.writeCount()).toBe(before);
    refusal(repetition, 401, 'Unauthorized');
    revokeKeyRecord(scene.stores, sha256(new Uint8Array(Buffer.from(key))));
    const { headers } = signed({ url: '' }, key);
    refusal({ ...repetition, headers: headers ?? {} }, 401, 'InvalidApiKey');
    checkInvariants(scene.stores);
  });
});

describe('POST /api/v1/bucket/{bucket}/upload/start: preconditions of an upload session', () => {
  const newer = new Uint8Array(5).fill(7);

  test('are refused if they are blank', () => {
    for (const field of ['ifMatch', 'ifNoneMatch']) {
      for (const blank of ['', ' ']) {
        const fields = { path: 'a', size: 1, [field]: blank };
        const body = new Uint8Array(Buffer.from(JSON.stringify(fields)));
        const sent = signed({ method: 'POST', url: `${root}/start`, body });
        refusal(sent, 400, 'InvalidArgument');
      }
    }
  });

  test('are checked if the completion has them, and a failure keeps the file and the session', () => {
    putTestFile(scene.stores, { path: '/a' });
    const url = start({ path: 'a', size: 5 });
    send(scene.stores, signed({ method: 'PUT', url: `${url}/chunk/0`, body: newer }));
    const complete = (name: string, value: string) => {
      const { headers } = signed({ url: '' });
      return { method: 'POST', url: `${url}/complete`, headers: { ...headers, [name]: value } };
    };
    refusal(complete('If-Match', '"nope"'), 412, 'PreconditionFailed');
    refusal(complete('If-None-Match', '*'), 412, 'PreconditionFailed');
    const old = 'Thu, 01 Jan 2009 00:00:00 GMT';
    refusal(complete('If-Unmodified-Since', old), 412, 'PreconditionFailed');
    const done = send(scene.stores, { ...complete('If-Match', '*'), phase: 'update' });
    expect(done.status).toBe(200);
  });
});

test('POST /api/v1/bucket/{bucket}/upload/{sessionId}/complete can add metadata', () => {
  const url = start({ path: 'a', size: 0, metadata: { by: 'me', mtime: '1' } });
  const complete = (metadata: unknown) => {
    const body = new Uint8Array(Buffer.from(JSON.stringify({ metadata })));
    return signed({ method: 'POST', url: `${url}/complete`, body });
  };
  refusal(complete(['a']), 400, 'InvalidArgument');
  refusal(complete({ 'a b': '' }), 400, 'InvalidArgument');
  const done = send(scene.stores, { ...complete({ mtime: '2' }), phase: 'update' });
  expect(JSON.parse(bodyText(done))).toMatchObject({ metadata: { by: 'me', mtime: '2' } });
});

describe('PUT /api/v1/bucket/{bucket}/...: a partial body', () => {
  test.each(['/api/v1/bucket/box/files/a', 'chunk'])(
    'is refused: PUT %s with Content-Range',
    (at) => {
      putTestFile(scene.stores, { path: '/a' });
      const url = at === 'chunk' ? `${start({ path: 'b', size: 2 })}/chunk/0` : at;
      const { headers } = signed({ url });
      const named = { ...headers, 'Content-Type': 'a/b', 'Content-Range': 'bytes 8-9/10' };
      refusal(
        { method: 'PUT', url, headers: named, body: new Uint8Array(2) },
        400,
        'InvalidArgument',
      );
    },
  );
});
