// Random requests: none causes an exception or a 5xx, no query and no refused request writes, and
// no error contains an API key.

import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { updateBucket } from '../../src/domain/administration/bucket-administration.ts';
import { completeUpload } from '../../src/domain/uploads/upload-end.ts';
import { upgrade } from '../../src/http/router.ts';
import {
  begin,
  bucketChange,
  callOf,
  createScene,
  putChunks,
  putTestFile,
  type Scene,
  testBytes,
} from '../support/domain-fixture.ts';
import { bodyText, exchange, headersOf, type TestRequest } from '../support/http-fixture.ts';
import { checkInvariants } from '../support/invariants.ts';

let scene: Scene;
/** Replaces `KEY` in generated texts. */
let secret: string;
/** Upload ids that replace `SESSION` and `DONE`. */
let session: string;
let completed: string;
const reached = new Set<number | typeof upgrade>();

beforeAll(async () => {
  scene = await createScene();
  secret = scene.writeKey;
  updateBucket(scene.stores, callOf('alice'), bucketChange({ keepVersionsDays: 1n }));
  for (const bytes of [testBytes(9, 1), testBytes(30, 2)]) {
    putTestFile(scene.stores, { path: '/a', bytes });
  }
  putTestFile(scene.stores, { path: '/empty', bytes: new Uint8Array(0) });
  const alice = callOf('alice');
  const { uploadId } = begin(scene.stores, alice, { path: '/chunked', size: 250n });
  const chunks = [100, 100, 50].map((length, index) => [index, testBytes(length)] as const);
  putChunks(scene.stores, alice, { uploadId, chunks });
  completeUpload(scene.stores, alice, { uploadId, apiKey: undefined });
  const apiKey = secret;
  const anonymous = callOf('anonymous');
  session = begin(scene.stores, anonymous, { path: '/new', size: 4n, apiKey }).uploadId;
  completed = begin(scene.stores, anonymous, { path: '/done', size: 0n, apiKey }).uploadId;
  completeUpload(scene.stores, anonymous, { uploadId: completed, apiKey });
});

const wild = fc.oneof(
  fc.string({ maxLength: 30 }),
  fc.string({ unit: 'grapheme', maxLength: 10 }),
  fc.nat({ max: 0xff }).map((byte) => `%${byte.toString(16)}`),
  fc.constantFrom(
    '%',
    '%zz',
    '%00',
    '%2F',
    '%2e%2e',
    '..',
    '.',
    '//',
    '/',
    '?',
    '#',
    'KEY',
    'xKEY',
  ),
  fc.constantFrom('__proto__', 'constructor', 'x'.repeat(2_000), '\0', '\r\n', 'ü'),
);
const segment = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('a', 'a', 'empty', 'chunked', 'new') },
  { weight: 1, arbitrary: wild },
);
const bucket = fc.constantFrom(
  'box',
  'box',
  'box',
  'box',
  'other',
  'none',
  'b-x',
  'b_x',
  'KEY',
  '',
);
const path = fc.oneof(
  segment,
  fc.array(segment, { maxLength: 3 }).map((parts) => parts.join('/')),
);
const tail = fc.constantFrom('', '', '', '?x=%zz', '#y', '?KEY');
const cloudUrl = fc
  .tuple(bucket, path, tail)
  .map(([id, name, rest]) => `/cloud/${id}/${name}${rest}`);
const apiUrl = fc
  .tuple(bucket, path, tail)
  .map(([id, name, rest]) => `/api/v1/bucket/${id}/files/${name}${rest}`);
const uploadUrl = fc
  .tuple(
    bucket,
    fc.constantFrom('SESSION', 'SESSION', 'DONE', '0'.repeat(32), 'x'),
    fc.constantFrom('', '/complete', '/chunk/0', '/chunk/1', '/chunk/9', '/chunk/-1', '/chunk/'),
  )
  .map(([id, session, rest]) => `/api/v1/bucket/${id}/upload/${session}${rest}`);
const startUrl = bucket.map((id) => `/api/v1/bucket/${id}/upload/start`);
const startBody = fc
  .record(
    {
      path: fc.oneof(path, wild),
      size: fc.oneof(fc.constantFrom(0, 1, 250), fc.anything()),
      contentType: fc.constantFrom('a/b', '', 'x', 3),
      tags: fc.oneof(fc.array(wild), fc.anything()),
      chunkSize: fc.constantFrom(65_536, 1, null),
      headers: fc.oneof(fc.dictionary(fc.constantFrom(...['Cache-Control', 'x']), wild)),
      ifMatch: fc.constantFrom('*', '"x"', ' '),
      ifNoneMatch: fc.constantFrom('*', '"x"'),
    },
    { requiredKeys: ['path', 'size'] },
  )
  .map((fields) => new Uint8Array(Buffer.from(JSON.stringify(fields))));
