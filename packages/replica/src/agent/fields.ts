// Reads typed fields from decoded CBOR maps. A field of the wrong shape is a bad request whose text
// names the field; unknown fields are ignored, as on the network.

import { Principal } from '@dfinity/principal';
import { badRequest } from './agent-message.ts';

export type Fields = ReadonlyMap<unknown, unknown>;

const principalBytesMax = 29;
const naturalMax = 2n ** 64n - 1n;

export function asFields(value: unknown, what: string): Fields {
  if (value instanceof Map) return value;
  throw badRequest(`Malformed request: ${what} is not a CBOR map`);
}

export function asBytes(value: unknown, what: string): Uint8Array {
  if (value instanceof Uint8Array) return value;
  throw badRequest(`Malformed request: ${what} is not a byte string`);
}

export function asArray(value: unknown, what: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw badRequest(`Malformed request: ${what} is not an array`);
}

export function asPrincipal(value: unknown, what: string): Principal {
  const bytes = asBytes(value, what);
  if (bytes.length <= principalBytesMax) return Principal.fromUint8Array(bytes);
  throw badRequest(`Malformed request: ${what} has ${bytes.length} bytes, a principal at most 29`);
}

export function readText(fields: Fields, name: string): string {
  const value = fields.get(name);
  if (typeof value === 'string') return value;
  throw badRequest(
    `Malformed request: field "${name}" ${value === undefined ? 'is missing' : 'is not text'}`,
  );
}

export function readBytes(fields: Fields, name: string): Uint8Array {
  return asBytes(required(fields, name), `field "${name}"`);
}

export function readPrincipal(fields: Fields, name: string): Principal {
  return asPrincipal(required(fields, name), `field "${name}"`);
}

/** Reads an unsigned integer of 64 bits. */
export function readNatural(fields: Fields, name: string): bigint {
  const value = required(fields, name);
  const isInteger = typeof value === 'bigint' || Number.isSafeInteger(value);
  const natural = isInteger ? BigInt(value as bigint | number) : -1n;
  if (natural >= 0n && natural <= naturalMax) return natural;
  throw badRequest(`Malformed request: field "${name}" is not an unsigned 64-bit integer`);
}

/** `null` counts as absent, as in the network's decoder. */
export function readOptional<T>(
  fields: Fields,
  name: string,
  read: (fields: Fields, name: string) => T,
): T | undefined {
  const value = fields.get(name);
  return value === undefined || value === null ? undefined : read(fields, name);
}

function required(fields: Fields, name: string): unknown {
  const value = fields.get(name);
  if (value !== undefined) return value;
  throw badRequest(`Malformed request: field "${name}" is missing`);
}
