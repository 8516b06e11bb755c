// Secrets that exist only on the heap: root keys and the source of random bytes. The domain
// receives them with its stores; after every upgrade the canister gets derived root keys and a seed
// from the network.

export interface Secrets {
  /** Returns `length` unpredictable bytes; refuses while the source has no seed. */
  random(length: number): Uint8Array;
  /** Available root keys, 32 bytes each, by version. */
  readonly rootKeys: Map<number, Uint8Array>;
}
