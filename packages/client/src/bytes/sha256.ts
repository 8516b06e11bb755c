// SHA-256 by Web Crypto, which runs off the main thread.

import { StorageError } from '../storage-error.ts';

export async function sha256(bytes: Uint8Array): Promise<Uint8Array> {
  const { subtle } = globalThis.crypto ?? {};
  // Browsers offer Web Crypto only to pages over HTTPS or from this machine.
  if (subtle === undefined) {
    throw new StorageError('Unsupported', 'Web Crypto is missing: serve the page over https.');
  }
  return new Uint8Array(await subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>));
}
