// Poly1305 (RFC 8439, 2.5) with five limbs of 26 bits. Long messages are processed four blocks at a
// time, one per SIMD lane: 5.4 instructions per byte. Pairs of blocks took 9.7, with i64x2.mul,
// which counts as 4 instructions; i64x2.extmul counts as 1. State, u64 each: r 5, h 5, pad 2, r^2
// 5, r^3 5, r^4 5. No branch depends on a secret.

const hAt: usize = 40;
const padAt: usize = 80;
const powersAt: usize = 96;
const limbsBytes: usize = 40;

const limbMask: u64 = 0x3ffffff;
/** The bit above the 16 bytes of a block. */
const highBit: u64 = 1 << 24;

/** Measured length from which the powers of r pay off; a single block takes 200 instructions. */
const longMessage: usize = 192;

export function polyInit(state: usize, key: usize): void {
  // RFC 8439, 2.5: r is clamped
  const low = load<u64>(key) & 0x0ffffffc0fffffff;
  const high = load<u64>(key, 8) & 0x0ffffffc0ffffffc;
  store<u64>(state, low & limbMask);
  store<u64>(state, low >> 26 & limbMask, 8);
  store<u64>(state, (low >> 52 | high << 12) & limbMask, 16);
  store<u64>(state, high >> 14 & limbMask, 24);
  store<u64>(state, high >> 40, 32);
  v128.store(state, i64x2.splat(0), hAt);
  v128.store(state, i64x2.splat(0), hAt + 16);
  store<u64>(state, 0, hAt + 32);
  v128.store(state, v128.load(key, 16), padAt);
}

/** Adds bytes that are padded with zeros to whole blocks (RFC 8439, 2.8). */
export function polyPadded(state: usize, data: usize, length: usize, scratch: usize): void {
  const rest = length & 15;
  polyBlocks(state, data, length - rest);
  if (rest == 0) return;
  v128.store(scratch, i64x2.splat(0));
  memory.copy(scratch, data + length - rest, rest);
  addBlock(state, scratch, highBit);
}

/** Adds the end of the message: a one follows the bytes of a short last block (RFC 8439, 2.5). */
export function polyLast(state: usize, data: usize, length: usize, scratch: usize): void {
  const rest = length & 15;
  polyBlocks(state, data, length - rest);
  if (rest == 0) return;
  v128.store(scratch, i64x2.splat(0));
  memory.copy(scratch, data + length - rest, rest);
  store<u8>(scratch + rest, 1);
  addBlock(state, scratch, 0);
}

/** `length` is a multiple of 16. */
export function polyBlocks(state: usize, data: usize, length: usize): void {
  const end = data + length;
  if (length >= longMessage) data = addFours(state, data, end);
  for (; data < end; data += 16) addBlock(state, data, highBit);
}

function addBlock(state: usize, block: usize, high: u64): void {
  const low = load<u64>(block), top = load<u64>(block, 8);
  const h = state + hAt;
  store<u64>(h, load<u64>(h) + (low & limbMask));
  store<u64>(h, load<u64>(h, 8) + (low >> 26 & limbMask), 8);
  store<u64>(h, load<u64>(h, 16) + ((low >> 52 | top << 12) & limbMask), 16);
  store<u64>(h, load<u64>(h, 24) + (top >> 14 & limbMask), 24);
  store<u64>(h, load<u64>(h, 32) + (top >> 40 | high), 32);
  multiply(h, h, state);
}

