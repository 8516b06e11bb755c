// HMAC-SHA-256 (RFC 2104) by the native kernel, and HKDF (RFC 5869) based on it.

import { sha256Bytes } from './hash.ts';
import { createCommand, kernelCall, kernelOperations, refuseOperand } from './kernel.ts';

/** RFC 5869, 2.3: at most 255 blocks of output. */
export const hkdfBytesMax = 255 * sha256Bytes;

/** The kernel has room for no longer info. */
const infoBytesMax = 128;

const hmacCommand = createCommand(kernelOperations.hmac, 3).bytes;
const expandCommand = createCommand(kernelOperations.expand, 3).bytes;

export interface HkdfInput {
  readonly keyMaterial: Uint8Array;
  /** Empty: equivalent to 32 zero bytes. */
  readonly salt: Uint8Array;
  readonly info: Uint8Array;
  /** Number of output bytes, 1 to `hkdfBytesMax`. */
  readonly length: number;
}

/** Returns the authentication code, 32 bytes. */
export function hmacSha256(key: Uint8Array, bytes: Uint8Array): Uint8Array {
  if (!(key instanceof Uint8Array)) refuseOperand('key', key);
  if (!(bytes instanceof Uint8Array)) refuseOperand('message', bytes);
  const mac = new Uint8Array(sha256Bytes);
  kernelCall(hmacCommand);
  kernelCall(key);
  kernelCall(bytes);
  kernelCall(mac);
  return mac;
}

/** RFC 5869, 2.2 and 2.3. Throws for a length out of range. */
export function hkdfSha256(input: HkdfInput): Uint8Array {
  const pseudoRandomKey = hmacSha256(input.salt, input.keyMaterial);
  const output = expandSha256(pseudoRandomKey, input);
  pseudoRandomKey.fill(0);
  return output;
}

/** RFC 5869, 2.3: T(i) = HMAC(key, T(i - 1) | info | i), from a key that is already random. */
export function expandSha256(
  key: Uint8Array,
  wanted: { readonly info: Uint8Array; readonly length: number },
): Uint8Array {
  const { info, length } = wanted;
  if (!(length >= 1 && length <= hkdfBytesMax)) {
    throw new Error(`Cannot derive ${length} bytes: the length must be 1 to ${hkdfBytesMax}`);
  }
  if (!(key instanceof Uint8Array)) refuseOperand('key', key);
  if (!(info.length <= infoBytesMax)) refuseOperand('info', info);
  const output = new Uint8Array(length);
  kernelCall(expandCommand);
  kernelCall(key);
  kernelCall(info);
  kernelCall(output);
  return output;
}
