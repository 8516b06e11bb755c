// The pass over the code section: puts a charge at the head of each basic block, as the network's
// instrumentation does. It knows weights and charging points, and nothing of other sections.

import { ByteReader } from './byte-reader.ts';
import { ByteWriter } from './byte-writer.ts';
import type { Instruction } from './instruction.ts';
import { readInstruction } from './instruction.ts';
import { InvalidModule } from './invalid-module.ts';
import { bulk, functionEntryCost, instructionCost, op } from './opcodes.ts';

/** Indices of what the instrumentation adds to the module. */
export interface Additions {
  /** i64 global: instructions left. */
  readonly counter: number;
  /** `() -> ()`: raises the flag "out of instructions" and traps. */
  readonly exhausted: number;
  /** `(i32) -> (i32)`: charges its argument and returns it. */
  readonly chargeLength: number;
}

export interface MeteredCode {
  readonly content: Uint8Array;
  /** Of all functions, before anything was added. */
  readonly instructions: number;
  /** Whether any instruction can change a table. */
  readonly changesTables: boolean;
  /** Functions that `ref.func` names: what a table may hold later. */
  readonly referenced: ReadonlySet<number>;
}

/** A place inside a block where bytes are put before, or instead of, an instruction. */
interface Patch {
  readonly at: number;
  readonly resume: number;
  readonly isCharge: boolean;
}

interface Block {
  start: number;
  cost: number;
  /** Function entry and loop head: the limit is checked as well. */
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
  return (
    sub === bulk.memoryInit ||
    sub === bulk.memoryCopy ||
    sub === bulk.memoryFill ||
    sub === bulk.tableInit ||
    sub === bulk.tableCopy ||
    sub === bulk.tableFill
  );
}

function changesTable(instruction: Instruction): boolean {
  if (instruction.opcode === op.tableSet) return true;
  return (
    instruction.opcode === op.prefixBulk &&
    instruction.sub >= bulk.tableInit &&
    instruction.sub !== bulk.elementDrop &&
    instruction.sub !== bulk.tableSize
  );
}

class Meter {
  readonly output: ByteWriter;
  readonly referenced = new Set<number>();
  changesTables = false;
  instructions = 0;
  readonly #additions: Additions;
  readonly #source: Uint8Array;
  readonly #body = new ByteWriter(1 << 16);

  constructor(source: Uint8Array, additions: Additions) {
    this.#source = source;
    this.#additions = additions;
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
    let start = block.start;
    for (const patch of block.patches) {
      this.#body.slice(this.#source, { start, end: patch.at });
      if (patch.isCharge) {
        this.#body.byte(op.call);
        this.#body.u32(this.#additions.chargeLength);
      }
      start = patch.resume;
    }
    this.#body.slice(this.#source, { start, end });
    block.patches.length = 0;
  }

  /** Segments stay at hand for the next message: the network instantiates anew for each. */
  #patch(block: Block, instruction: Instruction, range: { start: number; end: number }): void {
    if (instruction.opcode !== op.prefixBulk) return;
    const { sub } = instruction;
    if (hasLength(sub)) {
      block.patches.push({ at: range.start, resume: range.start, isCharge: true });
    } else if (sub === bulk.dataDrop || sub === bulk.elementDrop) {
      block.patches.push({ at: range.start, resume: range.end, isCharge: false });
    }
  }

  #instructions(reader: ByteReader): void {
    const instruction: Instruction = { opcode: 0, sub: 0, index: 0 };
    const block: Block = {
      start: reader.position,
      cost: functionEntryCost,
      isChecked: true,
      patches: [],
    };
    while (!reader.done()) {
      const start = reader.position;
      readInstruction(reader, instruction);
      this.instructions += 1;
      block.cost += instructionCost(instruction.opcode, instruction.sub);
      if (instruction.opcode === op.refFunc) this.referenced.add(instruction.index);
      this.changesTables ||= changesTable(instruction);
      this.#patch(block, instruction, { start, end: reader.position });
      if (!endsBlock(instruction.opcode)) continue;
      this.#flush(block, reader.position);
      block.start = reader.position;
      block.cost = 0;
      block.isChecked = instruction.opcode === op.loop;
    }
    if (block.start !== reader.end) throw new InvalidModule('a function lacks its end');
  }

  function(reader: ByteReader): void {
    const size = reader.u32();
    const inner = new ByteReader(this.#source, reader.position, reader.position + size);
    reader.skip(size);
    this.#body.reset();
    const start = inner.position;
    for (let groups = inner.u32(); groups > 0; groups -= 1) {
      inner.skipNumber();
      inner.byte();
    }
    this.#body.slice(this.#source, { start, end: inner.position });
    this.#instructions(inner);
    this.output.u32(this.#body.length);
    this.output.bytes(this.#body.view());
  }
}

/**
 * `content` is the code section's; `extra` are the bodies of added functions, without their size.
 */
export function meterCode(options: {
  readonly content: Uint8Array;
  readonly additions: Additions;
  readonly extra: readonly Uint8Array[];
}): MeteredCode {
  const meter = new Meter(options.content, options.additions);
  const reader = new ByteReader(options.content);
  const count = reader.u32();
  meter.output.u32(count + options.extra.length);
  for (let index = 0; index < count; index += 1) meter.function(reader);
  for (const body of options.extra) {
    meter.output.u32(body.length);
    meter.output.bytes(body);
  }
  return {
    content: meter.output.view(),
    instructions: meter.instructions,
    changesTables: meter.changesTables,
    referenced: meter.referenced,
  };
}
