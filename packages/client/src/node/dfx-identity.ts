// Decrypts dfx's identities, `identity.pem.encrypted`: a PEM encrypted by AES-256-GCM with a key
// that Argon2id derives from a passphrase. Salt and nonce are in `identity.json` beside it.

import { createDecipheriv } from 'node:crypto';
import { argon2id } from '@noble/hashes/argon2';
import { StorageError } from '../storage-error.ts';
import { passphraseNeeded, wrongPassphrase } from './pem-key.ts';

/** `encryption` of dfx's identity.json. */
export interface DfxEncryption {
  readonly pw_salt: string;
  /** Twelve bytes. */
  readonly file_nonce: readonly number[];
}

/** dfx's parameters: 64,000 KiB and three passes, one or two seconds. */
const argon2Cost = { m: 64_000, t: 3, p: 1, dkLen: 32 } as const;
const tagBytes = 16;

/** Returns the PEM. Throws PassphraseNeeded, WrongPassphrase, or InvalidArgument if damaged. */
export function decryptDfxIdentity(
  encrypted: Uint8Array,
  encryption: DfxEncryption,
  passphrase: string | undefined,
): string {
  const { pw_salt: salt, file_nonce: nonce } = encryption;
  if (typeof salt !== 'string' || nonce?.length !== 12 || encrypted.length < tagBytes) {
    throw new StorageError('InvalidArgument', "The files of dfx's identity are damaged.");
  }
  if (passphrase === undefined) throw passphraseNeeded();
  // The salt is hexadecimal, but dfx decodes it as base64.
  const key = argon2id(passphrase, Buffer.from(salt, 'base64'), argon2Cost);
  const decipher = createDecipheriv('aes-256-gcm', key, Uint8Array.from(nonce));
  decipher.setAuthTag(encrypted.subarray(encrypted.length - tagBytes));
  try {
    const pem = decipher.update(encrypted.subarray(0, encrypted.length - tagBytes));
    return Buffer.concat([pem, decipher.final()]).toString();
  } catch (cause) {
    throw wrongPassphrase(cause);
  }
}
