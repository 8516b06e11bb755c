// The seed of an owner's key, for agents.

import { createPrivateKey } from 'node:crypto';

/** Returns the seed of an Ed25519 private key in PEM. */
export function ed25519Seed(pem: string): Uint8Array {
  const { d = '' } = createPrivateKey(pem).export({ format: 'jwk' });
  return new Uint8Array(Buffer.from(d, 'base64url'));
}
