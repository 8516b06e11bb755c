// From the bytes of an installation (plain or gzip) to a compiled, metered module with its
// metadata; each module once in a process. It knows nothing of canisters.

import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import type { SystemInterface } from './check-module.ts';
import { checkModule } from './check-module.ts';
import type { Instrumented } from './instrument.ts';
import { instrument } from './instrument.ts';
import { InvalidModule } from './invalid-module.ts';
import type { Sections } from './sections.ts';
import { cutSections } from './sections.ts';
import type { WasmModule } from './web-assembly.ts';
import { webAssembly } from './web-assembly.ts';

export interface CompiledModule {
  readonly compiled: WasmModule;
  readonly shape: Omit<Instrumented, 'module'>;
  /** Names of the exported functions. */
  readonly exports: ReadonlySet<string>;
  readonly metadata: ReadonlyMap<
    string,
    { readonly isPublic: boolean; readonly content: Uint8Array }
  >;
}

/** IC spec, "Canister module format": at most 100 MiB, uncompressed too. */
const moduleBytesMax = 100 * 1024 * 1024;

const gzipMagic = [0x1f, 0x8b, 0x08];

function decompress(module: Uint8Array): Uint8Array {
  if (gzipMagic.some((byte, index) => module[index] !== byte)) return module;
  try {
    return gunzipSync(module, { maxOutputLength: moduleBytesMax });
  } catch (error) {
    throw new InvalidModule(`Failed to decode wasm module: ${reason(error)}`);
  }
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** IC spec, "Metadata": custom sections `icp:public NAME` and `icp:private NAME`. */
function readMetadata(sections: Sections): CompiledModule['metadata'] {
  const metadata = new Map<string, { isPublic: boolean; content: Uint8Array }>();
  for (const { name, content } of sections.custom) {
    for (const prefix of ['icp:public ', 'icp:private ']) {
      if (!name.startsWith(prefix)) continue;
      const isPublic = prefix === 'icp:public ';
      metadata.set(name.slice(prefix.length), { isPublic, content: content.slice() });
    }
  }
  return metadata;
}

function compilePlain(module: Uint8Array, system: SystemInterface): CompiledModule {
  if (module.length > moduleBytesMax) {
    throw new InvalidModule(`Wasm module is larger than ${moduleBytesMax} bytes`);
  }
  const sections = cutSections(module);
  checkModule(sections, system);
  const { module: metered, ...shape } = instrument(module);
  let compiled: WasmModule;
  try {
    compiled = new webAssembly.Module(metered);
  } catch (error) {
    throw new InvalidModule(`Wasm module does not validate: ${reason(error)}`);
  }
  const functions = webAssembly.Module.exports(compiled).filter((one) => one.kind === 'function');
  return {
    compiled,
    shape,
    exports: new Set(functions.map((one) => one.name)),
    metadata: readMetadata(sections),
  };
}

export function hashModule(module: Uint8Array): Uint8Array {
  return new Uint8Array(createHash('sha256').update(module).digest());
}

/** Compiles against one System API and remembers the last modules by their SHA-256. */
export function createCompiler(system: SystemInterface, rememberedMax = 8) {
  const remembered = new Map<string, CompiledModule>();
  return function compile(module: Uint8Array, sha256Hex: string): CompiledModule {
    const known = remembered.get(sha256Hex);
    if (known) return known;
    const fresh = compilePlain(decompress(module), system);
    remembered.set(sha256Hex, fresh);
    const [oldest] = remembered.keys();
    if (remembered.size > rememberedMax && oldest !== undefined) remembered.delete(oldest);
    return fresh;
  };
}
