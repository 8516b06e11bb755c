// Concatenation and text encodings of short byte arrays, by the platform's functions.

export const emptyBytes = new Uint8Array(0);

export function concatBytes(...parts: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    joined.set(part, offset);
    offset += part.length;
  }
  return joined;
}

/** Not in constant time. */
export function bytesEqual(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, at) => byte === other[at]);
}

const hexPairs = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

export function encodeHex(bytes: Uint8Array): string {
  let digits = '';
  for (const byte of bytes) digits += hexPairs[byte];
  return digits;
}

const hexDigits = '0123456789abcdef';

/** Returns no bytes unless all characters are pairs of lowercase digits. */
export function decodeHex(digits: string): Uint8Array {
  const bytes = new Uint8Array(digits.length >> 1);
  for (let at = 0; at < bytes.length; at++) {
    const high = hexDigits.indexOf(digits.charAt(2 * at));
    const low = hexDigits.indexOf(digits.charAt(2 * at + 1));
    if (high < 0 || low < 0) return emptyBytes;
    bytes[at] = 16 * high + low;
  }
  return digits.length % 2 === 0 ? bytes : emptyBytes;
}

export function encodeBase64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}
