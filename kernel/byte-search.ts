// Searches bytes that a caller sent for every occurrence of a needle, and counts the containers and
// commas of a JSON text. Takes linear time for any input.

import { bordersAt, heapBase } from './heap';

/** A form's delimiter has at most 74 bytes, and the length of a border fits into a byte. */
const needleBytesMax: usize = 128;

/** Maximum number of bytes compared one by one: 45 instructions each, 14 M together. */
const closeLooksMax: u32 = 300_000;
/** Returned instead of a number if too many bytes almost match the needle. */
const tooClose: u32 = 0xffff_ffff;

/**
 * Writes the offsets of the needle, in order and without overlaps, as many as fit, and returns
 * their number. Algorithm of Knuth, Morris and Pratt. While no byte of the needle matches, SIMD
 * finds the next position at which its first and last byte match.
 */
export function findAll(
  data: usize, length: usize, needle: usize, needleLength: usize, out: usize, room: u32,
): u32 {
  if (needleLength == 0 || needleLength > needleBytesMax) unreachable();
  const borders = heapBase() + bordersAt;
  fillBorders(needle, needleLength, borders);
  const end = data + length;
  const gap = needleLength - 1;
  const first = load<u8>(needle);
  const last = load<u8>(needle + gap);
  let found: u32 = 0;
  let looks: u32 = 0;
  let matched: usize = 0;
  for (let next = data; next < end && found < room; next++) {
    if (matched == 0) {
      next = placeOf(first, last, gap, next, end);
      if (next == end) break;
    }
    if (++looks > closeLooksMax) return tooClose;
    matched = goOn(needle, borders, matched, load<u8>(next));
    if (matched < needleLength) continue;
    store<u32>(out + (<usize>found << 2), <u32>(next + 1 - needleLength - data));
    found++;
    matched = 0;
  }
  return found;
}

/** Returns the length of the prefix that matches after `byte`; `former`: the length before it. */
// @ts-ignore: decorator
@inline
function goOn(needle: usize, borders: usize, former: usize, byte: u8): usize {
  let matched = former;
  while (matched > 0 && load<u8>(needle + matched) != byte) {
    matched = load<u8>(borders + matched - 1);
  }
  return load<u8>(needle + matched) == byte ? matched + 1 : matched;
}

/** Fills the border table: the longest proper border of each prefix of the needle. */
function fillBorders(needle: usize, length: usize, borders: usize): void {
  store<u8>(borders, 0);
  let border: usize = 0;
  for (let index: usize = 1; index < length; index++) {
    border = goOn(needle, borders, border, load<u8>(needle + index));
    store<u8>(borders + index, <u8>border);
  }
}

/** Returns the first position of byte `first` with `last` at distance `gap`, or `end`. */
function placeOf(first: u8, last: u8, gap: usize, start: usize, end: usize): usize {
  const firsts = i8x16.splat(first);
  const lasts = i8x16.splat(last);
  let next = start;
  for (; next + gap + 16 <= end; next += 16) {
    const isFirst = i8x16.eq(v128.load(next), firsts);
    const mask = i8x16.bitmask(v128.and(isFirst, i8x16.eq(v128.load(next + gap), lasts)));
    if (mask != 0) return next + <usize>ctz(mask);
  }
  for (; next + gap < end; next++) {
    if (load<u8>(next) == first && load<u8>(next + gap) == last) return next;
  }
  return end;
}

/**
 * Returns the number of objects and lists that a JSON text opens (low half) and of its commas (high
 * half), outside its strings.
 */
export function jsonShape(data: usize, length: usize): u64 {
  const end = data + length;
  let containers: u64 = 0;
  let commas: u64 = 0;
  let isString = false;
  for (let next = data; next < end; next++) {
    const byte = load<u8>(next);
    if (byte == 0x22) isString = !isString;
    else if (isString && byte == 0x5c) next++;
    else if (isString) continue;
    else if (byte == 0x2c) commas++;
    else if (byte == 0x7b || byte == 0x5b) containers++;
  }
  return commas << 32 | containers;
}
