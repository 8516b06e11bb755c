import { beforeAll, describe, expect, test } from 'vitest';
import {
  entityTag,
  type FileMetadata,
  type FileRecord,
  findFile,
} from '../../src/domain/files/file-records.ts';
import { completeUpload } from '../../src/domain/uploads/upload-end.ts';
import {
  begin,
  callOf,
  createScene,
  plainMetadata,
  putChunks,
  putTestFile,
  testBytes,
} from '../support/domain-fixture.ts';
import { bodyOf, bodyText, headersOf, send, sendRefused } from '../support/http-fixture.ts';
import type { MemoryStores } from '../support/memory-stores.ts';

let stores: MemoryStores;
let small: FileRecord;
let etag: string;
const url = '/cloud/box/dir/small.txt';
const lastModified = 'Fri, 02 Jan 2026 03:04:05 GMT';
const alice = callOf('alice');

function put(path: string, bytes: Uint8Array, metadata: Partial<FileMetadata> = {}): FileRecord {
  return putTestFile(stores, { path, bytes, metadata: { ...plainMetadata, ...metadata } }).file;
}

function putChunked(path: string, lengths: readonly number[]): Buffer {
  const size = lengths.reduce((sum, length) => sum + length, 0);
  const { uploadId } = begin(stores, alice, { path, size: BigInt(size) });
  const chunks = lengths.map((length, index) => [index, testBytes(length, index)] as const);
  putChunks(stores, alice, { uploadId, chunks });
  completeUpload(stores, alice, { uploadId, apiKey: undefined });
  return Buffer.concat(chunks.map(([, bytes]) => bytes));
}

beforeAll(async () => {
  ({ stores } = await createScene());
  small = put('/dir/small.txt', Buffer.from('hello world'));
  etag = entityTag(small);
  put('/empty', new Uint8Array(0));
});

describe('GET /cloud/{bucket}/{path}: file', () => {
  test('answers 200 with the bytes and every header', () => {
    const response = send(stores, { url });
    expect(response.status).toBe(200);
    expect(bodyText(response)).toBe('hello world');
    expect(headersOf(response)).toEqual({
      'content-type': 'text/plain',
      etag,
      'last-modified': lastModified,
      'cache-control': 'public, max-age=3600',
      'accept-ranges': 'bytes',
      'x-content-type-options': 'nosniff',
      'access-control-expose-headers':
        'ETag, Content-Range, Content-Length, Accept-Ranges, Last-Modified, Content-Disposition',
      'x-request-id': expect.stringMatching(/^[0-9a-z]+$/),
    });
  });

  test('answers with the stored headers', () => {
    const metadata = {
      contentType: 'Application/X-Thing; a="B"',
      headers: ['no-store', 'attachment; filename="x"', 'gzip', 'de, en'],
    };
    put('/stored', testBytes(5), metadata);
    expect(headersOf(send(stores, { url: '/cloud/box/stored' }))).toMatchObject({
      'content-type': metadata.contentType,
      'cache-control': 'no-store',
      'content-disposition': 'attachment; filename="x"',
      'content-encoding': 'gzip',
      'content-language': 'de, en',
    });
  });

  test('answers 200 without a body for an empty file', () => {
    const response = send(stores, { url: '/cloud/box/empty' });
    expect([response.status, response.body.length]).toEqual([200, 0]);
  });

  test('answers 200 with all of a file of 2,000,000 bytes', () => {
    const bytes = testBytes(2_000_000);
    put('/large', bytes);
    const response = send(stores, { url: '/cloud/box/large' });
    expect(response.status).toBe(200);
    expect(Buffer.compare(response.body, bytes)).toBe(0);
  });

  test.each([
    'text/html',
    'TEXT/HTML; charset=utf-8',
    'text/html ;a=b',
    'application/xhtml+xml',
    'image/svg+xml',
    'text/xml',
    'application/xml',
    'application/atom+xml; type=feed',
    'text/xsl',
    'text/javascript',
    'application/javascript; charset=utf-8',
    'application/x-javascript',
    'application/ecmascript',
    'multipart/x-mixed-replace; boundary=a',
    'text/rdf',
    'text/jscript',
    'text/html-x',
    'message/rfc822',
    'application/x-unheard-of',
    'x/y',
    'video/x-xml',
    'audio/rdf+xml; a=b',
    'Font/Svg+XML',
  ])('sandboxes the type %s, which is not known to be passive', (contentType) => {
    put('/active', testBytes(1), { contentType });
    for (const method of ['GET', 'HEAD']) {
      const headers = headersOf(send(stores, { method, url: '/cloud/box/active' }));
      expect(headers['content-security-policy']).toBe('sandbox');
    }
  });

  test.each([
    'text/plain',
    'image/png',
    'image/webp; a=b',
    'video/mp4; codecs="avc1"',
    'audio/mpeg',
    'font/woff2',
    'text/csv',
    'application/octet-stream',
    'application/zip',
    'application/json',
    'application/pdf',
    'text/plain; a="text/html"',
  ])('does not sandbox the passive type %s', (contentType) => {
    put('/passive', testBytes(1), { contentType });
    const headers = headersOf(send(stores, { url: '/cloud/box/passive' }));
    expect(headers['content-security-policy']).toBeUndefined();
  });

  test('ignores Authorization', () => {
    const headers = { authorization: 'Bearer nonsense' };
    expect(send(stores, { url, headers }).status).toBe(200);
  });

  test.each([
    ['/cloud/none/a', 404, 'NoSuchFile'],
    ['/cloud/BOX/dir/small.txt', 404, 'NoSuchFile'],
    ['/cloud/box/dir', 404, 'NoSuchFile'],
    ['/cloud/box/dir/Small.txt', 404, 'NoSuchFile'],
    ['/cloud/b-/a', 400, 'InvalidBucketId'],
    ['/cloud//a', 400, 'InvalidBucketId'],
    [`/cloud/${'b'.repeat(65)}/a`, 400, 'InvalidBucketId'],
    [`/cloud/box/${'%C3%A9'.repeat(513)}`, 400, 'InvalidPath'],
  ])('answers %s with %i %s', (missing, status, code) => {
    sendRefused(stores, { url: missing }, { status, code });
  });
});

