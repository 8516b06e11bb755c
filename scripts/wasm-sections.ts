// Reads and rewrites the outer structure of a Wasm module: sections, imports' module names,
// exports, the table of functions. It reads no instructions. WebAssembly core specification, Binary
// Format, 5.5.

export interface WasmSection {
  readonly id: number;
  readonly content: Uint8Array;
}

const headerBytes = 8;
const customSection = 0;
const exportSection = 7;
const elementSection = 9;
const functionReference = 0x70;
const hasMaximumFlag = 1;
const i32Const = 0x41;
const end = 0x0b;

/** A place in a section that moves forward as values are read. */
interface Cursor {
  readonly bytes: Uint8Array;
  at: number;
}

export function readSections(wasm: Uint8Array): WasmSection[] {
  const isWasm = wasm[0] === 0 && wasm[1] === 0x61 && wasm[2] === 0x73 && wasm[3] === 0x6d;
  if (!isWasm) throw new Error('Cannot read the module: it is not Wasm');
  const cursor: Cursor = { bytes: wasm, at: headerBytes };
  const sections: WasmSection[] = [];
  while (cursor.at < wasm.length) {
    const id = readByte(cursor);
    const size = readUnsigned(cursor);
    sections.push({ id, content: take(cursor, size) });
  }
  return sections;
}

export function writeSections(sections: readonly WasmSection[]): Uint8Array {
  const parts: Uint8Array[] = [Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0)];
  for (const { id, content } of sections) {
    parts.push(Uint8Array.of(id), unsigned(content.length), content);
  }
  return new Uint8Array(Buffer.concat(parts));
}

export interface WasmImport {
  readonly module: string;
  readonly name: string;
}

export interface WasmExport {
  readonly name: string;
  /** 0 function, 1 table, 2 memory, 3 global */
  readonly kind: number;
  readonly index: number;
}

export interface WasmTable {
  readonly minimum: number;
  readonly maximum: number | undefined;
}

export function readImports(sections: readonly WasmSection[]): WasmImport[] {
  return readEntries(sections, importEntries).map(({ value }) => value);
}

export function readExports(sections: readonly WasmSection[]): WasmExport[] {
  return readEntries(sections, exportEntries).map(({ value }) => value);
}

/** Returns the module with the imports from module `from` renamed to module `to`. */
export function renameImportModule(
  sections: readonly WasmSection[],
  names: { readonly from: string; readonly to: string },
): WasmSection[] {
  return rewriteEntries(sections, importEntries, ({ value, bytes }) => {
    if (value.module !== names.from) return bytes;
    return Buffer.concat([name(names.to), bytes.subarray(name(names.from).length)]);
  });
}

/** Returns the module's own tables. */
export function readTables(sections: readonly WasmSection[]): WasmTable[] {
  return readEntries(sections, tableEntries).map(({ value }) => value);
}

/** Returns the module with one more export. It must have a section of exports. */
export function withExport(sections: readonly WasmSection[], added: WasmExport): WasmSection[] {
  const entry = Buffer.concat([name(added.name), Uint8Array.of(added.kind), unsigned(added.index)]);
  return withEntry(sections, exportSection, new Uint8Array(entry));
}

/** Returns the module with these functions in its only table, from `start` on. */
export function withTableEntries(
  sections: readonly WasmSection[],
  added: { readonly start: number; readonly functions: readonly number[] },
): WasmSection[] {
  const { start, functions } = added;
  const size = unsigned(start + functions.length);
  const grown = rewriteEntries(sections, tableEntries, () =>
    Buffer.concat([Uint8Array.of(functionReference, hasMaximumFlag), size, size]),
  );
  // 5.5.12: an active segment of table 0 that begins at a constant offset
  const offset = [Uint8Array.of(i32Const), signed(start), Uint8Array.of(end)];
  const indices = functions.map(unsigned);
  const parts = [unsigned(0), ...offset, unsigned(functions.length), ...indices];
  return withEntry(grown, elementSection, new Uint8Array(Buffer.concat(parts)));
}

/** Appends an entry to a vector section. */
function withEntry(sections: readonly WasmSection[], id: number, entry: Uint8Array): WasmSection[] {
  if (!sections.some((section) => section.id === id)) {
    throw new Error(`Cannot rewrite the module: it has no section ${id}`);
  }
  return sections.map((section) => {
    if (section.id !== id) return section;
    const cursor: Cursor = { bytes: section.content, at: 0 };
    const count = readUnsigned(cursor);
    const content = Buffer.concat([
      unsigned(count + 1),
      section.content.subarray(cursor.at),
      entry,
    ]);
    return { id, content: new Uint8Array(content) };
  });
}

/** Returns the module without the exports of these names. */
export function dropExports(
  sections: readonly WasmSection[],
  names: ReadonlySet<string>,
): WasmSection[] {
  return rewriteEntries(sections, exportEntries, ({ value, bytes }) =>
    names.has(value.name) ? undefined : bytes,
  );
}

