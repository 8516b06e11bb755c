// Secrets that exist only on the heap: root keys, the keys of journals that have been written, and
// the source of random bytes. The domain
// receives them with its stores; after every upgrade the canister gets derived root keys and a seed
// from the network.

export interface Secrets {
  /** Returns `length` unpredictable bytes; refuses while the source has no seed. */
  random(length: number): Uint8Array;
  /** Available root keys, 32 bytes each, by version. */
  readonly rootKeys: Map<number, Uint8Array>;
  /** Opened journals by bucket, see journal/bucket-journal.ts. */
  readonly journals: Map<string, OpenedJournal>;
}

/** The keys of a bucket's journal. */
export interface OpenedJournal {
  /** The owner of the entries in the log. */
  readonly owner: number;
  /** UTF-8 of the bucket's id. */
  readonly ownerName: Uint8Array;
  /** The key of the seal and the key of the salts, 32 bytes each. */
  readonly keys: Uint8Array;
}
