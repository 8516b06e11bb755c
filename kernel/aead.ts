// AEAD_CHACHA20_POLY1305 (RFC 8439, 2.8), in place, with a separate tag.

import { chacha20 } from './chacha20';
import { heapBase, keyBlockAt, polyStateAt, tailAt, wipeSecrets } from './heap';
import { polyBlocks, polyFinish, polyInit, polyLast, polyPadded } from './poly1305';

/** Messages that fit behind the block of the one-time key into one run over four blocks. */
const shortBytesMax: usize = 192;

export function seal(
  key: usize, nonce: usize, associated: usize, associatedLength: usize,
  data: usize, length: usize, tag: usize,
): void {
  if (length <= shortBytesMax) {
    const combined = combineShort(key, nonce, data, length);
    if (length != 0) memory.copy(data, combined, length);
  } else {
    chacha20(key, nonce, 1, data, length);
    startKeyBlock(key, nonce);
  }
  authenticate(associated, associatedLength, data, length, tag);
  wipeSecrets();
}

/** Decrypts only if the tag is right; otherwise the data stays unchanged. */
export function open(
  key: usize, nonce: usize, associated: usize, associatedLength: usize,
  data: usize, length: usize, tag: usize,
): bool {
  const isShort = length <= shortBytesMax;
  const combined = isShort ? combineShort(key, nonce, data, length) : 0;
  if (!isShort) startKeyBlock(key, nonce);
  const expected = heapBase() + tailAt;
  authenticate(associated, associatedLength, data, length, expected);
  const isRight = areEqual(expected, tag, 16);
  if (isRight && !isShort) chacha20(key, nonce, 1, data, length);
  else if (isRight && length != 0) memory.copy(data, combined, length);
  wipeSecrets();
  return isRight;
}

/**
 * Returns the address of the data combined with the key stream, which the block of the one-time key
 * precedes: one run of 3,700 instructions instead of two.
 */
function combineShort(key: usize, nonce: usize, data: usize, length: usize): usize {
  const block = heapBase() + keyBlockAt;
  memory.fill(block, 0, 64);
  if (length != 0) memory.copy(block + 64, data, length);
  chacha20(key, nonce, 0, block, 256);
  return block + 64;
}

/** RFC 8439, 2.6: the one-time key is the start of block 0. */
function startKeyBlock(key: usize, nonce: usize): void {
  const block = heapBase() + keyBlockAt;
  memory.fill(block, 0, 64);
  chacha20(key, nonce, 0, block, 64);
}

export function poly1305(key: usize, data: usize, length: usize, tag: usize): void {
  const state = heapBase() + polyStateAt;
  polyInit(state, key);
  polyLast(state, data, length, heapBase() + keyBlockAt);
  polyFinish(state, tag);
  wipeSecrets();
}

/** Compares in a time that depends only on the length. */
export function areEqual(a: usize, b: usize, length: usize): bool {
  let difference: u32 = 0;
  for (let i: usize = 0; i < length; i++) difference |= load<u8>(a + i) ^ load<u8>(b + i);
  return difference == 0;
}

/** Computes the tag with the one-time key in the key block. */
function authenticate(
  associated: usize, associatedLength: usize, data: usize, length: usize, tag: usize,
): void {
  const block = heapBase() + keyBlockAt;
  const state = heapBase() + polyStateAt;
  polyInit(state, block);
  polyPadded(state, associated, associatedLength, block);
  polyPadded(state, data, length, block);
  store<u64>(block, associatedLength);
  store<u64>(block, length, 8);
  polyBlocks(state, block, 16);
  polyFinish(state, tag);
}