/** A section that is a vector, and the function that reads an entry. */
interface EntryFormat<Value> {
  readonly section: number;
  readonly read: (cursor: Cursor) => Value;
}

interface Entry<Value> {
  readonly value: Value;
  readonly bytes: Uint8Array;
}

const importEntries: EntryFormat<WasmImport> = {
  section: 2,
  read: (cursor) => {
    const entry = { module: readName(cursor), name: readName(cursor) };
    skipImportType(cursor);
    return entry;
  },
};

const exportEntries: EntryFormat<WasmExport> = {
  section: exportSection,
  read: (cursor) => {
    return { name: readName(cursor), kind: readByte(cursor), index: readUnsigned(cursor) };
  },
};

/** 5.5.7: a table of functions without an initial value. */
const tableEntries: EntryFormat<WasmTable> = {
  section: 4,
  read: (cursor) => {
    if (readByte(cursor) !== functionReference) {
      throw new Error('Cannot read the module: a table has elements that are not functions');
    }
    return readLimits(cursor);
  },
};

function readEntries<Value>(
  sections: readonly WasmSection[],
  format: EntryFormat<Value>,
): Entry<Value>[] {
  const section = sections.find(({ id }) => id === format.section);
  if (section === undefined) return [];
  const cursor: Cursor = { bytes: section.content, at: 0 };
  const count = readUnsigned(cursor);
  return Array.from({ length: count }, () => {
    const start = cursor.at;
    const value = format.read(cursor);
    return { value, bytes: section.content.subarray(start, cursor.at) };
  });
}

/** Replaces each entry by the bytes that `rewrite` returns, or removes it. */
function rewriteEntries<Value>(
  sections: readonly WasmSection[],
  format: EntryFormat<Value>,
  rewrite: (entry: Entry<Value>) => Uint8Array | undefined,
): WasmSection[] {
  const entries = readEntries(sections, format).map(rewrite);
  const kept = entries.filter((bytes) => bytes !== undefined);
  const content = new Uint8Array(Buffer.concat([unsigned(kept.length), ...kept]));
  return sections.map((section) =>
    section.id === format.section ? { ...section, content } : section,
  );
}

/** 5.4.4 and 5.5.5: a function's type index, or a table, memory, global or tag. */
function skipImportType(cursor: Cursor): void {
  const kind = readByte(cursor);
  if (kind === 0) readUnsigned(cursor);
  else if (kind === 1) {
    readByte(cursor);
    readLimits(cursor);
  } else if (kind === 2) readLimits(cursor);
  else if (kind === 3) cursor.at += 2;
  else throw new Error(`Cannot read the module: import kind ${kind} is not known`);
}

function readLimits(cursor: Cursor): WasmTable {
  const hasMaximum = (readByte(cursor) & hasMaximumFlag) !== 0;
  const minimum = readUnsigned(cursor);
  return { minimum, maximum: hasMaximum ? readUnsigned(cursor) : undefined };
}

function readByte(cursor: Cursor): number {
  const byte = cursor.bytes[cursor.at++];
  if (byte === undefined) throw new Error('Cannot read the module: it ends too soon');
  return byte;
}

/** LEB128, 5.2.2 */
function readUnsigned(cursor: Cursor): number {
  let value = 0;
  for (let factor = 1; ; factor *= 128) {
    const byte = readByte(cursor);
    value += (byte & 127) * factor;
    if (byte < 128) return value;
  }
}

function readName(cursor: Cursor): string {
  return Buffer.from(take(cursor, readUnsigned(cursor))).toString('utf8');
}

function take(cursor: Cursor, size: number): Uint8Array {
  const end = cursor.at + size;
  if (end > cursor.bytes.length) throw new Error('Cannot read the module: it ends too soon');
  const part = cursor.bytes.subarray(cursor.at, end);
  cursor.at = end;
  return part;
}

function unsigned(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  do {
    const low = rest % 128;
    rest = Math.floor(rest / 128);
    bytes.push(rest > 0 ? low + 128 : low);
  } while (rest > 0);
  return Uint8Array.from(bytes);
}

/** Encodes a non-negative number as signed LEB128. */
function signed(value: number): Uint8Array {
  const bytes = unsigned(value);
  const last = bytes.length - 1;
  if ((bytes[last] ?? 0) < 64) return bytes;
  bytes[last] = (bytes[last] ?? 0) + 128;
  return Uint8Array.of(...bytes, 0);
}

function name(text: string): Uint8Array {
  const bytes = Buffer.from(text, 'utf8');
  return new Uint8Array(Buffer.concat([unsigned(bytes.length), bytes]));
}

/** Returns the module with that custom section, which replaces one with the same name. */
export function withCustomSection(
  sections: readonly WasmSection[],
  custom: { readonly name: string; readonly content: Uint8Array },
): WasmSection[] {
  const others = sections.filter(({ id, content }) => {
    return id !== customSection || readName({ bytes: content, at: 0 }) !== custom.name;
  });
  const content = new Uint8Array(Buffer.concat([name(custom.name), custom.content]));
  return [...others, { id: customSection, content }];
}
