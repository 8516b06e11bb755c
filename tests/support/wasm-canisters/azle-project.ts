// Builds an Azle canister from one source text, in a separate folder outside the project.

import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const nodeModules = resolve(import.meta.dirname, '../../../node_modules');

const dfx = { canisters: { probe: { type: 'custom', main: 'probe.ts', candid: 'probe.did' } } };
const compilerOptions = {
  strict: true,
  target: 'ES2024',
  module: 'ES2022',
  moduleResolution: 'bundler',
};

/** Returns the Wasm of the canister whose module is `source`; takes some seconds. */
export async function buildAzle(source: string): Promise<Uint8Array> {
  const folder = await mkdtemp(join(tmpdir(), 'azle-canister-'));
  try {
    await symlink(nodeModules, join(folder, 'node_modules'));
    await writeFile(join(folder, 'probe.ts'), source);
    await writeFile(join(folder, 'dfx.json'), JSON.stringify(dfx));
    await writeFile(join(folder, 'package.json'), '{"type":"module"}');
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
    const env = { ...process.env, CANISTER_CANDID_PATH: join(folder, 'probe.did') };
    await run(join(nodeModules, '.bin/azle'), ['build', 'probe'], { cwd: folder, env });
    return new Uint8Array(await readFile(join(folder, '.azle/probe/probe.wasm')));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
