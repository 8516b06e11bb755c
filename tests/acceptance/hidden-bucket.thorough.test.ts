// For callers without a right, a private bucket cannot be distinguished from a missing one: status,
// code, message and header fields are the same, by URL and by call, for every request and key.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { keyFor, openPerson, type Person } from '../support/people.ts';
import { exchangeWith, type RawAnswer } from '../support/raw-exchange.ts';
import { openService, type Service } from '../support/service.ts';

let service: Service;
let stranger: Person;
let nobody: Person;
let uploadId: string;
const run = Date.now().toString(36);
const hidden = `hidden${run}`;
const absent = `absent${run}`;
/** Secrets by their description. */
const keys = new Map<string, string | undefined>();

beforeAll(async () => {
  service = await openService();
  const owner = await openPerson(service, 'owner');
  stranger = await openPerson(service, 21);
  nobody = await openPerson(service, 'nobody');
  await owner.get('createBucket', hidden, []);
  const { secret } = await owner.get<{ secret: string }>('createApiKey', keyFor([hidden]));
  const target = `${service.base}/api/v1/bucket/${hidden}`;
  const headers = { Authorization: `Bearer ${secret}`, 'Content-Type': 'text/plain' };
  const put = await fetch(`${target}/files/a.txt`, { method: 'PUT', headers, body: 'x' });
  expect(put.status).toBe(201);
  const body = JSON.stringify({ path: 'b', size: 5, contentType: 'a/b' });
  const started = await fetch(`${target}/upload/start`, { method: 'POST', headers, body });
  ({ sessionId: uploadId } = (await started.json()) as { sessionId: string });
  const ended = await owner.get<{ secret: string; id: string }>('createApiKey', keyFor([hidden]));
  await owner.get('revokeApiKey', ended.id);
  const reader = keyFor([service.bucket], ['read']);
  keys.set('no key', undefined);
  keys.set('an invalid key', 'efs_x');
  keys.set('a revoked key for the bucket', ended.secret);
  keys.set('a key for another bucket', service.apiKey);
  const { secret: reads } = await owner.get<{ secret: string }>('createApiKey', reader);
  keys.set('a key that only reads another bucket', reads);
});

afterAll(() => service?.stop());

/** Removes the bucket's name and the values that differ in every response. */
function comparable({ status, headers, body }: RawAnswer) {
  const { date, 'x-request-id': requestId, 'ic-certificate': proof, ...rest } = headers;
  const text = body.toString().replace(/"requestId":"[^"]*"/, '"requestId":"ID"');
  const shown = `${JSON.stringify(rest)} ${text}`.replaceAll(hidden, 'B').replaceAll(absent, 'B');
  return { status, shown, fields: [date, requestId, proof].map((field) => field !== undefined) };
}

const read = ['GET', 'HEAD', 'OPTIONS'];
const all = [...read, 'PUT', 'POST', 'DELETE'];
const paths: [methods: string[], path: (bucket: string) => string][] = [
  [read, (bucket) => `/cloud/${bucket}`],
  [read, (bucket) => `/cloud/${bucket}/`],
  [all, (bucket) => `/cloud/${bucket}/a.txt`],
  [read, (bucket) => `/cloud/${bucket}/none`],
  [read, (bucket) => `/cloud/${bucket}/%zz`],
  [all, (bucket) => `/api/v1/bucket/${bucket}`],
  [all, (bucket) => `/api/v1/bucket/${bucket}/files`],
  [read, (bucket) => `/api/v1/bucket/${bucket}/files?prefix=a&page=1`],
  [all, (bucket) => `/api/v1/bucket/${bucket}/files/a.txt`],
  [all, (bucket) => `/api/v1/bucket/${bucket}/files/none`],
  [all, (bucket) => `/api/v1/bucket/${bucket}/upload`],
  [all, (bucket) => `/api/v1/bucket/${bucket}/upload/start`],
  [all, (bucket) => `/api/v1/bucket/${bucket}/upload/${uploadId}`],
  [all, (bucket) => `/api/v1/bucket/${bucket}/upload/${uploadId}/chunk/0`],
  [all, (bucket) => `/api/v1/bucket/${bucket}/upload/${uploadId}/complete`],
];

