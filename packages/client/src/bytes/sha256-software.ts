// SHA-256 where the platform has none: takes the place of sha256.ts in the package's build for
// React Native.

import { sha256 as digest } from '@noble/hashes/sha2';

export async function sha256(bytes: Uint8Array): Promise<Uint8Array> {
  return digest(bytes);
}
