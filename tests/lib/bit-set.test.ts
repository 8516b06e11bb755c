import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { missingBits, withBit } from '../../src/lib/bit-set.ts';

const bitCount = 100;
const indexes = fc.uniqueArray(fc.nat({ max: bitCount - 1 }), { maxLength: bitCount });

function bitsOf(members: readonly number[]): Uint8Array {
  return members.reduce(withBit, new Uint8Array(Math.ceil(bitCount / 8)));
}

describe('missingBits()', () => {
  test('lists missing bits in order, as a plain set does', () => {
    const limits = { end: fc.nat({ max: bitCount }), limit: fc.nat({ max: 40 }) };
    fc.assert(
      fc.property(indexes, fc.record(limits), (members, { end, limit }) => {
        const plain = new Set(members);
        const missing = Array.from({ length: end }, (_, index) => index)
          .filter((index) => !plain.has(index))
          .slice(0, limit);
        expect(missingBits(bitsOf(members), end, limit)).toEqual(missing);
      }),
    );
  });

  test('counts bits beyond the bytes as missing', () => {
    expect(missingBits(Uint8Array.of(255), 10, 100)).toEqual([8, 9]);
  });
});

describe('withBit()', () => {
  test('leaves the original unchanged', () => {
    const bits = new Uint8Array(2);
    expect(withBit(bits, 9)).toEqual(Uint8Array.of(0, 2));
    expect(bits).toEqual(new Uint8Array(2));
  });

  test('extends the set to the index', () => {
    expect(withBit(new Uint8Array(0), 16)).toEqual(Uint8Array.of(0, 0, 1));
    expect(withBit(Uint8Array.of(255), 15)).toEqual(Uint8Array.of(255, 128));
  });
});
