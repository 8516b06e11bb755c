// Joins arrays of bytes with at most one copy of each.

/** Returns memory of its own: Buffer.concat() may return a part of a pool. */
export function concatBytes(parts: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let end = 0;
  for (const part of parts) {
    joined.set(part, end);
    end += part.length;
  }
  return joined;
}

/** Like concatBytes(), but returns a single array without copying it. */
export function joinBytes(parts: readonly Uint8Array[]): Uint8Array {
  const [first] = parts;
  return parts.length === 1 && first ? first : concatBytes(parts);
}
