// Repeatable random numbers (mulberry32) for delays and faults. Not for secrets.

/** Returns a number from 0 up to, but not including, 1. */
export type Random = () => number;

const defaultSeed = 1;

/** Throws an Error for a seed that is not an integer. */
export function seededRandom(seed = defaultSeed): Random {
  if (!Number.isSafeInteger(seed)) throw new Error(`A seed must be a whole number; got ${seed}.`);
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
