// Requests that pages of other origins can send, and responses that they can read (Fetch standard,
// "CORS protocol"). No response through the gateway runs a script in this origin.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type FileClient, openFileClient } from '../support/http-client.ts';
import { openService, type Service } from '../support/service.ts';
import { projectDir, readSources } from '../tidy/source-tree.ts';

let service: Service;
let client: FileClient;
const origin = { Origin: 'https://example.org' };

beforeAll(async () => {
  service = await openService();
  client = openFileClient(service);
  const disposition = { 'Content-Disposition': 'inline; filename="o"' };
  expect((await client.put('origin.txt', 'hello', disposition)).status).toBe(201);
});

afterAll(() => service?.stop());

const listed = (response: Response, field: string) =>
  (response.headers.get(field) ?? '').toLowerCase().split(/\s*,\s*/);

/** Fields that scripts cannot set, or that only gateways send (Fetch standard, "forbidden"). */
const unsettable = ['host', 'sec-fetch-dest'];
/** Fields that scripts set without asking (Fetch, "CORS-safelisted request-header"). */
const safelisted = ['accept'];
/** Fields whose requests are refused with an error. */
const refused = ['content-range'];
/** Fields of the tus protocol, which only its addresses read. */
const ofTus = [
  'tus-resumable',
  'upload-length',
  'upload-offset',
  'upload-metadata',
  'upload-checksum',
  'upload-concat',
  'x-http-method-override',
];

/** Returns the request fields that the source reads, and the headers stored with files. */
async function readHeaders(path: string): Promise<string[]> {
  const http = readSources().filter(({ path }) => path.startsWith('src/http/'));
  const source = http.flatMap(({ lines }) => lines).join('\n');
  const asked = [...source.matchAll(/[hH]eader\((?:\w+\.)?request, '([a-z-]+)'/g)];
  const stored = await readFile(join(projectDir, 'src/domain/shared/stored-headers.ts'), 'utf8');
  const fields = [...stored.matchAll(/'((?:cache|content)-[a-z]+)'/gi)];
  const digests = ['content-digest', 'repr-digest'];
  return [...asked, ...fields]
    .map(([, name = '']) => name.toLowerCase())
    .concat(digests)
    .filter((name) => path.startsWith('/api/v1/tus/') || !ofTus.includes(name))
    .filter((name) => ![...unsettable, ...safelisted, ...refused].includes(name));
}

describe('a preflight', () => {
  test.each([
    '/cloud/demo/origin.txt',
    '/cloud/demo/none',
    '/cloud/nowhere/x',
    '/api/v1/bucket/demo/files/origin.txt',
    '/api/v1/bucket/demo/upload/start',
    '/api/v1/status',
    '/api/v1/tus/demo',
  ])('at %s allows every method and every header that the interface reads', async (path) => {
    const names = await readHeaders(path);
    expect(names).toEqual(expect.arrayContaining(['authorization', 'if-range', 'cache-control']));
    const response = await fetch(`${service.base}${path}`, {
      method: 'OPTIONS',
      headers: {
        ...origin,
        'Access-Control-Request-Method': 'PUT',
        'Access-Control-Request-Headers': names.join(),
      },
    });
    expect(response.status).toBe(204);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(listed(response, 'access-control-allow-headers')).toEqual(expect.arrayContaining(names));
    const methods = ['get', 'head', 'put', 'post', 'delete'];
    expect(listed(response, 'access-control-allow-methods')).toEqual(
      expect.arrayContaining(methods),
    );
  });
});

describe('a page of another origin may read', () => {
  const ofFiles = ['etag', 'content-range', 'content-length', 'accept-ranges', 'last-modified'];

  test.each<[string, number, Record<string, string>]>([
    ['GET', 200, {}],
    ['HEAD', 200, {}],
    ['GET', 206, { Range: 'bytes=1-2' }],
    ['GET', 304, { 'If-None-Match': 'etag' }],
  ])('the six headers of a file in a response: %s, %i', async (method, status, headers) => {
    const url = `${service.base}/cloud/${service.bucket}/origin.txt`;
    const etag = (await client.head('origin.txt')).headers.get('etag') ?? '';
    const sent = Object.entries(headers).map(([name, value]) => [
      name,
      value.replace('etag', etag),
    ]);
    const fields = { ...origin, ...Object.fromEntries(sent) };
    const response = await fetch(url, { method, headers: fields });
    expect(response.status).toBe(status);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(listed(response, 'access-control-expose-headers')).toEqual(
      expect.arrayContaining([...ofFiles, 'content-disposition']),
    );
  });

  test('the headers of JSON responses, of created records and of refusals', async () => {
    const body = JSON.stringify({ path: 'o', size: 1 });
    const url = `${service.base}/api/v1/bucket/${service.bucket}`;
    const headers = { ...origin, Authorization: `Bearer ${service.apiKey}` };
    const answers = [
      await fetch(`${url}/upload/start`, { method: 'POST', headers, body }),
      await fetch(`${url}/files/origin.txt`, { headers }),
      await fetch(`${url}/files`, { headers: origin }),
      await fetch(`${url}/files/none`, { headers }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([201, 200, 401, 404]);
    for (const answer of answers) {
      expect(answer.headers.get('access-control-allow-origin')).toBe('*');
      expect(listed(answer, 'access-control-expose-headers')).toEqual(
        expect.arrayContaining(['etag', 'location', 'retry-after', 'x-request-id']),
      );
    }
  });
});

describe('a file of the type', () => {
  const policyOf = async (contentType: string, method: string) => {
    const url = `${service.base}/cloud/${service.bucket}/typed`;
    await client.put('typed', '<script>', { 'Content-Type': contentType });
    const { headers } = await fetch(url, { method });
    expect(headers.get('content-type')).toBe(contentType);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    return headers.get('content-security-policy');
  };

  test.each([
    'text/html',
    'image/svg+xml',
    'multipart/x-mixed-replace; boundary=x',
    'application/rss+xml',
    'text/vtt',
    'application/x-shockwave-flash',
    'image/png+xml',
    'text/plain-html',
    'x/y',
  ])('%s is served in a sandbox', async (contentType) => {
    expect(await policyOf(contentType, 'GET')).toBe('sandbox');
    expect(await policyOf(contentType, 'HEAD')).toBe('sandbox');
  });

  test.each([
    'image/png',
    'IMAGE/JPEG; q=1',
    'video/mp4',
    'audio/mpeg',
    'font/woff2',
    'text/plain; charset=utf-8',
    'application/json',
    'application/pdf',
    'application/octet-stream',
  ])('%s is served without a sandbox', async (contentType) => {
    expect(await policyOf(contentType, 'GET')).toBeNull();
  });
});
