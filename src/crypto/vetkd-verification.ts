// Verifies a vetKey, which is a BLS signature of the input under the derived public key. Import it
// only when needed: setting up the pairing takes 6,700 M instructions, a verification 3,500 M.

import { bls12_381 } from '@noble/curves/bls12-381';
import { concatBytes } from '../lib/bytes.ts';

const G1 = bls12_381.G1.Point;
const G2 = bls12_381.G2.Point;
const { Fp12 } = bls12_381.fields;
// The tables of the library's own base point take 24,000 M instructions to compute.
const generator = G2.fromAffine(G2.BASE.toAffine());
/** IETF draft-irtf-cfrg-bls-signature, 4.2.2: signatures in G1, augmented messages. */
const separator = 'BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_AUG_';

export interface VetKeyClaim {
  /** G1, compressed, 48 bytes. */
  readonly vetKey: Uint8Array;
  /** The public key of the canister and the context: G2, compressed, 96 bytes. */
  readonly derivedPublicKey: Uint8Array;
  readonly input: Uint8Array;
}

/** e(vetKey, generator) = e(H(public key | input), public key); false for malformed points. */
export function isVetKey({ vetKey, derivedPublicKey, input }: VetKeyClaim): boolean {
  try {
    const message = concatBytes(derivedPublicKey, input);
    const hashed = bls12_381.G1.hashToCurve(message, { DST: separator });
    const product = bls12_381.pairingBatch([
      { g1: G1.fromBytes(vetKey), g2: generator },
      { g1: G1.fromAffine(hashed.toAffine()), g2: G2.fromBytes(derivedPublicKey).negate() },
    ]);
    return Fp12.eql(product, Fp12.ONE);
  } catch {
    return false;
  }
}
