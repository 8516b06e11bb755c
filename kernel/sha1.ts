// SHA-1 (FIPS 180-4, 6.1), only for checksums that the tus protocol requires. It detects damage in
// transit, not forgery. The 16 words of the message schedule are a ring.

import { hashStateAt, heapBase } from './heap';

const blockBytes: usize = 64;
export const sha1Bytes: usize = 20;

/** Writes the 20 bytes of the digest. */
export function sha1(data: usize, length: usize, digest: usize): void {
  // FIPS 180-4, 5.3.1
  store<u32>(digest, 0x67452301);
  store<u32>(digest, 0xefcdab89, 4);
  store<u32>(digest, 0x98badcfe, 8);
  store<u32>(digest, 0x10325476, 12);
  store<u32>(digest, 0xc3d2e1f0, 16);
  const whole = length & ~(blockBytes - 1);
  for (let at: usize = 0; at < whole; at += blockBytes) compress(digest, data + at);
  compressRest(digest, data + whole, length);
  for (let at: usize = 0; at < sha1Bytes; at += 4) {
    store<u32>(digest + at, bswap<u32>(load<u32>(digest + at)));
  }
}

/** FIPS 180-4, 5.1.1: the last bytes, a one bit, zeros, and the length in bits. */
function compressRest(digest: usize, rest: usize, length: usize): void {
  const padded = heapBase() + hashStateAt + blockBytes;
  const restLength = length & (blockBytes - 1);
  memory.fill(padded, 0, 2 * blockBytes);
  // An empty array can have an address outside the memory, which even an empty copy refuses
  if (restLength != 0) memory.copy(padded, rest, restLength);
  store<u8>(padded + restLength, 0x80);
  const end = restLength < blockBytes - 8 ? blockBytes : 2 * blockBytes;
  store<u64>(padded + end - 8, bswap<u64>(<u64>length << 3));
  compress(digest, padded);
  if (end > blockBytes) compress(digest, padded + blockBytes);
}

function compress(state: usize, block: usize): void {
  const ring = heapBase() + hashStateAt;
  let a = load<u32>(state);
  let b = load<u32>(state, 4);
  let c = load<u32>(state, 8);
  let d = load<u32>(state, 12);
  let e = load<u32>(state, 16);
  for (let round: usize = 0; round < 80; round++) {
    const word = round < 16 ? firstWord(ring, block, round) : nextWord(ring, round);
    let mixed: u32;
    if (round < 20) mixed = (d ^ (b & (c ^ d))) + 0x5a827999;
    else if (round < 40) mixed = (b ^ c ^ d) + 0x6ed9eba1;
    else if (round < 60) mixed = ((b & c) | (d & (b | c))) + 0x8f1bbcdc;
    else mixed = (b ^ c ^ d) + 0xca62c1d6;
    const next = rotl<u32>(a, 5) + mixed + e + word;
    e = d;
    d = c;
    c = rotl<u32>(b, 30);
    b = a;
    a = next;
  }
  store<u32>(state, load<u32>(state) + a);
  store<u32>(state, load<u32>(state, 4) + b, 4);
  store<u32>(state, load<u32>(state, 8) + c, 8);
  store<u32>(state, load<u32>(state, 12) + d, 12);
  store<u32>(state, load<u32>(state, 16) + e, 16);
}

function firstWord(ring: usize, block: usize, round: usize): u32 {
  const word = bswap<u32>(load<u32>(block + (round << 2)));
  store<u32>(ring + (round << 2), word);
  return word;
}

function nextWord(ring: usize, round: usize): u32 {
  const word = rotl<u32>(
    wordAt(ring, round - 3) ^ wordAt(ring, round - 8) ^ wordAt(ring, round - 14) ^
      wordAt(ring, round - 16), 1,
  );
  store<u32>(ring + ((round & 15) << 2), word);
  return word;
}

// @ts-ignore: a decorator of AssemblyScript
@inline
function wordAt(ring: usize, round: usize): u32 {
  return load<u32>(ring + ((round & 15) << 2));
}
