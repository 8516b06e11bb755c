// Requests by pages of other origins: which preflights succeed, and which header fields the answers
// have. tests/s3/uppy-browser.thorough.test.ts sends them by a browser.

import {
  DeleteBucketCorsCommand,
  GetBucketCorsCommand,
  GetObjectCommand,
  PutBucketCorsCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callCommand } from '../client/command-calls.ts';
import { openService, type Service } from '../support/service.ts';
import { openS3Server, type TestS3Server } from './support/s3-server.ts';

const app = 'https://app.example';
const other = 'https://other.example';
const Bucket = 'demo';
let service: Service;
let closed: TestS3Server;
let named: TestS3Server;
let open: TestS3Server;

beforeAll(async () => {
  service = await openService();
  closed = await openS3Server(service);
  named = await openS3Server(service, { corsOrigins: [app, 'http://localhost:5173'] });
  open = await openS3Server(service, { corsOrigins: ['*'] });
  await named.storage.buckets.update(Bucket, { isPublic: false });
});

afterAll(async () => {
  for (const server of [closed, named, open]) await server?.stop();
  await service?.stop();
});

function preflight(server: TestS3Server, origin: string | undefined, method = 'PUT') {
  const headers = {
    ...(origin !== undefined && { Origin: origin }),
    'Access-Control-Request-Method': method,
    'Access-Control-Request-Headers': 'authorization,content-type,x-amz-meta-a',
  };
  return fetch(`${server.url}/demo/a`, { method: 'OPTIONS', headers });
}

/** Returns the header fields of CORS. */
function fieldsOf({ headers }: Response): Record<string, string> {
  const names = [...headers].filter(([name]) => /^(?:access-control-|vary$)/.test(name));
  return Object.fromEntries(names);
}

const vary = 'Origin, Access-Control-Request-Headers, Access-Control-Request-Method';

describe('efs serve s3: OPTIONS', () => {
  test.each(['GET', 'HEAD', 'PUT', 'POST', 'DELETE'])(
    'of an origin that may send %s is answered without a signature',
    async (method) => {
      const answer = await preflight(named, app, method);
      expect([answer.status, await answer.text()]).toEqual([200, '']);
      expect(fieldsOf(answer)).toMatchObject({
        'access-control-allow-origin': app,
        'access-control-allow-methods': 'GET, HEAD, PUT, POST, DELETE',
        'access-control-allow-headers': 'authorization,content-type,x-amz-meta-a',
        'access-control-max-age': '3600',
        vary,
      });
    },
  );

  test('with the origin * is answered to every origin, without credentials', async () => {
    for (const origin of [app, other, 'null']) {
      const fields = fieldsOf(await preflight(open, origin));
      expect(fields['access-control-allow-origin']).toBe('*');
      expect(fields['access-control-allow-credentials']).toBeUndefined();
    }
  });

  test.each([
    ['another origin', other, 'PUT'],
    ['an origin with another scheme', 'http://app.example', 'PUT'],
    ['an origin with a port', `${app}:8443`, 'PUT'],
    ['an origin that only begins so', `${app}.evil.example`, 'PUT'],
    ['an opaque origin', 'null', 'PUT'],
  ])('of %s gets 403 AccessForbidden without the fields', async (_, origin, method) => {
    const answer = await preflight(named, origin, method);
    expect(answer.status).toBe(403);
    expect(await answer.text()).toContain('<Code>AccessForbidden</Code>');
    expect(fieldsOf(answer)).toEqual({ vary });
  });

  test('of another method, or without an origin, is refused', async () => {
    expect((await preflight(named, app, 'PATCH')).status).toBe(403);
    const plain = await preflight(named, undefined);
    expect([plain.status, await plain.text()]).toEqual([400, expect.stringContaining('OPTIONS')]);
  });

  test('is refused without --cors-origin, with no field of CORS', async () => {
    const answer = await preflight(closed, app);
    expect([answer.status, fieldsOf(answer)]).toEqual([403, {}]);
    expect(await answer.text()).toContain('efs serve s3 --cors-origin');
  });
});

