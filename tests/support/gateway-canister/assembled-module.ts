// Assembles WebAssembly text. Results are cached in build/ by the hash of the source, because the
// toolkit takes seconds to start.

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

export async function assembledModule(sourcePath: string): Promise<Uint8Array> {
  const source = readFileSync(sourcePath, 'utf8');
  const hash = createHash('sha256').update(source).digest('hex').slice(0, 16);
  const folder = join(dirname(sourcePath), 'build');
  const path = join(folder, `${basename(sourcePath, '.wat')}-${hash}.wasm`);
  if (!existsSync(path)) {
    // Test files run in parallel, so they must not see an incomplete module.
    const unfinished = `${path}.${process.pid}`;
    mkdirSync(folder, { recursive: true });
    const { assemble } = await import('../wasm-canisters/text-module.ts');
    writeFileSync(unfinished, assemble(source));
    renameSync(unfinished, path);
  }
  return new Uint8Array(readFileSync(path));
}
