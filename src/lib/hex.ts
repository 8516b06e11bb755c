// Hexadecimal. For short values only (ids, digests): a turn of its loop is interpreted code.

import { present } from './assert.ts';

const pairs: readonly string[] = Array.from({ length: 256 }, (_, byte) =>
  byte.toString(16).padStart(2, '0'),
);

export function encodeHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => present(pairs[byte], 'hex pair')).join('');
}

/** `undefined` when `text` is no even number of hexadecimal digits. */
export function decodeHex(text: string): Uint8Array | undefined {
  if (text.length % 2 !== 0 || !/^[0-9a-f]*$/i.test(text)) {
    return undefined;
  }
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}
