// Canisters of several subnets after a restart, with the same and with another number of subnets.

import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { mainnetProfile } from '../../../packages/replica/src/network/profile.ts';
import { type Replica, startReplica } from '../../../packages/replica/src/replica.ts';
import { decodeSelfDescribed } from '../../../packages/replica/src/state/self-described-cbor.ts';
import { testCanister } from '../agent/test-canister.ts';
import { relayCanister, relayed } from './relay-canister.ts';

const folder = mkdtempSync(join(tmpdir(), 'replica-subnets-'));
const running: Replica[] = [];

afterEach(async () => {
  for (const replica of running.splice(0)) await replica.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function start(subnets?: number): Promise<Replica> {
  for (const former of running.splice(0)) await former.stop();
  const state = { stateDir: join(folder, 'state'), server: false };
  const replica = await startReplica({ ...state, ...(subnets && { subnets }) });
  running.push(replica);
  return replica;
}

/** Returns the subnet that certifies each canister; undefined for the root subnet. */
function certifiers(replica: Replica): Promise<(string | undefined)[]> {
  return Promise.all(
    replica.canisters().map(async ({ id }) => {
      const certificate = await replica.query(id, 'certificate');
      const fields = decodeSelfDescribed(certificate) as Map<string, Map<string, Uint8Array>>;
      const subnet = fields.get('delegation')?.get('subnet_id');
      return subnet && Buffer.from(subnet).toString('hex');
    }),
  );
}

describe('startReplica with a state folder', () => {
  test('runs all canisters with any number of subnets, the oldest first', async () => {
    const one = await start();
    const ids = [await one.createCanister()];
    const two = await start(2);
    const subnetIds = two.subnets.map((id) => id.toHex().toLowerCase());
    for (const subnet of [...two.subnets].reverse()) ids.push(await two.createCanister({ subnet }));
    for (const id of ids) await two.install(id, testCanister());
    const [first, second] = subnetIds;
    const listed = (replica: Replica) => replica.canisters().map(({ id }) => id.toText());
    const expected = ids.map((id) => id.toText());
    expect(await certifiers(two)).toEqual([undefined, second, first]);
    for (const [count, places] of [
      [2, [undefined, second, first]],
      [3, [undefined, second, first]],
      [1, [undefined, undefined, first]],
      [undefined, [undefined, undefined, undefined]],
    ] as const) {
      const again = await start(count);
      expect(again.resumeFailures).toEqual([]);
      expect(listed(again)).toEqual(expected);
      expect(await certifiers(again)).toEqual(places);
    }
    const last = await start(2);
    const [subnet] = last.subnets;
    const made = await last.createCanister(subnet ? { subnet } : {});
    expect(made.toHex().toLowerCase()).toBe('00000000001000010101');
  });

  test('rejects a call that was on its way to another subnet at a kill', async () => {
    let noteSent = () => {};
    const sent = new Promise<void>((resolve) => {
      noteSent = resolve;
    });
    const options = { subnets: 2, server: false, now: () => 1_800_000_000_000_000_000n };
    const replica = await startReplica({
      ...options,
      stateDir: join(folder, 'former'),
      profile: { ...mainnetProfile, roundMs: 100 },
      onReport: ({ method }) => method === 'relay' && noteSent(),
    });
    running.push(replica);
    const ids = await Promise.all(
      replica.subnets.map((subnet) => replica.createCanister({ subnet, cycles: 10n ** 15n })),
    );
    for (const id of ids) await replica.install(id, relayCanister());
    const [caller, remote] = ids;
    if (caller === undefined || remote === undefined) throw new Error('two canisters are created');
    const balances = (one: Replica) => one.canisters().map(({ cycles }) => cycles);
    const [before = 0n, untouched] = balances(replica);
    const cycles = 5_000_000_000_000n;
    const answered = replica.call(caller, 'relay', relayed(remote, 'accept', { cycles }));
    await sent;
    // Copied before any timer runs, so the call is still on its way.
    cpSync(join(folder, 'former'), join(folder, 'killed'), { recursive: true });
    rmSync(join(folder, 'killed', 'lock'));
    const again = await startReplica({ ...options, stateDir: join(folder, 'killed') });
    running.push(again);
    await again.tick();
    const [left = 0n, same] = balances(again);
    expect(same).toBe(untouched);
    expect(before - left).toBeLessThan(100_000_000n);
    await answered;
    expect(balances(replica)[0]).toBeLessThan(before - cycles);
  });
});
