// Turns the bytes of an installation (plain or gzip) into a compiled, metered module with its
// metadata, and caches the latest modules.

import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { checkCodeSize, checkModule, type SystemInterfaces } from './check-module.ts';
import { type Metadata, readMetadata } from './custom-sections.ts';
import type { Instrumented } from './instrument.ts';
import { instrument } from './instrument.ts';
import { InvalidModule, notDecoded, notValidated } from './invalid-module.ts';
import { moduleBytesMax } from './module-limits.ts';
import { cutSections } from './sections.ts';
import type { WasmModule } from './web-assembly.ts';
import { hasMemory64, webAssembly } from './web-assembly.ts';

export interface CompiledModule {
  readonly compiled: WasmModule;
  readonly shape: Omit<Instrumented, 'module'>;
  /** Names of the exported functions. */
  readonly exports: ReadonlySet<string>;
  readonly metadata: Metadata;
}

const gzipMagic = [0x1f, 0x8b, 0x08];

function decompress(module: Uint8Array): Uint8Array {
  if (gzipMagic.some((byte, index) => module[index] !== byte)) return module;
  try {
    return gunzipSync(module, { maxOutputLength: moduleBytesMax });
  } catch (error) {
    throw notDecoded(reason(error));
  }
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function compilePlain(module: Uint8Array, system: SystemInterfaces): CompiledModule {
  if (module.length > moduleBytesMax) {
    throw new InvalidModule(
      `Wasm module size of ${module.length} exceeds the maximum allowed size of ${moduleBytesMax}.`,
    );
  }
  const sections = cutSections(module);
  checkCodeSize(sections);
  checkModule(sections, system);
  const metadata = readMetadata(sections);
  const { module: metered, ...shape } = instrument(sections);
  const isWide = shape.address === 'I' || shape.tableAddress === 'I';
  if (isWide && !hasMemory64()) {
    throw new InvalidModule(
      `it uses addresses of 64 bits, which Node ${process.version} cannot run: start the ` +
        'local replica with Node 24 or newer',
    );
  }
  let compiled: WasmModule;
  try {
    compiled = new webAssembly.Module(metered);
  } catch (error) {
    throw notValidated(reason(error));
  }
  const functions = webAssembly.Module.exports(compiled).filter((one) => one.kind === 'function');
  return {
    compiled,
    shape,
    exports: new Set(functions.map((one) => one.name)),
    metadata,
  };
}

export function hashModule(module: Uint8Array): Uint8Array {
  return new Uint8Array(createHash('sha256').update(module).digest());
}

/**
 * Returns a function that compiles modules for one System API and caches the `rememberedMax`
 * modules that it compiled last, by their SHA-256.
 */
export function createCompiler(system: SystemInterfaces, rememberedMax = 8) {
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
