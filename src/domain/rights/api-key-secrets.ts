// The secrets of API keys and upload links as texts: `efs_` or `efu_`, 32 random bytes in
// base64url, and the first four bytes of their SHA-256, by which scanners for leaked secrets
// recognize them. A look-up does not check these four bytes, because that would cost more than the
// look-up.

import { sha256 } from '../../crypto/hash.ts';
import { assert } from '../../lib/assert.ts';
import { encodeBase64Url } from '../../lib/base64.ts';
import { encodeUtf8 } from '../../lib/text.ts';

const secretPattern = /^ef[su]_[A-Za-z0-9_-]{43}[A-Za-z0-9_-]{6}$/;
const uploadStart = 'efu_';

/** `random`: 32 unpredictable bytes; `start`: `efs_` of a key, or `efu_` of an upload link. */
export function makeSecret(random: Uint8Array, start: 'efs_' | 'efu_' = 'efs_'): string {
  assert(random.length === 32, 'a key is made of 32 random bytes');
  const body = `${start}${encodeBase64Url(random)}`;
  return body + checksum(body);
}

function checksum(body: string): string {
  return encodeBase64Url(sha256(encodeUtf8(body)).subarray(0, 4));
}

/** Returns the hash by which a key is found. */
export function secretHash(secret: string): Uint8Array {
  return sha256(encodeUtf8(secret));
}

/** Returns true for secrets of upload links, which belong in URLs. */
export function looksLikeUploadLink(text: string): boolean {
  return text.startsWith(uploadStart) && secretPattern.test(text);
}

/** Returns true for texts in the form of a secret. */
export function looksLikeKey(text: string): boolean {
  return secretPattern.test(text);
}
