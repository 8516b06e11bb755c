// Secrets that live only on the heap: root keys and the source of random bytes. The domain receives
// them with its stores; in the canister both come from the network after every upgrade.

export interface Secrets {
  /** Returns `length` unpredictable bytes; refuses while the source has no seed. */
  random(length: number): Uint8Array;
  /** Root keys that are at hand, 32 bytes each, by version. */
  readonly rootKeys: Map<number, Uint8Array>;
}
