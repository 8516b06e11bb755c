// Keys in stable memory, wrapped by other keys: src/domain/keys/wrapped-keys.ts has the layout of a
// slot. Opens the key of a content through the key of its bucket, and wraps a new one, by one call:
// in JavaScript each of the two steps takes 0.3 M instructions.

import { open, seal } from './aead';
import { ensureHeap, heapBase, wipeSecrets, wrappedKeysAt, wrappedKeysBytes } from './heap';
import { spaceRead, spaceSize } from './stable-space';

const slotBytes: u64 = 80;
const keyBytes: usize = 32;
const nonceBytes: usize = 12;
/** Offsets in a slot. */
const ownerAt: usize = 8;
const nonceAt: usize = 16;
const sealedAt: usize = 28;
const tagAt: usize = 60;
/** Offset of the end of the slots in the superblock of their space, in slots, f64. */
const endAt: u64 = 8;
const wasmPageBits: u64 = 16;

/** Offsets in the region of the heap. */
const bucketKeyAt: usize = 0;
const slotAt: usize = 32;
const associatedAt: usize = 112;
const nameBytesMax: usize = 256;
const idsBytes: usize = 16;

/** Offsets in the numbers, f64: the key of the root has a negative id. */
const rootIdAt: usize = 0;
const bucketKeyIdAt: usize = 8;
const bucketSlotAt: usize = 16;
const contentIdAt: usize = 24;
const contentSlotAt: usize = 32;
export const keyNumbersBytes: usize = 40;

// @ts-ignore: decorator
@inline
function region(): usize {
  return heapBase() + wrappedKeysAt;
}

/** Wipes the key of the bucket and everything else that was copied. */
function wipe(): void {
  memory.fill(region(), 0, wrappedKeysBytes);
  wipeSecrets();
}

/** Reads the slot; returns false if no such slot is in use, or if it has other ids. */
function readSlot(space: u32, slot: f64, wrapperId: f64, ownerId: f64): bool {
  const at = region() + slotAt;
  if (!(slot >= 1) || spaceSize(space) == 0) return false;
  spaceRead(space, at, endAt, 8);
  if (!(slot < load<f64>(at)) || slot != Math.floor(slot)) return false;
  const offset = <u64>slot * slotBytes;
  if (offset + slotBytes > spaceSize(space) << wasmPageBits) return false;
  spaceRead(space, at, offset, slotBytes);
  return load<f64>(at) == wrapperId && load<f64>(at, ownerAt) == ownerId;
}

/** Writes the associated data: the ids, which the slot begins with, and the owner's name. */
function associate(ids: usize, name: usize, nameLength: usize): void {
  const at = region() + associatedAt;
  memory.copy(at, ids, idsBytes);
  if (nameLength > 0) memory.copy(at + idsBytes, name, nameLength);
}

/** Opens the slot that readSlot() has read, in place, and copies the key. */
function openSlot(wrapper: usize, name: usize, nameLength: usize, out: usize): bool {
  const at = region() + slotAt;
  associate(at, name, nameLength);
  const associated = region() + associatedAt;
  const isRight = open(
    wrapper, at + nonceAt, associated, idsBytes + nameLength, at + sealedAt, keyBytes, at + tagAt,
  );
  if (isRight) memory.copy(out, at + sealedAt, keyBytes);
  return isRight;
}

function openBucketKey(
  space: u32, root: usize, numbers: usize, name: usize, nameLength: usize,
): bool {
  if (nameLength > nameBytesMax) unreachable();
  const id = load<f64>(numbers, bucketKeyIdAt);
  const slot = load<f64>(numbers, bucketSlotAt);
  if (!readSlot(space, slot, load<f64>(numbers, rootIdAt), id)) return false;
  return openSlot(root, name, nameLength, region() + bucketKeyAt);
}

/**
 * Writes the key of the content. Returns false if a slot has other ids than the numbers, or was
 * altered; the caller finds out which.
 */
export function openContentKey(
  space: u32, root: usize, numbers: usize, name: usize, nameLength: usize, out: usize,
): bool {
  ensureHeap();
  let isOpen = openBucketKey(space, root, numbers, name, nameLength);
  if (isOpen) {
    const bucketKeyId = load<f64>(numbers, bucketKeyIdAt);
    const contentId = load<f64>(numbers, contentIdAt);
    isOpen = readSlot(space, load<f64>(numbers, contentSlotAt), bucketKeyId, contentId)
      && openSlot(region() + bucketKeyAt, 0, 0, out);
  }
  wipe();
  return isOpen;
}

/**
 * Writes the slot of the content's key, which `fresh` has, followed by a nonce. Returns false if
 * the bucket's key does not open.
 */
export function wrapContentKey(
  space: u32, root: usize, numbers: usize, name: usize, nameLength: usize, fresh: usize, out: usize,
): bool {
  ensureHeap();
  const isOpen = openBucketKey(space, root, numbers, name, nameLength);
  if (isOpen) {
    memory.fill(out, 0, <usize>slotBytes);
    store<f64>(out, load<f64>(numbers, bucketKeyIdAt));
    store<f64>(out, load<f64>(numbers, contentIdAt), ownerAt);
    memory.copy(out + nonceAt, fresh + keyBytes, nonceBytes);
    memory.copy(out + sealedAt, fresh, keyBytes);
    associate(out, 0, 0);
    const associated = region() + associatedAt;
    seal(
      region() + bucketKeyAt, out + nonceAt, associated, idsBytes, out + sealedAt, keyBytes,
      out + tagAt,
    );
  }
  wipe();
  return isOpen;
}
