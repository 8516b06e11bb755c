// The cost of each WebAssembly instruction on the Internet Computer (wasm32): the weights of the
// network's instrumentation. WebAssembly Core specification, §5.4 "Instructions", for the opcodes.

export const op = {
  unreachable: 0x00,
  loop: 0x03,
  if: 0x04,
  else: 0x05,
  end: 0x0b,
  br: 0x0c,
  brIf: 0x0d,
  brTable: 0x0e,
  return: 0x0f,
  call: 0x10,
  callIndirect: 0x11,
  returnCall: 0x12,
  returnCallIndirect: 0x13,
  globalGet: 0x23,
  globalSet: 0x24,
  select: 0x1b,
  tableSet: 0x26,
  firstLoad: 0x28,
  lastStore: 0x3e,
  memoryGrow: 0x40,
  i32Const: 0x41,
  i64Const: 0x42,
  i64LessSigned: 0x53,
  i64LessUnsigned: 0x54,
  i64Sub: 0x7d,
  i64ExtendUnsigned: 0xad,
  localGet: 0x20,
  prefixBulk: 0xfc,
  prefixVector: 0xfd,
  emptyBlock: 0x40,
} as const;

/** Sub-opcodes after 0xfc. */
export const bulk = {
  memoryInit: 8,
  dataDrop: 9,
  memoryCopy: 10,
  memoryFill: 11,
  tableInit: 12,
  elementDrop: 13,
  tableCopy: 14,
  tableGrow: 15,
  tableFill: 17,
} as const;

/** Sub-opcodes after 0xfd. */
export const vector = { i64Splat: 0x12, i64ExtractLane: 0x1d, i64ReplaceLane: 0x1e } as const;

/** `[weight, ...opcodes]`; a pair `[from, to]` is a range, both ends included. */
export type Weights = readonly (readonly [number, ...(number | readonly [number, number])[]])[];

/** Returns the weights by opcode; others weigh 1. */
export function weightTable(length: number, weights: Weights): Uint8Array {
  const costs = new Uint8Array(length).fill(1);
  for (const [weight, ...codes] of weights) {
    for (const code of codes) {
      const [from, to] = typeof code === 'number' ? [code, code] : code;
      costs.fill(weight, from, to + 1);
    }
  }
  return costs;
}

/** Instructions of one byte; others cost 1. `memory.grow` (300) is a special case. */
const plain = weightTable(256, [
  [0, 0x02, 0x03, 0x05, 0x0b], // block, loop, else, end
  [2, 0x04, [0x0c, 0x0e]], // if, br, br_if, br_table
  [2, 0x23, 0x24], // global.get, global.set
  [2, [0x8d, 0x90], [0x92, 0x94], 0x98], // f32 ceil floor trunc nearest, add sub mul, copysign
  [2, [0x9b, 0x9e], [0xa0, 0xa2]], // f64 ceil floor trunc nearest, add sub mul
  [3, 0x12, [0x5b, 0x66], 0x95, 0xa6], // return_call, float comparisons, f32.div, f64.copysign
  [3, 0xb2, 0xb4, 0xb7, 0xb9], // signed integer to float
  [5, 0x10, 0x25, 0x26, 0x91, 0xa3, 0xd1], // call, table.get/set, f32.sqrt, f64.div, ref.is_null
  [8, 0x9f], // f64.sqrt
  [10, 0x11, [0x6d, 0x70], [0x7f, 0x82]], // call_indirect, integer division and remainder
  [16, 0xb3, 0xb5, 0xb8, 0xba], // unsigned integer to float
  [18, 0x96, 0x97, 0xa4, 0xa5], // float min, max
  [20, 0x3f, [0xa8, 0xab], [0xae, 0xb1]], // memory.size, float to integer
  [60, 0x13], // return_call_indirect
  [130, 0xd2], // ref.func
]);

const memoryGrowWeight = 300;
const bulkWeights: Readonly<Record<number, number>> = {
  [bulk.dataDrop]: 300,
  [bulk.elementDrop]: 300,
  [bulk.tableGrow]: 300,
};

/** Instructions after 0xfd; others cost 1. */
const vectorCosts = weightTable(256, [
  [2, 38, 40, 48, 50, 58, 60], // unsigned less, greater of i8x16, i16x8, i32x4
  [3, 13, 98], // i8x16.shuffle, i8x16.popcnt
  [3, 107, 108], // i8x16.shl, shr_s
  [2, 109], // i8x16.shr_u
  [2, 125], // i16x8.extadd_pairwise_i8x16_u
  [3, 127], // i32x4.extadd_pairwise_i16x8_u
  [2, [139, 141]], // i16x8 shifts
  [2, 157, 159], // i16x8.extmul_high
  [2, [171, 173], 181, [188, 191]], // i32x4 shifts, mul, extmul
  [2, 203, 205], // i64x2.shl, shr_u
  [3, 204], // i64x2.shr_s
  [4, 213], // i64x2.mul
  [2, 103, 104, 105, 106], // f32x4 ceil floor trunc nearest
  [2, 116, 117, 122, 148], // f64x2 ceil floor trunc nearest
  [2, 224, 225, 228, 229, 230], // f32x4 abs neg add sub mul
  [5, 227], // f32x4.sqrt
  [10, 231], // f32x4.div
  [4, 232, 233], // f32x4 min max
  [2, 236, 237, 240, 241, 242], // f64x2 abs neg add sub mul
  [14, 239], // f64x2.sqrt
  [12, 243], // f64x2.div
  [4, 244], // f64x2.min
  [5, 245], // f64x2.max
  [2, 248, 252], // i32x4.trunc_sat_f32x4_s, trunc_sat_f64x2_s_zero
  [4, 249, 251], // i32x4.trunc_sat_f32x4_u, f32x4.convert_i32x4_u
  [3, 253], // i32x4.trunc_sat_f64x2_u_zero
]);

/** Returns the static cost of an instruction; `sub` is the opcode after a prefix byte. */
export function instructionCost(opcode: number, sub: number): number {
  if (opcode === op.prefixVector) return vectorCosts[sub] ?? 1;
  if (opcode === op.prefixBulk) return sub < bulk.memoryInit ? 20 : (bulkWeights[sub] ?? 100);
  return opcode === op.memoryGrow ? memoryGrowWeight : (plain[opcode] ?? 1);
}

/** Cost of entering a function, even an empty one. */
export const functionEntryCost = 1;
