import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { byteString, bytesEqual, concatBytes, emptyBytes } from '../../src/lib/bytes.ts';

const anyBytes = fc.uint8Array({ maxLength: 40_000 });

describe('concatBytes()', () => {
  test('joins as Buffer.concat() does', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 8 }), (parts) => {
        expect(Buffer.from(concatBytes(...parts))).toEqual(Buffer.concat(parts));
      }),
    );
  });

  test('returns no bytes for an empty list', () => {
    expect(concatBytes()).toEqual(emptyBytes);
  });
});

describe('bytesEqual()', () => {
  test('agrees with Buffer.equals()', () => {
    const short = fc.uint8Array({ maxLength: 3, max: 2 });
    fc.assert(
      fc.property(short, short, (left, right) => {
        expect(bytesEqual(left, right)).toBe(Buffer.from(left).equals(right));
      }),
    );
  });

  test('detects a difference in any single byte', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 100 }), fc.nat(), (bytes, place) => {
        const other = bytes.slice();
        const index = place % bytes.length;
        other[index] = (other[index] ?? 0) ^ 1;
        expect(bytesEqual(bytes, bytes.slice())).toBe(true);
        expect(bytesEqual(bytes, other)).toBe(false);
      }),
    );
  });
});

describe('byteString()', () => {
  test('returns the latin1 text of the bytes at every length', () => {
    fc.assert(
      fc.property(anyBytes, (bytes) => {
        expect(byteString(bytes)).toBe(Buffer.from(bytes).toString('latin1'));
      }),
      { numRuns: 50 },
    );
  });

  test.each([8_191, 8_192, 8_193, 16_384, 100_000])(
    'converts %i bytes in several steps',
    (length) => {
      const bytes = Uint8Array.from({ length }, (_, index) => index % 251);
      expect(byteString(bytes)).toBe(Buffer.from(bytes).toString('latin1'));
    },
  );
});
