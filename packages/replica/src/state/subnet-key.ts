// The keys of the replica's subnets, all derived from one 32-byte seed: the BLS keys that sign
// certificates, and the Ed25519 key that signs query answers as a subnet's only node. IC spec,
// "Certificate" (signature scheme) and "Query signatures".

import { createHash, createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { channel } from 'node:diagnostics_channel';
import { Principal } from '@dfinity/principal';
import { mapHashToField } from '@noble/curves/abstract/modular';
import { bls12_381 } from '@noble/curves/bls12-381';

export const seedBytes = 32;

/** SPKI of a BLS12-381 key with OIDs 1.3.6.1.4.1.44668.5.3.1.2.1 and 1.3.6.1.4.1.44668.5.3.2.1. */
const blsDerPrefix = Buffer.from(
  '308182301d060d2b0601040182dc7c0503010201060c2b0601040182dc7c05030201036100',
  'hex',
);
/** RFC 8410 §7: PKCS #8 of an Ed25519 key up to its 32 secret bytes. */
const ed25519PrivatePrefix = Buffer.from('302e020100300506032b657004220420', 'hex');

const scheme = bls12_381.shortSignatures;
const stateRootDomain = Buffer.from('\x0Dic-state-root', 'latin1');

/** Publishes a SignedStateRoot after each signature, for observers within the process. */
export const signedStateRoots = channel('local-replica:signed-state-root');

export interface SignedStateRoot {
  /** 96 bytes, compressed, without DER. */
  readonly publicKey: Uint8Array;
  /** The domain separator and the root hash. */
  readonly message: Uint8Array;
  readonly signature: Uint8Array;
}

export interface SubnetKey {
  /** DER, 133 bytes. */
  readonly publicKey: Uint8Array;
  /** The self-authenticating principal of the public key. */
  readonly subnetId: Principal;
  /** Returns the signature in G1, 48 bytes compressed, of a state tree's root hash. */
  signStateRoot(rootHash: Uint8Array): Uint8Array;
}

export interface NodeKey {
  /** DER, 44 bytes. */
  readonly publicKey: Uint8Array;
  readonly nodeId: Principal;
  /** Ed25519, 64 bytes. */
  sign(message: Uint8Array): Uint8Array;
}

function derive(seed: Uint8Array, purpose: string, algorithm: 'sha256' | 'sha512'): Uint8Array {
  return createHash(algorithm).update(`local replica ${purpose}\n`).update(seed).digest();
}

/** @param subnet 0 for the root subnet, otherwise the number of the subnet. */
export function createSubnetKey(seed: Uint8Array, subnet = 0): SubnetKey {
  const purpose = subnet === 0 ? 'root key' : `subnet key ${subnet}`;
  const field = bls12_381.fields.Fr;
  const secret = field.fromBytes(mapHashToField(derive(seed, purpose, 'sha512'), field.ORDER));
  const point = bls12_381.G2.Point.BASE.multiply(secret);
  const pointBytes = point.toBytes(true);
  const publicKey = new Uint8Array(Buffer.concat([blsDerPrefix, pointBytes]));
  return {
    publicKey,
    subnetId: Principal.selfAuthenticating(publicKey),
    signStateRoot(rootHash) {
      const message = Buffer.concat([stateRootDomain, rootHash]);
      // A hashed point is in the subgroup, and a local key needs no constant time: without noble's
      // checks and its slower multiplication a signature takes 4 ms instead of 8.
      const signature = compressed(scheme.hash(message).multiplyUnsafe(secret).toAffine());
      signedStateRoots.publish({ publicKey: pointBytes, message, signature });
      return signature;
    },
  };
}

/**
 * Returns the compressed form of a point of G1 other than zero: x, big endian, and two flags in its
 * first three bits. Unlike noble's `toBytes()`, it does not check the subgroup.
 */
function compressed({ x, y }: { readonly x: bigint; readonly y: bigint }): Uint8Array {
  const field = bls12_381.fields.Fp;
  const bytes = field.toBytes(x);
  bytes[0] = (bytes[0] ?? 0) | (y > (field.ORDER - 1n) / 2n ? 0xa0 : 0x80);
  return bytes;
}

/** Returns whether a certificate's signature belongs to the key (DER); false if malformed. */
export function verifyStateRoot(options: {
  readonly publicKey: Uint8Array;
  readonly rootHash: Uint8Array;
  readonly signature: Uint8Array;
}): boolean {
  const { publicKey, rootHash, signature } = options;
  const message = scheme.hash(Buffer.concat([stateRootDomain, rootHash]));
  try {
    return scheme.verify(signature, message, publicKey.subarray(blsDerPrefix.length));
  } catch {
    return false;
  }
}

/** @param subnet 0 for the root subnet, otherwise the number of the subnet. */
export function createNodeKey(seed: Uint8Array, subnet = 0): NodeKey {
  const secret = derive(seed, subnet === 0 ? 'node key' : `node key ${subnet}`, 'sha256');
  const key = createPrivateKey({
    key: Buffer.concat([ed25519PrivatePrefix, secret]),
    format: 'der',
    type: 'pkcs8',
  });
  const publicKey = new Uint8Array(createPublicKey(key).export({ format: 'der', type: 'spki' }));
  return {
    publicKey,
    nodeId: Principal.selfAuthenticating(publicKey),
    sign: (message) => sign(null, message, key),
  };
}
