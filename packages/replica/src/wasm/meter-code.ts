// Instruments the code section: inserts a charge at the start of each basic block, as the network's
// instrumentation does, and refuses functions that the network does not compile.

import { ByteReader } from './byte-reader.ts';
import { ByteWriter } from './byte-writer.ts';
import { instructionComplexity, refusedName } from './complexity.ts';
import type { Instruction } from './instruction.ts';
import { readInstruction } from './instruction.ts';
import { InvalidModule } from './invalid-module.ts';
import type { Address } from './memories.ts';
import { functionComplexityMax } from './module-limits.ts';
import { bulk, functionEntryCost, instructionCost, op } from './opcodes.ts';
import { readValueType } from './sections.ts';

/** Indices of the functions and globals that the instrumentation adds. */
export interface Additions {
  /** i64 global: instructions left. */
  readonly counter: number;
  /** `() -> ()`: sets the flag "out of instructions" and traps. */
  readonly exhausted: number;
  /** `(i32) -> (i32)`: charges its argument and returns it. */
  readonly chargeLength: number;
  /** `(i64) -> (i64)`: the same for lengths in a 64-bit memory. */
  readonly chargeLength64: number;
}

export interface MeteredCode {
  readonly content: Uint8Array;
  /** Instructions of the module's own functions after the network's instrumentation. */
  readonly instructions: number;
}

/**
 * Instructions that the network's instrumentation adds: `dfinity/ic`
 * `rs/embedders/src/wasm_utils/instrumentation.rs`, inject_metering, inject_try_grow_wasm_memory.
 */
const addedInstructions = {
  /** Subtracts the cost of a block from the counter. */
  charge: 4,
  /** Compares the counter with 0, at function entries and loop heads. */
  check: 6,
  /** Charges for a length of 64 bits; one of 32 bits is extended and wrapped besides. */
  length: 1,
  length32: 3,
  /** Keeps the argument of `memory.grow` and reports it afterwards. */
  memoryGrow: 3,
} as const;

/** An instruction within a block that gets a charge before it, or is removed. */
interface Patch {
  readonly at: number;
  readonly resume: number;
  /** The function that charges; undefined if the instruction is removed. */
  readonly charge: number | undefined;
}

interface Block {
  start: number;
  cost: number;
  /** Function entries and loop heads also check the limit. */
  isChecked: boolean;
  readonly patches: Patch[];
}

function endsBlock(opcode: number): boolean {
  switch (opcode) {
    case op.unreachable:
    case op.loop:
    case op.if:
    case op.else:
    case op.end:
    case op.br:
    case op.brIf:
    case op.brTable:
    case op.return:
    case op.returnCall:
    case op.returnCallIndirect:
      return true;
    default:
      return false;
  }
}

function hasLength(sub: number): boolean {
  return sub === bulk.memoryInit || isLengthOfMemory(sub);
}

/** Lengths in a data segment are an i32, even for a 64-bit memory. */
function isLengthOfMemory(sub: number): boolean {
  return sub === bulk.memoryCopy || sub === bulk.memoryFill;
}

class Meter {
  readonly output: ByteWriter;
  instructions = 0;
  readonly #additions: Additions;
  readonly #source: Uint8Array;
  readonly #body = new ByteWriter(1 << 16);
  /** The additional cost of loads and stores with 64-bit addresses. */
  readonly #surcharge: number;
  readonly #memoryCharge: number;

  constructor(source: Uint8Array, additions: Additions, address: Address) {
    this.#source = source;
    this.#additions = additions;
    this.#surcharge = address === 'I' ? 1 : 0;
    const { chargeLength, chargeLength64 } = additions;
    this.#memoryCharge = address === 'I' ? chargeLength64 : chargeLength;
    this.output = new ByteWriter(Math.ceil(source.length * 1.4) + 64);
  }

