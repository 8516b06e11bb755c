// SHA-256 (FIPS 180-4), without the rounds, which scripts/sha256-rounds.ts generates. A state is
// 104 bytes: hash u32 x 8, message length in bytes u64, block under construction 64 bytes.

import { hashStateAt, heapBase } from './heap';
import { compressBlocks, compressFours } from './sha256-rounds';

export const sha256StateBytes: usize = 104;
const lengthAt: usize = 32;
const blockAt: usize = 40;

export function sha256Init(state: usize): void {
  // FIPS 180-4, 5.3.3
  v128.store(state, i32x4(0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a));
  v128.store(state, i32x4(0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19), 16);
  for (let at = lengthAt; at < sha256StateBytes; at += 8) store<u64>(state + at, 0);
}

export function sha256Update(state: usize, data: usize, length: usize): void {
  // An empty array can have an address outside the memory, which even an empty copy refuses
  if (length == 0) return;
  const filled = <usize>load<u64>(state, lengthAt) & 63;
  store<u64>(state, load<u64>(state, lengthAt) + length, lengthAt);
  if (filled != 0) {
    const part = min(64 - filled, length);
    memory.copy(state + blockAt + filled, data, part);
    if (filled + part < 64) return;
    compress(state, state + blockAt, 1);
    data += part;
    length -= part;
  }
  compress(state, data, length >> 6);
  const rest = length & 63;
  if (rest != 0) memory.copy(state + blockAt, data + length - rest, rest);
}

/** Writes the digest of all bytes so far; the state stays unchanged. */
export function sha256Finish(state: usize, digest: usize): void {
  const copy = heapBase() + hashStateAt;
  memory.copy(copy, state, sha256StateBytes);
  const length = load<u64>(state, lengthAt);
  compressPadded(copy, copy + blockAt, <usize>length & 63, length);
  storeDigest(copy, digest);
}

export function sha256(data: usize, length: usize, digest: usize): void {
  const state = heapBase() + hashStateAt;
  sha256Init(state);
  compress(state, data, length >> 6);
  const rest = length & 63;
  if (rest != 0) memory.copy(state + blockAt, data + length - rest, rest);
  compressPadded(state, state + blockAt, rest, length);
  storeDigest(state, digest);
}

/** Hashes a message in a buffer of whole blocks that has space for the padding, without copying. */
export function sha256InPlace(message: usize, length: usize, digest: usize): void {
  const state = heapBase() + hashStateAt;
  sha256Init(state);
  compressPadded(state, message, length, length);
  storeDigest(state, digest);
}

/**
 * FIPS 180-4, 5.1.1: appends to the end of a message of `length` bytes a one bit, zeros, and the
 * length in bits. Stores 16 and 8 bytes at a time, because a fill takes 100 more instructions.
 */
function compressPadded(state: usize, rest: usize, restLength: usize, length: u64): void {
  const end = rest + (restLength + 72 & ~63);
  let p = rest + restLength;
  store<u8>(p, 0x80);
  p++;
  for (; end - p > 16; p += 16) v128.store(p, i64x2.splat(0));
  // 8 to 16 bytes remain
  store<u64>(p, 0);
  store<u64>(end - 8, bswap<u64>(length << 3));
  compress(state, rest, end - rest >> 6);
}

function storeDigest(state: usize, digest: usize): void {
  v128.store(digest, swapWords(v128.load(state)));
  v128.store(digest, swapWords(v128.load(state, 16)), 16);
}

function compress(state: usize, data: usize, blocks: usize): void {
  const fours = blocks >> 2, others = blocks & 3;
  if (fours != 0) compressFours(state, data, fours);
  if (others != 0) compressBlocks(state, data + (fours << 8), others);
}

// @ts-ignore: decorator
@inline
function swapWords(x: v128): v128 {
  return i8x16.swizzle(x, i8x16(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12));
}
