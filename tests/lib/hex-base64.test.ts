import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  decodeBase64,
  decodeBase64Url,
  encodeBase64,
  encodeBase64Url,
} from '../../src/lib/base64.ts';
import { decodeHex, encodeHex } from '../../src/lib/hex.ts';

const anyBytes = fc.uint8Array({ maxLength: 200 });

describe('decodeHex(): hex', () => {
  test('encodeHex() agrees with Buffer and decodeHex() reads it in either case', () => {
    fc.assert(
      fc.property(anyBytes, (bytes) => {
        const text = Buffer.from(bytes).toString('hex');
        expect(encodeHex(bytes)).toBe(text);
        expect(decodeHex(text)).toEqual(bytes);
        expect(decodeHex(text.toUpperCase())).toEqual(bytes);
      }),
    );
  });

  test.each(['a', 'abc', '0g', ' 00', '00 ', '0x00', '-1', '00\n'])(
    'decodeHex() refuses %j',
    (text) => {
      expect(decodeHex(text)).toBeUndefined();
    },
  );
});

describe('decodeBase64(): base64', () => {
  test('encodeBase64() and encodeBase64Url() agree with Buffer', () => {
    fc.assert(
      fc.property(anyBytes, (bytes) => {
        expect(encodeBase64(bytes)).toBe(Buffer.from(bytes).toString('base64'));
        expect(encodeBase64Url(bytes)).toBe(Buffer.from(bytes).toString('base64url'));
        expect(decodeBase64(encodeBase64(bytes))).toEqual(bytes);
        expect(decodeBase64Url(encodeBase64Url(bytes))).toEqual(bytes);
      }),
    );
  });

  test('decodeBase64Url() accepts only the canonical form', () => {
    for (const text of ['A', 'AB', 'ABC=', 'A+/a', 'A b', 'AAAAA', 'AA==', 'ABCDE']) {
      expect(decodeBase64Url(text), text).toBeUndefined();
    }
  });

  test('decodeBase64() accepts exactly the canonical texts', () => {
    const text = fc.string({
      unit: fc.constantFrom('A', 'B', 'w', 'Z', '+', '/', '=', '-', '_', ' '),
      maxLength: 9,
    });
    fc.assert(
      fc.property(text, (value) => {
        const bytes = Buffer.from(value, 'base64');
        const isCanonical = bytes.toString('base64') === value;
        expect(decodeBase64(value)).toEqual(isCanonical ? Uint8Array.from(bytes) : undefined);
      }),
      { numRuns: 3_000 },
    );
  });

  test.each(['QQ', 'QQ=', 'QR==', 'Q===', 'QQ==\n', 'QQ==QQ==', '====', 'Q-_='])(
    'decodeBase64() refuses %j',
    (text) => {
      expect(decodeBase64(text)).toBeUndefined();
    },
  );
});
