// Links the native kernel into a canister's Wasm: the kernel takes the place of the System API
// functions whose names it exports, and reaches the real ones itself. The result depends on the two
// inputs alone.

import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import {
  dropExports,
  readExports,
  readImports,
  readSections,
  renameImportModule,
  writeSections,
} from './wasm-sections.ts';

export interface LinkInput {
  readonly canister: Uint8Array;
  readonly kernel: Uint8Array;
}

const systemModule = 'ic0';
/** The kernel's name for the module that the real System API functions come from. */
const kernelSystemModule = 'sys';
/** The canister's memory is what the kernel imports from this module. */
const kernelMemoryModule = 'env';

const memoryKind = 2;

/** The features of Wasm that the network has and one of the modules uses. */
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
 * The linked module. Throws when the canister exports no memory or doesn't use what the kernel
 * replaces.
 */
export async function linkKernel(input: LinkInput): Promise<Uint8Array> {
  const replaced = namesToReplace(input);
  const merged = readSections(await merge(input));
  const names = { from: kernelSystemModule, to: systemModule };
  const linked = dropExports(renameImportModule(merged, names), replaced);
  const stray = readImports(linked).find(({ module }) => module !== systemModule);
  if (stray !== undefined) {
    throw new Error(`Cannot link the kernel: ${stray.module}.${stray.name} was left unresolved`);
  }
  return writeSections(linked);
}

/** Names of the functions that the kernel replaces. */
function namesToReplace(input: LinkInput): ReadonlySet<string> {
  const canister = readSections(input.canister);
  const exported = readExports(canister);
  if (!exported.some(({ name, kind }) => name === 'memory' && kind === memoryKind)) {
    throw new Error('Cannot link the kernel: the canister exports no memory');
  }
  const used = new Set(
    readImports(canister)
      .filter(({ module }) => module === systemModule)
      .map(({ name }) => name),
  );
  if (!used.has('certified_data_set')) {
    throw new Error('Cannot link the kernel: the canister does not import certified_data_set');
  }
  const replaced = new Set(readExports(readSections(input.kernel)).map(({ name }) => name));
  for (const name of used) {
    if (/^stable(64)?_/.test(name) && !replaced.has(name)) {
      throw new Error(`Cannot link the kernel: ${name} would pass it by`);
    }
  }
  if (exported.some(({ name }) => replaced.has(name))) {
    throw new Error('Cannot link the kernel: the canister has exports of the same names');
  }
  return replaced;
}

async function merge({ canister, kernel }: LinkInput): Promise<Uint8Array> {
  const folder = await mkdtemp(join(tmpdir(), 'link-'));
  try {
    const paths = { canister: join(folder, 'canister.wasm'), kernel: join(folder, 'kernel.wasm') };
    const output = join(folder, 'merged.wasm');
    await writeFile(paths.canister, canister);
    await writeFile(paths.kernel, kernel);
    await promisify(execFile)(process.execPath, [
      wasmMergePath(),
      ...[paths.canister, kernelMemoryModule],
      ...[paths.kernel, systemModule],
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
