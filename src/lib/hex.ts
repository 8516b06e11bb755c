// Hexadecimal, only for short values (ids, digests), because its loop is interpreted code.

const nativeBytesMax = 64;
const pairs: readonly string[] = Array.from({ length: 256 }, (_, byte) =>
  byte.toString(16).padStart(2, '0'),
);

/** The native encoder, for at most 64 bytes. */
let nativeEncode: ((bytes: Uint8Array) => string) | undefined;

export function installHexEncoder(encode: (bytes: Uint8Array) => string): void {
  nativeEncode = encode;
}

export function encodeHex(bytes: Uint8Array): string {
  return nativeEncode === undefined || bytes.length > nativeBytesMax
    ? encodeInJavaScript(bytes)
    : nativeEncode(bytes);
}

function encodeInJavaScript(bytes: Uint8Array): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const wordsEnd = bytes.length & ~7;
  let text = '';
  for (let start = 0; start < wordsEnd; start += 8) {
    text += view.getBigUint64(start).toString(16).padStart(16, '0');
  }
  for (let index = wordsEnd; index < bytes.length; index++) {
    text += pairs[view.getUint8(index)] ?? '';
  }
  return text;
}

/** Returns `undefined` if `text` is not an even number of hexadecimal digits. */
export function decodeHex(text: string): Uint8Array | undefined {
  if (text.length % 2 !== 0 || !/^[0-9a-f]*$/i.test(text)) {
    return undefined;
  }
  const bytes = new Uint8Array(text.length / 2);
  const view = new DataView(bytes.buffer);
  const wordsEnd = bytes.length & ~7;
  // Eight bytes at a time, for a tenth of the cost
  for (let start = 0; start < wordsEnd; start += 8) {
    view.setBigUint64(start, BigInt(`0x${text.slice(2 * start, 2 * start + 16)}`));
  }
  for (let index = wordsEnd; index < bytes.length; index++) {
    bytes[index] = Number.parseInt(text.slice(2 * index, 2 * index + 2), 16);
  }
  return bytes;
}
