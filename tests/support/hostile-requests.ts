// HTTP requests that make the canister work without paying, as arguments of `http_request` and
// `http_request_update`: long and many headers, slow fields, deep JSON, with and without a valid
// key.

import { IDL } from '@dfinity/candid';
import type { HonestTexts, HostileArgument } from './hostile-arguments.ts';
import { longUrls } from './hostile-paths.ts';
import { hostileTexts } from './hostile-texts.ts';

type Headers = readonly (readonly [name: string, value: string])[];

interface Sent {
  readonly method?: string;
  readonly url?: string;
  readonly headers?: Headers;
  readonly body?: Uint8Array;
}

const fields = {
  method: IDL.Text,
  url: IDL.Text,
  headers: IDL.Vec(IDL.Tuple(IDL.Text, IDL.Text)),
  body: IDL.Vec(IDL.Nat8),
};

/** Header fields that some handler reads. */
const readFields = [
  'Authorization',
  'Content-Digest',
  'Repr-Digest',
  'Content-Type',
  'Content-Disposition',
  'Content-Range',
  'If-Match',
  'If-None-Match',
  'If-Modified-Since',
  'If-Unmodified-Since',
  'If-Range',
  'Range',
  'X-Bucket-Id',
  'X-File-Tags',
  'Cookie',
];

const base = '/api/v1/bucket/demo';
const put = { method: 'PUT', url: `${base}/files/a.txt` };
const start = { method: 'POST', url: `${base}/upload/start` };
/** Requests whose fields different code parses. */
const routes: Readonly<Record<string, Sent>> = {
  PUT: put,
  POST: { ...start, body: Buffer.from('{"path":"a.txt","size":5}') },
  DELETE: { method: 'DELETE', url: `${base}/files/a.txt` },
  GET: { method: 'GET', url: '/cloud/demo/a.txt' },
  'GET of a list': { method: 'GET', url: `${base}/files` },
};

function encode({ method = 'GET', url = '/', headers = [], body = new Uint8Array(0) }: Sent) {
  return new Uint8Array(IDL.encode([IDL.Record(fields)], [{ method, url, headers, body }]));
}

/** Returns an honest request that ends a session of the demo bucket. */
export function encodeCancellation(apiKey: string, uploadId: string): Uint8Array {
  const headers: Headers = [['Authorization', `Bearer ${apiKey}`]];
  return encode({ method: 'DELETE', url: `${base}/upload/${uploadId}`, headers });
}

export function hostileRequests({ apiKey, uploadId }: HonestTexts): HostileArgument[] {
  const authorization = ['Authorization', `Bearer ${apiKey}`] as const;
  const type = ['Content-Type', 'text/plain'] as const;
  const keyed = [authorization, type];
  const requests: [string, Sent][] = [...shapes(keyed), ...bodies(keyed, uploadId)];
  requests.push(...batches(keyed), ...unreadable(keyed), ...prefixMoves(keyed));
  for (const [route, sent] of Object.entries(routes)) {
    for (const name of readFields) {
      for (const [what, text] of textsFor(route)) {
        const own = keyed.filter(([field]) => field !== name);
        requests.push([`${route}, ${name}: ${what}`, { ...sent, headers: [...own, [name, text]] }]);
      }
    }
  }
  return requests.map(([name, sent]) => ({ name, argument: () => encode(sent) }));
}

/** PUT and GET get all texts, since the functions that parse their fields serve all routes. */
function textsFor(route: string): typeof hostileTexts {
  return route === 'PUT' || route === 'GET' ? hostileTexts : hostileTexts.slice(2, 6);
}

