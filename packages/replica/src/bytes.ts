// Joining arrays of bytes, with a copy of each at most.

/** In memory of its own, which begins with the first byte: Buffer.concat() may give a part of a
 * pool. */
export function concatBytes(parts: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let end = 0;
  for (const part of parts) {
    joined.set(part, end);
    end += part.length;
  }
  return joined;
}

/** As concatBytes(), without a copy of a single one. */
export function joinBytes(parts: readonly Uint8Array[]): Uint8Array {
  const [first] = parts;
  return parts.length === 1 && first ? first : concatBytes(parts);
}
