// Keys in stable memory, wrapped (encrypted) by another key with ChaCha20-Poly1305 and a random
// nonce for each wrapping. Each has an erasable slot; erasing it makes everything encrypted with
// the key unreadable. A slot that was altered, moved or swapped does not decrypt.
//
//   0             8            16         28              60         76     80
//   +-------------+------------+----------+---------------+----------+------+
//   | wrapped by  | owner      | nonce 12 | sealed key 32 | tag 16   | 0    |
//   +-------------+------------+----------+---------------+----------+------+
//   Ids are float64. Associated data: wrapped by, owner, name of the owner.

import { aeadNonceBytes, open, seal } from '../../crypto/aead.ts';
import { concatBytes } from '../../lib/bytes.ts';
import { slotBytes } from '../../storage/erasable-slots.ts';
import { Refusal } from '../shared/refusal.ts';
import type { Stores } from '../shared/stores.ts';

export const keyBytes = 32;
const nonceStart = 16;
const sealedStart = 28;
const sealedEnd = 76;

export interface WrappingKey {
  /** Never 0, and unique among the keys of its kind. */
  readonly id: number;
  readonly key: Uint8Array;
}

export interface KeyOwner {
  /** A number that is never reused. */
  readonly id: number;
  /** Further data that the key is bound to; may be empty. */
  readonly name: Uint8Array;
}

/** Stores the key in a new slot and returns the slot's number. */
export function addWrappedKey(
  stores: Stores,
  wrapper: WrappingKey,
  owned: { readonly owner: KeyOwner; readonly key: Uint8Array },
): number {
  const nonce = stores.secrets.random(aeadNonceBytes);
  return stores.keySlots.add(wrapKey(wrapper, { ...owned, nonce }));
}

/** Returns a slot. `nonce`: 12 bytes that the wrapping key has not been used with. */
export function wrapKey(
  wrapper: WrappingKey,
  owned: { readonly owner: KeyOwner; readonly key: Uint8Array; readonly nonce: Uint8Array },
): Uint8Array {
  const { nonce } = owned;
  const ids = new Uint8Array(Float64Array.of(wrapper.id, owned.owner.id).buffer);
  const associatedData = concatBytes(ids, owned.owner.name);
  const sealed = seal({ key: wrapper.key, nonce, associatedData, plaintext: owned.key });
  const slot = new Uint8Array(slotBytes);
  slot.set(ids);
  slot.set(nonce, nonceStart);
  slot.set(sealed, sealedStart);
  return slot;
}

/** Returns the ids of a slot's wrapping key and owner; `undefined` for a free or missing slot. */
export function wrappedKeyIds(
  stores: Stores,
  slot: number,
): { readonly wrapperId: number; readonly ownerId: number } | undefined {
  const bytes = stores.keySlots.read(slot);
  if (bytes === undefined) {
    return undefined;
  }
  const [wrapperId = 0, ownerId = 0] = new Float64Array(bytes.buffer, 0, 2);
  return { wrapperId, ownerId };
}

/**
 * Returns the owner's key in the slot; `wrapper` finds the wrapping key by its id. Refuses with
 * IntegrityError if slot, owner and wrapping key do not match. The caller wipes the key after use.
 */
export function openWrappedKey(
  stores: Stores,
  slot: number,
  expected: {
    readonly owner: KeyOwner;
    readonly wrapper: (id: number) => WrappingKey | undefined;
  },
): Uint8Array {
  const bytes = stores.keySlots.read(slot);
  const ids = bytes && new Float64Array(bytes.buffer, 0, 2);
  const wrapper = ids && ids[1] === expected.owner.id ? expected.wrapper(ids[0] ?? 0) : undefined;
  if (bytes === undefined || wrapper === undefined) {
    throw damagedKey();
  }
  const key = open({
    key: wrapper.key,
    nonce: bytes.subarray(nonceStart, sealedStart),
    associatedData: concatBytes(bytes.subarray(0, nonceStart), expected.owner.name),
    sealed: bytes.subarray(sealedStart, sealedEnd),
  });
  if (key === undefined) {
    throw damagedKey();
  }
  return key;
}

/** Wraps the key in the slot again, in place. */
export function rewrapKey(
  stores: Stores,
  slot: number,
  keys: { readonly owner: KeyOwner; readonly from: WrappingKey; readonly to: WrappingKey },
): void {
  const { owner, from, to } = keys;
  const wrapper = (id: number) => (id === from.id ? from : undefined);
  const key = openWrappedKey(stores, slot, { owner, wrapper });
  const nonce = stores.secrets.random(aeadNonceBytes);
  stores.keySlots.replace(slot, wrapKey(to, { owner, key, nonce }));
  key.fill(0);
}

/**
 * Erases the key, which makes all data encrypted with it unreadable. Returns false, without a
 * change, if the slot belongs to another owner.
 */
export function eraseWrappedKey(stores: Stores, slot: number, ownerId: number): boolean {
  const isOwned = wrappedKeyIds(stores, slot)?.ownerId === ownerId;
  if (isOwned) {
    stores.keySlots.erase(slot);
  }
  return isOwned;
}

/** Calls `use`, and ignores IntegrityError. For passes over many keys or files. */
export function unlessDamaged(use: () => void): void {
  try {
    use();
  } catch (error) {
    if (!(error instanceof Refusal && error.code === 'IntegrityError')) throw error;
  }
}

function damagedKey(): Refusal {
  return new Refusal(
    'IntegrityError',
    'The stored key of this file was altered and cannot be decrypted. Restore the file from a back-up.',
  );
}
