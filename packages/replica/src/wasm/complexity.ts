// The network's measure of how hard an instruction is to compile, and the instructions that it
// refuses: tables are created again for each message, so code must not change them. `dfinity/ic`
// `rs/embedders/src/wasm_utils/validation.rs`: wasm_function_complexity.

import { bulk, op, type Weights, weightTable } from './opcodes.ts';

const refused = 0;

/** All other instructions, including vector instructions, count 1. */
const plainWeights: Weights = [
  [50, [0x02, 0x04], [0x0c, 0x0e], 0x10, 0x11, 0x40], // control, calls, memory.grow
  [14, 0x25], // table.get
  [8, 0xd2], // ref.func
  [6, 0xd1], // ref.is_null
  [5, [0xa8, 0xba]], // conversions of numbers
  [4, 0x8b, 0x8c, 0x99, 0x9a], // float abs, neg
  [3, [0x28, 0x35], 0x61, [0x6d, 0x70], [0x7f, 0x82], 0x98, 0xa6], // loads, division, copysign
  [2, 0x1b, 0x23, [0x36, 0x3f]], // select, global.get, stores, memory.size
  [2, [0x45, 0x60], [0x62, 0x66], 0x69, 0x7b], // comparisons but f64.eq, popcnt
  [2, [0x8d, 0x8f], 0x91, [0x9b, 0x9d], 0x9f], // float ceil, floor, trunc, sqrt
  [2, 0xa7, [0xbb, 0xc4]], // i32.wrap_i64, f64.promote_f32, reinterpret, extend
];

const names: ReadonlyMap<number, string> = new Map([
  [bulk.tableInit, 'table.init'],
  [bulk.tableCopy, 'table.copy'],
  [bulk.tableGrow, 'table.grow'],
  [bulk.tableFill, 'table.fill'],
]);

const plain = weightTable(256, [...plainWeights, [refused, op.tableSet]]);
const prefixed = weightTable(32, [
  [3, [0, 7], bulk.memoryFill], // saturating truncation
  [4, bulk.memoryCopy],
  [refused, ...names.keys()],
]);

/** Returns 0 for an instruction that the network refuses. */
export function instructionComplexity(opcode: number, sub: number): number {
  return (opcode === op.prefixBulk ? prefixed[sub] : plain[opcode]) ?? 1;
}

/** Returns the name of an instruction that the network refuses. */
export function refusedName(sub: number): string {
  return names.get(sub) ?? 'table.set';
}
