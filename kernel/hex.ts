// Hexadecimal digits.

/** Returns a lower-case digit in ASCII. */
export function hexDigit(value: u8): u8 {
  return value < 10 ? 0x30 + value : 0x57 + value;
}
