// Verifies a signature by a DER-encoded public key of any kind that the Internet Computer supports.
// IC spec, "Signatures"; RFC 8032 (Ed25519), FIPS 186-5 (ECDSA).

import type { KeyObject } from 'node:crypto';
import { createPublicKey, verify } from 'node:crypto';
import { badRequest } from './agent-message.ts';
import { verifyCanisterSignature } from './canister-signature.ts';
import type { PublicKey } from './public-key.ts';
import { parsePublicKey } from './public-key.ts';
import { verifyWebAuthnSignature } from './webauthn-signature.ts';

const plainSignatureBytes = 64;

export interface SignatureOptions {
  readonly publicKey: Uint8Array;
  readonly message: Uint8Array;
  readonly signature: Uint8Array;
  /** The replica's own key, which certifies canister signatures. */
  readonly rootKey: Uint8Array;
}

/** Throws a bad request if the key is malformed or of an unknown kind. */
export function verifySignature(options: SignatureOptions): boolean {
  const publicKey = parsePublicKey(options.publicKey);
  const { message, signature, rootKey } = options;
  const rawKey = publicKey.raw;
  if (publicKey.kind === 'canister') {
    return verifyCanisterSignature({ rawKey, message, signature, rootKey });
  }
  if (publicKey.kind === 'WebAuthn') {
    return verifyWebAuthnSignature({ rawKey, message, signature });
  }
  const key = importKey(publicKey);
  if (signature.length !== plainSignatureBytes) return false;
  return publicKey.kind === 'Ed25519'
    ? verify(null, message, key, signature)
    : verify('sha256', message, { key, dsaEncoding: 'ieee-p1363' }, signature);
}

function importKey({ der, kind }: PublicKey): KeyObject {
  try {
    return createPublicKey({ key: Buffer.from(der), format: 'der', type: 'spki' });
  } catch {
    throw badRequest(`Invalid public key: not a valid ${kind} key`);
  }
}
