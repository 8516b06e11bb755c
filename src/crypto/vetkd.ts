// The client's side of vetKD (ePrint 2023/616) over BLS12-381: a transport key, and the decryption
// of the vetKey that is encrypted to it. Import this module only when needed, because setting up
// the curve takes time. vetkd-verification.ts verifies a vetKey.

import { assert } from '../lib/assert.ts';
import { emptyBytes } from '../lib/bytes.ts';
import { encodeHex } from '../lib/hex.ts';
import { encodeUtf8 } from '../lib/text.ts';
import { decodeG1, encodeG1, g1Bytes, g1Generator, g1Order } from './bls12-381-g1.ts';
import { hkdfSha256 } from './kdf.ts';

/** Twice the length of a scalar, so that all scalars are almost equally likely. */
export const transportSecretBytes = 64;
const g2Bytes = 96;
const encryptedKeyBytes = g1Bytes + g2Bytes + g1Bytes;
const symmetricKeyBytes = 32;

/** Returns a compressed point of G1, 48 bytes. Use a secret for one key, then wipe it. */
export function transportPublicKey(secret: Uint8Array): Uint8Array {
  return encodeG1(g1Generator.multiply(scalarOf(secret)));
}

function scalarOf(secret: Uint8Array): bigint {
  assert(secret.length === transportSecretBytes, 'a transport secret has 64 bytes');
  const scalar = BigInt(`0x${encodeHex(secret)}`) % g1Order;
  assert(scalar !== 0n, 'a transport secret is not 0');
  return scalar;
}

/**
 * Returns the vetKey c3 - secret * c1, 48 bytes (G1, compressed), from its encryption c1 (G1) | c2
 * (G2) | c3 (G1); `undefined` for malformed input. The caller must verify the key: this function
 * does not check that the points are in the group of prime order.
 */
export function decryptVetKey(encrypted: Uint8Array, secret: Uint8Array): Uint8Array | undefined {
  if (encrypted.length !== encryptedKeyBytes) {
    return undefined;
  }
  const c1 = decodeG1(encrypted.slice(0, g1Bytes));
  const c3 = decodeG1(encrypted.slice(g1Bytes + g2Bytes));
  const key = c1 && c3?.subtract(c1.multiply(scalarOf(secret)));
  return key === undefined || key.is0() ? undefined : encodeG1(key);
}

/**
 * Returns 32 bytes of HKDF-SHA-256, as the official client derives them; the bytes differ for each
 * domain separator.
 */
export function deriveSymmetricKey(vetKey: Uint8Array, domainSeparator: string): Uint8Array {
  const info = encodeUtf8(domainSeparator);
  return hkdfSha256({ keyMaterial: vetKey, salt: emptyBytes, info, length: symmetricKeyBytes });
}
