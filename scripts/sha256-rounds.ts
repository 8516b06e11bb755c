// Generates the kernel's module `sha256-rounds` (AssemblyScript): the compression function of
// SHA-256 (FIPS 180-4, 6.2.2) with unrolled rounds, because the meter counts each load, each turn
// of a loop and each value that is stored in a variable. It takes 60.8 instructions per byte; loops
// of eight rounds with the schedule in memory took 73.7. One block takes 4,600 instead of 8,500.

// FIPS 180-4, 4.2.2
const roundConstants = [
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
];
const rounds = [...roundConstants.keys()];
const stateWords = rounds.slice(0, 8);
const blockWords = rounds.slice(0, 16);
const lanes = [0, 1, 2, 3];

/**
 * Writes two functions of (state, data, count): `count` above zero is the number of blocks, or of
 * groups of four. A block's schedule does not depend on the state, so those of four are computed
 * together, one per SIMD lane: 14 instructions per byte instead of 24.
 */
export function writeSha256Rounds(): string {
  const lines = [
    ...writeFunction('compressBlocks', 64, [
      `let ${blockWords.map((index) => `w${index}: u32`).join(', ')}, quarter: v128;`,
      ...writeBlock(nextWord),
    ]),
    ...writeFunction('compressFours', 256, [
      `let ${blockWords.map((index) => `w${index}: v128`).join(', ')};`,
      `let ${rounds.map((index) => `n${index}: v128`).join(', ')};`,
      ...lanes.flatMap((lane) => {
        // The rounds of the first block also compute the words of the other three
        const words = (index: number) => (lane === 0 ? `(${nextFourWords(index)})` : `n${index}`);
        return writeBlock((index) => `v128.extract_lane<u32>(${words(index)}, ${lane})`);
      }),
    ]),
  ];
  return `${lines.join('\n')}\n`;
}

function writeFunction(name: string, bytes: number, body: readonly string[]): string[] {
  return [
    `export function ${name}(state: usize, data: usize, count: usize): void {`,
    ...stateWords.map((i) => `let h${i} = load<u32>(state, ${4 * i}), s${i}: u32;`),
    'let negated: u32, x0: u32, x1: u32;',
    'do {',
    ...body,
    `data += ${bytes};`,
    '} while (--count);',
    ...stateWords.map((i) => `store<u32>(state, h${i}, ${4 * i});`),
    '}',
  ];
}

/** `wordOf` returns the negated sum of a round's word and constant. */
function writeBlock(wordOf: (index: number) => string): string[] {
  return [
    ...stateWords.map((i) => `s${i} = h${i};`),
    'x1 = s1 ^ s2;',
    ...rounds.map((index) => writeRound(index, wordOf(index))),
    's4 -= negated;',
    ...stateWords.map((i) => `h${i} += s${i};`),
  ];
}

/**
 * Step 3, where the variables change roles instead of values moving between variables. Two tricks
 * prevent the compiler from spilling values: the new e is computed in the next round, at its first
 * use, as the compiler itself does with the new a; and T1 is negated and subtracted, because the
 * compiler would reorder an addition, which delays the new a (1 instruction per byte).
 */
function writeRound(index: number, negatedWord: string): string {
  const [a, b, , , e, f, g, h] = stateWords.map((i) => `s${(i + 64 - index) % 8}`);
  const firstE = index === 0 ? e : `(${e} -= negated)`;
  const sum1 = `(rotr(${firstE}, 6) ^ rotr(${e}, 11) ^ rotr(${e}, 25))`;
  const choice = `(${g} ^ ${e} & (${f} ^ ${g}))`;
  const sum0 = `(rotr(${a}, 2) ^ rotr(${a}, 13) ^ rotr(${a}, 22))`;
  // Maj(a, b, c) = (a ^ b) & (b ^ c) ^ b; b ^ c was the a ^ b of the round before
  const majority = `((x${index & 1} = ${a} ^ ${b}) & x${~index & 1} ^ ${b})`;
  const negated = `(negated = ${negatedWord} - ${sum1} - ${choice} - ${h})`;
  return `${h} = ${sum0} - ${negated} + ${majority};`;
}

/** Step 1 for one block. */
function nextWord(index: number): string {
  const [word, by2, by7, by15] = wordNames(index);
  const sum0 = `(rotr(${by15}, 7) ^ rotr(${by15}, 18) ^ ${by15} >> 3)`;
  const sum1 = `(rotr(${by2}, 17) ^ rotr(${by2}, 19) ^ ${by2} >> 10)`;
  const quarter = `v128.load(data, ${4 * index})`;
  const source = index % 4 === 0 ? `(quarter = ${bigEndian(quarter)})` : 'quarter';
  const given = `v128.extract_lane<u32>(${source}, ${index % 4})`;
  const value = index < 16 ? given : `${word} + ${sum0} + ${by7} + ${sum1}`;
  return `(${negatedConstant(index)} - (${word} = ${value}))`;
}

/** Step 1 for four blocks; assigns the negated sum that the round of each block uses. */
function nextFourWords(index: number): string {
  const [word, by2, by7, by15] = wordNames(index);
  const sum0 = xorShifted(by15, { right: [7, 18, 3], left: [25, 14] });
  const sum1 = xorShifted(by2, { right: [17, 19, 10], left: [15, 13] });
  const given = lanes.slice(1).reduce(
    (loaded, lane) => {
      return `v128.load_lane<u32>(data, ${loaded}, ${lane}, ${64 * lane + 4 * index})`;
    },
    `v128.load_zero<u32>(data, ${4 * index})`,
  );
  const sum = `i32x4.add(i32x4.add(${word}, ${sum0}), i32x4.add(${by7}, ${sum1}))`;
  const value = index < 16 ? bigEndian(given) : sum;
  return `n${index} = i32x4.sub(i32x4.splat(${negatedConstant(index)}), ${word} = ${value})`;
}

/** Returns the names of the replaced word, and of the words 2, 7 and 15 places before it. */
function wordNames(index: number): [string, string, string, string] {
  const name = (before: number) => `w${(index - before) & 15}`;
  return [name(0), name(2), name(7), name(15)];
}

function negatedConstant(index: number): number {
  return -(roundConstants[index] ?? 0) >>> 0;
}

function bigEndian(words: string): string {
  return `i8x16.swizzle(${words}, i8x16(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12))`;
}

function xorShifted(
  word: string,
  bits: { readonly right: readonly number[]; readonly left: readonly number[] },
): string {
  return [
    ...bits.right.map((count) => `i32x4.shr_u(${word}, ${count})`),
    ...bits.left.map((count) => `i32x4.shl(${word}, ${count})`),
  ].reduce((sum, shifted) => `v128.xor(${sum}, ${shifted})`);
}
