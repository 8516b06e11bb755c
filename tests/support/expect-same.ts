// Assertions for loops of thousands of turns: `expect()` itself, at 20 µs or more, is asked only when
// there is something to say.

import { expect } from 'vitest';

/** As `expect(found, message).toBe(wanted)`. */
export function expectSame(found: unknown, wanted: unknown, message?: string): void {
  if (!Object.is(found, wanted)) expect(found, message).toBe(wanted);
}

/** As `expect(found, message).toEqual(wanted)`, which compares bytes one by one. */
export function expectSameBytes(found: Uint8Array, wanted: Uint8Array, message?: string): void {
  if (Buffer.compare(found, wanted) === 0) return;
  expect(Buffer.from(found).toString('hex'), message).toBe(Buffer.from(wanted).toString('hex'));
}
