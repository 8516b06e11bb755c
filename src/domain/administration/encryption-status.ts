// The public status of the keys: the root key's source, and whether it is available.

import { areRootKeysAtHand, rootKeyEntries } from '../keys/root-keys.ts';
import type { Stores } from '../shared/stores.ts';
import { isRotating } from './key-rotation.ts';

export interface EncryptionStatus {
  /** "vetkd": derived by the network and only on the heap. "stored": in stable memory, weaker. */
  readonly rootKey: 'vetkd' | 'stored';
  /** Name of the network's key; '' for a stored root key and before the network has reported it. */
  readonly keyName: string;
  /** The canister that asks the network for the key; absent if this one does. */
  readonly proxy: string | undefined;
  readonly isKeyPresent: boolean;
  readonly isRotating: boolean;
}

export function encryptionStatus(stores: Stores): EncryptionStatus {
  const entries = rootKeyEntries(stores);
  const current = entries.findLast(({ check }) => check.length > 0) ?? entries[0];
  return {
    rootKey: current?.kind ?? 'vetkd',
    keyName: current?.keyName ?? '',
    proxy: current?.proxy || undefined,
    isKeyPresent: areRootKeysAtHand(stores),
    isRotating: isRotating(stores),
  };
}