describe('GET /cloud/{bucket}/{path}: conditional GET and HEAD', () => {
  test.each<[Record<string, string>]>([
    [{ 'If-None-Match': '*' }],
    [{ 'if-none-match': 'etag' }],
    [{ 'IF-NONE-MATCH': 'W/etag' }],
    [{ 'If-Modified-Since': lastModified }],
    [{ 'If-None-Match': 'etag', Range: 'bytes=0-1' }],
  ])('answers 304 with only the validators to %j', (template) => {
    const pairs = Object.entries(template).map(([name, value]) => [
      name,
      value.replace('etag', etag),
    ]);
    for (const method of ['GET', 'HEAD']) {
      const response = send(stores, { method, url, headers: Object.fromEntries(pairs) });
      expect([response.status, response.body.length]).toEqual([304, 0]);
      // RFC 9110 §15.4.5
      expect(headersOf(response)).toEqual({
        etag,
        'last-modified': lastModified,
        'cache-control': 'public, max-age=3600',
        'access-control-expose-headers': expect.stringContaining('ETag'),
        'x-request-id': expect.any(String),
      });
    }
  });

  test('reads a list that is spread over several header lines', () => {
    const headers = [
      ['If-None-Match', '"x"'],
      ['if-none-match', etag],
    ] as const;
    expect(send(stores, { url, headers }).status).toBe(304);
  });

  test.each([{ 'If-Match': '"x"' }, { 'If-Unmodified-Since': 'Fri, 02 Jan 2026 03:04:04 GMT' }])(
    'answers 412 to %j',
    (headers) => {
      sendRefused(stores, { url, headers }, { status: 412, code: 'PreconditionFailed' });
      const head = send(stores, { method: 'HEAD', url, headers });
      expect([head.status, head.body.length]).toEqual([412, 0]);
    },
  );

  test('checks that the file exists before it checks conditions', () => {
    const headers = { 'If-None-Match': '*', 'If-Match': '"x"' };
    sendRefused(stores, { url: '/cloud/box/none', headers }, { status: 404, code: 'NoSuchFile' });
  });
});

describe('GET /cloud/{bucket}/{path}: GET with Range', () => {
  test.each([
    ['bytes=4-7', 'o wo', 'bytes 4-7/11'],
    ['bytes=4-', 'o world', 'bytes 4-10/11'],
    ['bytes=-7', 'o world', 'bytes 4-10/11'],
    ['bytes=0-0', 'h', 'bytes 0-0/11'],
    ['bytes=,4-7', 'o wo', 'bytes 4-7/11'],
  ])('answers %s with 206', (range, text, contentRange) => {
    const response = send(stores, { url, headers: { Range: range } });
    expect(response.status).toBe(206);
    expect(bodyOf(stores, response).toString()).toBe(text);
    const headers = headersOf(response);
    expect(headers).toMatchObject({
      'content-range': contentRange,
      etag,
      'accept-ranges': 'bytes',
    });
  });

  // A range that covers a whole file of one part returns the whole file, which is certified.
  test.each(['bytes=0-1,3-4', 'bytes=5-2', 'lines=1-2', 'bytes', 'bytes=0-', 'bytes=-99'])(
    'answers %s with the whole file',
    (range) => {
      const response = send(stores, { url, headers: { Range: range } });
      expect([response.status, bodyText(response)]).toEqual([200, 'hello world']);
      expect(headersOf(response)['content-range']).toBeUndefined();
    },
  );

  test.each(['bytes=11-', 'bytes=-0'])('answers %s with 416 and the size', (range) => {
    const expected = { status: 416, code: 'InvalidRange' };
    const { headers } = sendRefused(stores, { url, headers: { Range: range } }, expected);
    expect(headers['content-range']).toBe('bytes */11');
  });

  test('answers 416 for any range of an empty file', () => {
    const sent = { url: '/cloud/box/empty', headers: { Range: 'bytes=0-' } };
    const { headers } = sendRefused(stores, sent, { status: 416, code: 'InvalidRange' });
    expect(headers['content-range']).toBe('bytes */0');
  });

  test('ignores Range with HEAD', () => {
    for (const range of ['bytes=4-7', 'bytes=99-']) {
      const response = send(stores, { method: 'HEAD', url, headers: { Range: range } });
      expect([response.status, response.body.length]).toEqual([200, 0]);
      const headers = headersOf(response);
      expect(headers['content-length']).toBe('11');
      expect(headers['content-range']).toBeUndefined();
    }
  });

  test.each([
    ['the entity tag', 206, 'etag'],
    ['the date', 206, lastModified],
    ['a weak tag', 200, 'W/etag'],
    ['another tag', 200, '"x"'],
    ['another date', 200, 'Fri, 02 Jan 2026 03:04:06 GMT'],
  ])('with If-Range of %s answers %i', (_, status, ifRange) => {
    const headers = { Range: 'bytes=0-1', 'If-Range': ifRange.replace('etag', etag) };
    expect(send(stores, { url, headers }).status).toBe(status);
  });

  test('checks If-Range before it calls a range unsatisfiable', () => {
    const headers = { Range: 'bytes=99-', 'If-Range': '"x"' };
    expect(send(stores, { url, headers }).status).toBe(200);
  });
});

