// Base64 with padding (RFC 4648, 4): twelve bytes at a time in SIMD lanes, the rest in groups.

export function base64Bytes(length: usize): usize {
  return (length + 2) / 3 << 2;
}

/** `out` has space for `base64Bytes(length)`. */
export function base64(data: usize, length: usize, out: usize): void {
  if (length == 0) return; // an empty array can have any address
  const end = data + length;
  // A load reads 16 bytes, of which 12 are used
  for (; data + 28 <= end; data += 24, out += 32) {
    v128.store(out, letters(v128.load(data)));
    v128.store(out, letters(v128.load(data, 12)), 16);
  }
  for (; data + 16 <= end; data += 12, out += 16) v128.store(out, letters(v128.load(data)));
  for (; data + 3 <= end; data += 3, out += 4) store<u32>(out, quartet(group(data, 3)));
  if (data < end) {
    store<u32>(out, quartet(group(data, end - data)));
    store<u8>(out, 0x3d, 3);
    if (end - data == 1) store<u8>(out, 0x3d, 2);
  }
}

/** Returns up to three bytes as the 24 bits of a group, with zeros for missing ones. */
function group(data: usize, bytes: usize): u32 {
  let bits = <u32>load<u8>(data) << 16;
  if (bytes > 1) bits |= <u32>load<u8>(data, 1) << 8;
  if (bytes > 2) bits |= load<u8>(data, 2);
  return bits;
}

function quartet(bits: u32): u32 {
  return <u32>i32x4.extract_lane(toAscii(sextets(i32x4.splat(bits))), 0);
}

// @ts-ignore: decorator
@inline
function letters(bytes: v128): v128 {
  return toAscii(sextets(
    i8x16.swizzle(bytes, i8x16(2, 1, 0, 16, 5, 4, 3, 16, 8, 7, 6, 16, 11, 10, 9, 16)),
  ));
}

/** Splits the 24 bits of each lane into four numbers of six bits, one per byte. */
// @ts-ignore: decorator
@inline
function sextets(groups: v128): v128 {
  const first = v128.and(i32x4.shr_u(groups, 18), i32x4.splat(0x3f));
  const second = v128.and(i32x4.shr_u(groups, 4), i32x4.splat(0x3f00));
  const third = v128.and(i32x4.shl(groups, 10), i32x4.splat(0x3f0000));
  const fourth = v128.and(i32x4.shl(groups, 24), i32x4.splat(0x3f000000));
  return v128.or(v128.or(first, second), v128.or(third, fourth));
}

/**
 * RFC 4648, table 1: adds to each number the offset of its range, which is 0 for a-z, 1 to 10 for
 * digits, 11 for +, 12 for / and 13 for A-Z.
 */
// @ts-ignore: decorator
@inline
function toAscii(numbers: v128): v128 {
  const capitals = v128.and(i8x16.lt_u(numbers, i8x16.splat(26)), i8x16.splat(13));
  const ranges = v128.or(i8x16.sub_sat_u(numbers, i8x16.splat(51)), capitals);
  const offsets = i8x16(71, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -19, -16, 65, 0, 0);
  return i8x16.add(i8x16.swizzle(offsets, ranges), numbers);
}
