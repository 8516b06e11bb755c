import { createHash, createHmac } from 'node:crypto';
import { SignatureV4 } from '@smithy/signature-v4';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { S3Code } from '../../packages/s3/src/s3-error.ts';
import type { Header, SignedRequest } from '../../packages/s3/src/signature/signed-request.ts';
import { authenticate } from '../../packages/s3/src/signature/verify.ts';
import {
  documented,
  exampleCredentials,
  exampleKey,
  exampleTime,
  presigned,
} from './support/signed-requests.ts';

const check = (request: SignedRequest, now = exampleTime) =>
  authenticate(request, exampleCredentials, now);

async function codeOf(request: SignedRequest, now = exampleTime): Promise<S3Code | 'let in'> {
  try {
    await check(request, now);
    return 'let in';
  } catch (error) {
    return (error as { code: S3Code }).code;
  }
}

const later = (seconds: number) => new Date(exampleTime.getTime() + seconds * 1000);

function withHeader(request: SignedRequest, header: string, value: string): SignedRequest {
  const headers = request.headers.map(([name, own]): Header => {
    return [name, name === header ? value : own];
  });
  return { ...request, headers };
}

const without = (request: SignedRequest, header: string): SignedRequest => ({
  ...request,
  headers: request.headers.filter(([name]) => name !== header),
});

const withMore = (request: SignedRequest, ...more: Header[]): SignedRequest => ({
  ...request,
  headers: [...request.headers, ...more],
});

const replaced = (request: SignedRequest, from: string, to: string): SignedRequest => ({
  ...request,
  rawQuery: request.rawQuery.replace(from, to),
  headers: request.headers.map(([name, value]) => [
    name,
    name === 'authorization' ? value.replace(from, to) : value,
  ]),
});

/** Returns texts that each differ from the text in one character. */
function changesOf(text: string): string[] {
  return [...text].map((character, index) => {
    const other = character === 'b' ? 'c' : 'b';
    return text.slice(0, index) + other + text.slice(index + 1);
  });
}

describe('authenticate(): a request that was altered', () => {
  const examples = Object.entries(documented);

  test.each(examples)(
    'has the wrong signature for each byte of its path: %s',
    async (_, request) => {
      for (const rawPath of changesOf(request.rawPath)) {
        expect(await codeOf({ ...request, rawPath }), rawPath).toBe('SignatureDoesNotMatch');
      }
    },
  );

  test.each(examples)(
    'is refused with 403 for each byte of its headers: %s',
    async (_, request) => {
      const own = ['authorization', 'x-amz-content-sha256', 'x-amz-date'];
      for (const [name, value] of request.headers) {
        if (own.includes(name)) continue;
        for (const changed of [...changesOf(value), '', `${value}x`]) {
          const code = await codeOf(withHeader(request, name, changed));
          expect(code, `${name}: ${changed}`).toBe('SignatureDoesNotMatch');
        }
        const code = await codeOf(without(request, name));
        const expected =
          name === 'x-amz-content-sha256' ? 'InvalidRequest' : 'SignatureDoesNotMatch';
        expect(code, name).toBe(expected);
      }
    },
  );

  test('is refused for each byte of its query, and for each addition to it', async () => {
    const { list } = documented;
    const names = ['prefix=J&max-keys=3', 'max-keys=2', 'max-keys=2&prefix=J&prefix=J', ''];
    const queries = [...names, 'max-keys=2&prefix=J&acl', `${list.rawQuery}&__proto__=x`];
    for (const rawQuery of [...changesOf(list.rawQuery), ...queries]) {
      const request = { ...list, rawQuery };
      expect(await codeOf(request), rawQuery).toBe('SignatureDoesNotMatch');
    }
  });

  test('is accepted if its query has another order or equivalent escapes', async () => {
    for (const rawQuery of ['prefix=J&max-keys=2', 'max-keys=%32&%70refix=J&']) {
      expect(await codeOf({ ...documented.list, rawQuery })).toBe('let in');
    }
    const rawPath = '/%74est%24file.text';
    expect(await codeOf({ ...documented.put, rawPath })).toBe('let in');
  });

  test('is refused for another method, time of day or payload', async () => {
    const { get } = documented;
    expect(await codeOf({ ...get, method: 'DELETE' })).toBe('SignatureDoesNotMatch');
    const second = withHeader(get, 'x-amz-date', '20130524T000001Z');
    expect(await codeOf(second)).toBe('SignatureDoesNotMatch');
    for (const hash of ['UNSIGNED-PAYLOAD', '0'.repeat(64)]) {
      const other = withHeader(get, 'x-amz-content-sha256', hash);
      expect(await codeOf(other)).toBe('SignatureDoesNotMatch');
    }
  });

  test('is refused for each digit of its signature', async () => {
    const signature = documented.get.headers.at(-1)?.[1].split('Signature=')[1] ?? '';
    for (const changed of changesOf(signature)) {
      expect(await codeOf(replaced(documented.get, signature, changed))).toBe(
        'SignatureDoesNotMatch',
      );
    }
  });

  test('is refused if it was presigned, for each byte of path, query and host', async () => {
    for (const rawPath of changesOf(presigned.rawPath)) {
      expect(await codeOf({ ...presigned, rawPath })).toBe('SignatureDoesNotMatch');
    }
    for (const rawQuery of changesOf(presigned.rawQuery)) {
      const code = await codeOf({ ...presigned, rawQuery });
      expect(code, rawQuery).toMatch(
        /^(?:SignatureDoesNotMatch|Authorization(?:QueryParametersError)|AccessDenied|InvalidAccessKeyId|InvalidURI|NotImplemented)$/,
      );
    }
    expect(await codeOf(withHeader(presigned, 'host', 'other'))).toBe('SignatureDoesNotMatch');
    expect(await codeOf({ ...presigned, method: 'PUT' })).toBe('SignatureDoesNotMatch');
    for (const more of ['&response-content-type=text/html', '&__proto__=1', '&x-amz-acl=private']) {
      const rawQuery = presigned.rawQuery + more;
      expect(await codeOf({ ...presigned, rawQuery })).toBe('SignatureDoesNotMatch');
    }
  });
});

