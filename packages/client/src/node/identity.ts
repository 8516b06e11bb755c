// An Ed25519 identity from a PEM file, signing by Node. PKCS #8, as OpenSSL, dfx and the local
// replica write it.

import { createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { type Identity, SignIdentity } from '@dfinity/agent';
import { StorageError } from '../storage-error.ts';

/** Throws InvalidArgument for a key of another kind. */
export function identityFromPem(pem: string): Identity {
  const privateKey = readPem(pem);
  if (privateKey.asymmetricKeyType !== 'ed25519') {
    throw new StorageError(
      'InvalidArgument',
      `The identity is a key of kind ${privateKey.asymmetricKeyType}: it must be an Ed25519 key.`,
    );
  }
  const der = createPublicKey(privateKey).export({ type: 'spki', format: 'der' });
  const publicKeyDer = new Uint8Array(der);
  return new (class extends SignIdentity {
    override getPublicKey() {
      return { toDer: () => publicKeyDer } as ReturnType<SignIdentity['getPublicKey']>;
    }
    override async sign(message: Uint8Array) {
      const signature = new Uint8Array(sign(null, message, privateKey));
      return signature as Awaited<ReturnType<SignIdentity['sign']>>;
    }
  })();
}

function readPem(pem: string) {
  try {
    return createPrivateKey(pem);
  } catch (cause) {
    throw new StorageError('InvalidArgument', 'The identity is no private key in PEM.', { cause });
  }
}
