// Splits a module into its sections, and reads those that the instrumentation and the install
// checks need. WebAssembly Core specification, §5.5 "Modules".

import { ByteReader } from './byte-reader.ts';
import { readConstant } from './instruction.ts';
import { EngineRefusal, InvalidModule, notDecoded, notValidated } from './invalid-module.ts';

export const section = {
  custom: 0,
  type: 1,
  import: 2,
  function: 3,
  table: 4,
  memory: 5,
  global: 6,
  export: 7,
  start: 8,
  element: 9,
  code: 10,
  data: 11,
  dataCount: 12,
} as const;

export type ExternalKind = 'function' | 'table' | 'memory' | 'global';
const externalKinds: readonly ExternalKind[] = ['function', 'table', 'memory', 'global'];

export interface FunctionType {
  /** Value types as letters: i i32, I i64, f f32, F f64, v v128, r funcref, e externref. */
  readonly params: string;
  readonly results: string;
}

export interface FunctionImport {
  readonly module: string;
  readonly name: string;
  readonly type: FunctionType;
}

export interface ModuleExport {
  readonly name: string;
  readonly kind: ExternalKind;
  readonly index: number;
}

/** A module's sections by id, as views of the binary; custom sections in order. */
export interface Sections {
  readonly known: ReadonlyMap<number, Uint8Array>;
  readonly custom: readonly { readonly name: string; readonly content: Uint8Array }[];
}

/** The order of the sections: §5.5.2 of the specification. */
export const sectionOrder: readonly number[] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 10, 11];

const header = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];

export function cutSections(module: Uint8Array): Sections {
  if (header.some((byte, index) => module[index] !== byte)) {
    throw notDecoded('unsupported canister module format.');
  }
  const known = new Map<number, Uint8Array>();
  const custom: { name: string; content: Uint8Array }[] = [];
  const reader = new ByteReader(module, header.length);
  let last = -1;
  while (!reader.done()) {
    const id = reader.byte();
    const content = reader.blob();
    if (id === section.custom) {
      const inner = new ByteReader(content);
      const name = inner.name();
      custom.push({ name, content: content.subarray(inner.position) });
      continue;
    }
    if (id > section.dataCount) {
      throw notDecoded(`malformed section id: ${id}`);
    }
    const place = sectionOrder.indexOf(id);
    if (place <= last) throw notValidated(`section ${id} out of order`);
    last = place;
    known.set(id, content);
  }
  return { known, custom };
}

const empty = Uint8Array.of(0);

/** Returns a reader at the first entry of a vector section, and the number of entries. */
export function openVector(sections: Sections, id: number): { reader: ByteReader; count: number } {
  const reader = new ByteReader(sections.known.get(id) ?? empty);
  return { reader, count: reader.u32() };
}

const valueLetters: Readonly<Record<number, string>> = {
  127: 'i',
  126: 'I',
  125: 'f',
  124: 'F',
  123: 'v',
  112: 'r',
  111: 'e',
};

export function readValueType(reader: ByteReader): string {
  const type = reader.byte();
  const letter = valueLetters[type];
  if (letter === undefined) throw notValidated(`value type 0x${type.toString(16)}`);
  return letter;
}

function readValueTypes(reader: ByteReader): string {
  let letters = '';
  for (let count = reader.u32(); count > 0; count -= 1) letters += readValueType(reader);
  return letters;
}

export function readTypes(sections: Sections): FunctionType[] {
  const { reader, count } = openVector(sections, section.type);
  return Array.from({ length: count }, () => {
    if (reader.byte() !== 0x60) throw new InvalidModule('only function types are supported');
    const params = readValueTypes(reader);
    return { params, results: readValueTypes(reader) };
  });
}

const importRefusals: Readonly<Record<number, string>> = {
  1: 'Importing tables is not allowed.',
  3: 'Importing globals is not allowed.',
  4: 'Importing tags is not allowed.',
};

/** The network only supports function imports. */
export function readImports(sections: Sections, types: readonly FunctionType[]): FunctionImport[] {
  const { reader, count } = openVector(sections, section.import);
  return Array.from({ length: count }, () => {
    const module = reader.name();
    const name = reader.name();
    const kind = reader.byte();
    // `dfinity/ic` validates no imports of memories, so that wasmtime's linker refuses them.
    if (kind === 2)
      throw new EngineRefusal(`unknown import: \`${module}::${name}\` has not been defined`);
    if (kind !== 0) {
      const why = importRefusals[kind] ?? `${module}.${name} is of an unknown kind.`;
      throw new InvalidModule(`Wasm module has an invalid import section. ${why}`);
    }
    const type = types[reader.u32()];
    if (type === undefined) throw new InvalidModule(`import ${module}.${name} has no type`);
    return { module, name, type };
  });
}

/** Returns the types of the module's own functions, in order. */
export function readFunctions(
  sections: Sections,
  types: readonly FunctionType[],
): (FunctionType | undefined)[] {
  const { reader, count } = openVector(sections, section.function);
  return Array.from({ length: count }, () => types[reader.u32()]);
}

export function readExports(sections: Sections): ModuleExport[] {
  const { reader, count } = openVector(sections, section.export);
  return Array.from({ length: count }, () => {
    const name = reader.name();
    const kind = externalKinds[reader.byte()];
    if (kind === undefined) throw new InvalidModule(`export ${name} is of an unknown kind`);
    return { name, kind, index: reader.u32() };
  });
}

export interface GlobalShape {
  readonly isMutable: boolean;
  /** The letter of the global's type. */
  readonly type: string;
}

export function readGlobals(sections: Sections): GlobalShape[] {
  const { reader, count } = openVector(sections, section.global);
  return Array.from({ length: count }, () => {
    const type = readValueType(reader);
    const isMutable = reader.byte() === 1;
    readConstant(reader);
    return { isMutable, type };
  });
}

/** Returns the index of the function that runs at instantiation. */
export function readStart(sections: Sections): number | undefined {
  const content = sections.known.get(section.start);
  return content && new ByteReader(content).u32();
}
