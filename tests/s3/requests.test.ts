// The parsing of requests, without a service: addresses, keys, ranges, conditions, tags, XML,
// routes.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addressOf } from '../../packages/s3/src/address.ts';
import { checkConditions } from '../../packages/s3/src/conditions.ts';
import { keyOfPath, pathOfKey } from '../../packages/s3/src/keys.ts';
import { compareNames } from '../../packages/s3/src/listing.ts';
import { rangeOf } from '../../packages/s3/src/range.ts';
import { readRequest } from '../../packages/s3/src/request.ts';
import { routeOf } from '../../packages/s3/src/routes.ts';
import type { S3Error } from '../../packages/s3/src/s3-error.ts';
import { metadataOf } from '../../packages/s3/src/stored-object.ts';
import { tagOf, wordsOf } from '../../packages/s3/src/tags.ts';
import { elementsOf, readXml, textOf } from '../../packages/s3/src/xml/read.ts';
import { writeXml } from '../../packages/s3/src/xml/write.ts';
import { parseNewPath } from '../../src/domain/shared/names.ts';

function codeOf(run: () => unknown): string | undefined {
  try {
    run();
  } catch (error) {
    return (error as S3Error).code;
  }
}

const local = { host: '127.0.0.1:9000', domain: undefined };

describe('routeOf(): an address', () => {
  test.each([
    ['/', undefined, undefined],
    ['/demo', 'demo', undefined],
    ['/demo/', 'demo', undefined],
    ['/holiday-photos/a', 'holiday-photos', 'a'],
    ['/demo/a/b', 'demo', 'a/b'],
    ['/demo/a%2Fb', 'demo', 'a/b'],
    ['/demo/../other/a', 'demo', '../other/a'],
    ['/demo/%2E%2E/other', 'demo', '../other'],
    ['/demo//a', 'demo', '/a'],
    ['/demo/a+b%20c%2B', 'demo', 'a+b c+'],
    ['/demo/%C3%A4%00', 'demo', 'ä\0'],
  ])('%s names bucket %s and key %s', (rawPath, bucket, key) => {
    expect(addressOf({ rawPath, ...local })).toEqual({ bucket, key });
  });

  test.each([
    ['demo', 'InvalidURI'],
    ['http://elsewhere/demo', 'InvalidURI'],
    ['//demo', 'InvalidBucketName'],
    ['/my.bucket/a', 'InvalidBucketName'],
    ['/-bucket/a', 'InvalidBucketName'],
    ['/demo%2Fa', 'InvalidBucketName'],
    ['/../demo', 'InvalidBucketName'],
    ['/%00', 'InvalidBucketName'],
    [`/${'a'.repeat(65)}`, 'InvalidBucketName'],
    ['/demo/%FF', 'InvalidURI'],
    ['/demo/%', 'InvalidURI'],
  ])('%s is refused with %s', (rawPath, code) => {
    expect(codeOf(() => addressOf({ rawPath, ...local }))).toBe(code);
  });

  test("may have its bucket in the host below the server's domain", () => {
    const at = (host: string) => addressOf({ rawPath: '/a/b', host, domain: 's3.Example' });
    expect(at('demo.S3.example:9000')).toEqual({ bucket: 'demo', key: 'a/b' });
    expect(at('holiday-photos.s3.example')).toEqual({ bucket: 'holiday-photos', key: 'a/b' });
    expect(at('s3.example')).toEqual({ bucket: 'a', key: 'b' });
    expect(at('demo.other')).toEqual({ bucket: 'a', key: 'b' });
    expect(codeOf(() => at('a.b.s3.example'))).toBe('InvalidBucketName');
  });
});