const number = fc.constantFrom('1', '1', '2', '0', '', 'x', '-1', '1e3', '4294967297', '%zz');
const versionUrl = fc
  .tuple(bucket, fc.constantFrom('versions', 'files'), path, number)
  .map(([id, kind, name, of]) => `/api/v1/bucket/${id}/${kind}/${name}?version=${of}`);
const copyUrl = bucket.map((id) => `/api/v1/bucket/${id}/copy`);
const copyBody = fc
  .record(
    {
      from: fc.oneof(path, wild),
      to: fc.oneof(fc.record({ path: fc.oneof(path, wild) }), fc.anything()),
      version: fc.oneof(fc.constantFrom(1, 1, 2, 0), fc.anything()),
      ifSourceMatch: fc.constantFrom('*', '"x"', '', 'x'.repeat(2_000)),
      contentType: fc.constantFrom('a/b', '', 'x', 3),
      tags: fc.oneof(fc.array(wild), fc.anything()),
      headers: fc.oneof(fc.dictionary(fc.constantFrom(...['Cache-Control', 'x']), wild)),
      metadata: fc.oneof(
        fc.dictionary(fc.constantFrom('a', 'b', '__proto__'), wild),
        fc.anything(),
      ),
    },
    { requiredKeys: ['from', 'to'] },
  )
  .map((fields) => new Uint8Array(Buffer.from(JSON.stringify(fields))));
const wildUrl = fc.oneof(
  fc.array(wild).map((parts) => parts.join('')),
  fc.webUrl({ withQueryParameters: true, withFragments: true }),
);
const method = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom('GET', 'GET', 'HEAD', 'PUT', 'PUT') },
  { weight: 1, arbitrary: fc.constantFrom('OPTIONS', 'POST', 'DELETE', 'TRACE', 'put', '') },
  { weight: 1, arbitrary: wild },
);
const date = fc.oneof(
  fc.constantFrom('Thu, 01 Jan 2099 00:00:00 GMT', 'Thu Jan  1 00:00:00 2009'),
  fc.date({ noInvalidDate: true }).map((time) => time.toUTCString()),
);
const entityTags = fc.constantFrom('*', '*', '*', '"x"', 'W/"x"', '"x", "y"', '');
const range = fc.constantFrom(
  ...['bytes=0-0', 'bytes=-0', 'bytes=5-', 'bytes=99999-', 'bytes=1-2,3-4', 'bytes=-', 'bytes=-3'],
);
const stored = ['Cache-Control', 'Content-Disposition', 'Content-Encoding', 'Content-Language'];
const fieldName = fc.constantFrom(
  ...['Range', 'If-Range', 'If-Match', 'If-None-Match', 'If-Modified-Since', 'If-Unmodified-Since'],
  ...['Content-Type', 'X-Bucket-Id', 'X-File-Tags', 'Content-Length', 'Host', ...stored],
);
const field = fc.oneof(
  fc.tuple(fc.constant('Range'), range),
  fc.tuple(fc.constantFrom('If-Match', 'If-None-Match', 'If-None-Match'), entityTags),
  fc.tuple(fc.constantFrom('If-Modified-Since', 'If-Unmodified-Since', 'If-Range'), date),
  fc.tuple(fieldName, wild),
  fc.tuple(fc.constantFrom('Content-Type'), fc.constantFrom('text/html', 'a/b; ; ; x', '')),
  fc.tuple(wild, wild),
);
const authorization = fc.constantFrom(
  ...(['Bearer KEY', 'Bearer KEY', 'Bearer KEY', 'bearer x', ''] as const),
);
const usual = fc.constantFrom(
  ...[{ 'Content-Type': 'text/plain', 'X-Bucket-Id': 'box' }, { 'X-Bucket-Id': 'box' }, {}],
  ...[
    { 'Content-Type': 'a/b', 'X-Bucket-Id': 'box' },
    { 'Content-Type': 'a/b', 'X-Bucket-Id': 'other' },
  ],
);

