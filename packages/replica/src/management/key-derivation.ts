// Child keys of threshold keys along a path of byte strings: a public key and its chain code
// determine those below it. Both schemes add an offset to the secret key. IC spec, "IC method
// ecdsa_public_key" (BIP32, generalized by ia.cr/2021/1330, D) and "Ed25519 hierarchical key
// derivation".

import { mapHashToField, mod } from '@noble/curves/abstract/modular';
import { bytesToNumberBE, concatBytes } from '@noble/curves/abstract/utils';
import { ed25519 } from '@noble/curves/ed25519';
import { secp256k1 } from '@noble/curves/secp256k1';
import { hkdf } from '@noble/hashes/hkdf';
import { hmac } from '@noble/hashes/hmac';
import { sha512 } from '@noble/hashes/sha2';
import { utf8ToBytes } from '@noble/hashes/utils';

export interface ExtendedKey {
  /** secp256k1: SEC1, compressed, 33 bytes; Ed25519: RFC 8032, 32 bytes. */
  readonly publicKey: Uint8Array;
  readonly chainCode: Uint8Array;
}

interface Child {
  readonly key: ExtendedKey;
  /** The number added to the parent's secret key. */
  readonly offset: bigint;
}

/** A group that supports child keys. */
export interface KeyGroup {
  readonly order: bigint;
  publicKeyOf(secret: bigint): Uint8Array;
  /** Returns the secret key from 64 secret bytes. */
  secretOf(bytes: Uint8Array): bigint;
  child(parent: ExtendedKey, index: Uint8Array): Child;
}

export const secp256k1Group: KeyGroup = {
  order: secp256k1.CURVE.n,
  publicKeyOf: (secret) => secp256k1.Point.BASE.multiply(secret).toBytes(true),
  secretOf: (bytes) => bytesToNumberBE(mapHashToField(bytes, secp256k1.CURVE.n)),
  child(parent, index) {
    let input = parent.publicKey;
    for (;;) {
      const output = hmac(sha512, parent.chainCode, concatBytes(input, index));
      const offset = bytesToNumberBE(output.subarray(0, 32));
      const chainCode = output.slice(32);
      const point = offsetPoint(parent.publicKey, offset);
      if (point !== undefined) return { key: { publicKey: point, chainCode }, offset };
      // SLIP-10: an offset that is not a scalar, or gives no key, is computed again. No input is
      // known that reaches this line.
      input = concatBytes(Uint8Array.of(1), chainCode);
    }
  },
};

function offsetPoint(publicKey: Uint8Array, offset: bigint): Uint8Array | undefined {
  if (offset >= secp256k1.CURVE.n) return undefined;
  const parent = secp256k1.Point.fromHex(publicKey);
  const point = offset === 0n ? parent : parent.add(secp256k1.Point.BASE.multiply(offset));
  return point.is0() ? undefined : point.toBytes(true);
}

export const ed25519Group: KeyGroup = {
  order: ed25519.CURVE.n,
  publicKeyOf: (secret) => ed25519.Point.BASE.multiply(secret).toBytes(),
  secretOf: (bytes) => bytesToNumberBE(mapHashToField(bytes, ed25519.CURVE.n)),
  child(parent, index) {
    const material = concatBytes(parent.publicKey, index);
    const output = hkdf(sha512, material, parent.chainCode, utf8ToBytes('Ed25519'), 96);
    const offset = mod(bytesToNumberBE(output.subarray(0, 64)), ed25519.CURVE.n);
    const tweak = ed25519.Point.BASE.multiplyUnsafe(offset);
    const publicKey = ed25519.Point.fromHex(parent.publicKey).add(tweak).toBytes();
    return { key: { publicKey, chainCode: output.slice(64) }, offset };
  },
};

/** A master key has a chain code of zeros. */
export function masterKey(publicKey: Uint8Array): ExtendedKey {
  return { publicKey, chainCode: new Uint8Array(32) };
}

/** Returns the key at the end of the path from `from`, and the sum of all offsets to it. */
export function deriveAlong(
  group: KeyGroup,
  from: ExtendedKey,
  path: readonly Uint8Array[],
): Child {
  let derived: Child = { key: from, offset: 0n };
  for (const index of path) {
    const { key, offset } = group.child(derived.key, index);
    derived = { key, offset: mod(derived.offset + offset, group.order) };
  }
  return derived;
}
