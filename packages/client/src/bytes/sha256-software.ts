// SHA-256 in JavaScript. Replaces sha256.ts in the build for React Native, which has no Web Crypto.

import { sha256 as digest } from '@noble/hashes/sha2';

export async function sha256(bytes: Uint8Array): Promise<Uint8Array> {
  return digest(bytes);
}
