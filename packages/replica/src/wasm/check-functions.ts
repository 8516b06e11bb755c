// Checks the module's functions by the network's rules: imports must belong to the System API, and
// exports with reserved names must be entry points. The System API is passed in as lists. IC spec,
// "WebAssembly module requirements"; `dfinity/ic` `rs/embedders/src/wasm_utils/validation.rs`.

import { exportPrefix } from './instrument.ts';
import { InvalidModule } from './invalid-module.ts';
import { methodNameBytesMax, methodsMax } from './module-limits.ts';
import type { FunctionImport, FunctionType, ModuleExport } from './sections.ts';

/** Signatures of the functions of `ic0`, by name. */
export type SystemInterface = ReadonlyMap<string, FunctionType>;

const systemEntryPoints = new Set([
  'canister_init',
  'canister_pre_upgrade',
  'canister_post_upgrade',
  'canister_inspect_message',
  'canister_heartbeat',
  'canister_global_timer',
  'canister_on_low_wasm_memory',
]);

const methodKinds = ['canister_update', 'canister_query', 'canister_composite_query'];

/** RESERVED_SYMBOLS. */
const reservedNames = new Set([
  'canister counter_instructions',
  'canister_start',
  'canister counter_dirty_pages',
  'canister counter_accessed_pages',
  'stable_memory',
  'stable_bytemap_memory',
]);

const typeNames: Readonly<Record<string, string>> = {
  i: 'I32',
  I: 'I64',
  f: 'F32',
  F: 'F64',
  v: 'V128',
  r: 'funcref',
  e: 'externref',
};

function describe(letters: string): string {
  return `[${[...letters].map((letter) => typeNames[letter] ?? letter).join(', ')}]`;
}

function checkSignature(name: string, type: FunctionType, expected: FunctionType): void {
  const refuse = (what: string, wanted: string, found: string) => {
    throw new InvalidModule(
      'Wasm module has an invalid function signature. ' +
        `Expected ${what} ${describe(wanted)} for '${name}', got ${describe(found)}.`,
    );
  };
  if (type.params !== expected.params) refuse('input params', expected.params, type.params);
  if (type.results !== expected.results) refuse('return type', expected.results, type.results);
}

function invalidImport(why: string): InvalidModule {
  return new InvalidModule(`Wasm module has an invalid import section. ${why}`);
}

export function checkImports(imports: readonly FunctionImport[], system: SystemInterface): void {
  for (const { module, name, type } of imports) {
    const expected = system.get(name);
    if (expected === undefined) {
      throw invalidImport(
        `Module imports function '${name}' from '${module}' that is not exported by the runtime.`,
      );
    }
    if (module !== 'ic0') {
      throw invalidImport(
        `Module imports function "${name}" from "${module}", expected to be imported from one of ` +
          '["ic0"] instead.',
      );
    }
    checkSignature(name, type, expected);
  }
}

function invalidExport(why: string): InvalidModule {
  return new InvalidModule(`Wasm module has an invalid export section. ${why}`);
}

function methodName(name: string): string | undefined {
  const space = name.indexOf(' ');
  return methodKinds.includes(name.slice(0, space)) ? name.slice(space + 1) : undefined;
}

function checkName({ name, kind }: ModuleExport): void {
  if (name.startsWith(exportPrefix)) {
    throw invalidExport(
      `Names that begin with '${exportPrefix}' are reserved for the local replica.`,
    );
  }
  if (reservedNames.has(name))
    throw invalidExport(`Exporting reserved symbol ${name} not allowed.`);
  const isReserved = kind === 'function' && name.startsWith('canister_');
  if (isReserved && methodName(name) === undefined && !systemEntryPoints.has(name)) {
    throw invalidExport(`Exporting reserved function '${name}' with "canister_" prefix`);
  }
}

/** Method names must be unique across kinds. */
function checkMethods(names: readonly string[]): void {
  const seen = new Set<string>();
  for (const name of names) {
    if (!seen.has(name)) seen.add(name);
    else {
      throw new InvalidModule(
        `Duplicate function '${name}' exported multiple times with different call types: ` +
          'update, query, or composite_query.',
      );
    }
  }
  const prefixes =
    'functions called `canister_update <name>`, `canister_query <name>`, or ' +
    '`canister_composite_query <name>` is';
  if (names.length > methodsMax) {
    throw new InvalidModule(
      `The number of exported ${prefixes} ${names.length} which exceeds ${methodsMax}.`,
    );
  }
  const bytes = names.reduce((sum, name) => sum + Buffer.byteLength(name), 0);
  if (bytes > methodNameBytesMax) {
    throw new InvalidModule(
      `The sum of \`<name>\` lengths in exported ${prefixes} ${bytes} which exceeds the allowed ` +
        `limit of ${methodNameBytesMax}.`,
    );
  }
}

/** `functions`: the types of all functions, the imported ones first. */
export function checkExports(
  exports: readonly ModuleExport[],
  functions: readonly (FunctionType | undefined)[],
): void {
  const names: string[] = [];
  for (const entry of exports) {
    checkName(entry);
    if (entry.kind !== 'function') continue;
    const method = methodName(entry.name);
    if (method !== undefined) names.push(method);
    const type = functions[entry.index];
    const isEntry = method !== undefined || systemEntryPoints.has(entry.name);
    if (isEntry && type) checkSignature(entry.name, type, { params: '', results: '' });
  }
  checkMethods(names);
}
