// Checks a module as the network does at install, beyond WebAssembly validation; `meter-code.ts`
// checks the code itself. IC spec, "WebAssembly module requirements"; `dfinity/ic`
// `rs/embedders/src/wasm_utils/validation.rs`: validate_wasm_binary.

import { checkExports, checkImports, type SystemInterface } from './check-functions.ts';
import { EngineRefusal, InvalidModule, notValidated } from './invalid-module.ts';
import {
  type Address,
  checkElements,
  type MemoryShape,
  readDataOffsets,
  readMemory,
  readTables,
} from './memories.ts';
import {
  codeBytesMax,
  functionsMax,
  globalsMax,
  heapPages64Max,
  tableEntriesMax,
  tablesMax,
} from './module-limits.ts';
import { op } from './opcodes.ts';
import {
  type FunctionType,
  openVector,
  readExports,
  readFunctions,
  readGlobals,
  readImports,
  readStart,
  readTypes,
  type Sections,
  section,
} from './sections.ts';

/** Signatures of the functions of `ic0`, by the type of the module's addresses. */
export type SystemInterfaces = Readonly<Record<Address, SystemInterface>>;

function tooMany(what: string, defined: number, allowed: number): InvalidModule {
  return new InvalidModule(
    `Wasm module defined ${defined} ${what} which exceeds the maximum number allowed ${allowed}.`,
  );
}

/** Throws InvalidModule for a module that is too large for the network's compiler. */
export function checkCodeSize(sections: Sections): void {
  const size = sections.known.get(section.code)?.length ?? 0;
  if (size <= codeBytesMax) return;
  throw new InvalidModule(
    `Wasm module code section size of ${size} exceeds the maximum allowed size of ${codeBytesMax}.`,
  );
}

function checkGlobals(sections: Sections): void {
  const { count } = openVector(sections, section.global);
  if (count > globalsMax) throw tooMany('globals', count, globalsMax);
  for (const { type } of readGlobals(sections)) {
    if (type !== 'r' && type !== 'e') continue;
    const name = type === 'r' ? 'funcref' : 'externref';
    throw new InvalidModule(
      `Wasm module has an invalid global section. Unsupported global type: ${name}`,
    );
  }
}

/** Checks the size of a 64-bit memory; V8 checks a 32-bit one. */
function checkMemory(memory: MemoryShape | undefined): void {
  if (memory?.address !== 'I') return;
  const pages = Math.max(memory.minimum, memory.maximum ?? 0);
  if (pages <= heapPages64Max) return;
  throw new InvalidModule(
    `Wasm module defined a memory of ${pages} pages which exceeds the maximum number allowed ` +
      `${heapPages64Max}.`,
  );
}

function checkTables(sections: Sections): void {
  const tables = readTables(sections);
  if (tables.length > tablesMax) {
    throw new EngineRefusal(`resource limit exceeded: table count too high at ${tables.length}`);
  }
  for (const { minimum } of tables) {
    if (minimum <= tableEntriesMax) continue;
    throw new EngineRefusal(
      `table minimum size of ${minimum} elements exceeds table limits of ${tableEntriesMax}`,
    );
  }
  checkElements(sections);
}

function checkData(sections: Sections, address: Address): void {
  const [expected, bits] = address === 'I' ? [op.i64Const, 64] : [op.i32Const, 32];
  for (const opcode of readDataOffsets(sections)) {
    if (opcode === expected) continue;
    throw new InvalidModule(
      'Wasm module has an invalid data section. Invalid offset expression in data segment for ' +
        `${bits}bit memory: instruction 0x${opcode.toString(16)}`,
    );
  }
}

/** The instrumentation turns the start function into an export, so V8 does not check it. */
function checkStart(sections: Sections, functions: readonly (FunctionType | undefined)[]): void {
  const start = readStart(sections);
  if (start === undefined) return;
  const type = functions[start];
  if (type === undefined || type.params !== '' || type.results !== '') {
    throw notValidated('invalid start function type');
  }
}

/** Throws InvalidModule with the reason. */
export function checkModule(sections: Sections, interfaces: SystemInterfaces): void {
  const memory = readMemory(sections);
  const address = memory?.address ?? 'i';
  const types = readTypes(sections);
  const imports = readImports(sections, types);
  const functions = [...imports.map(({ type }) => type), ...readFunctions(sections, types)];
  checkStart(sections, functions);
  checkImports(imports, interfaces[address]);
  checkExports(readExports(sections), functions);
  checkData(sections, address);
  checkGlobals(sections);
  const { count } = openVector(sections, section.function);
  if (count > functionsMax) throw tooMany('functions', count, functionsMax);
  checkMemory(memory);
  checkTables(sections);
}
