// The chain of the journal's blocks. A block contains the hash of the previous block (ICRC-3,
// "Value" and its representation-independent hash):
//
//   block        Map { btype: Text, entry: Blob, phash: Blob, ts: Nat }; the first has no phash
//   entry        SHA-256(salt | details | SHA-256(other salt | subject)), 32 bytes
//
// The salts are the two halves of SHA-256(salt key | number u64), so that a block shows nothing of
// the entry to those who cannot read it.

import { heapBase, journalBlockAt } from './heap';
import { millisecondsOf } from './journal-pages';
import { sha256 } from './sha256';

/** The hashes that a block consists of: of its four names in their order, then of each kind. */
export const namesBytes: usize = 128;
const hashBytes: usize = 32;
/** The order of the names by their hashes: btype, ts, phash, entry. */
const timeSlot: usize = 64;
const previousSlot: usize = 128;
const entrySlot: usize = 192;
const blockBytes: usize = 256;
const nsPerMs: u64 = 1_000_000;

/** Replaces the hash of a block by that of the next one, the entry's. */
export function hashBlock(hash: usize, number: u64, entry: usize, hashes: usize): void {
  const block = heapBase() + journalBlockAt;
  const kind = <usize>load<u8>(entry, 2);
  for (let slot: usize = 0; slot < blockBytes; slot += 64) {
    memory.copy(block + slot, hashes + (slot >> 1), hashBytes);
  }
  memory.copy(block + hashBytes, hashes + namesBytes + kind * hashBytes, hashBytes);
  sha256(hash, hashBytes, block + previousSlot + hashBytes);
  sha256(entry + 14, hashBytes, block + entrySlot + hashBytes);
  const length = writeLeb128(hash, nanosecondsOf(entry));
  sha256(hash, length, block + timeSlot + hashBytes);
  let bytes = blockBytes;
  if (number == 1) {
    memory.copy(block + previousSlot, block + entrySlot, 64);
    bytes -= 64;
  }
  sha256(block, bytes, hash);
}

export function nanosecondsOf(entry: usize): u64 {
  return millisecondsOf(entry) * nsPerMs;
}

/** Returns the number of bytes. */
export function writeLeb128(target: usize, value: u64): usize {
  let end = target;
  while (value >= 128) {
    store<u8>(end++, <u8>value | 128);
    value >>= 7;
  }
  store<u8>(end++, <u8>value);
  return end - target;
}
