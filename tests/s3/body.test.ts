import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Digests } from '../../packages/s3/src/body/body-check.ts';
import { openBody } from '../../packages/s3/src/body/open-body.ts';
import type { S3Code } from '../../packages/s3/src/s3-error.ts';
import { ChunkSigner } from '../../packages/s3/src/signature/chunk-signer.ts';
import type { Header, SignedRequest } from '../../packages/s3/src/signature/signed-request.ts';
import { authenticate, type Payload } from '../../packages/s3/src/signature/verify.ts';
import { chunkScope, chunkSeed, chunkTime, frame } from './support/aws-chunked.ts';
import {
  documented,
  documentedBodies,
  exampleCredentials,
  exampleTime,
} from './support/signed-requests.ts';

const key = Buffer.from('key');
const digits = Buffer.from('123456789');
/** Checksums of "123456789", the check input of CRC catalogues. */
const ofDigits = {
  crc32: 'y/Q5Jg==',
  crc32c: '4waSgw==',
  crc64nvme: 'rosUhgp5mIg=',
  sha1: createHash('sha1').update(digits).digest('base64'),
  sha256: createHash('sha256').update(digits).digest('base64'),
  sha512: createHash('sha512').update(digits).digest('base64'),
  md5: createHash('md5').update(digits).digest('base64'),
  // From Python's xxhash 3.
  xxhash64: 'jLhB20DmroM=',
  xxhash3: 'ctyxi2ehff8=',
  xxhash128: 'MxGUd+3l3NXpcWQnaB1YYA==',
};

const put = (...headers: Header[]): SignedRequest => ({
  method: 'PUT',
  rawPath: '/',
  rawQuery: '',
  headers,
});

const unsigned: Payload = { kind: 'unsigned' };
const trailed: Payload = { kind: 'chunked', hasTrailer: true };

function signedChunks(hasTrailer: boolean): Payload {
  const seed = { time: chunkTime, scope: chunkScope, seed: chunkSeed };
  return { kind: 'chunked', chunkSigner: new ChunkSigner(key, seed), hasTrailer };
}

/** Yields the bytes, split at `cuts`. */
async function* pieces(bytes: Uint8Array, cuts: readonly number[] = []) {
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  for (const [index, start] of [0, ...places].entries()) {
    yield bytes.subarray(start, places[index]);
  }
}

interface Received {
  readonly bytes: Buffer;
  readonly digests: Digests;
}

async function receive(
  request: SignedRequest,
  incoming: AsyncIterable<Uint8Array>,
  payload: Payload,
): Promise<Received> {
  const body = openBody(request, incoming, payload);
  const parts: Uint8Array[] = [];
  for await (const piece of body.stream) parts.push(Uint8Array.from(piece));
  const bytes = Buffer.concat(parts);
  expect(bytes).toHaveLength(body.length);
  return { bytes, digests: body.digests() };
}

async function codeOf(received: () => Promise<unknown>): Promise<S3Code | 'well'> {
  try {
    await received();
    return 'well';
  } catch (error) {
    return (error as { code: S3Code }).code;
  }
}

describe('openBody(): a body in chunks, however it is split on its way', () => {
  const cuts = fc.array(fc.nat(), { maxLength: 8 });
  const bytes = fc.uint8Array({ maxLength: 200 });
  const chunkBytes = fc.integer({ min: 1, max: 80 });
  const crc = (data: Uint8Array) => createHash('sha1').update(data).digest('base64');

  test.each([
    ['unsigned, with a trailer', undefined, true],
    ['signed', key, false],
    ['signed, with a trailer', key, true],
  ] as const)('is decoded: %s', async (_name, chunkKey, hasTrailer) => {
    await fc.assert(
      fc.asyncProperty(bytes, chunkBytes, cuts, async (data, length, places) => {
        const trailer = [['x-amz-checksum-sha1', crc(data)]] as const;
        const framed = frame(data, {
          chunkBytes: length,
          ...(chunkKey && { key: chunkKey }),
          ...(hasTrailer && { trailer }),
        });
        const request = put(
          ['x-amz-decoded-content-length', String(data.length)],
          ...(hasTrailer ? ([['x-amz-trailer', 'x-amz-checksum-sha1']] as const) : []),
        );
        const payload = chunkKey === undefined ? trailed : signedChunks(hasTrailer);
        const received = await receive(request, pieces(framed, places), payload);
        expect(received.bytes).toEqual(Buffer.from(data));
        expect(Buffer.from(received.digests.md5)).toEqual(createHash('md5').update(data).digest());
      }),
    );
  });
});