  #charge(cost: number): void {
    const body = this.#body;
    body.byte(op.globalGet);
    body.u32(this.#additions.counter);
    body.byte(op.i64Const);
    body.signed(cost);
    body.byte(op.i64Sub);
    body.byte(op.globalSet);
    body.u32(this.#additions.counter);
  }

  #check(): void {
    const body = this.#body;
    body.byte(op.globalGet);
    body.u32(this.#additions.counter);
    body.bytes([op.i64Const, 0, op.i64LessSigned, op.if, op.emptyBlock, op.call]);
    body.u32(this.#additions.exhausted);
    body.byte(op.end);
  }

  #flush(block: Block, end: number): void {
    if (block.cost > 0) this.#charge(block.cost);
    if (block.isChecked) this.#check();
    if (block.cost > 0 || block.isChecked) this.instructions += addedInstructions.charge;
    if (block.isChecked) this.instructions += addedInstructions.check;
    let start = block.start;
    for (const patch of block.patches) {
      this.#body.slice(this.#source, { start, end: patch.at });
      if (patch.charge !== undefined) {
        this.#body.byte(op.call);
        this.#body.u32(patch.charge);
      }
      start = patch.resume;
    }
    this.#body.slice(this.#source, { start, end });
    block.patches.length = 0;
  }

  /** Segments must stay available, because the network instantiates for each message. */
  #patch(block: Block, instruction: Instruction, range: { start: number; end: number }): void {
    if (instruction.opcode !== op.prefixBulk) return;
    const { sub } = instruction;
    if (hasLength(sub)) {
      const charge = isLengthOfMemory(sub) ? this.#memoryCharge : this.#additions.chargeLength;
      const { length, length32 } = addedInstructions;
      this.instructions += charge === this.#additions.chargeLength64 ? length : length32;
      block.patches.push({ at: range.start, resume: range.start, charge });
    } else if (sub === bulk.dataDrop || sub === bulk.elementDrop) {
      block.patches.push({ at: range.start, resume: range.end, charge: undefined });
    }
  }

  #instructions(reader: ByteReader, index: number): void {
    let complexity = 0;
    const instruction: Instruction = { opcode: 0, sub: 0 };
    const block: Block = {
      start: reader.position,
      cost: functionEntryCost,
      isChecked: true,
      patches: [],
    };
    while (!reader.done()) {
      const start = reader.position;
      readInstruction(reader, instruction);
      const { opcode, sub } = instruction;
      this.instructions += 1;
      if (opcode === op.memoryGrow) this.instructions += addedInstructions.memoryGrow;
      block.cost += instructionCost(opcode, sub);
      if (opcode >= op.firstLoad && opcode <= op.lastStore) block.cost += this.#surcharge;
      const share = instructionComplexity(opcode, sub);
      if (share === 0) throw refusal(index, `with unsupported instruction ${refusedName(sub)}`);
      complexity += share;
      this.#patch(block, instruction, { start, end: reader.position });
      if (!endsBlock(opcode)) continue;
      this.#flush(block, reader.position);
      block.start = reader.position;
      block.cost = 0;
      block.isChecked = instruction.opcode === op.loop;
    }
    if (block.start !== reader.end) throw new InvalidModule('a function lacks its end');
    if (complexity > functionComplexityMax) {
      throw refusal(
        index,
        `with complexity ${complexity} which exceeds the maximum complexity allowed ` +
          `${functionComplexityMax}`,
      );
    }
  }

  /** `index`: position among the module's own functions. */
  function(reader: ByteReader, index: number): void {
    const size = reader.u32();
    const inner = new ByteReader(this.#source, reader.position, reader.position + size);
    reader.skip(size);
    this.#body.reset();
    const start = inner.position;
    for (let groups = inner.u32(); groups > 0; groups -= 1) {
      inner.skipNumber();
      readValueType(inner);
    }
    this.#body.slice(this.#source, { start, end: inner.position });
    this.#instructions(inner, index);
    this.output.u32(this.#body.length);
    this.output.bytes(this.#body.view());
  }
}

function refusal(index: number, why: string): InvalidModule {
  return new InvalidModule(`Wasm module contains a function at index ${index} ${why}.`);
}

/** Returns the instrumented code section with the `extra` function bodies; throws InvalidModule. */
export function meterCode(options: {
  readonly content: Uint8Array;
  readonly additions: Additions;
  readonly address: Address;
  readonly extra: readonly Uint8Array[];
}): MeteredCode {
  const meter = new Meter(options.content, options.additions, options.address);
  const reader = new ByteReader(options.content);
  const count = reader.u32();
  meter.output.u32(count + options.extra.length);
  for (let index = 0; index < count; index += 1) meter.function(reader, index);
  for (const body of options.extra) {
    meter.output.u32(body.length);
    meter.output.bytes(body);
  }
  return { content: meter.output.view(), instructions: meter.instructions };
}
