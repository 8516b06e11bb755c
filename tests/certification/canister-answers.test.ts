// The official verifier checks the canister's answers to queries: every row of the table of
// certified answers, and the answers that cannot be certified and are repeated by an update.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type CertifiedCanister,
  openCertifiedCanister,
} from '../support/certification/certified-canister.ts';
import { type AskedRequest, type Field, verdictOn } from '../support/certification/verdict.ts';
import { randomNumbers } from '../support/random-numbers.ts';
import { sampleBytes } from '../support/service.ts';

let canister: CertifiedCanister;
const hello = Buffer.from('hello world');
const parts = [65_536, 65_536, 100].map((length, index) => sampleBytes(`part ${index}`, length));
const names = [
  'a',
  'b.txt',
  'dir/a',
  'dir/b',
  'dir/z',
  'dir/sub/é x',
  'zz',
  '~',
  '!',
  'dir2/a',
  '1',
  '2',
  'dir/1',
  'dir/2',
  'dir/3',
];

beforeAll(async () => {
  canister = await openCertifiedCanister();
  for (const name of names) await canister.put(encodeURI(name), hello);
  await canister.put('empty', new Uint8Array(0));
  await canister.put('page.html', hello, [
    ['content-type', 'text/html'],
    ['content-disposition', 'inline; filename="p"'],
    ['content-language', 'de'],
    ['cache-control', 'no-store'],
  ]);
  await canister.putParts('large', parts);
  await canister.createBucket('closed');
  await canister.showBucket('closed', false);
});

afterAll(() => canister?.stop());

const cloud = (path: string) => `/cloud/demo/${encodeURI(path)}`;
const fieldsOf = (headers: readonly Field[]) =>
  Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value]));

async function etagOf(path: string): Promise<string> {
  return fieldsOf((await canister.ask({ url: cloud(path) })).headers).etag ?? expect.fail('no tag');
}

describe('http_request: a file', () => {
  test.each([...names, 'page.html', 'empty'])(
    'with the name %s is certified whole',
    async (name) => {
      const body = name === 'empty' ? '' : 'hello world';
      const whole = await canister.accepted({ url: cloud(name), headers: [['accept', '*/*']] });
      expect([whole.status, Buffer.from(whole.body).toString()]).toEqual([200, body]);
      const head = await canister.accepted({ method: 'HEAD', url: cloud(name) });
      expect([head.status, head.body.length]).toEqual([200, 0]);
      expect(fieldsOf(head.headers)['content-length']).toBe(`${body.length}`);
      const { refusal } = verdictOn({ url: cloud(name) }, head, canister.context());
      expect(refusal === undefined, 'an answer to HEAD for a GET').toBe(false);
    },
  );

  test('has all its headers certified except the request id', async () => {
    const request = { url: cloud('page.html') };
    const answer = await canister.ask(request);
    const { headers = [] } = verdictOn(request, answer, canister.context());
    expect(fieldsOf(headers)).toMatchObject({
      'content-type': 'text/html',
      'content-disposition': 'inline; filename="p"',
      'content-language': 'de',
      'cache-control': 'no-store',
      'content-security-policy': 'sandbox',
      'accept-ranges': 'bytes',
      'x-content-type-options': 'nosniff',
    });
    expect(fieldsOf(answer.headers)['x-request-id']).toBeUndefined();
  });

  test('has header values of any length certified literally', async () => {
    const names = ['content-disposition', 'cache-control', 'content-encoding', 'content-language'];
    // Values of 1 to 140 characters; each header takes a quarter of the lengths.
    for (let shortest = 1; shortest <= 35; shortest++) {
      const fields = names.map((name, index): Field => {
        const length = shortest + 35 * index;
        return [name, `${'"\\x'.repeat(length)}`.slice(0, length)];
      });
      await canister.put('lengths', hello, [['content-type', 'text/plain'], ...fields]);
      const { headers } = await canister.accepted({ url: cloud('lengths') });
      expect(fieldsOf(headers)).toMatchObject(Object.fromEntries(fields));
    }
  });

  test('is a 304 for its own tag, strong or weak', async () => {
    for (const name of ['a', 'empty', 'large']) {
      const etag = await etagOf(name);
      for (const method of ['GET', 'HEAD']) {
        for (const tag of [etag, `W/${etag}`]) {
          const headers = [['If-None-Match', tag]] as const;
          const answer = await canister.accepted({ method, url: cloud(name), headers });
          expect([answer.status, answer.body.length]).toEqual([304, 0]);
        }
      }
    }
  });

  test.each<[string, Field[]]>([
    ['another tag', [['If-None-Match', '"x"']]],
    ['an older date', [['If-Modified-Since', 'Fri, 02 Jan 2015 03:04:05 GMT']]],
    ['several ranges', [['Range', 'bytes=0-1,3-4']]],
    ['a range that covers all', [['range', 'Bytes=0-']]],
    ['a suffix range that covers all', [['range', 'bytes=-99']]],
    ['If-Range without a range', [['if-range', '"x"']]],
    ['If-Match: *', [['If-Match', '*']]],
    [
      'If-Unmodified-Since in the future',
      [['If-Unmodified-Since', 'Fri, 02 Jan 2099 03:04:05 GMT']],
    ],
  ])('is certified whole for %s, which changes nothing', async (_, headers) => {
    const answer = await canister.accepted({ url: cloud('a'), headers });
    expect(answer.status).toBe(200);
  });
});