describe('authenticate(): the time of a request', () => {
  test("may differ by 15 minutes from the S3 server's, in both directions", async () => {
    for (const seconds of [-900, 0, 900]) {
      expect(await codeOf(documented.get, later(seconds))).toBe('let in');
    }
    for (const seconds of [-901, 901, 1e8]) {
      expect(await codeOf(documented.get, later(seconds))).toBe('RequestTimeTooSkewed');
    }
  });

  test('and its expiry limit a presigned request', async () => {
    expect(await codeOf(presigned, later(86_400))).toBe('let in');
    await expect(check(presigned, later(86_401))).rejects.toThrow('Request has expired');
    await expect(check(presigned, later(-901))).rejects.toThrow('Request is not valid yet');
    for (const expires of ['604801', '0', '-1', '1e3', '', '99999999']) {
      const other = replaced(presigned, 'Expires=86400', `Expires=${expires}`);
      expect(await codeOf(other)).toBe('AuthorizationQueryParametersError');
    }
  });

  test('must be a valid time', async () => {
    for (const time of ['20130532T000000Z', '20130524T240000Z', '2013-05-24T00:00:00Z', '']) {
      expect(await codeOf(withHeader(documented.get, 'x-amz-date', time))).toBe('AccessDenied');
    }
    expect(await codeOf(without(documented.get, 'x-amz-date'))).toBe('AccessDenied');
  });
});