/** Returns requests with large numbers and lengths of parts. */
function shapes(keyed: Headers): [string, Sent][] {
  const many = (count: number, length: number): Headers =>
    Array.from({ length: count }, (_, index) => [`X-${index}`, 'v'.repeat(length)]);
  const headers: Readonly<Record<string, Headers>> = {
    'a header of 160 kB': [['X', 'v'.repeat(160_000)]],
    'a header of 15 kB': [['X', 'v'.repeat(15_000)]],
    'a header of 15 kB, not ASCII': [['X', 'ü'.repeat(7_500)]],
    'a header of 10 kB': [['X', 'v'.repeat(9_900)]],
    'a header of 10 kB, not ASCII': [['X', 'ü'.repeat(4_950)]],
    '98 headers of 10 kB': many(98, 90),
    'a header name of 15 kB': [['X'.repeat(15_000), 'v']],
    '2,000 headers': many(2_000, 1),
    '126 headers': many(126, 1),
    '126 headers of 100 bytes': many(126, 100),
    '126 headers of one name': Array.from({ length: 126 }, () => ['If-Match', '"a"'] as const),
    '126 lines of tags': Array.from({ length: 126 }, () => ['X-File-Tags', 'a'] as const),
  };
  const methods = ['GET', 'PUT', 'POST', 'DELETE', 'M'.repeat(15_000)];
  const withHeaders = Object.entries(headers).flatMap(([name, sent]) =>
    Object.entries(routes).flatMap(([route, to]): [string, Sent][] => [
      [`${route} with ${name}`, { ...to, headers: sent }],
      [`${route} with a key and ${name}`, { ...to, headers: [...keyed, ...sent] }],
    ]),
  );
  const withUrls = Object.entries(longUrls).flatMap(([name, url]) =>
    methods.flatMap((method): [string, Sent][] => [
      [`${method.slice(0, 6)} with ${name}`, { method, url }],
      [`${method.slice(0, 6)} with a key and ${name}`, { method, url, headers: keyed }],
    ]),
  );
  return [...withHeaders, ...withUrls];
}

/**
 * Returns URLs that percent-decoding cannot read, with and without a long key, also at a site with
 * a 404.html.
 */
function unreadable(keyed: Headers): [string, Sent][] {
  const long: Headers = [['Authorization', `Bearer ${'A'.repeat(8_800)}`]];
  const urls = ['/api/%zz', '/api/%00', '/api/v1/bucket/x/files/%C3%28', '/%zz', '/cloud/site/%zz'];
  return urls.flatMap((url) =>
    ['GET', 'PUT', 'POST', 'DELETE', 'OPTIONS'].flatMap((method): [string, Sent][] => [
      [`${method} of the unreadable URL ${url}`, { method, url }],
      [`${method} of the unreadable URL ${url} with a key`, { method, url, headers: keyed }],
      [`${method} of the unreadable URL ${url} with 8.8 kB`, { method, url, headers: long }],
    ]),
  );
}

/** Returns moves of a prefix, for which the inspection must not list the files. */
function prefixMoves(keyed: Headers): [string, Sent][] {
  const body = Buffer.from('{"fromPrefix":"x/","toPrefix":"x/y/"}');
  const move = { method: 'POST', url: `${base}/move`, body };
  return [
    ['a move of a prefix into itself', { ...move, headers: keyed }],
    ['a move of a prefix without a key', move],
  ];
}

/**
 * Returns requests for many files at once. A caller with rights pays for the length of the list.
 */