describe('http_request: a file of several parts', () => {
  test('is certified part by part, as a gateway fetches it', async () => {
    const first = await canister.accepted({ url: cloud('large') });
    expect([first.status, fieldsOf(first.headers)['content-range']]).toEqual([
      206,
      'bytes 0-65535/131172',
    ]);
    let start = 0;
    for (const part of parts) {
      const headers = [['Range', `bytes=${start}-`]] as const;
      const answer = await canister.accepted({ url: cloud('large'), headers });
      expect(answer.status).toBe(206);
      expect(Buffer.compare(answer.body, part)).toBe(0);
      start += part.length;
    }
    const head = await canister.accepted({ method: 'HEAD', url: cloud('large') });
    expect(fieldsOf(head.headers)['content-length']).toBe('131172');
  });
});

test('http_request: a request with a key gets the certified public file and its parts', async () => {
  const key = ['Authorization', `Bearer ${canister.apiKey}`] as const;
  const small = await canister.accepted({ url: cloud('a'), headers: [key] });
  expect(fieldsOf(small.headers)['cache-control']).toMatch('public');
  const first = await canister.accepted({ url: cloud('large'), headers: [key] });
  const range = ['Range', `bytes=${first.body.length}-`] as const;
  const next = await canister.accepted({ url: cloud('large'), headers: [key, range] });
  expect([first.status, next.status]).toEqual([206, 206]);
});

describe('http_request: a request that no certified answer covers asks for an update:', () => {
  const etag = () => etagOf('a');
  test.each<[string, () => Promise<AskedRequest> | AskedRequest]>([
    ['a range inside', () => ({ url: cloud('a'), headers: [['Range', 'bytes=1-3']] })],
    ['a suffix range', () => ({ url: cloud('a'), headers: [['Range', 'bytes=-3']] })],
    ['a range beyond', () => ({ url: cloud('a'), headers: [['Range', 'bytes=99-']] })],
    ['a range between parts', () => ({ url: cloud('large'), headers: [['Range', 'bytes=5-']] })],
    [
      'a list of tags',
      async () => ({ url: cloud('a'), headers: [['If-None-Match', `"x", ${await etag()}`]] }),
    ],
    [
      'two tags',
      async () => ({
        url: cloud('a'),
        headers: [
          ['If-None-Match', '"x"'],
          ['If-None-Match', await etag()],
        ],
      }),
    ],
    ['any tag', () => ({ url: cloud('a'), headers: [['If-None-Match', '*']] })],
    [
      'a date',
      () => ({
        url: cloud('a'),
        headers: [['If-Modified-Since', 'Fri, 02 Jan 2099 03:04:05 GMT']],
      }),
    ],
    ['a failed If-Match', () => ({ url: cloud('a'), headers: [['If-Match', '"x"']] })],
    [
      'several ranges of a file of several chunks',
      () => ({ url: cloud('large'), headers: [['Range', 'bytes=0-1,4-5']] }),
    ],
    ['a GET with a body', () => ({ url: cloud('a'), body: Buffer.from('x') })],
    ['a method that is not allowed', () => ({ method: 'POST', url: cloud('a') })],
    [
      'a method that is not allowed at a missing path',
      () => ({ method: 'POST', url: cloud('none') }),
    ],
    ['a doubled slash', () => ({ url: '/cloud/demo//a' })],
    ['an API key in the URL', () => ({ url: cloud(canister.apiKey) })],
  ])('%s', async (_, request) => {
    expect(await canister.ask(await request())).toMatchObject({ isUpgrade: true });
    // A gateway at the raw host verifies nothing, so it needs no update.
    const asked = await request();
    const raw = {
      ...asked,
      headers: [
        ...(asked.headers ?? []),
        ['Host', `${canister.canisterId}.raw.localhost`] as const,
      ],
    };
    expect(await canister.ask(raw)).toMatchObject({ isUpgrade: false });
  });

  test.each([
    ['/api/%zz', 400],
    ['/api/v1/bucket/demo/files/%C3', 400],
    ['/cloud/demo/%zz', 404],
    ['/cloud/demo/%00', 404],
  ])('except with the unreadable path %s', async (url, status) => {
    const answer = await canister.ask({ url });
    expect([answer.isUpgrade, answer.status]).toEqual([false, status]);
  });

  test('except with too many bytes', async () => {
    const body = new Uint8Array(5_000);
    const answer = await canister.ask({ method: 'POST', url: cloud('a'), body });
    expect([answer.isUpgrade, answer.status]).toEqual([false, 405]);
    const lost = await canister.accepted({ method: 'POST', url: cloud('none'), body });
    expect(lost.status).toBe(404);
  });
});