describe('authenticate(): a signature', () => {
  test('is bound to day, service and kind, with the errors of S3', async () => {
    for (const [from, to] of [
      ['20130524/', '20130525/'],
      ['/s3/', '/ec2/'],
      ['aws4_request', 'aws5_request'],
      ['/us-east-1/', '/'],
      ['/us-east-1/', '//'],
      [',Signature=', ',Other='],
      [',Signature=', ',SignedHeaders=a,Signature='],
      ['host;', 'Host;'],
    ] as const) {
      const code = await codeOf(replaced(documented.get, from, to));
      expect(code, to).toBe('AuthorizationHeaderMalformed');
    }
    const elsewhere = replaced(documented.get, 'us-east-1', 'eu-west-1');
    expect(await codeOf(elsewhere)).toBe('SignatureDoesNotMatch');
    for (const [from, to] of [
      ['20130524%2F', '20130525%2F'],
      ['%2Fs3%2F', '%2Fec2%2F'],
      ['&X-Amz-SignedHeaders=host', ''],
      ['&X-Amz-SignedHeaders=host', '&X-Amz-SignedHeaders=host&x-amz-signedheaders=host'],
      ['&X-Amz-Signature=', '&X-Amz-Signature=&X-Amz-Signature='],
    ] as const) {
      const code = await codeOf(replaced(presigned, from, to));
      expect(code, to).toBe('AuthorizationQueryParametersError');
    }
  });

  test('requires a known key', async () => {
    const other = replaced(documented.get, exampleKey.accessKeyId, 'AKIAIOSFODNN7EXAMPLF');
    expect(await codeOf(other)).toBe('InvalidAccessKeyId');
  });

  test('covers the host and every x-amz- header', async () => {
    const more = withMore(documented.get, ['x-amz-acl', 'public-read']);
    expect(await codeOf(more)).toBe('AccessDenied');
    const host = replaced(documented.get, 'SignedHeaders=host;', 'SignedHeaders=');
    expect(await codeOf(host)).toBe('AccessDenied');
    expect(await codeOf(withMore(presigned, ['x-amz-meta-a', '1']))).toBe('AccessDenied');
    expect(await codeOf(withMore(documented.get, ['user-agent', 'curl']))).toBe('let in');
  });

  test('of another version is refused, and the error names the supported one', async () => {
    const header = (value: string) =>
      withMore(without(documented.get, 'authorization'), ['authorization', value]);
    await expect(check(header('AWS AKIAIOSFODNN7EXAMPLE:abc='))).rejects.toThrow('Version 4');
    const former = { ...presigned, rawQuery: 'AWSAccessKeyId=A&Expires=1&Signature=b' };
    expect(await codeOf(former)).toBe('InvalidRequest');
    expect(await codeOf(header('AWS4-ECDSA-P256-SHA256 Credential=a'))).toBe('NotImplemented');
    expect(await codeOf(header('Bearer abc'))).toBe('InvalidArgument');
    expect(await codeOf({ ...documented.get, rawQuery: presigned.rawQuery })).toBe(
      'InvalidArgument',
    );
  });

  test('needs no session token, and a request with one is refused', async () => {
    const token = withMore(documented.get, ['x-amz-security-token', 'a']);
    expect(await codeOf(token)).toBe('InvalidToken');
    const query = { ...presigned, rawQuery: `${presigned.rawQuery}&X-Amz-Security-Token=a` };
    expect(await codeOf(query)).toBe('InvalidToken');
  });

  test('that fails reveals nothing of the secret', async () => {
    const error = await check({ ...documented.get, method: 'PUT' }).catch((reason) => reason);
    expect(JSON.stringify(error) + error.message + error.stack).not.toContain(
      exampleKey.secretAccessKey,
    );
  });
});

describe('authenticate(): a body', () => {
  const anonymous = (...headers: Header[]) => ({
    method: 'PUT',
    rawPath: '/',
    rawQuery: '',
    headers,
  });

  test('of an unsigned request is accepted, from a caller without a key', async () => {
    const { caller, payload } = await check(anonymous(['host', 'a']));
    expect(caller).toEqual({ accessKeyId: undefined });
    expect(payload).toEqual({ kind: 'unsigned' });
  });

  test('cannot have signed chunks if the request is not signed', async () => {
    const kinds = [
      'STREAMING-AWS4-HMAC-SHA256-PAYLOAD',
      'STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER',
    ];
    for (const kind of kinds) {
      expect(await codeOf(anonymous(['x-amz-content-sha256', kind]))).toBe('AccessDenied');
    }
    const { payload } = await check(
      anonymous(['x-amz-content-sha256', 'STREAMING-UNSIGNED-PAYLOAD-TRAILER']),
    );
    expect(payload).toEqual({ kind: 'chunked', hasTrailer: true });
  });

  test('of a signed request is what its header declares', async () => {
    const { payload } = await check(documented.put);
    expect(payload).toEqual({
      kind: 'signed',
      sha256: '44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072',
    });
    const chunked = await check(documented.chunkedWithTrailer);
    expect(chunked.payload).toMatchObject({ kind: 'chunked', hasTrailer: true });
    expect(await codeOf(without(documented.get, 'x-amz-content-sha256'))).toBe('InvalidRequest');
    expect(await codeOf(anonymous(['x-amz-content-sha256', 'abc']))).toBe('InvalidArgument');
  });
});