/** Most requests combine a valid method and URL; some are entirely random. */
const line: fc.Arbitrary<[method: string, url: string]> = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(fc.constantFrom('GET', 'GET', 'HEAD'), cloudUrl) },
  { weight: 4, arbitrary: fc.tuple(fc.constant('PUT'), apiUrl) },
  { weight: 2, arbitrary: fc.tuple(fc.constant('POST'), startUrl) },
  { weight: 3, arbitrary: fc.tuple(fc.constantFrom('GET', 'PUT', 'POST', 'DELETE'), uploadUrl) },
  { weight: 3, arbitrary: fc.tuple(fc.constantFrom('GET', 'GET', 'HEAD', 'DELETE'), versionUrl) },
  { weight: 2, arbitrary: fc.tuple(fc.constant('POST'), copyUrl) },
  { weight: 2, arbitrary: fc.tuple(method, fc.oneof(cloudUrl, apiUrl, wildUrl)) },
);
const headers = fc
  .tuple(authorization, usual, fc.array(field, { maxLength: 3, size: 'max' }))
  .map(([value, base, noise]) => [
    ...(value === '' ? [] : [['Authorization', value] as const]),
    ...Object.entries(base),
    ...noise,
  ]);
const request = fc
  .record({
    line,
    headers,
    body: fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      startBody,
      copyBody,
      fc.constantFrom(new Uint8Array(0), new Uint8Array(2)),
    ),
    phase: fc.constantFrom('query' as const, 'update' as const),
  })
  .map(({ line: [verb, url], ...rest }) => ({ method: verb, url, ...rest }));

function withSecret(
  sent: TestRequest & { readonly headers: readonly (readonly [string, string])[] },
) {
  const fill = (text: string) =>
    text
      .replaceAll('KEY', secret)
      .replaceAll('SESSION', session)
      .replaceAll('DONE', completed)
      .toWellFormed();
  const headers = sent.headers.map(([name, value]) => [fill(name), fill(value)] as const);
  return { ...sent, method: fill(sent.method ?? ''), url: fill(sent.url), headers };
}

function checkAnswer(sent: TestRequest): void {
  const before = scene.stores.writeCount();
  const response = exchange(scene.stores, sent);
  const writes = scene.stores.writeCount() - before;
  if (sent.phase === 'query') expect(writes).toBe(0);
  reached.add(response === upgrade ? upgrade : response.status);
  if (response === upgrade) {
    expect(sent.phase).toBe('query');
    expect(['PUT', 'POST', 'DELETE']).toContain(sent.method);
    return;
  }
  expect(response.status).toBeGreaterThanOrEqual(200);
  expect(response.status).toBeLessThan(500);
  const headers = headersOf(response);
  expect(headers['x-request-id']).toMatch(/^[0-9a-z]+$/);
  for (const value of Object.values(headers)) expect(value).not.toMatch(/[\r\n\0]/);
  if (sent.method === 'HEAD') expect(response.body).toHaveLength(0);
  if (response.status < 400) return;
  expect(writes).toBe(0);
  const text = bodyText(response);
  expect(text + JSON.stringify(headers)).not.toContain(secret.slice(4, 16));
  if (sent.method !== 'HEAD')
    expect(JSON.parse(text).error.requestId).toBe(headers['x-request-id']);
}

describe('handleRequest()', () => {
  test('answers every request', () => {
    fc.assert(
      fc.property(request, (sent) => {
        checkAnswer(withSecret(sent));
      }),
      { numRuns: 4_000 },
    );
    checkInvariants(scene.stores);
    // The generator is useful only if it reaches every status.
    const expected = [200, 201, 204, 206, 304, 400, 401, 403, 404, 405, 412, 416, upgrade];
    expect([...reached]).toEqual(expect.arrayContaining(expected));
  });

  test('refuses in an update whatever it refuses in a query, with the same answer', () => {
    fc.assert(
      fc.property(request, (sent) => {
        // Other tests cover the budgets of anonymous callers.
        scene.stores.heap.tokens.clear();
        const filled = withSecret(sent);
        const asked = exchange(scene.stores, { ...filled, phase: 'query' });
        if (asked !== upgrade && asked.status >= 400) {
          expect(exchange(scene.stores, { ...filled, phase: 'update' })).toEqual(asked);
        }
        if (asked === upgrade) {
          const done = exchange(scene.stores, { ...filled, phase: 'update' });
          const isUnknownUpload = done !== upgrade && bodyText(done).includes('"NoSuchUpload"');
          if (!isUnknownUpload) {
            expect([200, 201, 204]).toContain(done === upgrade ? done : done.status);
          }
        }
      }),
      { numRuns: 1_200 },
    );
    checkInvariants(scene.stores);
  });
});
