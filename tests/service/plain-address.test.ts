// Plain http://localhost:PORT is the service, whatever else is installed on the replica.

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Replica, startReplica } from '../../packages/replica/src/replica.ts';
import { buildCanister } from '../../scripts/build.ts';
import { deployLocally } from '../../scripts/local-service.ts';
import { gatewayCanisterModule } from '../support/gateway-canister/gateway-canister.ts';

async function installOther(replica: Replica): Promise<void> {
  await replica.install(await replica.createCanister(), await gatewayCanisterModule());
}

test("plain localhost stays the service's address when other canisters serve HTTP, older or newer", async () => {
  const stateDir = await mkdtemp(join(tmpdir(), 'plain-'));
  const replica = await startReplica();
  try {
    await installOther(replica);
    const wasm = new Uint8Array(await readFile((await buildCanister({ force: false })).wasmPath));
    const { url, canisterId } = await deployLocally({ replica, stateDir, wasm });
    await installOther(replica);
    const answer = await fetch(`${url}/cloud/demo/nothing`);
    expect(answer.headers.get('x-ic-canister-id')).toBe(canisterId);
    expect(await answer.json()).toMatchObject({ error: { code: 'NoSuchFile' } });
  } finally {
    await replica.stop();
    await rm(stateDir, { recursive: true, force: true });
  }
});
