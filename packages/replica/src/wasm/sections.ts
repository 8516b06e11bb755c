// Cutting a module into its sections, and reading those that the instrumentation and the install
// checks need. It changes nothing. WebAssembly Core specification, §5.5 "Modules".

import { ByteReader } from './byte-reader.ts';
import { skipConstantExpression } from './instruction.ts';
import { InvalidModule } from './invalid-module.ts';

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
  /** Value types as letters: i i32, I i64, f f32, F f64, v v128, r reference. */
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

const header = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];

export function cutSections(module: Uint8Array): Sections {
  if (header.some((byte, index) => module[index] !== byte)) {
    throw new InvalidModule('the bytes do not start with the header of a WebAssembly module');
  }
  const known = new Map<number, Uint8Array>();
  const custom: { name: string; content: Uint8Array }[] = [];
  const reader = new ByteReader(module, header.length);
  while (!reader.done()) {
    const id = reader.byte();
    const content = reader.blob();
    if (id === section.custom) {
      const inner = new ByteReader(content);
      const name = inner.name();
      custom.push({ name, content: content.subarray(inner.position) });
    } else if (id > section.dataCount) {
      throw new InvalidModule(`section ${id} is not supported by the network`);
    } else if (known.has(id)) throw new InvalidModule(`section ${id} occurs twice`);
    else known.set(id, content);
  }
  return { known, custom };
}

const empty = Uint8Array.of(0);

/** A reader at the first entry of a section that is a vector, and its count of entries. */
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
  111: 'r',
};

function readValueTypes(reader: ByteReader): string {
  let letters = '';
  for (let count = reader.u32(); count > 0; count -= 1) {
    const letter = valueLetters[reader.byte()];
    if (letter === undefined) throw new InvalidModule('an unknown value type in a function type');
    letters += letter;
  }
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

/** The network takes function imports alone. */
export function readImports(sections: Sections, types: readonly FunctionType[]): FunctionImport[] {
  const { reader, count } = openVector(sections, section.import);
  return Array.from({ length: count }, () => {
    const module = reader.name();
    const name = reader.name();
    if (reader.byte() !== 0) {
      throw new InvalidModule(
        `import ${module}.${name} is not a function; only functions can be imported`,
      );
    }
    const type = types[reader.u32()];
    if (type === undefined) throw new InvalidModule(`import ${module}.${name} has no type`);
    return { module, name, type };
  });
}

/** The types of the module's own functions, in order. */
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
  /** As in FunctionType. */
  readonly type: string;
  readonly isMutable: boolean;
  readonly isVector: boolean;
}

export function readGlobals(sections: Sections): GlobalShape[] {
  const { reader, count } = openVector(sections, section.global);
  return Array.from({ length: count }, () => {
    const type = valueLetters[reader.byte()] ?? '';
    const isMutable = reader.byte() === 1;
    skipConstantExpression(reader);
    return { type, isMutable, isVector: type === 'v' };
  });
}

/** The functions that passive and declared element segments name: what a table may hold later. */
export function readDormantFunctions(sections: Sections): Set<number> {
  const { reader, count } = openVector(sections, section.element);
  const dormant = new Set<number>();
  for (let segment = 0; segment < count; segment += 1) {
    const flags = reader.u32();
    const isActive = (flags & 1) === 0;
    const note = (index: number) => void (isActive || dormant.add(index));
    if (isActive) {
      if (flags & 2) reader.u32();
      skipConstantExpression(reader);
    }
    if (flags & 3) reader.byte();
    for (let entries = reader.u32(); entries > 0; entries -= 1) {
      if (flags & 4) skipConstantExpression(reader, note);
      else note(reader.u32());
    }
  }
  return dormant;
}
