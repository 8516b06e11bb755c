// Poly1305 (RFC 8439, 2.5) with five limbs of 26 bits. Pairs of blocks go side by side in two SIMD
// lanes: the even ones in one lane, the odd ones in the other, each lane times r^2; the last pair
// times (r^2, r), so that the lanes' sum is the plain Horner value. State, u64 each: r 5, h 5, r^2
// 5, pad 2. No branch depends on a secret.

const hAt: usize = 40;
const squareAt: usize = 80;
const padAt: usize = 120;

const limbMask: u64 = 0x3ffffff;
/** The bit above a block's 16 bytes. */
const highBit: u64 = 1 << 24;

export function polyInit(state: usize, key: usize): void {
  // RFC 8439, 2.5: r is clamped
  const low = load<u64>(key) & 0x0ffffffc0fffffff;
  const high = load<u64>(key, 8) & 0x0ffffffc0ffffffc;
  store<u64>(state, low & limbMask);
  store<u64>(state, low >> 26 & limbMask, 8);
  store<u64>(state, (low >> 52 | high << 12) & limbMask, 16);
  store<u64>(state, high >> 14 & limbMask, 24);
  store<u64>(state, high >> 40, 32);
  v128.store(state, v128.load(key, 16), padAt);
  memory.copy(state + hAt, state, 40);
  multiply(state);
  memory.copy(state + squareAt, state + hAt, 40);
  memory.fill(state + hAt, 0, 40);
}

/** Bytes that are padded with zeros to whole blocks (RFC 8439, 2.8). */
export function polyPadded(state: usize, data: usize, length: usize, scratch: usize): void {
  const rest = length & 15;
  polyBlocks(state, data, length - rest);
  if (rest == 0) return;
  v128.store(scratch, i64x2(0, 0));
  memory.copy(scratch, data + length - rest, rest);
  addBlock(state, scratch, highBit);
}

/** The message's end: a last block that may be short gets a one behind it (RFC 8439, 2.5). */
export function polyLast(state: usize, data: usize, length: usize, scratch: usize): void {
  const rest = length & 15;
  polyBlocks(state, data, length - rest);
  if (rest == 0) return;
  v128.store(scratch, i64x2(0, 0));
  memory.copy(scratch, data + length - rest, rest);
  store<u8>(scratch + rest, 1);
  addBlock(state, scratch, 0);
}

/** `length` is a multiple of 16. */
export function polyBlocks(state: usize, data: usize, length: usize): void {
  const paired = length & ~31;
  if (paired != 0) addPairs(state, data, data + paired);
  if (length & 16) addBlock(state, data + paired, highBit);
}

function addBlock(state: usize, block: usize, high: u64): void {
  const low = load<u64>(block), top = load<u64>(block, 8);
  const h = state + hAt;
  store<u64>(h, load<u64>(h) + (low & limbMask));
  store<u64>(h, load<u64>(h, 8) + (low >> 26 & limbMask), 8);
  store<u64>(h, load<u64>(h, 16) + ((low >> 52 | top << 12) & limbMask), 16);
  store<u64>(h, load<u64>(h, 24) + (top >> 14 & limbMask), 24);
  store<u64>(h, load<u64>(h, 32) + (top >> 40 | high), 32);
  multiply(state);
}

/** h = h * r modulo 2^130 - 5, limbs up to a little above 26 bits. */
function multiply(state: usize): void {
  const r0 = load<u64>(state), r1 = load<u64>(state, 8), r2 = load<u64>(state, 16);
  const r3 = load<u64>(state, 24), r4 = load<u64>(state, 32);
  const h0 = load<u64>(state, hAt), h1 = load<u64>(state, hAt + 8), h2 = load<u64>(state, hAt + 16);
  const h3 = load<u64>(state, hAt + 24), h4 = load<u64>(state, hAt + 32);
  const s1 = r1 * 5, s2 = r2 * 5, s3 = r3 * 5, s4 = r4 * 5;
  const d0 = h0 * r0 + h1 * s4 + h2 * s3 + h3 * s2 + h4 * s1;
  const d1 = h0 * r1 + h1 * r0 + h2 * s4 + h3 * s3 + h4 * s2;
  const d2 = h0 * r2 + h1 * r1 + h2 * r0 + h3 * s4 + h4 * s3;
  const d3 = h0 * r3 + h1 * r2 + h2 * r1 + h3 * r0 + h4 * s4;
  const d4 = h0 * r4 + h1 * r3 + h2 * r2 + h3 * r1 + h4 * r0;
  storeCarried(state + hAt, d0, d1, d2, d3, d4);
}

function storeCarried(h: usize, d0: u64, d1: u64, d2: u64, d3: u64, d4: u64): void {
  d1 += d0 >> 26;
  d2 += d1 >> 26;
  d3 += d2 >> 26;
  d4 += d3 >> 26;
  const e0 = (d0 & limbMask) + (d4 >> 26) * 5;
  store<u64>(h, e0 & limbMask);
  store<u64>(h, (d1 & limbMask) + (e0 >> 26), 8);
  store<u64>(h, d2 & limbMask, 16);
  store<u64>(h, d3 & limbMask, 24);
  store<u64>(h, d4 & limbMask, 32);
}

