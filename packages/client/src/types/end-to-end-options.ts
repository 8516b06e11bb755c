// What a user tells of end-to-end buckets.

import type { IdentityStore } from '../age/identity-store.ts';
import type { PieceCipher } from '../age/piece-cipher.ts';

/** That of files which are encrypted by their senders. */
export const ageType = 'application/age';

export interface EndToEndOptions {
  /** The user's own, beside those of the network: `AGE-SECRET-KEY-1…`, `AGE-SECRET-KEY-PQ-1…`. */
  readonly identities?: readonly string[] | undefined;
  /** All of them open files; the first encrypts them where a bucket names no recipient. */
  readonly passphrases?: readonly string[] | undefined;
  /** Where identities of buckets are kept; in memory unless told. */
  readonly store?: IdentityStore | undefined;
  /** Of the payload; @noble/ciphers unless told. */
  readonly cipher?: PieceCipher | undefined;
}
