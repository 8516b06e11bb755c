// Links with a password. Their addresses have random bytes, the salt, instead of a secret. PBKDF2
// derives a key from password and salt, and HMAC from that key the proof, which the service takes
// for the secret, and the mask of the file's key in an end-to-end bucket, which it never receives.

import { decodeBase64Url, encodeBase64Url } from '../bytes/base64-url.ts';
import { StorageError } from '../storage-error.ts';
import { saltBytes } from './locked-link.ts';

/** OWASP Password Storage Cheat Sheet, 2023, for PBKDF2 with SHA-256. */
const iterations = 600_000;
const keyBits = 256;

export interface PasswordKeys {
  /** 32 bytes. */
  readonly proof: Uint8Array<ArrayBuffer>;
  readonly mask: Uint8Array<ArrayBuffer>;
}

/** Takes some tenths of a second. */
export async function passwordKeys(password: string, salt: Uint8Array): Promise<PasswordKeys> {
  const { subtle } = crypto;
  // The same characters can be typed as different sequences
  const bytes = new TextEncoder().encode(password.normalize('NFC'));
  const base = await subtle.importKey('raw', bytes, 'PBKDF2', false, ['deriveBits']);
  const derivation = { name: 'PBKDF2', hash: 'SHA-256', iterations, salt: salt as BufferSource };
  const master = await subtle.deriveBits(derivation, base, keyBits);
  const hmac = { name: 'HMAC', hash: 'SHA-256' };
  const key = await subtle.importKey('raw', master, hmac, false, ['sign']);
  const derived = async (purpose: string) =>
    new Uint8Array(await subtle.sign('HMAC', key, new TextEncoder().encode(purpose)));
  return { proof: await derived('efs link proof'), mask: await derived('efs link file key') };
}

/** Returns a salt for a new link, and the proof of the password with it. */
export async function newLock(password: string) {
  if (password === '') {
    throw new StorageError('InvalidArgument', 'The password of a link must not be empty.');
  }
  const salt = crypto.getRandomValues(new Uint8Array(saltBytes));
  const { proof } = await passwordKeys(password, salt);
  return { salt, proof };
}

/** Masks or unmasks the fragment of a link to an end-to-end file, at most 32 bytes. */
export function masked(fragment: string, mask: Uint8Array): string {
  const bytes = decodeBase64Url(fragment) ?? new Uint8Array(0);
  return encodeBase64Url(bytes.map((byte, index) => byte ^ (mask[index] ?? 0)));
}
