// Reads the standards' test vectors in tests/vectors.

import { readFileSync } from 'node:fs';

/** Returns the file's content; the caller names its type. */
export function readVectors<Shape>(file: string): Shape {
  const url = new URL(`../vectors/${file}`, import.meta.url);
  return JSON.parse(readFileSync(url, 'utf8')) as Shape;
}

export function fromHex(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'hex'));
}
