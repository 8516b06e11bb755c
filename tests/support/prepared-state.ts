// A state folder with the deployed service, created once per build and copied for each test file,
// because an installation and its first root key take seconds.

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { startReplica } from '../../packages/replica/src/replica.ts';
import { buildCanister } from '../../scripts/build.ts';
import { deployLocally } from '../../scripts/local-service.ts';
import { projectDir, readSources } from '../tidy/source-tree.ts';

const parentDir = join(projectDir, 'build', 'test-states');
const keptMs = 3_600_000;

/** Returns a hash of all inputs of the state: the Wasm, the replica and the installer. */
function fingerprint(wasm: Uint8Array): string {
  const hash = createHash('sha256').update(wasm);
  for (const { path, lines } of readSources()) {
    if (/^(?:packages\/replica|scripts)\//.test(path)) hash.update(lines.join('\n'));
  }
  return hash.digest('hex').slice(0, 16);
}

let prepared: Promise<string> | undefined;

/** Returns the folder and creates it if it is missing. Call it before tests run in parallel. */
export function prepareState(): Promise<string> {
  prepared ??= prepare();
  return prepared;
}

async function prepare(): Promise<string> {
  const wasm = new Uint8Array(await readFile((await buildCanister({ force: false })).wasmPath));
  const folder = join(parentDir, fingerprint(wasm));
  if (!existsSync(folder)) {
    await mkdir(parentDir, { recursive: true });
    await removeOld();
    const unfinished = `${folder}.${process.pid}`;
    const replica = await startReplica({ stateDir: unfinished, server: false, sync: false });
    await deployLocally({ replica, stateDir: unfinished, wasm });
    await replica.stop();
    await rename(unfinished, folder).catch(async (error: NodeJS.ErrnoException) => {
      // A concurrent run has created it.
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
      await rm(unfinished, { recursive: true, force: true });
    });
  }
  return folder;
}

/** Removes folders that are older than an hour: newer ones may be in use by other runs. */
async function removeOld(): Promise<void> {
  for (const name of await readdir(parentDir)) {
    const path = join(parentDir, name);
    const { mtimeMs } = await stat(path);
    if (Date.now() - mtimeMs > keptMs) await rm(path, { recursive: true, force: true });
  }
}

/** `stateDir` must not exist. All copies of the service have the same keys. */
export async function copyPreparedState(stateDir: string): Promise<void> {
  await cp(await prepareState(), stateDir, { recursive: true });
}
