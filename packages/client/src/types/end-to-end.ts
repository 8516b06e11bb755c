// End-to-end encrypted buckets: the caller's options, owners' settings, and the service's records.

/** Media type of files that their senders encrypted. */
export const ageType = 'application/age';

/**
 * Stores bucket identities on the client. A derivation costs the service 26 billion cycles, and a
 * principal gets at most ten per hour. Whoever reads the stored secrets can read the buckets.
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

/** A bucket's recipients according to the last reply that the network signed. */
export interface KnownBucket {
  /** The digest of the bucket's recipients; `none` if the bucket was not end-to-end. */
  readonly recipientsDigest: string;
  /** Milliseconds since 1970. */
  readonly signedAtMs: number;
}

/** Recipients that differ from those that a client expects. */
export interface RecipientsChange {
  readonly bucket: string;
  /** The pinned digest, or the last known one. */
  readonly expected: string;
  /** `none` if the bucket is not end-to-end. */
  readonly actual: string;
}

/**
 * Remembers the modes of one service's buckets, so that a client asks less often and refuses to
 * send files to a bucket that has ceased to be end-to-end.
 */
export interface BucketMemory {
  get(bucket: string): Promise<KnownBucket | undefined>;
  set(bucket: string, known: KnownBucket): Promise<void>;
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
  /** Each passphrase can open files; the first encrypts files if a bucket has no recipient. */
  readonly passphrases?: readonly string[] | undefined;
  /** Stores identities of buckets; in memory by default. */
  readonly store?: IdentityStore | undefined;
  /**
   * Digests of recipients by bucket, from `buckets.recipientsDigest()` or from a bucket's owner;
   * `none` for a bucket that is not end-to-end. An upload to a bucket with other recipients fails
   * with Untrusted. `createHttpStorage` requires a digest for each bucket, because over HTTP a
   * single node can invent recipients.
   *
   * @example
   * ```ts
   * import { createHttpStorage, endToEnd } from '@encrypted-file-storage/client';
   *
   * const pinned = createHttpStorage({
   *   url: 'https://<canister id>.icp.net',
   *   apiKey: '<API key>',
   *   endToEnd: endToEnd({ pinnedRecipients: { demo: 'none' } }),
   * });
   * await pinned.upload(new Blob(['hello']), { bucket: 'demo', path: 'notes/pinned.txt' });
   * ```
   */
  readonly pinnedRecipients?: Readonly<Record<string, string>> | undefined;
  /**
   * Remembers the modes of buckets, for as long as the program runs by default;
   * `fileBucketMemory()` of the entry for Node stores them in files.
   *
   * @example
   * ```ts
   * import { endToEnd, type KnownBucket } from '@encrypted-file-storage/client';
   *
   * const known = new Map<string, KnownBucket>();
   * const remembering = endToEnd({
   *   memory: {
   *     get: async (bucket) => known.get(bucket),
   *     set: async (bucket, mode) => void known.set(bucket, mode),
   *   },
   * });
   * ```
   */
  readonly memory?: BucketMemory | undefined;
  /**
   * Called if recipients that the network has signed are not the pinned ones, or if a bucket has
   * ceased to be end-to-end; returns whether to accept the change. By default, changes are refused.
   *
   * @example
   * ```ts
   * import { endToEnd } from '@encrypted-file-storage/client';
   *
   * const asking = endToEnd({
   *   acceptRecipients: ({ bucket, expected, actual }) => {
   *     console.log(`The recipients of ${bucket} changed from ${expected} to ${actual}.`);
   *     return false;
   *   },
   * });
   * ```
   */
  readonly acceptRecipients?:
    | ((change: RecipientsChange) => boolean | Promise<boolean>)
    | undefined;
  /**
   * Encrypts files' contents; by @noble/ciphers by default.
   *
   * @example
   * ```ts
   * import { chacha20poly1305 } from '@noble/ciphers/chacha.js';
   * import { createStorage, endToEnd } from '@encrypted-file-storage/client';
   * import { type SegmentCipher } from '@encrypted-file-storage/client';
   *
   * const cipher: SegmentCipher = {
   *   seal: (key, nonce, bytes) => chacha20poly1305(key, nonce).encrypt(bytes),
   *   open: (key, nonce, sealed) => chacha20poly1305(key, nonce).decrypt(sealed),
   * };
   * const sealing = createStorage({
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
  /**
   * Newest last; new files are encrypted to the newest epoch's recipient. Empty without vetKeys.
   */
  readonly epochs: readonly BucketEpoch[];
}

export interface EndToEndSettings {
  /** True by default. */
  readonly usesVetKeys?: boolean | undefined;
  /** False by default. */
  readonly sealsNames?: boolean | undefined;
  /** Replaces the list of recipients, such as `age1…` and `age1pq1…`. */
  readonly recipients?: readonly string[] | undefined;
}