describe('GET /cloud/{bucket}/{path}: file of several chunks', () => {
  /** Fetches as the gateway does: the first response, then the parts after it, up to the end. */
  function collect(path: string): { bytes: Buffer; sizes: number[] } {
    const parts: Uint8Array[] = [];
    let start = 0;
    for (let total = 1; start < total; ) {
      const headers: Record<string, string> = start === 0 ? {} : { Range: `bytes=${start}-` };
      const response = send(stores, { url: `/cloud/box/${path}`, headers });
      expect(response.status).toBe(206);
      const match = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(headersOf(response)['content-range'] ?? '');
      const [, first, last, size] = (match ?? []).map(Number);
      expect(first).toBe(start);
      parts.push(response.body);
      start += response.body.length;
      expect(last).toBe(start - 1);
      total = size ?? 0;
    }
    return { bytes: Buffer.concat(parts), sizes: parts.map((part) => part.length) };
  }

  test.each([
    [[100, 100, 30]],
    [[70_000, 70_000]],
    [[1_850_000, 1_850_000, 1]],
    [[700_000, 700_000, 700_000, 5]],
  ])('is answered chunk by chunk for chunks of %j bytes', (lengths) => {
    const whole = putChunked('/chunked', lengths);
    const { bytes, sizes } = collect('chunked');
    expect(sizes).toEqual(lengths);
    expect(Buffer.compare(bytes, whole)).toBe(0);
    const head = headersOf(send(stores, { method: 'HEAD', url: '/cloud/box/chunked' }));
    expect(head['content-length']).toBe(String(whole.length));
    const file = findFile(stores, 'box', 'chunked') ?? expect.fail('no file');
    expect(head.etag).toBe(entityTag(file));
  });

  test.each([
    ['bytes=150-220', 150, 221],
    ['bytes=100-220', 100, 221],
    ['bytes=0-0', 0, 1],
    ['bytes=99-100', 99, 101],
    ['bytes=150-', 150, 230],
    ['bytes=-10', 220, 230],
    ['bytes=-130', 100, 230],
    ['bytes=-131', 99, 230],
    ['bytes=100-', 100, 200],
    ['bytes=200-', 200, 230],
  ])('answers %s across chunks', (range, start, end) => {
    const whole = putChunked('/ranged', [100, 100, 30]);
    const response = send(stores, { url: '/cloud/box/ranged', headers: { Range: range } });
    expect(response.status).toBe(206);
    expect(headersOf(response)['content-range']).toBe(`bytes ${start}-${end - 1}/230`);
    expect(Buffer.compare(bodyOf(stores, response), whole.subarray(start, end))).toBe(0);
  });

  const uncounted: Record<string, string>[] = [
    { Range: 'bytes=0-1,4-5' },
    { Range: 'bytes=9-1' },
    { Range: 'lines=1-2' },
    { Range: 'bytes=100-', 'If-Range': '"another"' },
    { Range: 'bytes=100-', 'If-Range': 'W/"weak"' },
    { 'If-Range': '"another"' },
  ];

  // Gateways join parts only of requests without these fields.
  test.each(uncounted)('is answered as a whole for %j', (headers) => {
    const whole = putChunked('/ranged', [100, 100, 30]);
    const response = send(stores, { url: '/cloud/box/ranged', headers });
    expect(response.status).toBe(200);
    expect(headersOf(response)['content-range']).toBeUndefined();
    expect(Buffer.compare(bodyOf(stores, response), whole)).toBe(0);
  });
});