/** product = h * r modulo 2^130 - 5, limbs up to a little above 26 bits. */
function multiply(product: usize, h: usize, r: usize): void {
  const r0 = load<u64>(r), r1 = load<u64>(r, 8), r2 = load<u64>(r, 16);
  const r3 = load<u64>(r, 24), r4 = load<u64>(r, 32);
  const h0 = load<u64>(h), h1 = load<u64>(h, 8), h2 = load<u64>(h, 16);
  const h3 = load<u64>(h, 24), h4 = load<u64>(h, 32);
  const s1 = r1 * 5, s2 = r2 * 5, s3 = r3 * 5, s4 = r4 * 5;
  const d0 = h0 * r0 + h1 * s4 + h2 * s3 + h3 * s2 + h4 * s1;
  const d1 = h0 * r1 + h1 * r0 + h2 * s4 + h3 * s3 + h4 * s2;
  const d2 = h0 * r2 + h1 * r1 + h2 * r0 + h3 * s4 + h4 * s3;
  const d3 = h0 * r3 + h1 * r2 + h2 * r1 + h3 * r0 + h4 * s4;
  const d4 = h0 * r4 + h1 * r3 + h2 * r2 + h3 * r1 + h4 * r0;
  storeCarried(product, d0, d1, d2, d3, d4);
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

/**
 * Four blocks per turn: h = (h + m0) r^4 + m1 r^3 + m2 r^2 + m3 r.
 *
 * A vector has one limb of each block, in the order m0, m2, m1, m3, so that the products of lanes 0
 * and 1 and those of lanes 2 and 3 add up in place. That leaves h in two parts of 64 bits, which
 * are interpreted as x + y / r: then x is added to m0 and y to m1 in place, and the lanes are
 * multiplied by r^4, r^3, r^3 and r^2. A single block then joins them: (x + y / r + m) r = (x + m)
 * r + y. Returns the address after that block.
 *
 * Nothing overflows. A limb of a power of r is below 2^26 + 2^9 (storeCarried), and one of h plus
 * one of a block is below 2^28. Ten products of the two, five-fold, are below 2^60, including their
 * carries. The last carry is then below 2^34, five times it below 2^37, and the carry of e0 into h1
 * below 2^11. So after a turn limbs of x and y are below 2^26 + 2^11, and in the end x r + y below
 * 2^27 + 2^12, which plus a limb of a block is again below 2^28.
 */
function addFours(state: usize, data: usize, end: usize): usize {
  const square = state + powersAt, cube = square + limbsBytes, fourth = cube + limbsBytes;
  multiply(square, state, state);
  multiply(cube, square, state);
  multiply(fourth, square, square);
  const r0 = powers(square), r1 = powers(square + 8), r2 = powers(square + 16);
  const r3 = powers(square + 24), r4 = powers(square + 32);
  const s1 = byFive(r1), s2 = byFive(r2), s3 = byFive(r3), s4 = byFive(r4);
  const mask = i64x2.splat(limbMask), blockMask = i32x4.splat(<u32>limbMask);
  const h = state + hAt;
  let h0 = v128.load_zero<u64>(h), h1 = v128.load_zero<u64>(h, 8), h2 = v128.load_zero<u64>(h, 16);
  let h3 = v128.load_zero<u64>(h, 24), h4 = v128.load_zero<u64>(h, 32);
  const last = end - 80;
  do {
    // The limbs begin at bits 0, 26, 52, 78 and 104: loads words that begin at most a byte earlier
    const a = i64x2.add(h0, v128.and(gather(data), blockMask));
    const b = i64x2.add(h1, v128.and(i32x4.shr_u(gather(data + 3), 2), blockMask));
    const c = i64x2.add(h2, v128.and(i32x4.shr_u(gather(data + 6), 4), blockMask));
    const d = i64x2.add(h3, i32x4.shr_u(gather(data + 9), 6));
    const top = i32x4.shr_u(gather(data + 12), 8);
    const e = i64x2.add(h4, v128.or(top, i32x4.splat(<u32>highBit)));
    const d0 = sum(both(a, r0), both(b, s4), both(c, s3), both(d, s2), both(e, s1));
    let d1 = sum(both(a, r1), both(b, r0), both(c, s4), both(d, s3), both(e, s2));
    let d2 = sum(both(a, r2), both(b, r1), both(c, r0), both(d, s4), both(e, s3));
    let d3 = sum(both(a, r3), both(b, r2), both(c, r1), both(d, r0), both(e, s4));
    let d4 = sum(both(a, r4), both(b, r3), both(c, r2), both(d, r1), both(e, r0));
    d1 = i64x2.add(d1, i64x2.shr_u(d0, 26));
    d2 = i64x2.add(d2, i64x2.shr_u(d1, 26));
    d3 = i64x2.add(d3, i64x2.shr_u(d2, 26));
    d4 = i64x2.add(d4, i64x2.shr_u(d3, 26));
    const carry = i64x2.shr_u(d4, 26);
    const e0 = i64x2.add(v128.and(d0, mask), i64x2.add(i64x2.shl(carry, 2), carry));
    h0 = v128.and(e0, mask);
    h1 = i64x2.add(v128.and(d1, mask), i64x2.shr_u(e0, 26));
    h2 = v128.and(d2, mask);
    h3 = v128.and(d3, mask);
    h4 = v128.and(d4, mask);
    data += 64;
  } while (data <= last);
  storeFirst(h, h0, h1, h2, h3, h4);
  addBlock(state, data, highBit);
  addSecond(h, h0, h1, h2, h3, h4);
  return data + 16;
}

/** Returns a limb of r^4, r^3, r^3 and r^2, from its position in r^2. */
// @ts-ignore: decorator
@inline
function powers(limb: usize): v128 {
  const outer = v128.load_lane<u32>(limb, v128.load_zero<u32>(limb, 2 * limbsBytes), 3);
  return v128.load_lane<u32>(limb, v128.load_lane<u32>(limb, outer, 1, limbsBytes), 2, limbsBytes);
}

/** Stores x, the first of the two parts. */
function storeFirst(h: usize, h0: v128, h1: v128, h2: v128, h3: v128, h4: v128): void {
  v128.store_lane<u64>(h, h0, 0);
  v128.store_lane<u64>(h, h1, 0, 8);
  v128.store_lane<u64>(h, h2, 0, 16);
  v128.store_lane<u64>(h, h3, 0, 24);
  v128.store_lane<u64>(h, h4, 0, 32);
}

/** Adds y, the second of the two parts. */
function addSecond(h: usize, h0: v128, h1: v128, h2: v128, h3: v128, h4: v128): void {
  store<u64>(h, load<u64>(h) + i64x2.extract_lane(h0, 1));
  store<u64>(h, load<u64>(h, 8) + i64x2.extract_lane(h1, 1), 8);
  store<u64>(h, load<u64>(h, 16) + i64x2.extract_lane(h2, 1), 16);
  store<u64>(h, load<u64>(h, 24) + i64x2.extract_lane(h3, 1), 24);
  store<u64>(h, load<u64>(h, 32) + i64x2.extract_lane(h4, 1), 32);
}

/** Returns a word of each of four blocks, with the second and the third swapped. */
// @ts-ignore: decorator
@inline
function gather(p: usize): v128 {
  const first = v128.load_lane<u32>(p, v128.load_zero<u32>(p), 1, 32);
  return v128.load_lane<u32>(p, v128.load_lane<u32>(p, first, 2, 16), 3, 48);
}

/** Adds the products of lanes 0 and 2, and of lanes 1 and 3. */
// @ts-ignore: decorator
@inline
function both(x: v128, y: v128): v128 {
  return i64x2.add(i64x2.extmul_low_i32x4_u(x, y), i64x2.extmul_high_i32x4_u(x, y));
}

// @ts-ignore: decorator
@inline
function byFive(x: v128): v128 {
  return i32x4.add(i32x4.shl(x, 2), x);
}

// @ts-ignore: decorator
@inline
function sum(a: v128, b: v128, c: v128, d: v128, e: v128): v128 {
  return i64x2.add(i64x2.add(i64x2.add(i64x2.add(a, b), c), d), e);
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
  // g = h + 5 - 2^130; used instead of h if it is not negative
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
