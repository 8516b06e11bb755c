// vetKD over BLS12-381, which a subnet computes jointly and this replica by itself:
// derived public keys in G2, and derived keys as BLS signatures in G1, encrypted to the caller's
// transport key. Scheme: ePrint 2023/616; derivation and domain separators match the official
// client.

import { hash_to_field } from '@noble/curves/abstract/hash-to-curve';
import { bls12_381 } from '@noble/curves/bls12-381';
import { sha256 } from '@noble/hashes/sha2';
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils';

const G1 = bls12_381.G1.ProjectivePoint;
const G2 = bls12_381.G2.ProjectivePoint;
type G1Point = typeof G1.BASE;
const scalarField = bls12_381.fields.Fr;

const canisterSeparator = 'ic-vetkd-bls12-381-g2-canister-id';
const contextSeparator = 'ic-vetkd-bls12-381-g2-context';
const signatureSeparator = 'BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_AUG_';
const masterKeySeparator = 'local-replica-vetkd-master-key';
const encryptionSeparator = 'local-replica-vetkd-encryption';

/** Cycles per derived key, by key name: the network's price for the size of the key's subnet. */
const feeByKeyName = new Map([
  ['key_1', 26_153_846_153n],
  ['test_key_1', 10_000_000_000n],
  ['dfx_test_key', 10_000_000_000n],
]);

const seedBytesMin = 32;

export interface VetKeyPath {
  readonly keyName: string;
  /** The canister's principal as bytes. */
  readonly canisterId: Uint8Array;
  readonly context: Uint8Array;
}

export interface VetKeyRequest extends VetKeyPath {
  readonly input: Uint8Array;
  /** G1, compressed, 48 bytes. */
  readonly transportPublicKey: Uint8Array;
  /** 32 new random bytes. */
  readonly random: Uint8Array;
}

export interface VetKeys {
  readonly keyNames: readonly string[];
  /** Returns the cycles that `vetkd_derive_key` costs; `undefined` for an unknown key. */
  fee(keyName: string): bigint | undefined;
  /** Returns 96 bytes, G2 compressed: the key from which all canisters' keys derive. */
  masterPublicKey(keyName: string): Uint8Array;
  /** Returns 96 bytes, G2 compressed. With an empty context, the canister's key. */
  publicKey(path: VetKeyPath): Uint8Array;
  /** Returns E1 (G1) | E2 (G2) | E3 (G1), 192 bytes; `undefined` for an invalid transport key. */
  encryptedKey(request: VetKeyRequest): Uint8Array | undefined;
}

/** Returns a replica's keys. `seed`: at least 32 secret bytes, which determine the keys. */
export function createVetKeys(seed: Uint8Array): VetKeys {
  if (seed.length < seedBytesMin) {
    throw new RangeError(`A vetKD seed has at least ${seedBytesMin} bytes, not ${seed.length}`);
  }
  const masterKeys = new Map(
    [...feeByKeyName.keys()].map((name) => [
      name,
      hashToScalar(concatBytes(withLength(seed), utf8ToBytes(name)), masterKeySeparator),
    ]),
  );

  function masterKey(keyName: string): bigint {
    const key = masterKeys.get(keyName);
    if (key === undefined) throw new RangeError(`Unknown vetKD key ${JSON.stringify(keyName)}`);
    return key;
  }

  return {
    keyNames: [...feeByKeyName.keys()],
    fee: (keyName) => feeByKeyName.get(keyName),
    masterPublicKey: (keyName) => publicKeyOf(masterKey(keyName)),
    publicKey: (path) => publicKeyOf(deriveSecretKey(masterKey(path.keyName), path)),
    encryptedKey: (request) =>
      encrypt(deriveSecretKey(masterKey(request.keyName), request), request),
  };
}

/** Derives for the canister, then for the context; each step hashes the previous key. */
function deriveSecretKey(masterKey: bigint, path: VetKeyPath): bigint {
  const canisterKey = deriveChild(masterKey, {
    bound: path.canisterId,
    separator: canisterSeparator,
  });
  if (path.context.length === 0) return canisterKey;
  return deriveChild(canisterKey, { bound: path.context, separator: contextSeparator });
}

function deriveChild(
  key: bigint,
  step: { readonly bound: Uint8Array; readonly separator: string },
): bigint {
  const bound = concatBytes(withLength(publicKeyOf(key)), withLength(step.bound));
  return scalarField.add(key, hashToScalar(bound, step.separator));
}

function encrypt(secretKey: bigint, request: VetKeyRequest): Uint8Array | undefined {
  const transportKey = decodeTransportKey(request.transportPublicKey);
  if (transportKey === undefined) return undefined;
  const message = concatBytes(publicKeyOf(secretKey), request.input);
  const hashed = bls12_381.G1.hashToCurve(message, { DST: signatureSeparator });
  const vetKey = G1.fromAffine(hashed.toAffine()).multiply(secretKey);
  const blinding = hashToScalar(request.random, encryptionSeparator);
  return concatBytes(
    G1.BASE.multiply(blinding).toRawBytes(true),
    G2.BASE.multiply(blinding).toRawBytes(true),
    transportKey.multiply(blinding).add(vetKey).toRawBytes(true),
  );
}

/** Requires a point of the subgroup; the neutral element would reveal the key. */
function decodeTransportKey(bytes: Uint8Array): G1Point | undefined {
  if (bytes.length !== 48) return undefined;
  try {
    const point = G1.fromHex(bytes);
    point.assertValidity();
    return point.equals(G1.ZERO) ? undefined : point;
  } catch {
    return undefined;
  }
}

function publicKeyOf(secretKey: bigint): Uint8Array {
  return G2.BASE.multiply(secretKey).toRawBytes(true);
}

function withLength(bytes: Uint8Array): Uint8Array {
  const length = new Uint8Array(8);
  new DataView(length.buffer).setBigUint64(0, BigInt(bytes.length));
  return concatBytes(length, bytes);
}

/** RFC 9380 hash_to_field with SHA-256 onto the scalars. */
function hashToScalar(input: Uint8Array, separator: string): bigint {
  const options = { p: scalarField.ORDER, m: 1, k: 128, expand: 'xmd', hash: sha256 } as const;
  const scalar = hash_to_field(input, 1, { ...options, DST: separator })[0]?.[0];
  if (scalar === undefined) throw new Error('hash_to_field gave no scalar');
  return scalar;
}
