// Merges the native kernel into a canister's Wasm. The kernel replaces the System API functions
// whose names it exports, and calls the real ones itself. Its callbacks get fixed indices in the
// canister's table of functions. The result depends only on the inputs.

import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { mergedDataModule } from './merged-data.ts';
import {
  dropExports,
  readExports,
  readImports,
  readSections,
  readTables,
  renameImportModule,
  type WasmSection,
  withExport,
  withTableEntries,
  writeSections,
} from './wasm-sections.ts';

export interface MergeInput {
  readonly canister: Uint8Array;
  readonly kernel: Uint8Array;
  /** Contents of the data module; empty if absent. */
  readonly data?: Uint8Array;
}

const systemModule = 'ic0';
/** The kernel's name for the module with the real System API functions. */
const kernelSystemModule = 'sys';
/** The kernel imports the canister's memory and table from this module. */
const kernelEnvironmentModule = 'env';
/** The kernel's name for the data module. */
const dataModule = 'data';
const dataExports = ['merged_data_size', 'merged_data_read'];
/** The kernel's name for the table. */
const tableName = 'table';

const tableKind = 1;
const memoryKind = 2;

/**
 * Table index of the first of `callbacks` (kernel/outgoing-calls.ts). It must not change between
 * versions, because the system delivers answers to the former version's calls to these indices.
 */
export const callbacksStart = 16_384;
const callbacks = ['callback_reply', 'callback_reject', 'callback_cleanup'];

/** Functions that the canister must import; otherwise the kernel would not replace them. */
const expectedImports = ['certified_data_set', 'call_new', 'call_on_cleanup', 'call_perform'];

/** The WebAssembly features that the network supports and at least one module uses. */
const features = [
  'simd',
  'bulk-memory',
  'bulk-memory-opt',
  'sign-ext',
  'mutable-globals',
  'nontrapping-float-to-int',
  'reference-types',
  'multivalue',
];

/**
 * Returns the merged module. Throws if the canister exports no memory, lacks one of
 * `expectedImports`, or has a table without space for the kernel's callbacks.
 */
export async function mergeKernel(input: MergeInput): Promise<Uint8Array> {
  const replaced = namesToReplace(input);
  const canister = withExportedTable(readSections(input.canister));
  const merged = readSections(await merge({ ...input, canister }));
  const names = { from: kernelSystemModule, to: systemModule };
  const placed = placeCallbacks(renameImportModule(merged, names));
  const sections = dropExports(placed, new Set([...replaced, ...dataExports, tableName]));
  const stray = readImports(sections).find(({ module }) => module !== systemModule);
  if (stray !== undefined) {
    throw new Error(`Cannot merge the kernel: ${stray.module}.${stray.name} is unresolved`);
  }
  return writeSections(sections);
}

/** Exports the table for the kernel to import; the export is dropped at the end. */
function withExportedTable(canister: readonly WasmSection[]): Uint8Array {
  const tables = readTables(canister);
  const [table] = tables;
  if (table === undefined || tables.length > 1) {
    throw new Error(
      `Cannot merge the kernel: the canister has ${tables.length} tables of functions, not one`,
    );
  }
  const size = Math.max(table.minimum, table.maximum ?? table.minimum);
  if (size > callbacksStart) {
    throw new Error(
      `Cannot merge the kernel: the canister's table has ${size} places; the kernel's ` +
        `callbacks begin at ${callbacksStart} in every version`,
    );
  }
  return writeSections(withExport(canister, { name: tableName, kind: tableKind, index: 0 }));
}

function placeCallbacks(merged: readonly WasmSection[]): WasmSection[] {
  const exported = new Map(readExports(merged).map(({ name, index }) => [name, index]));
  const functions = callbacks.map((name) => {
    const index = exported.get(name);
    if (index === undefined) throw new Error(`Cannot merge the kernel: it exports no ${name}`);
    return index;
  });
  return withTableEntries(merged, { start: callbacksStart, functions });
}

/** Returns the names of the kernel's exports: the replaced functions, and its callbacks. */
function namesToReplace(input: MergeInput): ReadonlySet<string> {
  const canister = readSections(input.canister);
  const exported = readExports(canister);
  if (!exported.some(({ name, kind }) => name === 'memory' && kind === memoryKind)) {
    throw new Error('Cannot merge the kernel: the canister exports no memory');
  }
  const used = new Set(
    readImports(canister)
      .filter(({ module }) => module === systemModule)
      .map(({ name }) => name),
  );
  for (const name of expectedImports) {
    if (!used.has(name)) {
      throw new Error(`Cannot merge the kernel: the canister does not import ${name}`);
    }
  }
  const replaced = new Set(readExports(readSections(input.kernel)).map(({ name }) => name));
  for (const name of used) {
    if (/^stable(64)?_/.test(name) && !replaced.has(name)) {
      throw new Error(`Cannot merge the kernel: ${name} would bypass it`);
    }
  }
  if (exported.some(({ name }) => replaced.has(name) || name === tableName)) {
    throw new Error('Cannot merge the kernel: the canister has exports of the same names');
  }
  return replaced;
}

async function merge({
  canister,
  kernel,
  data = new Uint8Array(),
}: MergeInput): Promise<Uint8Array> {
  const folder = await mkdtemp(join(tmpdir(), 'merge-'));
  try {
    const paths = {
      canister: join(folder, 'canister.wasm'),
      kernel: join(folder, 'kernel.wasm'),
      data: join(folder, 'data.wasm'),
    };
    const output = join(folder, 'merged.wasm');
    await writeFile(paths.canister, canister);
    await writeFile(paths.kernel, kernel);
    await writeFile(paths.data, await mergedDataModule(data));
    await promisify(execFile)(process.execPath, [
      wasmMergePath(),
      ...[paths.canister, kernelEnvironmentModule],
      ...[paths.kernel, systemModule],
      ...[paths.data, dataModule],
      ...['-o', output],
      ...features.map((feature) => `--enable-${feature}`),
    ]);
    return new Uint8Array(await readFile(output));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function wasmMergePath(): string {
  const packageJson = createRequire(import.meta.url).resolve('binaryen/package.json');
  return join(dirname(packageJson), 'bin', 'wasm-merge');
}
