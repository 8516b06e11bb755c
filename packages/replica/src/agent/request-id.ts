// The representation-independent hash of structured data, and the request id based on it. IC spec,
// "Representation-independent hashing of structured data".

import { createHash } from 'node:crypto';
import { encodeLeb128 } from '../state/leb128.ts';

export type HashableValue =
  | Uint8Array
  | string
  | bigint
  | number
  | readonly HashableValue[]
  | HashableMap;

export type HashableMap = ReadonlyMap<string, HashableValue>;

function sha256(...parts: readonly (Uint8Array | string)[]): Buffer {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
}

function hashOfValue(value: HashableValue): Buffer {
  if (typeof value === 'string' || value instanceof Uint8Array) return sha256(value);
  if (typeof value === 'bigint' || typeof value === 'number') return sha256(encodeLeb128(value));
  if (isMap(value)) return hashOfMap(value);
  return sha256(...value.map(hashOfValue));
}

function isMap(value: readonly HashableValue[] | HashableMap): value is HashableMap {
  return value instanceof Map;
}

/** Returns 32 bytes. Absent fields are omitted from the map instead of hashed as empty. */
export function hashOfMap(map: HashableMap): Buffer {
  const pairs = [...map].map(([name, value]) => Buffer.concat([sha256(name), hashOfValue(value)]));
  return sha256(...pairs.sort(Buffer.compare));
}

/** Returns the bytes to sign: a domain separator after its length, then the hash. */
export function signedBytes(domain: string, map: HashableMap): Buffer {
  return signedBlob(domain, hashOfMap(map));
}

/** Returns the bytes to sign for data that is signed without hashing. */
export function signedBlob(domain: string, bytes: Uint8Array): Buffer {
  return Buffer.concat([Uint8Array.of(domain.length), Buffer.from(domain), bytes]);
}