describe('http_request: a missing path', () => {
  test.each([
    '/assets',
    '/assets/',
    '/assets/none.js',
    '/index.html',
    '//assets',
    '/x',
    '/x/',
    '/cloud',
    '/cloud/',
    '/cloud/demo',
    '/cloud/demo/',
    '/cloud/none/x',
    '/cloud/a_b/x',
    '/cloud/demo/none',
    '/cloud/demo/a/',
    '/cloud/demo/a/b',
    '/cloud/demo/dir',
    '/cloud/demo/dir/',
    '/cloud/demo/dir/m',
    '/cloud/demo/dir/0',
    '/cloud/demo/dir/zz',
    '/cloud/demo/dir/sub',
    '/cloud/demo/DIR/a',
    '/cloud/demo/%3C*%3E',
    '/cloud/demo/%3C$%3E',
    '/%3C*%3E',
    '/cloud/%3C*%3E/x',
    '/http_expr',
    '/cloud/demo/a%2Fb',
    '/cloud/demo/dir//none',
    '/cloud//demo//none',
    '/cloud/demo/../x',
    '/apis',
    `/cloud/demo/${'x'.repeat(3_000)}`,
  ])('is a certified 404: %s', async (url) => {
    for (const method of ['GET', 'HEAD']) {
      const answer = await canister.accepted({ method, url });
      expect(answer.status).toBe(404);
      expect(JSON.parse(Buffer.from(answer.body).toString()).error.code).toBe('NoSuchFile');
    }
  });

  test('is proven absent at every position between existing files', async () => {
    const random = randomNumbers(7);
    const characters = [
      'a',
      'b',
      'z',
      '~',
      '!',
      '0',
      '1',
      '2',
      'dir',
      'dir2',
      'sub',
      'b.txt',
      'é',
      '<',
      '\u{1f600}',
    ];
    for (let turn = 0; turn < 150; turn++) {
      const segments = Array.from({ length: 1 + random(4) }, () => {
        return Array.from(
          { length: 1 + random(2) },
          () => characters[random(characters.length)],
        ).join('');
      });
      const path = segments.join('/');
      const answer = await canister.accepted({ url: `/cloud/demo/${encodeURIComponent(path)}` });
      expect(answer.status, path).toBe(names.includes(path) ? 200 : 404);
    }
  });
});

describe('http_request: OPTIONS', () => {
  test.each([
    '/',
    '/cloud/demo/a',
    '/cloud/demo/none',
    '/cloud/demo/large',
    '/cloud/closed/a',
    '/api/v1/status',
    '/api/v1/bucket/demo/files/a',
  ])('is answered and verified at %s', async (url) => {
    const answer = await canister.accepted({ method: 'OPTIONS', url });
    expect([answer.status, answer.body.length]).toEqual([204, 0]);
    expect(fieldsOf(answer.headers)['access-control-allow-headers']).toContain('Authorization');
  });
});

// A query cannot prove a 431 here: it asks for an update, which the inspection rejects for free.
test('http_request: no update is spent on more header bytes than a request may have', async () => {
  const range = ['Range', 'bytes=1-3'] as const;
  const asked = (bytes: number) => ({
    url: cloud('a'),
    headers: [range, ['X-Other', 'x'.repeat(bytes)] as const],
  });
  for (const bytes of [10_000, 10_240]) {
    expect(await canister.ask(asked(bytes))).toMatchObject({ isUpgrade: true });
  }
  expect(await canister.change(asked(10_000))).toMatchObject({ status: 206 });
  await expect(canister.change(asked(10_240))).rejects.toThrow('does not accept this message');
});

describe('http_request: the statement that nothing is certified', () => {
  test.each(['/api', '/api/', '/api/v1/status', '/api/v1/bucket/demo/files', '/api/x//y'])(
    'is the only certified answer to %s',
    async (url) => {
      const answer = await canister.accepted({ url });
      expect(fieldsOf(answer.headers)['ic-certificateexpression']).toContain('no_certification');
      expect(fieldsOf(answer.headers)['x-request-id']).toBeDefined();
    },
  );

  test.each([
    '/cloud/closed',
    '/cloud/closed/',
    '/cloud/closed/a',
    '/cloud/closed/a/b',
    '/cloud/closed/%3C*%3E',
  ])('is the only certified answer to %s in a private bucket', async (url) => {
    const answer = await canister.accepted({ url });
    expect(answer.status).toBe(404);
    expect(fieldsOf(answer.headers)['ic-certificateexpression']).toContain('no_certification');
  });

  test('covers no file of a public bucket', async () => {
    for (const url of ['/api/v1/status', '/cloud/closed/a']) {
      const loose = await canister.ask({ url });
      for (const target of [
        '/cloud/demo/a',
        '/cloud/demo/none',
        '/',
        '/cloud/demo',
        '/cloud/demo/dir/a',
      ]) {
        expect(verdictOn({ url: target }, loose, canister.context()).refusal).toBeDefined();
      }
      expect(verdictOn({ url }, loose, canister.context()).refusal).toBeUndefined();
    }
  });
});
