// A front sends cycles to its volumes, on the canister's Wasm: by limits, and on request.

import { IDL } from '@dfinity/candid';
import type { Principal } from '@dfinity/principal';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ResultTopUpLimits, ResultTopUps, TopUpChange } from '../../src/actor/candid/service.ts';
import { alice, manage } from '../replica/conformance/management-client.ts';
import { ServiceOfVolumes } from '../support/service-of-volumes.ts';

const tera = 1_000_000_000_000n;
const hourSeconds = 3_600;
const service = new ServiceOfVolumes();
const limits = {
  volumeMinimum: 20n * tera,
  volumeTarget: 25n * tera,
  daily: 12n * tera,
  dailyPerVolume: 8n * tera,
  frontMinimum: tera,
};

interface ShownTopUps {
  readonly limits: readonly object[];
  readonly frontCycles: bigint;
  readonly volumes: readonly { readonly volume: Principal; readonly cycles: readonly bigint[] }[];
  readonly last: readonly { readonly cycles: bigint; readonly cause: string }[];
}

beforeAll(async () => {
  await service.start(0);
  for (const cycles of [15n, 16n, 40n]) await service.addVolume({ cycles: cycles * tera });
});
afterAll(() => service.stop());

async function shown(
  sender = service.controller,
): Promise<ShownTopUps & { readonly err?: string }> {
  const { replica, frontId } = service;
  const reply = await replica.query(frontId, 'getTopUps', IDL.encode([], []), { sender });
  const [outcome] = IDL.decode([ResultTopUps], reply) as unknown as [
    { readonly ok?: ShownTopUps; readonly err?: string },
  ];
  return { ...(outcome.ok as ShownTopUps), ...(outcome.err && { err: outcome.err }) };
}

async function balanceOf(id: Principal): Promise<bigint> {
  const { replica, controller: sender } = service;
  const status = await manage(replica, 'canister_status', { sender, canister_id: id });
  return (status as { cycles: bigint }).cycles;
}

const inTera = (cycles: bigint) => Math.round(Number(cycles / 1_000_000_000n)) / 1_000;
const optionals = (fields: object) =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, [value]]));
const setLimits = (change: object) =>
  service.front.call('updateTopUps', [TopUpChange], [optionals({ ...limits, ...change })]);
const sendTo = (volume: Principal, cycles: bigint) =>
  service.front.call('topUpVolume', [IDL.Principal, IDL.Nat], [volume, cycles]);

test('a front without limits sends nothing, and shows what its volumes have reported', async () => {
  const { limits: set, volumes, last } = await shown();
  expect([set, last]).toEqual([[], []]);
  const reported = volumes.map(({ cycles: [cycles = 0n] }) => inTera(cycles));
  const real = await Promise.all(service.volumes.map(balanceOf));
  for (const [index, cycles] of reported.entries()) {
    // Less the reserve before freezing
    expect(cycles).toBeGreaterThan(inTera(real[index] ?? 0n) - 1);
    expect(cycles).toBeLessThanOrEqual(inTera(real[index] ?? 0n));
  }
});

test('updateTopUps: low volumes are topped up at once, within the daily limits', async () => {
  const before = await Promise.all(service.volumes.map(balanceOf));
  const frontBefore = await balanceOf(service.frontId);
  await setLimits({});
  await service.wait(1);
  await service.wait(1);
  const { last } = await shown();
  expect(last.map(({ cause }) => cause)).toEqual(['limits', 'limits']);
  expect(last.map(({ cycles }) => inTera(cycles))).toEqual([4, 8]);
  const after = await Promise.all(service.volumes.map(balanceOf));
  const gained = after.map((cycles, index) => inTera(cycles - (before[index] ?? 0n)));
  expect(gained.map(Math.round)).toEqual([8, 4, 0]);
  const sent = last.reduce((sum, { cycles }) => sum + cycles, 0n);
  const spent = frontBefore - (await balanceOf(service.frontId)) - sent;
  // The rest is the price of the messages
  expect(inTera(spent)).toBeGreaterThanOrEqual(0);
  expect(inTera(spent)).toBeLessThan(0.01);
});

test('a volume that the limit of today left low is topped up tomorrow, without a new report', async () => {
  for (let hour = 0; hour < 24; hour++) await service.wait(hourSeconds);
  await service.wait(hourSeconds);
  const { last } = await shown();
  expect(last.length).toBeGreaterThan(2);
});

test('topUpVolume sends cycles beyond the limits, and records them', async () => {
  const [, , third] = service.volumes as [Principal, Principal, Principal];
  const before = await balanceOf(third);
  await sendTo(third, 30n * tera);
  expect(inTera((await balanceOf(third)) - before)).toBeCloseTo(30, 1);
  const [newest] = (await shown()).last;
  expect(newest).toMatchObject({ cycles: 30n * tera, cause: 'request', volume: third });
});

test('topUpVolume refuses other canisters, too many cycles, and loses none at a missing one', async () => {
  await expect(sendTo(alice, 1n)).rejects.toThrow(/does not list the volume/);
  const first = service.volumes[0] as Principal;
  await expect(sendTo(first, 2n ** 53n)).rejects.toThrow(/Send 1 to/);
  await expect(sendTo(first, 1_001n * tera)).rejects.toThrow(/Cannot send/);
  const gone = await service.addVolume({ cycles: 50n * tera });
  const { replica, controller: sender } = service;
  await manage(replica, 'stop_canister', { sender, canister_id: gone });
  await manage(replica, 'delete_canister', { sender, canister_id: gone });
  const [before, { last }] = [await balanceOf(service.frontId), await shown()];
  await expect(sendTo(gone, 5n * tera)).rejects.toThrow(/Cannot send/);
  expect(inTera(before - (await balanceOf(service.frontId)))).toBeLessThan(0.01);
  expect((await shown()).last).toEqual(last);
});

test('getTopUps and updateTopUps refuse others than controllers', async () => {
  expect((await shown(alice)).err).toMatch(/^AccessDenied/);
  const argument = new Uint8Array(IDL.encode([TopUpChange], [optionals(limits)]));
  const { replica, frontId } = service;
  const reply = await replica.call(frontId, 'updateTopUps', argument, { sender: alice });
  const [outcome] = IDL.decode([ResultTopUpLimits], reply);
  expect(outcome).toEqual({ err: expect.stringMatching(/^AccessDenied/) });
});

test('an upgrade keeps limits and records', async () => {
  const before = await shown();
  await service.upgrade(service.frontId);
  const after = await shown();
  expect([after.limits, after.last]).toEqual([before.limits, before.last]);
});
