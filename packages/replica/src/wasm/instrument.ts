// Makes of a canister's module the one that runs: with an instruction counter, and with table,
// memory and mutable globals exported so that the host can roll them back. It knows no System API.

import { ByteReader } from './byte-reader.ts';
import { ByteWriter } from './byte-writer.ts';
import { meterCode } from './meter-code.ts';
import { op } from './opcodes.ts';
import type { ModuleExport, Sections } from './sections.ts';
import {
  cutSections,
  openVector,
  readDormantFunctions,
  readExports,
  readGlobals,
  readImports,
  readTypes,
  section,
} from './sections.ts';

/** Names of the exports that the instrumentation adds; a canister's own may not start so. */
export const exportPrefix = 'replica ';
export const counterExport = `${exportPrefix}counter`;
export const exhaustedExport = `${exportPrefix}exhausted`;
export const startExport = `${exportPrefix}start`;
export const memoryExport = `${exportPrefix}memory`;
export const tableExport = (index: number) => `${exportPrefix}table ${index}`;
export const globalExport = (index: number) => `${exportPrefix}global ${index}`;
export const functionExport = (index: number) => `${exportPrefix}function ${index}`;

export interface Instrumented {
  readonly module: Uint8Array;
  readonly hasStart: boolean;
  readonly hasMemory: boolean;
  readonly tables: number;
  readonly changesTables: boolean;
  /** What the network's compiler would have to work through: those of functions and globals. */
  readonly instructions: number;
  /** Indices of the mutable globals, each exported as `globalExport(index)`. */
  readonly globals: readonly number[];
  /** Their types, as in FunctionType. */
  readonly globalTypes: readonly string[];
  /** Indices of functions that a table may hold besides its first entries, exported. */
  readonly functions: readonly number[];
}

interface Layout {
  readonly types: number;
  readonly functions: number;
  readonly globals: number;
  readonly tables: number;
  readonly memories: number;
  readonly mutable: readonly number[];
  readonly mutableTypes: readonly string[];
  readonly exports: readonly ModuleExport[];
  readonly start: number | undefined;
}

function readLayout(sections: Sections): Layout {
  const types = readTypes(sections);
  const globals = readGlobals(sections);
  const start = sections.known.get(section.start);
  return {
    types: types.length,
    functions: readImports(sections, types).length + openVector(sections, section.function).count,
    globals: globals.length,
    tables: openVector(sections, section.table).count,
    memories: openVector(sections, section.memory).count,
    mutable: globals.flatMap((shape, index) => (shape.isMutable && !shape.isVector ? [index] : [])),
    mutableTypes: globals.flatMap(({ type, isMutable, isVector }) =>
      isMutable && !isVector ? [type] : [],
    ),
    exports: readExports(sections),
    start: start && new ByteReader(start).u32(),
  };
}

/** A vector section with entries put behind those it has. */
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

/** Bodies of the two added functions: no locals, then code. */
function addedBodies(layout: Layout): Uint8Array[] {
  const counter = encodeU32(layout.globals);
  const flag = encodeU32(layout.globals + 1);
  const exhausted = encodeU32(layout.functions);
  const raise = [0, op.i32Const, 1, op.globalSet, ...flag, op.unreachable, op.end];
  const charge = [
    [0, op.globalGet, ...counter, op.localGet, 0, op.i64ExtendUnsigned, op.i64Sub],
    [op.globalSet, ...counter, op.globalGet, ...counter, op.i64Const, 0, op.i64LessSigned],
    [op.if, op.emptyBlock, op.call, ...exhausted, op.end, op.localGet, 0, op.end],
  ];
  return [Uint8Array.from(raise), Uint8Array.from(charge.flat())];
}

const kindCodes = { function: 0, table: 1, memory: 2, global: 3 } as const;

function addedExports(layout: Layout, functions: readonly number[]): ModuleExport[] {
  const added: ModuleExport[] = [
    { name: counterExport, kind: 'global', index: layout.globals },
    { name: exhaustedExport, kind: 'global', index: layout.globals + 1 },
  ];
  if (layout.memories > 0) added.push({ name: memoryExport, kind: 'memory', index: 0 });
  if (layout.start !== undefined) {
    added.push({ name: startExport, kind: 'function', index: layout.start });
  }
  for (let index = 0; index < layout.tables; index += 1) {
    added.push({ name: tableExport(index), kind: 'table', index });
  }
  for (const index of layout.mutable) {
    added.push({ name: globalExport(index), kind: 'global', index });
  }
  for (const index of functions) {
    added.push({ name: functionExport(index), kind: 'function', index });
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

const order = [1, 2, 3, 4, 5, 6, 7, 9, 12, 10, 11];

function assemble(sections: Sections, replaced: ReadonlyMap<number, Uint8Array>): Uint8Array {
  const total = [...sections.known.values(), ...replaced.values()];
  const writer = new ByteWriter(total.reduce((sum, content) => sum + content.length + 8, 64));
  writer.bytes([0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00]);
  for (const id of order) {
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

/** `module` is plain WebAssembly. Throws InvalidModule; V8 validates the rest when it compiles. */
export function instrument(module: Uint8Array): Instrumented {
  const sections = cutSections(module);
  const layout = readLayout(sections);
  const additions = {
    counter: layout.globals,
    exhausted: layout.functions,
    chargeLength: layout.functions + 1,
  };
  const code = meterCode({
    content: sections.known.get(section.code) ?? Uint8Array.of(0),
    additions,
    extra: addedBodies(layout),
  });
  const dormant = code.changesTables ? readDormantFunctions(sections) : [];
  const functions = code.changesTables ? [...new Set([...code.referenced, ...dormant])] : [];
  const exports = addedExports(layout, functions).map(encodeExport);
  const type = encodeU32(layout.types);
  const lengthType = encodeU32(layout.types + 1);
  const signatures = [
    [0x60, 0, 0],
    [0x60, 1, 0x7f, 1, 0x7f],
  ];
  const globals = [
    [0x7e, 1, op.i64Const, 0, op.end],
    [0x7f, 1, op.i32Const, 0, op.end],
  ];
  const replaced = new Map<number, Uint8Array>([
    [section.type, extendVector(sections, { id: section.type, added: signatures })],
    [section.function, extendVector(sections, { id: section.function, added: [type, lengthType] })],
    [section.global, extendVector(sections, { id: section.global, added: globals })],
    [section.export, extendVector(sections, { id: section.export, added: exports })],
    [section.code, code.content],
  ]);
  return {
    module: assemble(sections, replaced),
    hasStart: layout.start !== undefined,
    hasMemory: layout.memories > 0,
    tables: layout.tables,
    changesTables: code.changesTables,
    // A global begins with one instruction and an end.
    instructions: code.instructions + 2 * layout.globals,
    globals: layout.mutable,
    globalTypes: layout.mutableTypes,
    functions,
  };
}
