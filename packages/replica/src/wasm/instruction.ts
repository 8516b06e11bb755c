// Reads one instruction: its opcode and the length of its immediates. WebAssembly Core
// specification, §5.4 "Instructions", and the later proposals that the network supports.

import type { ByteReader } from './byte-reader.ts';
import { InvalidModule, notValidated } from './invalid-module.ts';
import { bulk, op } from './opcodes.ts';

export interface Instruction {
  opcode: number;
  /** The opcode after the prefix 0xfc or 0xfd, else 0. */
  sub: number;
}

function unsupported(opcode: number, sub: number): InvalidModule {
  const code = sub ? `${opcode.toString(16)} ${sub}` : opcode.toString(16);
  return new InvalidModule(`instruction 0x${code} is not supported by the network`);
}

function skipBulkImmediates(reader: ByteReader, sub: number): void {
  if (sub > bulk.tableFill) throw unsupported(op.prefixBulk, sub);
  if (sub < bulk.memoryInit) return;
  reader.skipNumber();
  const isPair =
    sub === bulk.memoryInit ||
    sub === bulk.memoryCopy ||
    sub === bulk.tableInit ||
    sub === bulk.tableCopy;
  if (isPair) reader.skipNumber();
}

function skipVectorImmediates(reader: ByteReader, sub: number): void {
  if (sub > 255) throw unsupported(op.prefixVector, sub);
  if (sub === 12 || sub === 13) reader.skip(16);
  else if (sub >= 21 && sub <= 34) reader.skip(1);
  else if (sub <= 11 || (sub >= 84 && sub <= 93)) {
    reader.skipNumber();
    reader.skipNumber();
    if (sub >= 84 && sub <= 91) reader.skip(1);
  }
}

function skipTargets(reader: ByteReader): void {
  const count = reader.u32();
  for (let target = 0; target <= count; target += 1) reader.skipNumber();
}

function skipImmediates(reader: ByteReader, opcode: number): void {
  switch (opcode) {
    case 0x02: // block type
    case 0x03:
    case 0x04:
    case 0x0c: // label
    case 0x0d:
    case 0x20: // local, global, table
    case 0x21:
    case 0x22:
    case 0x23:
    case 0x24:
    case 0x25:
    case 0x26:
    case 0x3f: // memory
    case 0x40:
    case 0x10: // function
    case 0x12:
    case 0xd2:
    case 0x41: // constants
    case 0x42:
    case 0xd0: // heap type
      reader.skipNumber();
      return;
    case 0x0e:
      skipTargets(reader);
      return;
    case 0x11:
    case 0x13:
      reader.skipNumber();
      reader.skipNumber();
      return;
    case 0x1c:
      reader.skip(reader.u32());
      return;
    case 0x43:
      reader.skip(4);
      return;
    case 0x44:
      reader.skip(8);
      return;
  }
  if (opcode >= 0x28 && opcode <= 0x3e) {
    reader.skipNumber();
    reader.skipNumber();
  } else if (!hasNoImmediates(opcode)) throw unsupported(opcode, 0);
}

function hasNoImmediates(opcode: number): boolean {
  return (
    opcode <= 0x01 ||
    opcode === 0x05 ||
    opcode === 0x0b ||
    opcode === 0x0f ||
    opcode === 0x1a ||
    opcode === 0x1b ||
    (opcode >= 0x45 && opcode <= 0xc4) ||
    opcode === 0xd1
  );
}

/** Reads the instruction at the reader's position into `into`, one object that all calls reuse. */
export function readInstruction(reader: ByteReader, into: Instruction): void {
  const opcode = reader.byte();
  into.opcode = opcode;
  into.sub = 0;
  if (opcode === op.prefixBulk) {
    into.sub = reader.u32();
    skipBulkImmediates(reader, into.sub);
  } else if (opcode === op.prefixVector) {
    into.sub = reader.u32();
    skipVectorImmediates(reader, into.sub);
  } else skipImmediates(reader, opcode);
}

/**
 * Skips a constant expression and returns the opcode of its only instruction. The network does not
 * support the proposal "extended constant expressions", which allows several.
 */
export function readConstant(reader: ByteReader): number {
  const instruction: Instruction = { opcode: 0, sub: 0 };
  readInstruction(reader, instruction);
  if (reader.byte() !== op.end) throw notValidated('constant expression required');
  return instruction.opcode;
}