describe('routeOf(): a key', () => {
  const pieces = ['a', 'Z0', '/', '//', '.', '..', ' ', '<*>', '\0', '\u202e', 'ä', '\ud800', '%'];
  const anyKey = fc.oneof(
    fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }),
    fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 8 }).map((all) => all.join('')),
  );

  test('is refused exactly if the service refuses its path', () => {
    fc.assert(
      fc.property(anyKey, (key) => {
        const code = codeOf(() => pathOfKey(key));
        const isMarker = key.endsWith('/') || key.endsWith('/ ');
        fc.pre(!isMarker && !key.startsWith('/'));
        expect(code).toBe(codeOf(() => parseNewPath(key)) && 'InvalidArgument');
      }),
    );
  });

  test('equals the key of its path, and paths sort as keys do', () => {
    fc.assert(
      fc.property(anyKey, anyKey, (one, other) => {
        fc.pre(codeOf(() => [pathOfKey(one), pathOfKey(other)]) === undefined);
        expect(keyOfPath(pathOfKey(one))).toBe(one);
        const order = compareNames(pathOfKey(one), pathOfKey(other));
        expect(Math.sign(order)).toBe(Math.sign(compareNames(one, other)));
      }),
    );
  });

  test('has at most 1,024 bytes, and one less if it names a folder', () => {
    expect(codeOf(() => pathOfKey('ä'.repeat(512)))).toBeUndefined();
    expect(codeOf(() => pathOfKey(`${'ä'.repeat(512)}a`))).toBe('KeyTooLongError');
    expect(codeOf(() => pathOfKey(`${'a'.repeat(1_023)}/`))).toBe('KeyTooLongError');
  });
});

test.each([
  [undefined, 10, undefined],
  ['bytes=0-3', 10, { start: 0, end: 4 }],
  ['bytes=4-', 10, { start: 4, end: 10 }],
  ['bytes=-4', 10, { start: 6, end: 10 }],
  ['bytes=-40', 10, { start: 0, end: 10 }],
  ['bytes=2-400', 10, { start: 2, end: 10 }],
  ['bytes=3-2', 10, undefined],
  ['bytes=0-1,4-5', 10, undefined],
  ['lines=0-1', 10, undefined],
])('routeOf(): the range %s of %i bytes is %o', (text, size, range) => {
  expect(rangeOf(text, size)).toEqual(range);
});

test.each(['bytes=10-', 'bytes=-0', 'bytes=99-100'])(
  'routeOf(): the range %s has no byte of ten',
  (text) => {
    expect(codeOf(() => rangeOf(text, 10))).toBe('InvalidRange');
  },
);

describe('routeOf(): a condition', () => {
  const object = { etag: 'abc', modified: new Date('2026-01-02T03:04:05.678Z') };
  const none = {
    ifMatch: undefined,
    ifNoneMatch: undefined,
    ifModifiedSince: undefined,
    ifUnmodifiedSince: undefined,
  };
  const sameSecond = 'Fri, 02 Jan 2026 03:04:05 GMT';
  const before = 'Fri, 02 Jan 2026 03:04:04 GMT';
  const resultOf = (conditions: object) => {
    const all = { ...none, ...conditions };
    return codeOf(() => checkConditions(object, all)) ?? checkConditions(object, all);
  };

  test.each([
    [{ ifMatch: '"abc"' }, 'met'],
    [{ ifMatch: 'abc' }, 'met'],
    [{ ifMatch: '*' }, 'met'],
    [{ ifMatch: '"x", "y"' }, 'PreconditionFailed'],
    [{ ifNoneMatch: '"x", "abc"' }, 'not modified'],
    [{ ifNoneMatch: '"x"', ifModifiedSince: sameSecond }, 'met'],
    [{ ifModifiedSince: sameSecond }, 'not modified'],
    [{ ifModifiedSince: before }, 'met'],
    [{ ifModifiedSince: 'tomorrow, perhaps' }, 'met'],
    [{ ifUnmodifiedSince: sameSecond }, 'met'],
    [{ ifUnmodifiedSince: before }, 'PreconditionFailed'],
    [{ ifMatch: '"abc"', ifUnmodifiedSince: before }, 'met'],
  ])('%o is %s', (conditions, result) => {
    expect(resultOf(conditions)).toBe(result);
  });
});

