// SHA-256 of short messages (FIPS 180-4), at once. A verification of the journal computes millions
// of them: a promise of Web Crypto takes ten times as long, and the agent's library twice as long.

const blockBytes = 64;
const hashBytes = 32;
/** A one bit, which is a byte here, and the length. */
const paddingBytes = 9;

/** Returns the first 32 bits of the fractional parts of roots of the first primes. */
function rootBits(root: (prime: number) => number, count: number): Int32Array {
  const primes: number[] = [];
  for (let number = 2; primes.length < count; number++) {
    if (primes.every((prime) => number % prime !== 0)) primes.push(number);
  }
  return Int32Array.from(primes, (prime) => ((root(prime) % 1) * 2 ** 32) | 0);
}

const initial = rootBits(Math.sqrt, 8);
const constants = rootBits(Math.cbrt, 64);
const schedule = new Int32Array(64);
const state = new Int32Array(8);
let padded = new Uint8Array(8 * blockBytes);

export function shortSha256(message: Uint8Array): Uint8Array {
  const { length } = message;
  const end = blockBytes * Math.ceil((length + paddingBytes) / blockBytes);
  if (end > padded.length) padded = new Uint8Array(end);
  padded.set(message);
  padded.fill(0, length, end);
  padded[length] = 0x80;
  for (let at = end, bits = 8 * length; bits > 0; bits = Math.floor(bits / 256))
    padded[--at] = bits;
  state.set(initial);
  for (let start = 0; start < end; start += blockBytes) compress(padded, start);
  const hash = new Uint8Array(hashBytes);
  for (let at = 0; at < hashBytes; at++) hash[at] = word(state, at >> 2) >>> (24 - 8 * (at & 3));
  return hash;
}

/** Spares the check for elements that do not exist. */
function word(words: Int32Array | Uint8Array, at: number): number {
  return words[at] as number;
}

function rotated(value: number, bits: number): number {
  return (value >>> bits) | (value << (32 - bits));
}

function compress(bytes: Uint8Array, start: number): void {
  fillSchedule(bytes, start);
  let a = word(state, 0);
  let b = word(state, 1);
  let c = word(state, 2);
  let d = word(state, 3);
  let e = word(state, 4);
  let f = word(state, 5);
  let g = word(state, 6);
  let h = word(state, 7);
  for (let at = 0; at < 64; at++) {
    const upper = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25);
    const choice = (e & f) ^ (~e & g);
    const first = (h + upper + choice + word(constants, at) + word(schedule, at)) | 0;
    const lower = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22);
    const majority = (a & b) ^ (a & c) ^ (b & c);
    h = g;
    g = f;
    f = e;
    e = (d + first) | 0;
    d = c;
    c = b;
    b = a;
    a = (first + lower + majority) | 0;
  }
  state[0] = word(state, 0) + a;
  state[1] = word(state, 1) + b;
  state[2] = word(state, 2) + c;
  state[3] = word(state, 3) + d;
  state[4] = word(state, 4) + e;
  state[5] = word(state, 5) + f;
  state[6] = word(state, 6) + g;
  state[7] = word(state, 7) + h;
}

function fillSchedule(bytes: Uint8Array, start: number): void {
  for (let at = 0, from = start; at < 16; at++, from += 4) {
    const high = (word(bytes, from) << 24) | (word(bytes, from + 1) << 16);
    schedule[at] = high | (word(bytes, from + 2) << 8) | word(bytes, from + 3);
  }
  for (let at = 16; at < 64; at++) {
    const early = word(schedule, at - 15);
    const late = word(schedule, at - 2);
    const first = rotated(early, 7) ^ rotated(early, 18) ^ (early >>> 3);
    const second = rotated(late, 17) ^ rotated(late, 19) ^ (late >>> 10);
    schedule[at] = word(schedule, at - 16) + first + word(schedule, at - 7) + second;
  }
}
