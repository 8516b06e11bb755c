// A set of small numbers as bits. Searching works on whole bytes, because each turn of a loop is
// interpreted code.

/** Returns a copy with that bit set, extended if necessary. */
export function withBit(bits: Uint8Array, index: number): Uint8Array {
  const copy = new Uint8Array(Math.max(bits.length, (index >> 3) + 1));
  copy.set(bits);
  copy[index >> 3] = (copy[index >> 3] ?? 0) | (1 << (index & 7));
  return copy;
}

/** Returns the first `limit` indexes below `end` that are not in the set. */
export function missingBits(bits: Uint8Array, end: number, limit: number): number[] {
  const missing: number[] = [];
  let position = 0;
  while (position < end && missing.length < limit) {
    const byte = bits[position >> 3] ?? 0;
    if (byte === 255) {
      position += 8 - (position & 7);
    } else {
      if ((byte & (1 << (position & 7))) === 0) {
        missing.push(position);
      }
      position += 1;
    }
  }
  return missing;
}
