// Fast random numbers for tests that need many, the same for the same seed (mulberry32).

/** Returns integers in [0, limit). */
export function randomNumbers(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  };
}

/** Returns numbers in [0, 1), as Math.random() does. */
export function randomShares(seed: number): () => number {
  const random = randomNumbers(seed);
  return () => random(2 ** 31) / 2 ** 31;
}
