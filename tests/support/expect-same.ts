// Assertions for loops with thousands of turns: they call `expect()` itself, which takes 20 µs or
// more, only for a difference.

import { expect } from 'vitest';

/** Like `expect(found, message).toBe(wanted)`. */
export function expectSame(found: unknown, wanted: unknown, message?: string): void {
  if (!Object.is(found, wanted)) expect(found, message).toBe(wanted);
}

/** Like `expect(found, message).toEqual(wanted)`, which compares bytes one by one. */
export function expectSameBytes(found: Uint8Array, wanted: Uint8Array, message?: string): void {
  if (Buffer.compare(found, wanted) === 0) return;
  expect(Buffer.from(found).toString('hex'), message).toBe(Buffer.from(wanted).toString('hex'));
}
