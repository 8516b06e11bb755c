// SHA-256 (FIPS 180-4) of many short messages, four at a time, one per SIMD lane, so that a block
// costs half as much. Messages of one, two and more blocks wait in separate queues until there are
// four or `hashAll()` is called. A message that is shorter than the others of its group yields its
// digest when it ends; its lane then repeats its last block.

/** Layout of the scratch space: constants 64 x u32, schedule 64 x v128, state 8 x v128, queues. */
export const laneBytes: usize = 0x640;
const scheduleAt: usize = 0x100;
const stateAt: usize = 0x500;
const waitingAt: usize = 0x580;
const waitingBytes: usize = 12;
const queues: u32 = 3;
const lanes: u32 = 4;
const queueBytes: usize = 4 * 12;
/** Number of messages in each queue, one byte each. */
const countsAt: usize = waitingAt + 3 * queueBytes;
const blockBytes: usize = 64;
const wordBytes: usize = 16;

let base: usize = 0;
/** The queue that is being hashed. */
let queue: usize = 0;

/** Call it before the first message of an operation, with `laneBytes` of unused memory. */
export function startLanes(scratch: usize): void {
  base = scratch;
  store<u32>(base + countsAt, 0);
  writeConstants();
}

// @ts-ignore: decorator
@inline
function entryOf(lane: u32): usize { return queue + <usize>lane * waitingBytes; }

/** Returns the space that a message needs with its padding, FIPS 180-4, 5.1.1. */
// @ts-ignore: decorator
@inline
export function paddedBytes(length: usize): usize { return length + 72 & ~63; }

/** The buffer has space for the padding, and must stay unchanged until the digest is written. */
export function hashLater(message: usize, length: usize, digest: usize): void {
  const end = message + paddedBytes(length);
  let at = message + length;
  store<u8>(at, 0x80);
  for (at++; at & 7; at++) store<u8>(at, 0);
  for (; at < end; at += 8) store<u64>(at, 0);
  store<u64>(end - 8, bswap<u64>(<u64>length << 3));
  const blocks = <u32>((end - message) / blockBytes);
  const which = min(blocks, queues) - 1;
  const waiting = <u32>load<u8>(base + countsAt + which);
  const entry = base + waitingAt + which * queueBytes + waiting * waitingBytes;
  store<usize>(entry, message);
  store<u32>(entry, blocks, 4);
  store<usize>(entry, digest, 8);
  store<u8>(base + countsAt + which, waiting + 1);
  if (waiting + 1 == lanes) hashQueue(which);
}

/** Hashes all waiting messages. */
export function hashAll(): void {
  for (let which: u32 = 0; which < queues; which++) {
    if (load<u8>(base + countsAt + which) != 0) hashQueue(which);
  }
}

function hashQueue(which: u32): void {
  queue = base + waitingAt + which * queueBytes;
  const waiting = <u32>load<u8>(base + countsAt + which);
  store<u8>(base + countsAt + which, 0);
  const last = entryOf(waiting - 1);
  for (let lane = waiting; lane < lanes; lane++) {
    store<u64>(entryOf(lane), load<u64>(last));
    store<usize>(entryOf(lane), load<usize>(last, 8), 8);
  }
  let most: usize = 0;
  for (let lane: u32 = 0; lane < lanes; lane++) most = max(most, load<usize>(entryOf(lane), 4));
  const state = base + stateAt;
  // FIPS 180-4, 5.3.3
  v128.store(state, i32x4.splat(0x6a09e667));
  v128.store(state, i32x4.splat(0xbb67ae85), 16);
  v128.store(state, i32x4.splat(0x3c6ef372), 32);
  v128.store(state, i32x4.splat(0xa54ff53a), 48);
  v128.store(state, i32x4.splat(0x510e527f), 64);
  v128.store(state, i32x4.splat(0x9b05688c), 80);
  v128.store(state, i32x4.splat(0x1f83d9ab), 96);
  v128.store(state, i32x4.splat(0x5be0cd19), 112);
  for (let block: usize = 0; block < most; block++) {
    schedule(blockOf(0, block), blockOf(1, block), blockOf(2, block), blockOf(3, block));
    rounds(state);
    for (let lane: u32 = 0; lane < lanes; lane++) {
      if (load<usize>(entryOf(lane), 4) == block + 1) writeDigest(lane);
    }
  }
}

/** Returns the block to hash; for an ended message its last one, whose result is ignored. */
function blockOf(lane: u32, block: usize): usize {
  const entry = entryOf(lane);
  return load<usize>(entry) + min(block, load<usize>(entry, 4) - 1) * blockBytes;
}

function writeDigest(lane: u32): void {
  const word = base + stateAt + (<usize>lane << 2);
  const digest = load<usize>(entryOf(lane), 8);
  for (let i: usize = 0; i < 8; i++) {
    store<u32>(digest + (i << 2), bswap<u32>(load<u32>(word + (i << 4))));
  }
}