describe('routeOf(): tags', () => {
  test('are the same after encoding and decoding', () => {
    const text = fc.string({ maxLength: 20 });
    fc.assert(
      fc.property(text, text, (key, value) => {
        fc.pre(codeOf(() => wordsOf([{ key, value }])) === undefined);
        const [word = ''] = wordsOf([{ key, value }]);
        expect(word.trim()).toBe(word);
        expect(tagOf(word)).toEqual({ key, value });
      }),
    );
  });

  test('are refused if they are too many, too long or repeated', () => {
    const many = Array.from({ length: 11 }, (_, index) => ({ key: `k${index}`, value: '' }));
    expect(codeOf(() => wordsOf(many))).toBe('InvalidTag');
    expect(codeOf(() => wordsOf([{ key: 'a', value: 'b'.repeat(63) }]))).toBe('InvalidTag');
    const twice = { key: 'a', value: 'b' };
    expect(codeOf(() => wordsOf([twice, twice]))).toBe('InvalidTag');
  });
});

describe('routeOf(): XML', () => {
  const bytes = (text: string) => new TextEncoder().encode(text);

  test('of a request may have character references and spaces', () => {
    const document = '<Delete xmlns="x"><Object><Key> a&amp;&#34;&#x9;b </Key></Object></Delete>';
    const root = readXml(bytes(document), 'Delete');
    expect(textOf(elementsOf(root, 'Object')[0], 'Key')).toBe(' a&"\tb ');
  });

  test.each([
    '<Delete><Object></Delete>',
    '<Other/>',
    'no XML',
    '',
    '<!DOCTYPE a [<!ENTITY b "c">]><Delete>&b;</Delete>',
    '<Delete><__proto__>a</__proto__></Delete>',
    '<Delete><constructor>a</constructor></Delete>',
    '<Delete><Key>a\u0001b</Key></Delete>',
    '<Delete><Key>a&#0;b</Key></Delete>',
    '<Delete><Key>a&#x1f;b</Key></Delete>',
    '<Delete><Key>a&#xD800;b</Key></Delete>',
    '<Delete><Key>a&#x110000;b</Key></Delete>',
  ])('readXml refuses %j', (document) => {
    expect(codeOf(() => readXml(bytes(document), 'Delete'))).toBe('MalformedXML');
  });

  test('readXml refuses elements that are nested 100,000 levels deep', () => {
    const document = `<Delete>${'<a>'.repeat(100_000)}${'</a>'.repeat(100_000)}</Delete>`;
    expect(codeOf(() => readXml(bytes(document), 'Delete'))).toBe('MalformedXML');
  });

  test('readXml resolves a reference to a character once', () => {
    const root = readXml(bytes('<Delete><Key>a&amp;#65;&#x1F600;</Key></Delete>'), 'Delete');
    expect(textOf(root, 'Key')).toBe('a&#65;\u{1f600}');
  });

  test('of a response is the same after parsing', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (name) => {
        const written = writeXml('Result', { Key: name });
        fc.pre(name !== '' && !/[\p{Cc}\ufffe\uffff]/u.test(name));
        expect(textOf(readXml(bytes(written), 'Result'), 'Key')).toBe(name);
      }),
    );
  });
});

