// The record of a root key, without the key's bytes.

export interface RootKeyEntry {
  /** From 1; increases with each rotation. */
  readonly version: number;
  readonly kind: 'vetkd' | 'stored';
  /** '' for a stored key, and until the network has reported the key's name. */
  readonly keyName: string;
  /** The canister that asks vetKD for this one; '' without one. Another one gets other keys. */
  readonly proxy: string;
  /** The slot of a stored key; 0 before its creation and for vetKD. */
  readonly slot: number;
  /** Distinguishes the right key from others; empty until the key was first available. */
  readonly check: Uint8Array;
}