function schedule(first: usize, second: usize, third: usize, fourth: usize): void {
  const w = base + scheduleAt;
  for (let i: usize = 0; i < 64; i += 16) {
    const a = swapWords(v128.load(first + i));
    const b = swapWords(v128.load(second + i));
    const c = swapWords(v128.load(third + i));
    const d = swapWords(v128.load(fourth + i));
    const ab0 = i8x16.shuffle(a, b, 0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23);
    const ab1 = i8x16.shuffle(a, b, 8, 9, 10, 11, 24, 25, 26, 27, 12, 13, 14, 15, 28, 29, 30, 31);
    const cd0 = i8x16.shuffle(c, d, 0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23);
    const cd1 = i8x16.shuffle(c, d, 8, 9, 10, 11, 24, 25, 26, 27, 12, 13, 14, 15, 28, 29, 30, 31);
    const at = w + (i << 2);
    v128.store(at, i64x2.shuffle(ab0, cd0, 0, 2));
    v128.store(at, i64x2.shuffle(ab0, cd0, 1, 3), 16);
    v128.store(at, i64x2.shuffle(ab1, cd1, 0, 2), 32);
    v128.store(at, i64x2.shuffle(ab1, cd1, 1, 3), 48);
  }
  const end = w + 1024;
  for (let p = w + 256; p < end; p += 32) {
    extend(p);
    extend(p + wordBytes);
  }
}

/** FIPS 180-4, 6.2.2, step 1. */
// @ts-ignore: decorator
@inline
function extend(p: usize): void {
  const x = v128.load(p - 240);
  const y = v128.load(p - 32);
  const s0 = v128.xor(v128.xor(rotate(x, 7), rotate(x, 18)), i32x4.shr_u(x, 3));
  const s1 = v128.xor(v128.xor(rotate(y, 17), rotate(y, 19)), i32x4.shr_u(y, 10));
  v128.store(p, i32x4.add(
    i32x4.add(v128.load(p - 256), s0), i32x4.add(v128.load(p - 112), s1),
  ));
}

// @ts-ignore: decorator
@inline
function rotate(x: v128, bits: i32): v128 {
  return v128.or(i32x4.shr_u(x, bits), i32x4.shl(x, 32 - bits));
}

// @ts-ignore: decorator
@inline
function swapWords(x: v128): v128 {
  return i8x16.swizzle(x, i8x16(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12));
}

/** FIPS 180-4, 6.2.2, steps 2 to 4. */
function rounds(state: usize): void {
  let a = v128.load(state), b = v128.load(state, 16), c = v128.load(state, 32);
  let d = v128.load(state, 48), e = v128.load(state, 64), f = v128.load(state, 80);
  let g = v128.load(state, 96), h = v128.load(state, 112);
  let w = base + scheduleAt;
  let k = base;
  const end = w + 1024;
  while (w < end) {
    h = i32x4.add(h, gain(e, f, g, v128.load(w, 0), v128.load_splat<u32>(k, 0)));
    d = i32x4.add(d, h); h = i32x4.add(h, mix(a, b, c));
    g = i32x4.add(g, gain(d, e, f, v128.load(w, 16), v128.load_splat<u32>(k, 4)));
    c = i32x4.add(c, g); g = i32x4.add(g, mix(h, a, b));
    f = i32x4.add(f, gain(c, d, e, v128.load(w, 32), v128.load_splat<u32>(k, 8)));
    b = i32x4.add(b, f); f = i32x4.add(f, mix(g, h, a));
    e = i32x4.add(e, gain(b, c, d, v128.load(w, 48), v128.load_splat<u32>(k, 12)));
    a = i32x4.add(a, e); e = i32x4.add(e, mix(f, g, h));
    d = i32x4.add(d, gain(a, b, c, v128.load(w, 64), v128.load_splat<u32>(k, 16)));
    h = i32x4.add(h, d); d = i32x4.add(d, mix(e, f, g));
    c = i32x4.add(c, gain(h, a, b, v128.load(w, 80), v128.load_splat<u32>(k, 20)));
    g = i32x4.add(g, c); c = i32x4.add(c, mix(d, e, f));
    b = i32x4.add(b, gain(g, h, a, v128.load(w, 96), v128.load_splat<u32>(k, 24)));
    f = i32x4.add(f, b); b = i32x4.add(b, mix(c, d, e));
    a = i32x4.add(a, gain(f, g, h, v128.load(w, 112), v128.load_splat<u32>(k, 28)));
    e = i32x4.add(e, a); a = i32x4.add(a, mix(b, c, d));
    w += 8 * wordBytes;
    k += 32;
  }
  raise(state, a);
  raise(state + 16, b);
  raise(state + 32, c);
  raise(state + 48, d);
  raise(state + 64, e);
  raise(state + 80, f);
  raise(state + 96, g);
  raise(state + 112, h);
}

// @ts-ignore: decorator
@inline
function raise(at: usize, word: v128): void {
  v128.store(at, i32x4.add(v128.load(at), word));
}

/** Sigma1(e) + Ch(e, f, g) + W + K */
// @ts-ignore: decorator
@inline
function gain(e: v128, f: v128, g: v128, w: v128, k: v128): v128 {
  const sigma = v128.xor(v128.xor(rotate(e, 6), rotate(e, 11)), rotate(e, 25));
  const choice = v128.bitselect(f, g, e);
  return i32x4.add(i32x4.add(sigma, choice), i32x4.add(w, k));
}

/** Sigma0(a) + Maj(a, b, c) */
// @ts-ignore: decorator
@inline
function mix(a: v128, b: v128, c: v128): v128 {
  const sigma = v128.xor(v128.xor(rotate(a, 2), rotate(a, 13)), rotate(a, 22));
  return i32x4.add(sigma, v128.bitselect(c, b, v128.xor(a, b)));
}

/** FIPS 180-4, 4.2.2 */
function writeConstants(): void {
  const k = base;
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
