// The ten functions of the network interface do the same on the local replica in this process and
// on one in another process, which tests reach as they reach PocketIC.

import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startReplica } from '../../packages/replica/src/replica.ts';
import { buildCanister } from '../../scripts/build.ts';
import { newIdentity } from '../../scripts/local-service.ts';
import { networkByAgent } from '../support/network/agent-network.ts';
import { openInstance } from '../support/network/instances.ts';
import { startReplicas } from '../support/network/judging-networks.ts';
import type { NetworkInterface } from '../support/network/network-interface.ts';
import { networkInProcess } from '../support/network/replica-network.ts';
import { keyFor, type Person, personOf } from '../support/people.ts';
import { exchangeWith } from '../support/raw-exchange.ts';

interface Opened {
  readonly network: NetworkInterface;
  close(): Promise<void>;
}

const identityPem = newIdentity();

async function openHere(): Promise<Opened> {
  const replica = await startReplica();
  return { network: networkInProcess(replica, identityPem), close: replica.stop };
}

async function openThere(): Promise<Opened> {
  const server = await startReplicas();
  const { host, setTime, close } = await openInstance(server.variables.EFS_JUDGE_SERVER ?? '');
  return {
    network: networkByAgent({ host, identityPem, setTime }),
    async close() {
      await close();
      await server.stop();
    },
  };
}

describe.each([
  ['in this process', openHere],
  ['in another process', openThere],
])('the local replica %s', (_, open) => {
  let opened: Opened;
  let network: NetworkInterface;
  let wasm: Uint8Array;
  let canisterId: string;
  let owner: Person;
  let nobody: Person;

  beforeAll(async () => {
    wasm = new Uint8Array(await readFile((await buildCanister({ force: false })).wasmPath));
    opened = await open();
    network = opened.network;
    canisterId = await network.create(10n ** 15n);
    await network.install(canisterId, wasm);
    owner = personOf({ network, canisterId, identityPem }, 'owner');
    nobody = personOf({ network, canisterId, identityPem }, 'nobody');
    await owner.get('createBucket', 'a', []);
  });

  afterAll(() => opened?.close());

  const cyclesOf = async () => (await owner.get<{ cycles: [bigint] }>('getStatus')).cycles[0];

  test('answers calls and queries of the owner and of others', async () => {
    expect(await owner.get('getBucket', 'a', [])).toMatchObject({ id: 'a' });
    expect((await nobody.ask('createBucket', 'b', [])).err).toMatch(/^AccessDenied: /);
    expect((await nobody.ask('getBucket', 'a', [])).err).toMatch(/^NoSuchBucket: /);
  });

  test('serves the canister at its gateway address', async () => {
    const { hostname, origin } = new URL(network.gatewayAddress(canisterId));
    expect(hostname).toBe(`${canisterId}.localhost`);
    const { status } = await exchangeWith(origin, hostname, { method: 'GET', path: '/' });
    expect(status).toBe(200);
  });

  test('adds cycles', async () => {
    const before = await cyclesOf();
    await network.addCycles(canisterId, 10n ** 15n);
    // Calls and storage cost less than a tenth of that
    expect((await cyclesOf()) - before).toBeGreaterThan(9n * 10n ** 14n);
  });

  test('stops and starts the canister', async () => {
    await network.stop(canisterId);
    await expect(owner.get('getBucket', 'a', [])).rejects.toThrow(/stopped/);
    await network.start(canisterId);
    expect(await owner.get('getBucket', 'a', [])).toMatchObject({ id: 'a' });
  });

  test('upgrades the canister, which keeps its buckets', async () => {
    await network.upgrade(canisterId, wasm);
    expect(await owner.get('getBucket', 'a', [])).toMatchObject({ id: 'a' });
  });

  test('sets the clock ahead, for keys that expire and for callers', async () => {
    const expiresAt = [BigInt(Date.now() + 3_600_000) * 1_000_000n];
    const key = { ...keyFor(['a'], ['read']), expiresAt };
    const { secret } = await owner.get<{ secret: string }>('createApiKey', key);
    expect(await nobody.get('getBucket', 'a', [secret])).toMatchObject({ id: 'a' });
    await network.setTime(3_601_000_000_000n);
    expect((await nobody.ask('getBucket', 'a', [secret])).err).toMatch(/^InvalidApiKey: /);
    expect(await owner.get('createBucket', 'later', [])).toMatchObject({ id: 'later' });
  });
});
