// Instruments a canister's module: adds an instruction counter, exports memory and mutable globals,
// which the host rolls back, and adds a function that calls callbacks.

import { ByteWriter } from './byte-writer.ts';
import { type Address, readMemory, readTables } from './memories.ts';
import { meterCode } from './meter-code.ts';
import { op, vector } from './opcodes.ts';
import type { ModuleExport, Sections } from './sections.ts';
import {
  openVector,
  readGlobals,
  readImports,
  readStart,
  readTypes,
  section,
  sectionOrder,
} from './sections.ts';

/** Prefix of the exports that the instrumentation adds; a canister's own names must not have it. */
export const exportPrefix = 'replica ';
export const counterExport = `${exportPrefix}counter`;
export const exhaustedExport = `${exportPrefix}exhausted`;
export const startExport = `${exportPrefix}start`;
export const memoryExport = `${exportPrefix}memory`;
export const tableExport = `${exportPrefix}table`;
/** `(environment, index) -> ()`: calls the function with that index in the table. */
export const callbackExport = `${exportPrefix}callback`;
export const globalExport = (index: number) => `${exportPrefix}global ${index}`;
/** `() -> (i64, i64)` and `(i64, i64) -> ()`: the halves of a vector global, low first. */
export const vectorExports = (index: number) =>
  ({ get: `${exportPrefix}get ${index}`, set: `${exportPrefix}set ${index}` }) as const;

export interface Instrumented {
  readonly module: Uint8Array;
  readonly address: Address;
  /** The type of the table's indices; `i` without a table. */
  readonly tableAddress: Address;
  readonly hasStart: boolean;
  /**
   * Instructions that the network's compiler counts, after its instrumentation: those of functions
   * and globals. The hundreds of the functions that it adds for stable memory are left out.
   */
  readonly instructions: number;
  /** Indices of the mutable globals, each exported as `globalExport(index)`. */
  readonly globals: readonly number[];
  /** Letters of their types, as in FunctionType. */
  readonly globalTypes: readonly string[];
  /** Indices of the mutable vector globals, with functions named by `vectorExports(index)`. */
  readonly vectors: readonly number[];
}

interface Layout {
  readonly address: Address;
  readonly types: number;
  readonly functions: number;
  readonly globals: number;
  /** The type of the table with the callbacks, if it exists. */
  readonly table: 'functions' | 'references' | undefined;
  /** The type of the table's indices. */
  readonly tableAddress: Address;
  readonly hasMemory: boolean;
  readonly mutable: readonly number[];
  readonly mutableTypes: readonly string[];
  readonly vectors: readonly number[];
  readonly start: number | undefined;
}

function readLayout(sections: Sections): Layout {
  const types = readTypes(sections);
  const globals = readGlobals(sections);
  const memory = readMemory(sections);
  const [table] = readTables(sections);
  const mutable = globals.flatMap(({ isMutable }, index) => (isMutable ? [index] : []));
  const numbers = mutable.filter((index) => globals[index]?.type !== 'v');
  return {
    address: memory?.address ?? 'i',
    types: types.length,
    functions: readImports(sections, types).length + openVector(sections, section.function).count,
    globals: globals.length,
    table: table && (table.holdsFunctions ? 'functions' : 'references'),
    tableAddress: table?.address ?? 'i',
    hasMemory: memory !== undefined,
    mutable: numbers,
    mutableTypes: numbers.map((index) => globals[index]?.type ?? ''),
    vectors: mutable.filter((index) => globals[index]?.type === 'v'),
    start: readStart(sections),
  };
}

/** Appends entries to a vector section. */
function extendVector(
  sections: Sections,
  options: { readonly id: number; readonly added: readonly (readonly number[])[] },
): Uint8Array {
  const { reader, count } = openVector(sections, options.id);
  const writer = new ByteWriter((sections.known.get(options.id)?.length ?? 0) + 256);
  writer.u32(count + options.added.length);
  writer.slice(reader.bytes, { start: reader.position, end: reader.end });
  for (const entry of options.added) writer.bytes(entry);
  return writer.view();
}

function encodeU32(value: number): number[] {
  const writer = new ByteWriter(8);
  writer.u32(value);
  return [...writer.view()];
}

/** A function appended to the module. */
interface Added {
  /** Including the byte 0x60. */
  readonly type: readonly number[];
  /** Without its size; it has no locals. */
  readonly body: readonly number[];
  readonly name?: string;
}

const i32 = 0x7f;
const i64 = 0x7e;

/** Charges `amount`, code that leaves an i64 on the stack; traps if the counter falls below 0. */
function chargeOf(amount: readonly number[], layout: Layout): number[] {
  const counter = encodeU32(layout.globals);
  return [
    ...[op.globalGet, ...counter, ...amount, op.i64Sub, op.globalSet, ...counter],
    ...[op.globalGet, ...counter, op.i64Const, 0, op.i64LessSigned, op.if, op.emptyBlock],
    ...[op.call, ...encodeU32(layout.functions), op.end],
  ];
}

/** More than any limit, so that larger lengths cannot wrap the counter around. */
const lengthMax = 2 ** 48;

function encodeSigned(value: number): number[] {
  const writer = new ByteWriter(16);
  writer.signed(value);
  return [...writer.view()];
}

function vectorFunctions(index: number): Added[] {
  const names = vectorExports(index);
  const global = encodeU32(index);
  const get = [0, 1].flatMap((lane) => [
    ...[op.globalGet, ...global, op.prefixVector, vector.i64ExtractLane, lane],
  ]);
  const set = [
    ...[op.localGet, 0, op.prefixVector, vector.i64Splat],
    ...[op.localGet, 1, op.prefixVector, vector.i64ReplaceLane, 1, op.globalSet, ...global],
  ];
  return [
    { type: [0, 2, i64, i64], body: [0, ...get, op.end], name: names.get },
    { type: [2, i64, i64, 0], body: [0, ...set, op.end], name: names.set },
  ];
}

