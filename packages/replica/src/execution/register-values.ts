// Values of globals as bytes: the 8 of an i64 or f64, little endian. A NaN loses its payload, as in
// JavaScript.

/** Throws when the value is no number. */
export function storedValue(value: unknown): Uint8Array {
  const bytes = Buffer.alloc(8);
  if (typeof value === 'bigint') bytes.writeBigInt64LE(value);
  else if (typeof value === 'number') bytes.writeDoubleLE(value);
  else throw new Error('a global that holds no number');
  return bytes;
}

/** `like`: a value of the same type, which tells integers of 64 bits from floating point. */
export function restoredValue(stored: Uint8Array, like: unknown): number | bigint {
  const bytes = Buffer.from(stored);
  return typeof like === 'bigint' ? bytes.readBigInt64LE() : bytes.readDoubleLE();
}
