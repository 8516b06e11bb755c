// A state folder with the deployed service, created once per build and copied for each test file,
// because an installation and its first root key take seconds.

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Replica, startReplica } from '../../packages/replica/src/replica.ts';
import type { SubnetType } from '../../packages/replica/src/subnet-type.ts';
import { buildCanister } from '../../scripts/build.ts';
import { deployLocally, newIdentity, principalOf } from '../../scripts/local-service.ts';
import { projectDir, readSources } from '../tidy/source-tree.ts';
import { installProxy, nameProxy } from './proxy-canister/install-proxy.ts';

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

const prepared = new Map<SubnetType, Promise<string>>();

/**
 * Returns the folder and creates it if it is missing. Call it before tests run in parallel. On a cloud
 * engine, the service has its root key by way of a proxy.
 */
export function prepareState(subnetType: SubnetType = 'application'): Promise<string> {
  const found = prepared.get(subnetType) ?? prepare(subnetType);
  prepared.set(subnetType, found);
  return found;
}

async function prepare(subnetType: SubnetType): Promise<string> {
  const wasm = new Uint8Array(await readFile((await buildCanister({ force: false })).wasmPath));
  const kind = subnetType === 'application' ? '' : `-${subnetType}`;
  const folder = join(parentDir, `${fingerprint(wasm)}${kind}`);
  if (!existsSync(folder)) {
    await mkdir(parentDir, { recursive: true });
    await removeOld();
    const unfinished = `${folder}.${process.pid}`;
    const stored = { stateDir: unfinished, server: false, sync: false };
    const replica = await startReplica({ ...stored, subnetType });
    if (subnetType === 'cloud-engine') await beginOnEngine(replica, unfinished);
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

/** Creates the service's canister, which finds a proxy by its environment. */
async function beginOnEngine(replica: Replica, stateDir: string): Promise<void> {
  const proxy = await installProxy(replica);
  const identityPem = newIdentity();
  await writeFile(join(stateDir, 'identity.pem'), identityPem);
  const sender = principalOf(identityPem);
  const canisterId = await replica.createCanister({ controllers: [sender] });
  await nameProxy(replica, { canisterId, proxy, sender });
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
export async function copyPreparedState(stateDir: string, subnetType?: SubnetType): Promise<void> {
  await cp(await prepareState(subnetType), stateDir, { recursive: true });
}