/** Returns the added functions; the first three have the order of `additionsOf()`. */
function addedFunctions(layout: Layout): Added[] {
  const flag = encodeU32(layout.globals + 1);
  const longest = [op.i64Const, ...encodeSigned(lengthMax)];
  const shortened = [
    ...[op.localGet, 0, ...longest, op.localGet, 0, ...longest],
    ...[op.i64LessUnsigned, op.select],
  ];
  const raise = [op.i32Const, 1, op.globalSet, ...flag, op.unreachable];
  const charge32 = chargeOf([op.localGet, 0, op.i64ExtendUnsigned], layout);
  const charge64 = chargeOf(shortened, layout);
  const added: Added[] = [
    { type: [0, 0], body: [0, ...raise, op.end] },
    { type: [1, i32, 1, i32], body: [0, ...charge32, op.localGet, 0, op.end] },
    { type: [1, i64, 1, i64], body: [0, ...charge64, op.localGet, 0, op.end] },
  ];
  added.push(...layout.vectors.flatMap(vectorFunctions));
  if (layout.table !== 'functions') return added;
  const word = layout.address === 'i' ? i32 : i64;
  const type = encodeU32(layout.types + added.length + 1);
  const extend = layout.tableAddress === 'I' ? [op.i64ExtendUnsigned] : [];
  const invoke = [op.localGet, 0, op.localGet, 1, ...extend, op.callIndirect, ...type, 0];
  return [
    ...added,
    { type: [2, word, i32, 0], body: [0, ...invoke, op.end], name: callbackExport },
  ];
}

/** Returns the type of a callback. IC spec, "Entry points". */
const callbackType = (layout: Layout) => [0x60, 1, layout.address === 'i' ? i32 : i64, 0];

function additionsOf(layout: Layout) {
  return {
    counter: layout.globals,
    exhausted: layout.functions,
    chargeLength: layout.functions + 1,
    chargeLength64: layout.functions + 2,
  };
}

const kindCodes = { function: 0, table: 1, memory: 2, global: 3 } as const;

function addedExports(layout: Layout, functions: readonly Added[]): ModuleExport[] {
  const { counter } = additionsOf(layout);
  const added: ModuleExport[] = [
    { name: counterExport, kind: 'global', index: counter },
    { name: exhaustedExport, kind: 'global', index: counter + 1 },
  ];
  if (layout.hasMemory) added.push({ name: memoryExport, kind: 'memory', index: 0 });
  if (layout.start !== undefined) {
    added.push({ name: startExport, kind: 'function', index: layout.start });
  }
  if (layout.table) added.push({ name: tableExport, kind: 'table', index: 0 });
  functions.forEach(({ name }, index) => {
    if (name) added.push({ name, kind: 'function', index: layout.functions + index });
  });
  for (const index of layout.mutable) {
    added.push({ name: globalExport(index), kind: 'global', index });
  }
  return added;
}

function encodeExport(entry: ModuleExport): number[] {
  const writer = new ByteWriter(32);
  writer.name(entry.name);
  writer.byte(kindCodes[entry.kind]);
  writer.u32(entry.index);
  return [...writer.view()];
}

function assemble(sections: Sections, replaced: ReadonlyMap<number, Uint8Array>): Uint8Array {
  const total = [...sections.known.values(), ...replaced.values()];
  const writer = new ByteWriter(total.reduce((sum, content) => sum + content.length + 8, 64));
  writer.bytes([0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00]);
  for (const id of sectionOrder) {
    if (id === section.start) continue;
    const content = replaced.get(id) ?? sections.known.get(id);
    if (content === undefined) continue;
    writer.byte(id);
    writer.u32(content.length);
    writer.bytes(content);
  }
  for (const { name, content } of sections.custom) {
    if (name !== 'name') continue;
    const head = new ByteWriter(16);
    head.name(name);
    writer.byte(section.custom);
    writer.u32(head.length + content.length);
    writer.bytes(head.view());
    writer.bytes(content);
  }
  return writer.view();
}

/** The network's counters of instructions, and of dirty and accessed pages of stable memory. */
const networkGlobals = 3;

/** Throws InvalidModule; V8 validates the rest at compilation. */
export function instrument(sections: Sections): Instrumented {
  const layout = readLayout(sections);
  const { address, tableAddress, mutable: globals, vectors } = layout;
  const functions = addedFunctions(layout);
  const code = meterCode({
    content: sections.known.get(section.code) ?? Uint8Array.of(0),
    additions: additionsOf(layout),
    address,
    extra: functions.map(({ body }) => Uint8Array.from(body)),
  });
  const counters = [
    [i64, 1, op.i64Const, 0, op.end],
    [i32, 1, op.i32Const, 0, op.end],
  ];
  const types = functions.map(({ type }) => [0x60, ...type]);
  const added = new Map<number, readonly (readonly number[])[]>([
    [section.type, [...types, callbackType(layout)]],
    [section.function, functions.map((_, index) => encodeU32(layout.types + index))],
    [section.global, counters],
    [section.export, addedExports(layout, functions).map(encodeExport)],
  ]);
  const replaced = new Map<number, Uint8Array>([[section.code, code.content]]);
  for (const [id, entries] of added) {
    replaced.set(id, extendVector(sections, { id, added: entries }));
  }
  return {
    module: assemble(sections, replaced),
    address,
    tableAddress,
    hasStart: layout.start !== undefined,
    // A global has one instruction and an end.
    instructions: code.instructions + 2 * (layout.globals + networkGlobals),
    globals,
    globalTypes: layout.mutableTypes,
    vectors,
  };
}
