// Compiles the native kernel (kernel/, AssemblyScript) to Wasm. Results are cached under
// build/cache by the sources' digest, because the compiler takes seconds and many tests need the
// kernel.

import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { writeSha256Rounds } from './sha256-rounds.ts';

const projectDir = join(dirname(fileURLToPath(import.meta.url)), '..');
const kernelDir = join(projectDir, 'kernel');
const entryFile = 'exports.ts';

/** The module is merged into a canister's, so it has no data, memory, table or abort of its own. */
const compilerOptions = [
  '--optimizeLevel=3',
  '--shrinkLevel=0',
  '--converge',
  '--noAssert',
  '--runtime=stub',
  '--importMemory',
  '--noExportMemory',
  '--importTable',
  '--enable=simd,bulk-memory',
  '--use=abort=',
];

/**
 * Returns the kernel's Wasm, from the cache if the sources did not change. If it does not compile,
 * throws an Error with the compiler's messages.
 */
export async function buildKernel(): Promise<Uint8Array> {
  const sources = readSources();
  const cacheDir = join(projectDir, 'build', 'cache');
  const cached = join(cacheDir, `kernel-${digestOf(sources)}.wasm`);
  if (existsSync(cached)) return new Uint8Array(readFileSync(cached));
  const wasm = await compileKernel(sources);
  mkdirSync(cacheDir, { recursive: true });
  const draft = `${cached}.${process.pid}`;
  writeFileSync(draft, wasm);
  renameSync(draft, cached);
  return wasm;
}

function readSources(): Map<string, string> {
  const names = readdirSync(kernelDir).filter((name) => name.endsWith('.ts'));
  const sources = new Map(
    names.sort().map((name) => [name, readFileSync(join(kernelDir, name), 'utf8')]),
  );
  return sources.set('sha256-rounds.ts', writeSha256Rounds());
}

function digestOf(sources: ReadonlyMap<string, string>): string {
  const packageJson = createRequire(import.meta.url).resolve('assemblyscript/package.json');
  const { version } = JSON.parse(readFileSync(packageJson, 'utf8')) as { version: string };
  const identity = JSON.stringify([version, compilerOptions, [...sources]]);
  return createHash('sha256').update(identity).digest('hex').slice(0, 16);
}

async function compileKernel(sources: ReadonlyMap<string, string>): Promise<Uint8Array> {
  // Imported on demand, because loading the compiler takes longer than everything else
  const asc = await import('assemblyscript/asc');
  const outputs = new Map<string, Uint8Array>();
  const result = await asc.main([entryFile, '--outFile=kernel.wasm', ...compilerOptions], {
    readFile: (name) => sources.get(name) ?? null,
    writeFile: (name, contents) => {
      outputs.set(name, typeof contents === 'string' ? Buffer.from(contents) : contents);
    },
    listFiles: () => [],
  });
  const wasm = outputs.get('kernel.wasm');
  if (result.error !== null || wasm === undefined) {
    throw new Error(`Cannot compile the kernel: ${result.error?.message}\n${result.stderr}`);
  }
  return new Uint8Array(wasm);
}

async function main(): Promise<void> {
  const wasm = await buildKernel();
  writeFileSync(join(projectDir, 'build', 'kernel.wasm'), wasm);
  console.log(`build/kernel.wasm: ${wasm.length} bytes`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await main();
