// The representation-independent hash of structured data and the request id made of it.
// IC spec, "Representation-independent hashing of structured data".

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

/** 32 bytes. Absent fields are left out of the map, not hashed as empty. */
export function hashOfMap(map: HashableMap): Buffer {
  const pairs = [...map].map(([name, value]) => Buffer.concat([sha256(name), hashOfValue(value)]));
  return sha256(...pairs.sort(Buffer.compare));
}

/** The bytes that are signed: a domain separator with its length in front, then the hash. */
export function signedBytes(domain: string, map: HashableMap): Buffer {
  return signedBlob(domain, hashOfMap(map));
}

/** The same of bytes that are signed as they are. */
export function signedBlob(domain: string, bytes: Uint8Array): Buffer {
  return Buffer.concat([Uint8Array.of(domain.length), Buffer.from(domain), bytes]);
}
