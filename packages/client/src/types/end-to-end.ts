// End-to-end encrypted buckets: the caller's options, the settings of owners, and the records that
// the service stores.

/** Media type of files that their senders encrypted. */
export const ageType = 'application/age';

/**
 * Stores bucket identities on the client. The service derives an identity for 26 G cycles, and only
 * ten an hour for each principal. Whoever reads the stored secrets can read the buckets.
 */
export interface IdentityStore {
  /**
   * Returns the 48 bytes stored under `name`, or undefined.
   *
   * @param name letters, digits and hyphens
   */
  get(name: string): Promise<Uint8Array | undefined>;
  set(name: string, secret: Uint8Array): Promise<void>;
}

/** The cipher of an age file's segments: ChaCha20-Poly1305 (RFC 8439). */
export interface SegmentCipher {
  /** Returns the encrypted bytes followed by the tag of 16 bytes. */
  seal(key: Uint8Array, nonce: Uint8Array, bytes: Uint8Array): Uint8Array;
  /** Returns the decrypted bytes, or undefined if the tag does not match. */
  open(key: Uint8Array, nonce: Uint8Array, sealed: Uint8Array): Uint8Array | undefined;
}

export interface EndToEndOptions {
  /**
   * The user's own identities (`AGE-SECRET-KEY-1…`, `AGE-SECRET-KEY-PQ-1…`), besides vetKeys.
   *
   * @example
   * ```ts
   * import { readFile } from 'node:fs/promises';
   * import { createHttpStorage, endToEnd } from '@encrypted-file-storage/client';
   *
   * const identities = [await readFile('age-identity.txt', 'utf8')];
   * const reading = createHttpStorage({
   *   url: 'https://<canister id>.icp.net',
   *   apiKey: '<API key>',
   *   endToEnd: endToEnd({ identities }),
   * });
   * const download = await reading.download({ bucket: 'demo', path: 'notes/hello.txt' });
   * console.log(download.size);
   * ```
   */
  readonly identities?: readonly string[] | undefined;
  /** Each passphrase can open files; the first encrypts them if a bucket names no recipient. */
  readonly passphrases?: readonly string[] | undefined;
  /** Stores identities of buckets; in memory by default. */
  readonly store?: IdentityStore | undefined;
  /**
   * Encrypts files' contents; by @noble/ciphers by default.
   *
   * @example
   * ```ts
   * import { chacha20poly1305 } from '@noble/ciphers/chacha.js';
   * import { createHttpStorage, endToEnd } from '@encrypted-file-storage/client';
   * import { type SegmentCipher } from '@encrypted-file-storage/client';
   *
   * const cipher: SegmentCipher = {
   *   seal: (key, nonce, bytes) => chacha20poly1305(key, nonce).encrypt(bytes),
   *   open: (key, nonce, sealed) => chacha20poly1305(key, nonce).decrypt(sealed),
   * };
   * const sealing = createHttpStorage({
   *   url: 'https://<canister id>.icp.net',
   *   apiKey: '<API key>',
   *   endToEnd: endToEnd({ cipher }),
   * });
   * await sealing.upload(new Blob(['hello']), { bucket: 'demo', path: 'notes/hello.txt' });
   * ```
   */
  readonly cipher?: SegmentCipher | undefined;
}

export interface BucketEpoch {
  readonly epoch: number;
  /** `age1…` of the epoch's identity; absent until an owner's client has published it. */
  readonly recipient?: string | undefined;
  /** ISO 8601. */
  readonly openedAt: string;
}

/** The record of an end-to-end bucket: its files are age files that only clients can open. */
export interface EndToEndRecord {
  /** Members get an identity by the network's vetKeys. */
  readonly usesVetKeys: boolean;
  /** Clients seal each segment of a path. */
  readonly sealsNames: boolean;
  /** Recipients that the owners chose. */
  readonly recipients: readonly string[];
  /** 64 bits in decimal, unique to this bucket; identities are derived from it. */
  readonly serial: string;
  /** Newest last; new files are encrypted to its recipient. Empty without vetKeys. */
  readonly epochs: readonly BucketEpoch[];
}

export interface EndToEndSettings {
  /** True by default. */
  readonly usesVetKeys?: boolean | undefined;
  /** False by default. */
  readonly sealsNames?: boolean | undefined;
  /** Replaces the list; such as `age1…` and `age1pq1…`. */
  readonly recipients?: readonly string[] | undefined;
}
