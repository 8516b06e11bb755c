// What is secret and lives on the heap only: root keys and the source of random bytes. Handed to
// the domain with its stores; in the canister both come from the network after every upgrade.

export interface Secrets {
  /** That many bytes that nobody could foresee; refuses while the source has no seed. */
  random(length: number): Uint8Array;
  /** Root keys that are at hand, 32 bytes each, by version. */
  readonly rootKeys: Map<number, Uint8Array>;
}