describe('efs serve s3: an answer to an allowed origin', () => {
  const headers = { Origin: app };

  test('exposes every field that it has', async () => {
    const client = named.client();
    const Metadata = { by: 'me' };
    const put = new PutObjectCommand({ Bucket, Key: 'a', Body: 'hello', Metadata });
    const url = await getSignedUrl(client, put);
    const stored = await fetch(url, { method: 'PUT', headers, body: 'hello' });
    expect(stored.status).toBe(200);
    expect(exposedBy(stored)).toEqual(expect.arrayContaining(['etag', 'x-amz-request-id']));
    const get = await getSignedUrl(client, new GetObjectCommand({ Bucket, Key: 'a' }));
    const got = await fetch(get, { headers: { ...headers, Range: 'bytes=1-2' } });
    expect([got.status, await got.text()]).toEqual([206, 'el']);
    expect(exposedBy(got)).toEqual(
      expect.arrayContaining(['etag', 'content-range', 'content-length', 'x-amz-meta-by']),
    );
    expect(fieldsOf(got)).toMatchObject({
      'access-control-allow-origin': app,
      'access-control-allow-credentials': 'true',
      vary,
    });
  });

  const exposedBy = (answer: Response) =>
    (answer.headers.get('access-control-expose-headers') ?? '').split(', ');

  test('has the fields also if it is an error', async () => {
    for (const url of ['/demo/a', '/none/a', '//', '/demo/a?torrent', '/demo?uploads']) {
      const answer = await fetch(`${named.url}${url}`, { headers });
      expect(answer.status, url).toBeGreaterThanOrEqual(400);
      expect(fieldsOf(answer)['access-control-allow-origin'], url).toBe(app);
      expect(exposedBy(answer), url).toContain('x-amz-request-id');
    }
  });

  test('varies by origin also for requests without one and of other origins', async () => {
    for (const sent of [{}, { Origin: other }]) {
      const answer = await fetch(`${named.url}/demo/a`, { headers: sent });
      expect(fieldsOf(answer)).toEqual({ vary });
    }
    const answer = await fetch(`${closed.url}/demo/a`, { headers });
    expect(fieldsOf(answer)).toEqual({});
  });
});

test('efs serve s3: ListObjectsV2 without a signature lists a bucket that everybody may list', async () => {
  await named.storage.buckets.create('gallery', { isPublic: true, isListed: true });
  await named.client().send(new PutObjectCommand({ Bucket: 'gallery', Key: 'a', Body: 'x' }));
  const list = (bucket: string) => fetch(`${named.url}/${bucket}?list-type=2`);
  expect(await (await list('gallery')).text()).toContain('<Key>a</Key>');
  await named.storage.buckets.create('shown', { isPublic: true });
  expect((await list('shown')).status).toBe(403);
});

describe('efs serve s3: GetBucketCors', () => {
  test('returns the origins of the server', async () => {
    const client = named.client();
    const { CORSRules } = await client.send(new GetBucketCorsCommand({ Bucket }));
    expect(CORSRules).toMatchObject([
      {
        AllowedOrigins: [app, 'http://localhost:5173'],
        AllowedMethods: ['GET', 'HEAD', 'PUT', 'POST', 'DELETE'],
        AllowedHeaders: ['*'],
        MaxAgeSeconds: 3600,
      },
    ]);
    const missing = new GetBucketCorsCommand({ Bucket: 'none' });
    await expect(client.send(missing)).rejects.toMatchObject({ name: 'NoSuchBucket' });
    const absent = closed.client().send(new GetBucketCorsCommand({ Bucket }));
    await expect(absent).rejects.toMatchObject({ name: 'NoSuchCORSConfiguration' });
  });

  test('is the only operation: PutBucketCors and DeleteBucketCors name the flag', async () => {
    const rule = { AllowedMethods: ['GET'], AllowedOrigins: ['*'] };
    const put = new PutBucketCorsCommand({ Bucket, CORSConfiguration: { CORSRules: [rule] } });
    const message = expect.stringContaining('--cors-origin');
    for (const server of [named, closed]) {
      const sent = server.client().send(put);
      await expect(sent).rejects.toMatchObject({ name: 'NotImplemented', message });
    }
    const removal = new DeleteBucketCorsCommand({ Bucket });
    const sent = named.client().send(removal);
    await expect(sent).rejects.toMatchObject({ name: 'AccessDenied', message });
    await closed.client().send(removal);
  });
});

test.each([
  'https://app.example/',
  'app.example',
  'HTTPS://app.example',
  'https://*.example',
  'null',
])('efs serve s3 --cors-origin refuses %s', async (origin) => {
  const words = ['serve', 's3', '--listen', '127.0.0.1:0', '--cors-origin', origin];
  const { code, errors } = await callCommand(words, { folder: '.', environment: {} });
  expect([code, errors]).toEqual([2, expect.stringContaining('such as https://app.example, or *')]);
});