describe('openBody(): a body in chunks that is incomplete', () => {
  const data = Buffer.from('the bytes of a body, in three chunks');
  const trailer = [
    ['x-amz-checksum-sha256', createHash('sha256').update(data).digest('base64')],
  ] as const;
  const request = put(
    ['x-amz-decoded-content-length', String(data.length)],
    ['x-amz-trailer', 'x-amz-checksum-sha256'],
  );
  const plain = put(['x-amz-decoded-content-length', String(data.length)]);
  const forms = [
    ['unsigned', request, frame(data, { chunkBytes: 15, trailer }), () => trailed],
    ['signed', plain, frame(data, { chunkBytes: 15, key }), () => signedChunks(false)],
    [
      'signed with a trailer',
      request,
      frame(data, { chunkBytes: 15, key, trailer }),
      () => signedChunks(true),
    ],
  ] as const;

  test.each(forms)(
    'is refused wherever it is truncated: %s',
    async (_name, head, framed, payload) => {
      for (let length = 0; length < framed.length; length += 1) {
        const cut = () => receive(head, pieces(framed.subarray(0, length)), payload());
        expect(await codeOf(cut), `${length} bytes`).not.toBe('well');
      }
      expect(await codeOf(() => receive(head, pieces(framed), payload()))).toBe('well');
    },
  );

  test.each(forms)(
    'is refused or unchanged with any bit flipped: %s',
    async (_name, head, framed, payload) => {
      for (let bit = 0; bit < framed.length * 8; bit += 1) {
        const turned = Buffer.from(framed);
        turned[bit >> 3] = (turned[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        const bytes = await receive(head, pieces(turned), payload())
          .then((received) => received.bytes)
          .catch(() => data);
        expect(bytes.equals(data), `bit ${bit}`).toBe(true);
      }
    },
  );

  test('is refused with more bytes after it, or with another length than declared', async () => {
    for (const [, head, framed, payload] of forms) {
      const more = Buffer.concat([framed, Buffer.from('0\r\n\r\n')]);
      expect(await codeOf(() => receive(head, pieces(more), payload()))).not.toBe('well');
      for (const length of [data.length - 1, data.length + 1, 0]) {
        const others = head.headers.filter(([name]) => name === 'x-amz-trailer');
        const other = put(['x-amz-decoded-content-length', String(length)], ...others);
        expect(await codeOf(() => receive(other, pieces(framed), payload()))).toBe(
          'IncompleteBody',
        );
      }
    }
  });

  test('is refused if the signature of a chunk belongs to other bytes', async () => {
    const [, , framed] = forms[1];
    const text = framed.toString().replace('the bytes', 'The bytes');
    const received = () => receive(plain, pieces(Buffer.from(text)), signedChunks(false));
    expect(await codeOf(received)).toBe('SignatureDoesNotMatch');
    const swapped = framed.toString().split(/(?=f;chunk)/);
    const other = Buffer.from([swapped[1], swapped[0], ...swapped.slice(2)].join(''));
    expect(await codeOf(() => receive(plain, pieces(other), signedChunks(false)))).toBe(
      'SignatureDoesNotMatch',
    );
  });
});

describe("openBody(): the bodies of S3's documentation", () => {
  test.each(['chunked', 'chunkedWithTrailer'] as const)('are accepted: %s', async (name) => {
    const { payload } = await authenticate(documented[name], exampleCredentials, exampleTime);
    const body = Buffer.from(documentedBodies[name]);
    const { bytes, digests } = await receive(documented[name], pieces(body, [7, 70_000]), payload);
    expect(bytes.equals(Buffer.alloc(66_560, 'a'))).toBe(true);
    expect(digests.checksum).toEqual(
      name === 'chunked' ? undefined : { algorithm: 'CRC32C', value: 'sOO8/Q==' },
    );
  });

  test("may have an empty line before the trailer's signature", async () => {
    const head = documented.chunkedWithTrailer;
    const { payload } = await authenticate(head, exampleCredentials, exampleTime);
    const text = documentedBodies.chunkedWithTrailer.replace('sOO8/Q==\r\n', 'sOO8/Q==\n\r\n');
    expect(await codeOf(() => receive(head, pieces(Buffer.from(text)), payload))).toBe('well');
  });
});

describe('openBody(): the framing of chunks', () => {
  const read = (text: string, length = 3) =>
    codeOf(() => {
      const request = put(['x-amz-decoded-content-length', String(length)]);
      return receive(request, pieces(Buffer.from(text)), trailed);
    });

  test('has bounded lines', async () => {
    expect(await read('3\r\nabc\r\n0\r\n\r\n')).toBe('well');
    expect(await read('1000001\r\n')).toBe('InvalidChunkSizeError');
    expect(await read('0'.repeat(9_000))).toBe('InvalidRequest');
    expect(await read('000000003\r\nabc\r\n0\r\n\r\n')).toBe('MalformedTrailerError');
    const lines = Array.from({ length: 20 }, (_, index) => `a${index}:b\r\n`).join('');
    expect(await read(`3\r\nabc\r\n0\r\n${lines}\r\n`)).toBe('MalformedTrailerError');
  });

  test('is refused in any other form', async () => {
    for (const text of [
      '3\nabc\r\n0\r\n\r\n',
      '-3\r\nabc\r\n0\r\n\r\n',
      '3\r\nabcd\r\n0\r\n\r\n',
      '3\r\nabc0\r\n\r\n',
      '3;chunk-signature=\r\nabc\r\n0\r\n\r\n',
      `3;chunk-signature=${'0'.repeat(64)}\r\nabc\r\n0\r\n\r\n`,
      '3\r\nabc\r\n0\r\nx-amz-checksum-crc32:NSRBwg==\r\n\r\n',
      '3\r\nabc\r\n0\r\nx-amz-trailer-signature:00\r\n\r\n',
      '3\r\nabc\r\n0\r\nno colon\r\n\r\n',
    ]) {
      expect(await read(text), text).toBe('MalformedTrailerError');
    }
  });
});

describe('openBody(): the digests and the length that a request declares', () => {
  const length: Header = ['content-length', '9'];

  test.each(Object.entries(ofDigits))('are verified: x-amz-checksum-%s', async (name, value) => {
    const right = put(length, [`x-amz-checksum-${name}`, value]);
    const { digests } = await receive(right, pieces(digits, [4]), unsigned);
    expect(digests.checksum).toEqual({ algorithm: name.toUpperCase(), value });
    const other = Buffer.from(value, 'base64').fill(0).toString('base64');
    const wrong = put(length, [`x-amz-checksum-${name}`, other]);
    expect(await codeOf(() => receive(wrong, pieces(digits), unsigned))).toBe('BadDigest');
    for (const text of ['', 'AAAA', `${value}A`, value.toLowerCase().replace('=', '')]) {
      const header: Header = [`x-amz-checksum-${name}`, text];
      const read = () => receive(put(length, header), pieces(digits), unsigned);
      expect(await codeOf(read)).toBe('InvalidRequest');
    }
  });

  test('are verified: Content-MD5 and x-amz-content-sha256', async () => {
    const md5 = createHash('md5').update(digits).digest('base64');
    const sha256 = createHash('sha256').update(digits).digest('hex');
    const signed = (digest: string): Payload => ({ kind: 'signed', sha256: digest });
    const read = (value: string, payload: Payload = unsigned) =>
      codeOf(() => receive(put(length, ['content-md5', value]), pieces(digits), payload));
    expect(await read(md5, signed(sha256))).toBe('well');
    expect(await read(md5.toLowerCase())).toBe('BadDigest');
    expect(await read(md5, signed('0'.repeat(64)))).toBe('XAmzContentSHA256Mismatch');
    for (const value of ['', 'abc', `${md5},${md5}`])
      expect(await read(value)).toBe('InvalidDigest');
  });

  test('may include only one checksum, of a known algorithm', async () => {
    const read = (...headers: Header[]) =>
      codeOf(() => receive(put(length, ...headers), pieces(digits), unsigned));
    const crc: Header = ['x-amz-checksum-crc32', ofDigits.crc32];
    expect(await read(crc, ['x-amz-checksum-sha1', ofDigits.sha1])).toBe('InvalidRequest');
    expect(await read(['x-amz-checksum-md4', 'abc'])).toBe('NotImplemented');
    expect(await read(['x-amz-trailer', 'x-amz-checksum-crc32'])).toBe('InvalidRequest');
    expect(await read(crc, ['x-amz-checksum-type', 'FULL_OBJECT'])).toBe('well');
  });

  test('must include the exact length', async () => {
    const read = (headers: Header[], payload: Payload = unsigned) =>
      codeOf(() => receive(put(...headers), pieces(digits), payload));
    expect(await read([['content-length', '8']])).toBe('IncompleteBody');
    expect(await read([['content-length', '10']])).toBe('IncompleteBody');
    expect(await read([['content-length', '9, 9']])).toBe('InvalidArgument');
    expect(await read([['transfer-encoding', 'chunked']])).toBe('MissingContentLength');
    expect(await read([length], trailed)).toBe('MissingContentLength');
    expect(await codeOf(() => receive(put(), pieces(Buffer.alloc(0)), unsigned))).toBe('well');
  });
});

describe('openBody(): a trailer', () => {
  const head = put(
    ['x-amz-decoded-content-length', '9'],
    ['x-amz-trailer', 'x-amz-checksum-crc32'],
  );
  const read = (...trailer: Header[]) =>
    codeOf(() => receive(head, pieces(frame(digits, { chunkBytes: 9, trailer })), trailed));

  test('has the announced digest of the bytes', async () => {
    const right: Header = ['x-amz-checksum-crc32', ofDigits.crc32];
    expect(await read(right)).toBe('well');
    expect(await read(['X-Amz-Checksum-Crc32', ofDigits.crc32])).toBe('well');
    expect(await read()).toBe('MalformedTrailerError');
    expect(await read(right, ['x-other', '1'])).toBe('MalformedTrailerError');
    expect(await read(['x-amz-checksum-sha1', ofDigits.sha1])).toBe('MalformedTrailerError');
    expect(await read(['x-amz-checksum-crc32', 'AAAAAA=='])).toBe('BadDigest');
    expect(await read(['x-amz-checksum-crc32', 'AAAA'])).toBe('InvalidRequest');
  });
});

test('openBody() verifies a body before it returns the last byte, for readers that stop there', async () => {
  const request = put(['content-length', '9'], ['x-amz-checksum-crc32', 'AAAAAA==']);
  let count = 0;
  const counting = async () => {
    for await (const piece of openBody(request, pieces(digits, [3, 6]), unsigned).stream) {
      count += piece.length;
      if (count === 9) return;
    }
  };
  expect(await codeOf(counting)).toBe('BadDigest');
  expect(count).toBeLessThan(9);
});

test('openBody(): an abandoned body is not read further', async () => {
  let isClosed = false;
  async function* endless() {
    try {
      for (;;) yield Buffer.from('1\r\na\r\n');
    } finally {
      isClosed = true;
    }
  }
  const request = put(['x-amz-decoded-content-length', '1000']);
  for await (const piece of openBody(request, endless(), trailed).stream) {
    expect(piece).toHaveLength(1);
    break;
  }
  expect(isClosed).toBe(true);
});
