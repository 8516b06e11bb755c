// Candid ints are read like the library's, but from their own bytes alone.

import { IDL } from '@icp-sdk/core/candid';
import { expect, test } from 'vitest';
import { Int } from '../../packages/client/src/actor/candid-int.ts';

const powers = [0n, 6n, 7n, 13n, 14n, 31n, 32n, 62n, 63n, 64n, 127n];
const values = powers
  .flatMap((power) => [-1n, 0n, 1n].map((offset) => 2n ** power + offset))
  .flatMap((value) => [value, -value]);

test.each(values)('Int.decodeValue() reads %i', (value) => {
  expect(IDL.decode([Int], IDL.encode([IDL.Int], [value]))).toEqual([value]);
});

test('Int.decodeValue() reads its own bytes and nothing else of the message', () => {
  const bytes = [0x80, 0x80, 0x7f, 1, 2, 3];
  const pipe = new Proxy(
    { readUint8: () => bytes.shift() },
    {
      get(target, name) {
        if (name !== 'readUint8') throw new Error(`Int reads ${String(name)} of the message.`);
        return target.readUint8;
      },
    },
  );
  expect(Int.decodeValue(pipe as never, IDL.Int)).toBe(-16_384n);
  expect(bytes).toEqual([1, 2, 3]);
});

test('Int.decodeValue() refuses a message that ends within it', () => {
  const pipe = { readUint8: () => undefined };
  expect(() => Int.decodeValue(pipe as never, IDL.Int)).toThrow('A Candid int ends too early.');
});