class Sha256 {
  readonly #hash;
  constructor(secret?: unknown) {
    this.#hash =
      secret === undefined ? createHash('sha256') : createHmac('sha256', secret as string);
  }
  update(bytes: Uint8Array) {
    this.#hash.update(bytes);
  }
  reset() {}
  async digest() {
    return new Uint8Array(this.#hash.digest());
  }
}

describe("authenticate(): a request signed by the SDK's signer", () => {
  const { accessKeyId, secretAccessKey } = exampleKey;
  const signer = new SignatureV4({
    service: 's3',
    region: 'us-east-1',
    credentials: { accessKeyId, secretAccessKey },
    sha256: Sha256,
    uriEscapePath: false,
  });
  const text = fc.string({ unit: 'grapheme', maxLength: 20 });
  const inPath = (key: string) =>
    encodeURIComponent(key)
      .replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`)
      .replaceAll('%2F', '/');
  const queryText = (query: Record<string, unknown>) =>
    Object.entries(query)
      .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`)
      .join('&');
  const plain = (key: string, query: Record<string, string>) => ({
    method: 'PUT',
    protocol: 'http:',
    hostname: 'localhost',
    path: `/bucket/${inPath(key)}`,
    query,
    headers: { host: 'localhost:9000', 'x-amz-meta-a': ' two  spaces ' },
  });

  test('is accepted, with any key and any query', async () => {
    await fc.assert(
      fc.asyncProperty(text, fc.dictionary(text, text, { maxKeys: 3 }), async (key, query) => {
        const request = plain(key, query);
        const signed = await signer.sign(request, { signingDate: exampleTime });
        const received = {
          method: 'PUT',
          rawPath: request.path,
          rawQuery: queryText(query),
          headers: Object.entries(signed.headers),
        };
        expect(await codeOf(received)).toBe('let in');
      }),
      { numRuns: 60 },
    );
  });

  test('is accepted if it is presigned, with the headers that the query contains', async () => {
    const request = plain('a b', { 'x-id': 'PutObject' });
    const unsigned = { ...request.headers, 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' };
    const toSign = { ...request, headers: unsigned };
    const signed = await signer.presign(toSign, { signingDate: exampleTime, expiresIn: 60 });
    const received = {
      method: 'PUT',
      rawPath: request.path,
      rawQuery: queryText(signed.query ?? {}),
      headers: [['host', 'localhost:9000']] as const,
    };
    const { headers } = await check(received);
    expect(headers).toContainEqual(['x-amz-meta-a', ' two  spaces ']);
    expect(await codeOf(withMore(received, ['x-amz-meta-a', 'other']))).toBe('InvalidRequest');
  });
});

test('authenticate() reads the time from the Date header if x-amz-date is absent', async () => {
  const hmac = (key: string | Uint8Array, text: string) =>
    createHmac('sha256', key).update(text).digest();
  const hash = createHash('sha256').update('').digest('hex');
  const date = 'Fri, 24 May 2013 00:00:00 GMT';
  const names = 'date;host;x-amz-content-sha256';
  const canonical = `GET\n/\n\ndate:${date}\nhost:a\nx-amz-content-sha256:${hash}\n\n${names}\n${hash}`;
  const canonicalHash = createHash('sha256').update(canonical).digest('hex');
  const scope = '20130524/us-east-1/s3/aws4_request';
  const text = `AWS4-HMAC-SHA256\n20130524T000000Z\n${scope}\n${canonicalHash}`;
  const secret = `AWS4${exampleKey.secretAccessKey}`;
  const signingKey = scope.split('/').reduce<string | Uint8Array>(hmac, secret);
  const signature = hmac(signingKey, text).toString('hex');
  const authorization = `AWS4-HMAC-SHA256 Credential=${exampleKey.accessKeyId}/${scope},SignedHeaders=${names},Signature=${signature}`;
  const request = (time: string): SignedRequest => ({
    ...{ method: 'GET', rawPath: '/', rawQuery: '' },
    headers: [
      ['host', 'a'],
      ['date', time],
      ['x-amz-content-sha256', hash],
      ['authorization', authorization],
    ],
  });
  expect(await codeOf(request(date))).toBe('let in');
  expect(await codeOf(request('Fri, 24 May 2013 00:00:01 GMT'))).toBe('SignatureDoesNotMatch');
  expect(await codeOf(request('yesterday'))).toBe('AccessDenied');
  expect(await codeOf(request(date), later(901))).toBe('RequestTimeTooSkewed');
});
