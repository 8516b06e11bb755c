// Numbers in LEB128, as Candid and ICRC-3 write them.

/** Returns the unsigned LEB128 of an integer from 0 to 2^53. */
export function leb128(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 0x80) {
    bytes.push((rest & 0x7f) | 0x80);
    rest = Math.floor(rest / 0x80);
  }
  return Uint8Array.of(...bytes, rest);
}
