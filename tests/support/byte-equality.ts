// Compares equal byte arrays at once: `toEqual()` and `toStrictEqual()` otherwise compare them
// element by element, 2 µs each. Arrays that differ, and arrays of two types, are left to them.

import { expect } from 'vitest';

function equalBytes(found: unknown, wanted: unknown): true | undefined {
  const areBytes = found instanceof Uint8Array && wanted instanceof Uint8Array;
  if (!areBytes || found.constructor !== wanted.constructor) return undefined;
  return Buffer.compare(found, wanted) === 0 ? true : undefined;
}

expect.addEqualityTesters([equalBytes]);
