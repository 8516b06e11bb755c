// Unsigned LEB128, the number format of the state tree and the representation-independent hash.

export function encodeLeb128(value: bigint | number): Uint8Array {
  let rest = BigInt(value);
  if (rest < 0n) throw new RangeError(`Cannot encode ${value} as unsigned LEB128: it is negative`);
  const bytes: number[] = [];
  do {
    const low = Number(rest & 0x7fn);
    rest >>= 7n;
    bytes.push(rest === 0n ? low : low | 0x80);
  } while (rest !== 0n);
  return Uint8Array.from(bytes);
}