function batches(keyed: Headers): [string, Sent][] {
  const [authorization] = keyed;
  const type = ['Content-Type', 'multipart/form-data; boundary=B'] as const;
  const files = { method: 'POST', url: `${base}/files` };
  const deletion = { method: 'POST', url: `${base}/delete` };
  const head = 'Content-Disposition: form-data; name="a"\r\n';
  const part = `--B\r\n${head}\r\nx\r\n`;
  const forms: Readonly<Record<string, string>> = {
    'no boundary': 'x'.repeat(1_900_000),
    '10,000 boundaries': '--B\r\n'.repeat(10_000),
    'almost boundaries': '\r\n--'.repeat(400_000),
    'a head of 1 MB': `--B\r\n${head}X: ${'y'.repeat(1_000_000)}\r\n\r\nx\r\n--B--`,
    'a head of 2,000 lines': `--B\r\n${head}${'X: y\r\n'.repeat(1_000)}\r\nx\r\n--B--`,
    'a name without end': `--B\r\nContent-Disposition: form-data; name="${'\\"'.repeat(3_000)}`,
    '20,000 parts': part.repeat(20_000),
  };
  const lists: Readonly<Record<string, string>> = {
    'nothing but brackets': '['.repeat(98_000),
    'a string of 98 kB': `{"prefix":1,"a":"${'a'.repeat(98_000)}"}`,
    'a string of 1 MB': `{"prefix":1,"a":"${'a'.repeat(1_000_000)}"}`,
    '1,001 paths': `{"paths":[${'"",'.repeat(1_000)}""]}`,
    '80,000 paths': `{"paths":[${'"",'.repeat(80_000)}""]}`,
  };
  return [
    ...Object.entries(forms).flatMap(([name, text]): [string, Sent][] => {
      const body = Buffer.from(text);
      const isShort = name !== '20,000 parts';
      return [
        [`a form without a key: ${name}`, { ...files, headers: [type], body }],
        ...(isShort && authorization !== undefined
          ? [
              [`a form: ${name}`, { ...files, headers: [authorization, type], body }] as [
                string,
                Sent,
              ],
            ]
          : []),
      ];
    }),
    ...Object.entries(lists).flatMap(([name, text]): [string, Sent][] => [
      [`a deletion without a key: ${name}`, { ...deletion, body: Buffer.from(text) }],
      [`a deletion: ${name}`, { ...deletion, headers: keyed, body: Buffer.from(text) }],
    ]),
  ];
}

function bodies(keyed: Headers, uploadId: string): [string, Sent][] {
  const complete = { method: 'POST', url: `${base}/upload/${uploadId}/complete` };
  const texts: Readonly<Record<string, string>> = {
    'JSON 30,000 deep': '['.repeat(30_000),
    'JSON 8,000 deep': `{"path":${'['.repeat(8_000)}`,
    'JSON 2,000 deep': `{"path":${'{"a":'.repeat(2_000)}`,
    'brackets in a string': `{"path":"${'['.repeat(16_000)}","size":5}`,
    '60 kB of JSON': `{"path":"${'a'.repeat(60_000)}","size":5}`,
    '16 kB that is not ASCII': `{"path":"${'ü'.repeat(8_000)}","size":5}`,
    '16 kB of escapes': `{"path":"${'\\u00fc'.repeat(2_700)}","size":5}`,
    '16 kB of short strings': `{"tags":[${'"",'.repeat(5_000)}""],"path":"a","size":5}`,
    '16 kB of members': `{${Array.from({ length: 1_500 }, (_, n) => `"f${n}":1`).join()}}`,
    '16 kB of headers': `{"path":"a","size":5,"headers":{${Array.from({ length: 1_300 }, (_, n) => `"f${n}":""`).join()}}}`,
    'quotes without end': `{"path":"${'\\"'.repeat(8_000)}`,
    'a number of 16 kB': `{"path":"a","size":${'9'.repeat(16_000)}}`,
  };
  const json = Object.entries(texts).flatMap(([name, text]): [string, Sent][] =>
    [start, complete].map((to) => [
      `${to === start ? 'start' : 'complete'} with ${name}`,
      { ...to, headers: keyed, body: Buffer.from(text) },
    ]),
  );
  const evil = hostileTexts.flatMap(([name, text]) =>
    ['path', 'contentType', 'sha256', 'ifMatch', 'ifNoneMatch'].map((field): [string, Sent] => {
      const body = JSON.stringify({ path: 'a', size: 5, [field]: text });
      return [`${field} in JSON: ${name}`, { ...start, headers: keyed, body: Buffer.from(body) }];
    }),
  );
  const whole = new Uint8Array(1_900_000).fill(65);
  return [
    ...json,
    ...evil,
    ['2 MB without a key', { ...put, body: whole }],
    ['2 MB of JSON', { ...start, headers: keyed, body: whole }],
    ['2 MB to a missing path', { method: 'PUT', url: '/nothing', body: whole }],
    ['2 MB as the body of a GET', { method: 'GET', url: '/cloud/demo/a.txt', body: whole }],
  ];
}
