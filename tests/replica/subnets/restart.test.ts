// Canisters of several subnets after a restart, with the same and with another number of subnets.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { type Replica, startReplica } from '../../../packages/replica/src/replica.ts';
import { decodeSelfDescribed } from '../../../packages/replica/src/state/self-described-cbor.ts';
import { testCanister } from '../agent/test-canister.ts';

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
});
