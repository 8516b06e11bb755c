// CBOR with the self-describing tag, as at the agent endpoints. RFC 8949 §3.4.6 (tag 55799).

import { decode, encode } from 'cborg';
import type { TagDecoder } from 'cborg/interface';

const selfDescribedTag = 55_799;
const selfDescribedPrefix = Uint8Array.of(0xd9, 0xd9, 0xf7);

const tags: TagDecoder[] = [];
tags[selfDescribedTag] = (inner: unknown) => inner;

/**
 * @param value maps (objects), arrays, bytes, text, numbers and bigints up to 64 bits; no
 * undefined.
 */
export function encodeSelfDescribed(value: unknown): Uint8Array {
  const content = encode(value);
  // Not a Buffer, whose slice() returns a view, which the agents' decoder does not expect.
  const bytes = new Uint8Array(selfDescribedPrefix.length + content.length);
  bytes.set(selfDescribedPrefix);
  bytes.set(content, selfDescribedPrefix.length);
  return bytes;
}

/** Decodes with or without the tag; maps become `Map`. Throws an Error for malformed bytes. */
export function decodeSelfDescribed(bytes: Uint8Array): unknown {
  return decode(bytes, { tags, useMaps: true, rejectDuplicateMapKeys: true });
}
