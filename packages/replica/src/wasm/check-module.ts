// What the network refuses at install besides malformed WebAssembly: unknown imports and exports
// that contradict each other. The System API comes in as a list; this file does not know it.
// IC spec, "Canister module format".

import { exportPrefix } from './instrument.ts';
import { InvalidModule } from './invalid-module.ts';
import type { FunctionImport, FunctionType, ModuleExport, Sections } from './sections.ts';
import { readExports, readFunctions, readImports, readTypes } from './sections.ts';

/** Signatures of the functions of `ic0`, by name. */
export type SystemInterface = ReadonlyMap<string, FunctionType>;

const entryPoints = new Set([
  'canister_init',
  'canister_pre_upgrade',
  'canister_post_upgrade',
  'canister_inspect_message',
  'canister_heartbeat',
  'canister_global_timer',
  'canister_on_low_wasm_memory',
]);

const methodKinds = ['canister_update', 'canister_query', 'canister_composite_query'];

function describe(type: FunctionType): string {
  return `(${type.params}) -> (${type.results})`;
}

function checkImport(entry: FunctionImport, system: SystemInterface): void {
  const full = `${entry.module}.${entry.name}`;
  if (entry.module !== 'ic0') {
    throw new InvalidModule(
      `Wasm module has an invalid import section. Module imports function '${entry.name}' from ` +
        `'${entry.module}' that is not exported by the runtime.`,
    );
  }
  const expected = system.get(entry.name);
  if (expected === undefined) {
    throw new InvalidModule(
      `Wasm module has an invalid import section. Module imports function '${entry.name}' from ` +
        `'ic0' that is not exported by the runtime.`,
    );
  }
  if (expected.params !== entry.type.params || expected.results !== entry.type.results) {
    throw new InvalidModule(
      `Wasm module has an invalid import section. Function '${full}' has signature ` +
        `${describe(entry.type)}, expected ${describe(expected)}.`,
    );
  }
}

function methodName(name: string): string | undefined {
  const space = name.indexOf(' ');
  return methodKinds.includes(name.slice(0, space)) ? name.slice(space + 1) : undefined;
}

/** Entry points take nothing and return nothing. */
function checkSignature(entry: ModuleExport, functions: readonly (FunctionType | undefined)[]) {
  const isEntry = methodName(entry.name) !== undefined || entryPoints.has(entry.name);
  const type = functions[entry.index];
  if (!isEntry || entry.kind !== 'function' || type === undefined) return;
  if (type.params !== '' || type.results !== '') {
    throw new InvalidModule(
      `Wasm module has an invalid function signature. '${entry.name}' is ${describe(type)}, ` +
        'expected () -> ().',
    );
  }
}

function checkExport(entry: ModuleExport, seen: Set<string>): void {
  if (entry.name.startsWith(exportPrefix)) {
    throw new InvalidModule(`Wasm module exports a reserved name '${entry.name}'.`);
  }
  const method = methodName(entry.name);
  if (method !== undefined) {
    if (entry.kind !== 'function') {
      throw new InvalidModule(`Wasm module exports '${entry.name}', which is not a function.`);
    }
    if (seen.has(method)) {
      throw new InvalidModule(
        `Wasm module has an invalid export section. Method ${method} exported multiple times ` +
          'with different types.',
      );
    }
    seen.add(method);
  } else if (entry.name.startsWith('canister_') && !entryPoints.has(entry.name)) {
    throw new InvalidModule(
      `Wasm module has an invalid export section. Exporting reserved function '${entry.name}' ` +
        'with "canister_" prefix.',
    );
  }
}

/** Throws InvalidModule with the reason. */
export function checkModule(sections: Sections, system: SystemInterface): void {
  const types = readTypes(sections);
  const imports = readImports(sections, types);
  for (const entry of imports) checkImport(entry, system);
  const functions = [...imports.map((entry) => entry.type), ...readFunctions(sections, types)];
  const seen = new Set<string>();
  for (const entry of readExports(sections)) {
    checkExport(entry, seen);
    checkSignature(entry, functions);
  }
}
