// AEAD_CHACHA20_POLY1305 (RFC 8439, 2.8), in place, with a separate tag.

import { chacha20 } from './chacha20';
import { heapBase, keyBlockAt, polyStateAt, tailAt, wipeSecrets } from './heap';
import { polyBlocks, polyFinish, polyInit, polyLast, polyPadded } from './poly1305';

export function seal(
  key: usize, nonce: usize, associated: usize, associatedLength: usize,
  data: usize, length: usize, tag: usize,
): void {
  chacha20(key, nonce, 1, data, length);
  computeTag(key, nonce, associated, associatedLength, data, length, tag);
  wipeSecrets();
}

/** Decrypts only if the tag is right; otherwise the data stays unchanged. */
export function open(
  key: usize, nonce: usize, associated: usize, associatedLength: usize,
  data: usize, length: usize, tag: usize,
): bool {
  const expected = heapBase() + tailAt;
  computeTag(key, nonce, associated, associatedLength, data, length, expected);
  const isRight = areEqual(expected, tag, 16);
  if (isRight) chacha20(key, nonce, 1, data, length);
  wipeSecrets();
  return isRight;
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

function computeTag(
  key: usize, nonce: usize, associated: usize, associatedLength: usize,
  data: usize, length: usize, tag: usize,
): void {
  // RFC 8439, 2.6: the one-time key is the start of block 0
  const block = heapBase() + keyBlockAt;
  memory.fill(block, 0, 64);
  chacha20(key, nonce, 0, block, 64);
  const state = heapBase() + polyStateAt;
  polyInit(state, block);
  polyPadded(state, associated, associatedLength, block);
  polyPadded(state, data, length, block);
  store<u64>(block, associatedLength);
  store<u64>(block, length, 8);
  polyBlocks(state, block, 16);
  polyFinish(state, tag);
}