describe('routeOf(): a request', () => {
  const read = (line: string, headers: Record<string, string> = {}) => {
    const [method = '', url = ''] = line.split(' ');
    const [rawPath = '', rawQuery = ''] = url.split('?', 2);
    return readRequest({ method, rawPath, rawQuery, headers: Object.entries(headers) }, undefined);
  };
  const known = [
    'GET /',
    'GET /demo?list-type=2&prefix=a&x-id=ListObjectsV2',
    'PUT /demo/a?X-Amz-Signature=b',
    'GET /demo/a?response-content-type=a&versionId=1',
    'PUT /demo?lifecycle',
  ];
  test.each(known)('%s has a route', (line) => {
    expect(routeOf(read(line))).toHaveProperty('run');
  });

  test.each([
    'PUT /demo?policy',
    'GET /demo/a?torrent',
    'PUT /demo/a?unheard-of',
    'POST /demo/a',
    'OPTIONS /demo/a',
  ])('%s has no route, and is not mistaken for another', (line) => {
    expect(codeOf(() => routeOf(read(line)))).toBe('NotImplemented');
  });

  test.each([
    ['x-amz-acl', 'public-read', 'NotImplemented'],
    ['x-amz-grant-read', 'uri="http://acs.amazonaws.com/groups/global/AllUsers"', 'NotImplemented'],
    ['x-amz-storage-class', 'UNHEARD_OF', 'InvalidStorageClass'],
    ['x-amz-server-side-encryption', 'aws:kms', 'NotImplemented'],
    ['x-amz-server-side-encryption-customer-key', 'a', 'NotImplemented'],
    ['x-amz-copy-source-server-side-encryption-customer-key', 'a', 'NotImplemented'],
    ['x-amz-bucket-object-lock-enabled', 'true', 'NotImplemented'],
    ['x-amz-object-lock-unheard-of', 'a', 'NotImplemented'],
    ['x-amz-expected-bucket-owner', '123456789012', 'AccessDenied'],
    ['x-amz-write-offset-bytes', '4', 'NotImplemented'],
    ['x-amz-website-redirect-location', '/other', 'NotImplemented'],
  ])('routeOf refuses %s: %s, which is unsafe to ignore', (name, value, code) => {
    expect(codeOf(() => routeOf(read('PUT /demo/a', { [name]: value })))).toBe(code);
  });

  test.each([
    ['x-amz-api-version', '2006-03-01'],
    ['x-amz-bucket-object-lock-enabled', 'false'],
    ['x-amz-object-lock-legal-hold', 'OFF'],
    ['x-amz-bypass-governance-retention', 'true'],
    ['x-amz-acl', 'private'],
    ['x-amz-acl', 'bucket-owner-full-control'],
    ['x-amz-object-ownership', 'BucketOwnerEnforced'],
    ['x-amz-server-side-encryption', 'AES256'],
    ['x-amz-server-side-encryption-bucket-key-enabled', 'false'],
    ['x-amz-storage-class', 'STANDARD_IA'],
    ['x-amz-unheard-of', 'a'],
  ])('routeOf ignores %s: %s, which changes nothing', (name, value) => {
    expect(routeOf(read('PUT /demo/a', { [name]: value }))).toHaveProperty('run');
  });

  test.each([
    ['x-amz-object-lock-mode', 'COMPLIANCE', '/a', '/a?tagging'],
    ['x-amz-object-lock-legal-hold', 'ON', '/a', '/a?uploadId=1&partNumber=1'],
    ['x-amz-bucket-object-lock-enabled', 'true', '', '?versioning'],
  ])('routeOf refuses %s: %s unless the operation obeys it', (name, value, right, wrong) => {
    const headers = { [name]: value };
    expect(routeOf(read(`PUT /demo${right}`, headers))).toHaveProperty('run');
    const refused = () => routeOf(read(`PUT /demo${wrong}`, headers));
    expect(codeOf(refused)).toBe('NotImplemented');
  });

  test('routeOf repeats no key of a client in its error', () => {
    const name = 'x-amz-server-side-encryption-customer-key';
    const route = () => routeOf(read('PUT /demo/a', { [name]: 'topsecret' }));
    expect(route).toThrow(name);
    expect(route).not.toThrow('topsecret');
  });

  test('has header fields in UTF-8, and each query name once', () => {
    const sent = { 'x-amz-meta-name': Buffer.from('ä€').toString('latin1') };
    expect(read('PUT /demo/a', sent).header('x-amz-meta-name')).toBe('ä€');
    expect(codeOf(() => read('GET /demo?prefix=a&prefix=b'))).toBe('InvalidArgument');
  });
});

test('routeOf(): metadata that no record can hold is refused', () => {
  const own = { etag: '0'.repeat(32) };
  expect(Object.keys(metadataOf(own, { a: 'b' }))).toEqual(['a', 's3.etag']);
  expect(codeOf(() => metadataOf(own, { a: 'b'.repeat(2_048) }))).toBe('MetadataTooLarge');
});
