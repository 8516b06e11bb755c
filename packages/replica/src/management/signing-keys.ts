// Threshold signatures of the network, computed here with plain secret keys: ECDSA and BIP340 over
// secp256k1, and Ed25519. Each canister has its own keys below the master keys, which derive from
// one secret seed.

import { mod } from '@noble/curves/abstract/modular';
import {
  bytesToNumberBE,
  bytesToNumberLE,
  concatBytes,
  numberToBytesBE,
  numberToBytesLE,
} from '@noble/curves/abstract/utils';
import { ed25519 } from '@noble/curves/ed25519';
import { schnorr, secp256k1 } from '@noble/curves/secp256k1';
import { hkdf } from '@noble/hashes/hkdf';
import { sha512 } from '@noble/hashes/sha2';
import {
  deriveAlong,
  type ExtendedKey,
  ed25519Group,
  type KeyGroup,
  masterKey,
  secp256k1Group,
} from './key-derivation.ts';

export type SigningScheme = 'ecdsa:Secp256k1' | 'schnorr:Bip340Secp256k1' | 'schnorr:Ed25519';

const groups: Readonly<Record<SigningScheme, KeyGroup>> = {
  'ecdsa:Secp256k1': secp256k1Group,
  'schnorr:Bip340Secp256k1': secp256k1Group,
  'schnorr:Ed25519': ed25519Group,
};
const keyNames: readonly string[] = ['key_1', 'test_key_1', 'dfx_test_key'];
const seedBytesMin = 32;

export interface SigningKeyPath {
  readonly scheme: SigningScheme;
  readonly keyName: string;
  /** The canister's principal as bytes. */
  readonly canisterId: Uint8Array;
  readonly path: readonly Uint8Array[];
}

export interface SigningRequest extends SigningKeyPath {
  /** For ECDSA the hash, 32 bytes; else the message. */
  readonly message: Uint8Array;
  /** Only for BIP340: tweaks the key by this root, 0 or 32 bytes. BIP341, `taproot_sign_script`. */
  readonly taprootRoot?: Uint8Array | undefined;
  /** 32 new random bytes. */
  readonly random: Uint8Array;
}

export interface SigningKeys {
  readonly keyNames: readonly string[];
  /**
   * Returns the key for offline derivation. Every method throws a RangeError for an unknown key.
   */
  masterPublicKey(scheme: SigningScheme, keyName: string): Uint8Array;
  publicKey(path: SigningKeyPath): ExtendedKey;
  /** Returns 64 bytes: ECDSA r | s, big endian, s in the lower half; BIP340; RFC 8032. */
  sign(request: SigningRequest): Uint8Array;
}

/** Returns a replica's keys. `seed`: at least 32 secret bytes, which determine the keys. */
export function createSigningKeys(seed: Uint8Array): SigningKeys {
  if (seed.length < seedBytesMin) {
    throw new RangeError(`A signing seed has at least ${seedBytesMin} bytes, not ${seed.length}`);
  }

  function masterSecret(scheme: SigningScheme, keyName: string): bigint {
    if (!keyNames.includes(keyName)) {
      throw new RangeError(`Unknown signing key ${JSON.stringify(keyName)}`);
    }
    const bytes = hkdf(sha512, seed, 'local-replica-signing', `${scheme}:${keyName}`, 64);
    return groups[scheme].secretOf(bytes);
  }

  /** Returns the canister's secret key and related values. */
  function derive({ scheme, keyName, canisterId, path }: SigningKeyPath) {
    const group = groups[scheme];
    const master = masterSecret(scheme, keyName);
    const from = masterKey(group.publicKeyOf(master));
    const { key, offset } = deriveAlong(group, from, [canisterId, ...path]);
    return { key, secret: mod(master + offset, group.order) };
  }

  return {
    keyNames,
    masterPublicKey: (scheme, keyName) => groups[scheme].publicKeyOf(masterSecret(scheme, keyName)),
    publicKey: (path) => derive(path).key,
    sign(request) {
      const { key, secret } = derive(request);
      if (request.scheme === 'schnorr:Ed25519') return signEd25519(request, { key, secret });
      const bytes = numberToBytesBE(secret, 32);
      if (request.scheme === 'ecdsa:Secp256k1') {
        return secp256k1.sign(request.message, bytes, { prehash: false }).toCompactRawBytes();
      }
      const { taprootRoot, message, random } = request;
      const signing = taprootRoot === undefined ? bytes : tweakForTaproot(secret, taprootRoot);
      return schnorr.sign(message, signing, random);
    },
  };
}

/** BIP341, `taproot_tweak_seckey`. */
function tweakForTaproot(secret: bigint, root: Uint8Array): Uint8Array {
  const order = secp256k1Group.order;
  const publicKey = secp256k1Group.publicKeyOf(secret);
  const hasEvenY = publicKey[0] === 2;
  const tweak = bytesToNumberBE(schnorr.utils.taggedHash('TapTweak', publicKey.subarray(1), root));
  // BIP341 fails for a tweak that is not a scalar, which is practically impossible to find.
  if (tweak >= order) throw new RangeError('The taproot root gives no scalar');
  return numberToBytesBE(mod((hasEvenY ? secret : -secret) + tweak, order), 32);
}

/** Signs as RFC 8032, 5.1.6, with a scalar instead of a seed, because derived keys have no seed. */
function signEd25519(
  { message, random }: SigningRequest,
  { key, secret }: { readonly key: ExtendedKey; readonly secret: bigint },
): Uint8Array {
  const { order } = ed25519Group;
  const hashToScalar = (...parts: Uint8Array[]) =>
    mod(bytesToNumberLE(sha512(concatBytes(...parts))), order);
  const nonce = hashToScalar(numberToBytesLE(secret, 32), key.chainCode, random, message);
  const commitment = ed25519.Point.BASE.multiply(nonce).toBytes();
  const challenge = hashToScalar(commitment, key.publicKey, message);
  return concatBytes(commitment, numberToBytesLE(mod(nonce + challenge * secret, order), 32));
}