function addPairs(state: usize, data: usize, end: usize): void {
  const mask = i64x2.splat(limbMask), high = i64x2.splat(highBit);
  let r0 = splat(state + squareAt), r1 = splat(state + squareAt + 8);
  let r2 = splat(state + squareAt + 16), r3 = splat(state + squareAt + 24);
  let r4 = splat(state + squareAt + 32);
  let s1 = byFive(r1), s2 = byFive(r2), s3 = byFive(r3), s4 = byFive(r4);
  let h0 = lane(state + hAt), h1 = lane(state + hAt + 8), h2 = lane(state + hAt + 16);
  let h3 = lane(state + hAt + 24), h4 = lane(state + hAt + 32);
  while (true) {
    const even = v128.load(data), odd = v128.load(data, 16);
    const low = i64x2.shuffle(even, odd, 0, 2), top = i64x2.shuffle(even, odd, 1, 3);
    h0 = i64x2.add(h0, v128.and(low, mask));
    h1 = i64x2.add(h1, v128.and(i64x2.shr_u(low, 26), mask));
    h2 = i64x2.add(h2, v128.and(v128.or(i64x2.shr_u(low, 52), i64x2.shl(top, 12)), mask));
    h3 = i64x2.add(h3, v128.and(i64x2.shr_u(top, 14), mask));
    h4 = i64x2.add(h4, v128.or(i64x2.shr_u(top, 40), high));
    data += 32;
    if (data == end) {
      r0 = v128.load_lane<u64>(state, r0, 1), r1 = v128.load_lane<u64>(state + 8, r1, 1);
      r2 = v128.load_lane<u64>(state + 16, r2, 1), r3 = v128.load_lane<u64>(state + 24, r3, 1);
      r4 = v128.load_lane<u64>(state + 32, r4, 1);
      s1 = byFive(r1), s2 = byFive(r2), s3 = byFive(r3), s4 = byFive(r4);
    }
    const d0 = sum(mul(h0, r0), mul(h1, s4), mul(h2, s3), mul(h3, s2), mul(h4, s1));
    let d1 = sum(mul(h0, r1), mul(h1, r0), mul(h2, s4), mul(h3, s3), mul(h4, s2));
    let d2 = sum(mul(h0, r2), mul(h1, r1), mul(h2, r0), mul(h3, s4), mul(h4, s3));
    let d3 = sum(mul(h0, r3), mul(h1, r2), mul(h2, r1), mul(h3, r0), mul(h4, s4));
    let d4 = sum(mul(h0, r4), mul(h1, r3), mul(h2, r2), mul(h3, r1), mul(h4, r0));
    if (data == end) {
      storeCarried(state + hAt, both(d0), both(d1), both(d2), both(d3), both(d4));
      return;
    }
    d1 = i64x2.add(d1, i64x2.shr_u(d0, 26));
    d2 = i64x2.add(d2, i64x2.shr_u(d1, 26));
    d3 = i64x2.add(d3, i64x2.shr_u(d2, 26));
    d4 = i64x2.add(d4, i64x2.shr_u(d3, 26));
    const e0 = i64x2.add(v128.and(d0, mask), byFive(i64x2.shr_u(d4, 26)));
    h0 = v128.and(e0, mask);
    h1 = i64x2.add(v128.and(d1, mask), i64x2.shr_u(e0, 26));
    h2 = v128.and(d2, mask);
    h3 = v128.and(d3, mask);
    h4 = v128.and(d4, mask);
  }
}

// @ts-ignore: decorator
@inline
function splat(p: usize): v128 {
  return v128.load_splat<u64>(p);
}

/** The value in lane 0, zero in lane 1. */
// @ts-ignore: decorator
@inline
function lane(p: usize): v128 {
  return v128.load_zero<u64>(p);
}

// @ts-ignore: decorator
@inline
function mul(x: v128, y: v128): v128 {
  return i64x2.mul(x, y);
}

// @ts-ignore: decorator
@inline
function byFive(x: v128): v128 {
  return i64x2.add(i64x2.shl(x, 2), x);
}

// @ts-ignore: decorator
@inline
function sum(a: v128, b: v128, c: v128, d: v128, e: v128): v128 {
  return i64x2.add(i64x2.add(i64x2.add(i64x2.add(a, b), c), d), e);
}

// @ts-ignore: decorator
@inline
function both(x: v128): u64 {
  return i64x2.extract_lane(x, 0) + i64x2.extract_lane(x, 1);
}

/** Writes h + pad modulo 2^128 (RFC 8439, 2.5), after the full reduction of h. */
export function polyFinish(state: usize, tag: usize): void {
  const h = state + hAt;
  // Twice: the first pass can leave a carry in the second limb
  for (let i = 0; i < 2; i++) {
    storeCarried(
      h, load<u64>(h), load<u64>(h, 8), load<u64>(h, 16), load<u64>(h, 24), load<u64>(h, 32),
    );
  }
  const h0 = load<u64>(h), h1 = load<u64>(h, 8), h2 = load<u64>(h, 16);
  const h3 = load<u64>(h, 24), h4 = load<u64>(h, 32);
  // g = h + 5 - 2^130; taken instead of h when it isn't negative
  let carry = h0 + 5 >> 26;
  carry = h1 + carry >> 26;
  carry = h2 + carry >> 26;
  carry = h3 + carry >> 26;
  const isAbove = h4 + carry >> 26;
  const a0 = h0 + isAbove * 5;
  const a1 = h1 + (a0 >> 26);
  const a2 = h2 + (a1 >> 26);
  const a3 = h3 + (a2 >> 26);
  const a4 = h4 + (a3 >> 26);
  const low = a0 & limbMask | (a1 & limbMask) << 26 | (a2 & limbMask) << 52;
  const top = (a2 & limbMask) >> 12 | (a3 & limbMask) << 14 | a4 << 40;
  const padLow = load<u64>(state, padAt);
  const sumLow = low + padLow;
  store<u64>(tag, sumLow);
  store<u64>(tag, top + load<u64>(state, padAt + 8) + u64(sumLow < padLow), 8);
}
