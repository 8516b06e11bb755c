// An identity from a PEM file that signs by Node's crypto: Ed25519, secp256k1 (dfx's kind) or
// P-256, in the formats of OpenSSL, dfx, icp-cli and the local replica.

import { createPublicKey, type KeyObject, sign } from 'node:crypto';
import { SignIdentity } from '@icp-sdk/core/agent';
import { StorageError } from '../storage-error.ts';
import { readPrivateKey } from './pem-key.ts';

export type KeyKind = 'Ed25519' | 'secp256k1' | 'P-256';

export interface PemIdentity extends SignIdentity {
  readonly kind: KeyKind;
}

/**
 * Returns the identity of a private key in PKCS #8 or SEC 1, encrypted or not. Throws
 * PassphraseNeeded if an encrypted key comes without a passphrase, WrongPassphrase, and
 * InvalidArgument for anything but a supported key.
 *
 * @example
 * ```ts
 * import { readFile } from 'node:fs/promises';
 * import { identityFromPem } from '@encrypted-file-storage/client/node';
 *
 * const identity = identityFromPem(await readFile('identity.pem', 'utf8'));
 * console.log(identity.getPrincipal().toText());
 * ```
 */
export function identityFromPem(pem: string, passphrase?: string): PemIdentity {
  const privateKey = readPrivateKey(pem, passphrase);
  const kind = kindOf(privateKey);
  const der = createPublicKey(privateKey).export({ type: 'spki', format: 'der' });
  const publicKeyDer = new Uint8Array(der);
  return new (class extends SignIdentity {
    readonly kind = kind;
    override getPublicKey() {
      return { toDer: () => publicKeyDer } as ReturnType<SignIdentity['getPublicKey']>;
    }
    override async sign(message: Uint8Array) {
      return signed(privateKey, kind, message) as Awaited<ReturnType<SignIdentity['sign']>>;
    }
  })();
}

const kindByCurve: Readonly<Record<string, KeyKind>> = {
  secp256k1: 'secp256k1',
  prime256v1: 'P-256',
};

function kindOf(key: KeyObject): KeyKind {
  if (key.asymmetricKeyType === 'ed25519') return 'Ed25519';
  const curve = key.asymmetricKeyDetails?.namedCurve;
  const kind = kindByCurve[curve ?? ''];
  if (kind !== undefined) return kind;
  throw new StorageError(
    'InvalidArgument',
    `Keys of kind ${curve ?? key.asymmetricKeyType} are not supported; use an Ed25519, ` +
      'secp256k1 or P-256 key.',
  );
}

/** IC spec, "Signatures": ECDSA over SHA-256, r and s in 32 bytes each. */
function signed(key: KeyObject, kind: KeyKind, message: Uint8Array): Uint8Array {
  if (kind === 'Ed25519') return new Uint8Array(sign(null, message, key));
  const signature = new Uint8Array(sign('sha256', message, { key, dsaEncoding: 'ieee-p1363' }));
  return kind === 'secp256k1' ? withLowS(signature) : signature;
}

/** SEC 2, 2.4.1. */
const secp256k1Order = 0xffffffff_ffffffff_ffffffff_fffffffe_baaedce6_af48a03b_bfd25e8c_d0364141n;

/** Returns the signature with the lower of s and -s: some secp256k1 libraries accept only that. */
function withLowS(signature: Uint8Array): Uint8Array {
  const s = BigInt(`0x${Buffer.from(signature.subarray(32)).toString('hex')}`);
  if (s <= secp256k1Order / 2n) return signature;
  const low = (secp256k1Order - s).toString(16).padStart(64, '0');
  return new Uint8Array(Buffer.concat([signature.subarray(0, 32), Buffer.from(low, 'hex')]));
}
