// Values of globals and tables as bytes: numbers as the 8 bytes of an i64 or f64, functions by
// their place among those that a table can hold. NaN loses its payload, as in JavaScript.

/** A number's 8 bytes, little endian; a function's place; `null` for a null reference. */
export type StoredValue = Uint8Array | number | null;

/** `place`: of a function; `undefined` when it has none. Throws when the value cannot be kept. */
export function storedValue(
  value: unknown,
  place: (entry: object) => number | undefined,
): StoredValue {
  if (value === null) return null;
  if (typeof value === 'bigint' || typeof value === 'number') {
    const bytes = Buffer.alloc(8);
    if (typeof value === 'bigint') bytes.writeBigInt64LE(value);
    else bytes.writeDoubleLE(value);
    return bytes;
  }
  const found = typeof value === 'function' ? place(value) : undefined;
  if (found === undefined) throw new Error('a reference that the module has no name for');
  return found;
}

/** `like`: a value of the same type, which tells integers of 64 bits from floating point. */
export function restoredValue(
  stored: StoredValue,
  parts: { readonly like: unknown; readonly functions: readonly unknown[] },
): unknown {
  if (stored === null) return null;
  if (typeof stored === 'number') return parts.functions[stored];
  const bytes = Buffer.from(stored);
  return typeof parts.like === 'bigint' ? bytes.readBigInt64LE() : bytes.readDoubleLE();
}
