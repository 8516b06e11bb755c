import { describe, expect, it } from 'vitest';
import { encodeLeb128 } from '../../../packages/replica/src/state/leb128.ts';

const hex = (value: bigint | number): string => Buffer.from(encodeLeb128(value)).toString('hex');

describe('encodeLeb128()', () => {
  it('writes seven bits per byte, the lowest first, and no more bytes than needed', () => {
    expect([0, 127, 128, 624_485, 2n ** 64n - 1n].map(hex)).toEqual([
      '00',
      '7f',
      '8001',
      'e58e26',
      'ffffffffffffffffff01',
    ]);
  });

  it('refuses negative numbers', () => {
    expect(() => encodeLeb128(-1)).toThrow(RangeError);
  });
});
