// The record of a root key, without the key's bytes.

export interface RootKeyEntry {
  /** From 1; each rotation counts one up. */
  readonly version: number;
  readonly kind: 'vetkd' | 'stored';
  /** '' until the network has told which one it knows, and for a stored key. */
  readonly keyName: string;
  /** The slot of a stored key; 0 before it is made, and for vetKD. */
  readonly slot: number;
  /** Tells the right key from a wrong one; empty until the key was there for the first time. */
  readonly check: Uint8Array;
}
