// SHA-256 (FIPS 180-4). The message schedule of up to four blocks is computed side by side, one
// block a SIMD lane, because it does not depend on the state; the rounds then run block by block. A
// state is 104 bytes: hash u32 x 8, message length in bytes u64, block under construction 64 bytes.

import {
  hashStateAt, heapBase, roundConstantsAt, roundWordsAt, scheduleAt,
} from './heap';

export const sha256StateBytes: usize = 104;
const lengthAt: usize = 32;
const blockAt: usize = 40;

export function sha256Init(state: usize): void {
  // FIPS 180-4, 5.3.3
  v128.store(state, i32x4(0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a));
  v128.store(state, i32x4(0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19), 16);
  memory.fill(state + lengthAt, 0, sha256StateBytes - lengthAt);
}

export function sha256Update(state: usize, data: usize, length: usize): void {
  // An empty array may come with an address outside of the memory, which even an empty copy refuses
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

/** Writes the digest of what was hashed so far; the state stays as it is. */
export function sha256Finish(state: usize, digest: usize): void {
  const copy = heapBase() + hashStateAt;
  memory.copy(copy, state, sha256StateBytes);
  finishInPlace(copy, digest);
}

export function sha256(data: usize, length: usize, digest: usize): void {
  const state = heapBase() + hashStateAt;
  sha256Init(state);
  sha256Update(state, data, length);
  finishInPlace(state, digest);
}

/**
 * The same for a message in a buffer of whole blocks that has room for the padding: all blocks go
 * through one schedule.
 */
export function sha256InPlace(message: usize, length: usize, digest: usize): void {
  const state = heapBase() + hashStateAt;
  sha256Init(state);
  const end = length + 72 & ~63;
  store<u8>(message + length, 0x80);
  memory.fill(message + length + 1, 0, end - length - 1);
  store<u64>(message + end - 8, bswap<u64>(<u64>length << 3));
  compress(state, message, end >> 6);
  v128.store(digest, swapWords(v128.load(state)));
  v128.store(digest, swapWords(v128.load(state, 16)), 16);
}

/** FIPS 180-4, 5.1.1: a one bit, zeros, the length in bits. */
function finishInPlace(state: usize, digest: usize): void {
  const length = load<u64>(state, lengthAt);
  let filled = <usize>length & 63;
  const block = state + blockAt;
  store<u8>(block + filled, 0x80);
  filled++;
  memory.fill(block + filled, 0, 64 - filled);
  if (filled > 56) {
    compress(state, block, 1);
    memory.fill(block, 0, 64);
  }
  store<u64>(block, bswap<u64>(length << 3), 56);
  compress(state, block, 1);
  v128.store(digest, swapWords(v128.load(state)));
  v128.store(digest, swapWords(v128.load(state, 16)), 16);
}

function compress(state: usize, data: usize, blocks: usize): void {
  if (load<u32>(heapBase() + roundConstantsAt) == 0) writeRoundConstants();
  while (blocks > 0) {
    const count = min(blocks, 4);
    schedule(data, count);
    const words = heapBase() + roundWordsAt;
    for (let lane: usize = 0; lane < count; lane++) rounds(state, words + (lane << 2));
    data += count << 6;
    blocks -= count;
  }
}

/** Lanes beyond `count` repeat the last block; nobody reads them. */
function schedule(data: usize, count: usize): void {
  const last = data + (count - 1 << 6);
  const second = min(data + 64, last);
  const third = min(data + 128, last);
  const w = heapBase() + scheduleAt;
  for (let i: usize = 0; i < 64; i += 16) {
    const a = swapWords(v128.load(data + i));
    const b = swapWords(v128.load(second + i));
    const c = swapWords(v128.load(third + i));
    const d = swapWords(v128.load(last + i));
    const ab0 = i8x16.shuffle(a, b, 0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23);
    const ab1 = i8x16.shuffle(a, b, 8, 9, 10, 11, 24, 25, 26, 27, 12, 13, 14, 15, 28, 29, 30, 31);
    const cd0 = i8x16.shuffle(c, d, 0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23);
    const cd1 = i8x16.shuffle(c, d, 8, 9, 10, 11, 24, 25, 26, 27, 12, 13, 14, 15, 28, 29, 30, 31);
    const at = i << 2;
    setWord(w + at, at, i64x2.shuffle(ab0, cd0, 0, 2));
    setWord(w + at + 16, at + 16, i64x2.shuffle(ab0, cd0, 1, 3));
    setWord(w + at + 32, at + 32, i64x2.shuffle(ab1, cd1, 0, 2));
    setWord(w + at + 48, at + 48, i64x2.shuffle(ab1, cd1, 1, 3));
  }
  for (let at: usize = 256; at < 1024; at += 32) {
    extend(w + at, at);
    extend(w + at + 16, at + 16);
  }
}

/** FIPS 180-4, 6.2.2, step 1, in four lanes. */
// @ts-ignore: decorator
@inline
function extend(p: usize, at: usize): void {
  const x = v128.load(p - 240);
  const y = v128.load(p - 32);
  const s0 = v128.xor(v128.xor(rotateLanes(x, 7), rotateLanes(x, 18)), i32x4.shr_u(x, 3));
  const s1 = v128.xor(v128.xor(rotateLanes(y, 17), rotateLanes(y, 19)), i32x4.shr_u(y, 10));
  setWord(p, at, i32x4.add(i32x4.add(v128.load(p - 256), s0), i32x4.add(v128.load(p - 112), s1)));
}

/** Keeps a schedule word for later ones, and with its constant added for the rounds. */
// @ts-ignore: decorator
@inline
function setWord(p: usize, at: usize, word: v128): void {
  v128.store(p, word);
  const constant = v128.load_splat<u32>(heapBase() + roundConstantsAt + (at >> 2));
  v128.store(p, i32x4.add(word, constant), roundWordsAt - scheduleAt);
}

// @ts-ignore: decorator
@inline
function rotateLanes(x: v128, bits: i32): v128 {
  return v128.or(i32x4.shr_u(x, bits), i32x4.shl(x, 32 - bits));
}

// @ts-ignore: decorator
@inline
function swapWords(x: v128): v128 {
  return i8x16.swizzle(x, i8x16(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12));
}

/** FIPS 180-4, 6.2.2, steps 2 to 4; the words lie 16 bytes apart. */
function rounds(state: usize, words: usize): void {
  let a = load<u32>(state), b = load<u32>(state, 4), c = load<u32>(state, 8);
  let d = load<u32>(state, 12), e = load<u32>(state, 16), f = load<u32>(state, 20);
  let g = load<u32>(state, 24), h = load<u32>(state, 28);
  const end = words + 1024;
  while (words < end) {
    h += load<u32>(words) + choose(e, f, g); d += h; h += majority(a, b, c);
    g += load<u32>(words, 16) + choose(d, e, f); c += g; g += majority(h, a, b);
    f += load<u32>(words, 32) + choose(c, d, e); b += f; f += majority(g, h, a);
    e += load<u32>(words, 48) + choose(b, c, d); a += e; e += majority(f, g, h);
    d += load<u32>(words, 64) + choose(a, b, c); h += d; d += majority(e, f, g);
    c += load<u32>(words, 80) + choose(h, a, b); g += c; c += majority(d, e, f);
    b += load<u32>(words, 96) + choose(g, h, a); f += b; b += majority(c, d, e);
    a += load<u32>(words, 112) + choose(f, g, h); e += a; a += majority(b, c, d);
    words += 128;
  }
  store<u32>(state, load<u32>(state) + a);
  store<u32>(state, load<u32>(state, 4) + b, 4);
  store<u32>(state, load<u32>(state, 8) + c, 8);
  store<u32>(state, load<u32>(state, 12) + d, 12);
  store<u32>(state, load<u32>(state, 16) + e, 16);
  store<u32>(state, load<u32>(state, 20) + f, 20);
  store<u32>(state, load<u32>(state, 24) + g, 24);
  store<u32>(state, load<u32>(state, 28) + h, 28);
}

/** Sigma1(e) + Ch(e, f, g) */
// @ts-ignore: decorator
@inline
function choose(e: u32, f: u32, g: u32): u32 {
  return (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) + (g ^ e & (f ^ g));
}

/** Sigma0(a) + Maj(a, b, c) */
// @ts-ignore: decorator
@inline
function majority(a: u32, b: u32, c: u32): u32 {
  return (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) + (a & b | c & (a | b));
}

/** FIPS 180-4, 4.2.2 */
function writeRoundConstants(): void {
  const k = heapBase() + roundConstantsAt;
  v128.store(k, i32x4(0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5));
  v128.store(k, i32x4(0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5), 16);
  v128.store(k, i32x4(0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3), 32);
  v128.store(k, i32x4(0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174), 48);
  v128.store(k, i32x4(0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc), 64);
  v128.store(k, i32x4(0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da), 80);
  v128.store(k, i32x4(0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7), 96);
  v128.store(k, i32x4(0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967), 112);
  v128.store(k, i32x4(0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13), 128);
  v128.store(k, i32x4(0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85), 144);
  v128.store(k, i32x4(0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3), 160);
  v128.store(k, i32x4(0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070), 176);
  v128.store(k, i32x4(0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5), 192);
  v128.store(k, i32x4(0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3), 208);
  v128.store(k, i32x4(0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208), 224);
  v128.store(k, i32x4(0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2), 240);
}
