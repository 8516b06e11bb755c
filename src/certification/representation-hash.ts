// Request and response hashes of response verification version 2. HTTP gateway specification,
// "Request hash calculation", "Response hash calculation"; the hash of a map is the
// representation-independent hash of the IC specification. Used for answers that are the same for
// all files, at install and upgrade; the native kernel computes the hashes of each file
// (file-leaves.ts).

import { sha256 } from '../crypto/hash.ts';
import { byteString, concatBytes, emptyBytes } from '../lib/bytes.ts';
import { encodeUtf8 } from '../lib/text.ts';

export type Field = readonly [name: string, value: string];

/** SHA-256 of the name, then of the value, 64 bytes; the pairs of a map are sorted and hashed. */
export type Pair = Uint8Array;

/** SHA-256 of a name. */
export function nameHash(name: string): Uint8Array {
  return sha256(encodeUtf8(name.toLowerCase()));
}

export function fieldPair([name, value]: Field): Pair {
  return concatBytes(nameHash(name), sha256(encodeUtf8(value)));
}

/** `:ic-cert-status` is hashed as a number: LEB128 of 128 to 16,383 has two bytes. */
export function statusPair(status: number): Pair {
  const number = Uint8Array.of((status & 0x7f) | 0x80, status >> 7);
  return concatBytes(nameHash(':ic-cert-status'), sha256(number));
}

export function methodPair(method: string): Pair {
  return fieldPair([':ic-cert-method', method]);
}

/** Hashes pairs with different names, in any order, and the SHA-256 of a body. */
export function messageHash(pairs: readonly Pair[], bodyDigest: Uint8Array): Uint8Array {
  const ordered = pairs.toSorted((left, right) => (byteString(left) < byteString(right) ? -1 : 1));
  return sha256(concatBytes(sha256(concatBytes(...ordered)), bodyDigest));
}

export function emptyBodyDigest(): Uint8Array {
  return sha256(emptyBytes);
}

/** Returns the request hash of a request without a body in which only the method is certified. */
export function methodHash(method: string): Uint8Array {
  return messageHash([methodPair(method)], emptyBodyDigest());
}