async function expectAlike(host: string, key: string | undefined): Promise<void> {
  const headers = {
    'Content-Type': 'application/json',
    ...(key !== undefined && { Authorization: `Bearer ${key}` }),
  };
  for (const [methods, path] of paths) {
    for (const method of methods) {
      const body = ['PUT', 'POST'].includes(method) ? '{"path":"c","size":5}' : '';
      const ask = (bucket: string) =>
        exchangeWith(service.base, host, { method, path: path(bucket), headers, body });
      const [one, other] = await Promise.all([ask(hidden), ask(absent)]);
      const name = `${method} ${path('B')}`;
      expect(comparable(one), name).toEqual(comparable(other));
      expect(one.status < 400 && method !== 'OPTIONS', `${name}: ${one.status}`).toBe(false);
    }
  }
}

describe.each(['verifies', 'does not verify'])('a bucket is hidden if the gateway %s', (word) => {
  const host = () => (word === 'verifies' ? 'localhost' : `${service.canisterId}.raw.localhost`);
  test.each([
    'no key',
    'an invalid key',
    'a revoked key for the bucket',
    'a key for another bucket',
    'a key that only reads another bucket',
  ])('with %s', async (name) => {
    await expectAlike(host(), keys.get(name));
  });
});

const none = { tags: [], sha256: [], ifMatch: [], ifNoneMatch: [] };
type Call = [method: string, values: (bucket: string, key: [] | [string]) => unknown[]];
const calls: Call[] = [
  ['getBucket', (bucket, key) => [bucket, key]],
  ['getFile', (bucket, key) => [bucket, 'a.txt', key]],
  ['readFile', (bucket, key) => [bucket, 'a.txt', 0n, 1n, key]],
  [
    'listFiles',
    (bucketId, apiKey) => [
      { bucketId, prefix: [], page: [], pageSize: [], sort: [], tag: [], apiKey },
    ],
  ],
  ['listUploads', (bucket, key) => [bucket, key]],
  ['deleteFile', (bucket, key) => [bucket, 'a.txt', key]],
  ['beginFileUpload', (bucket, key) => [bucket, 'c', 'a/b', 5n, key]],
  [
    'beginFileUploadWith',
    (bucketId, apiKey) => [
      {
        ...none,
        bucketId,
        apiKey,
        path: 'c',
        contentType: [],
        size: [5n],
        chunkSize: [],
        headers: [],
      },
    ],
  ],
  [
    'uploadFile',
    (bucketId, apiKey) => [
      { ...none, bucketId, apiKey, path: 'c', contentType: 'a/b', bytes: Uint8Array.of(1) },
    ],
  ],
];
const ownerCalls: Call[] = [
  ['listApiKeys', (bucket) => [bucket]],
  ['createApiKey', (bucket) => [keyFor([bucket])]],
  ['updateBucket', (bucketId) => [{ bucketId, isPublic: [true], ...noChange }]],
  ['deleteBucket', (bucket) => [bucket, []]],
  ['deleteBucket', (bucket) => [bucket, [{ force: [true] }]]],
  ['rotateBucketKey', (bucket) => [bucket]],
];
const noChange = { quotaBytes: [], quotaFiles: [], owner: [], addMembers: [], removeMembers: [] };

describe.each(['an anonymous caller', 'a stranger'])('a bucket is hidden from %s', (word) => {
  const person = () => (word === 'a stranger' ? stranger : nobody);

  async function expectSame([method, values]: Call, key: [] | [string]): Promise<void> {
    const ask = (bucket: string) => person().ask(method, ...values(bucket, key));
    const [one, other] = await Promise.all([ask(hidden), ask(absent)]);
    expect(one.err, method).toMatch(/^\w+: /);
    expect(one.err?.replaceAll(hidden, 'B')).toBe(other.err?.replaceAll(absent, 'B'));
  }

  test.each(calls)('%s, with and without keys', async (...call) => {
    for (const secret of keys.values()) {
      await expectSame(call, secret === undefined ? [] : [secret]);
    }
  });

  test.each(ownerCalls)('%s', async (...call) => {
    await expectSame(call, []);
  });

  test('cancelUpload and getUpload refuse an HTTP session like a missing one', async () => {
    const unknown = '00'.repeat(16);
    for (const method of ['cancelUpload', 'getUpload']) {
      const [one, other] = await Promise.all(
        [uploadId, unknown].map((id) => person().ask(method, id)),
      );
      expect(one?.err?.replace(uploadId.slice(0, 4), '')).toBe(other?.err?.replace('0000', ''));
    }
  });
});

test('the hidden bucket is unchanged after these requests', async () => {
  const owner = await openPerson(service, 'owner');
  const bucket = await owner.get('getBucket', hidden, []);
  expect(bucket).toMatchObject({ isPublic: false, fileCount: 1n, openUploads: 1n });
});
