// getStatus on a subnet with little room: the cycles that the network keeps for the canister's
// growth, which the canister asks for only while it grows.

import { IDL } from '@dfinity/candid';
import { Principal } from '@dfinity/principal';
import { beforeAll, describe, expect, test } from 'vitest';
import { createInProcessCalls } from '../../packages/replica/src/in-process-calls.ts';
import { StorageReservation } from '../../src/actor/candid/service.ts';
import { KeyNetwork, owner, settings } from '../support/key-network.ts';

const none = { tags: [], sha256: [], ifMatch: [], ifNoneMatch: [], apiKey: [] };
const bytes = new Uint8Array(1_900_000).fill(7);
const hourSeconds = 3_600;
// Whatever the canister allocates reserves cycles
const network = new KeyNetwork({
  limits: { subnetStorageThreshold: 2n ** 20n, subnetStorageMax: 2n ** 30n },
});

interface Reservation {
  readonly reservedCycles: bigint;
  readonly limitCycles: bigint;
  readonly readAt: bigint;
}

async function reservation(sender = owner): Promise<Reservation | undefined> {
  const calls = createInProcessCalls(network.engine);
  const reply = await calls.query(network.canisterId(), 'getStatus', undefined, { sender });
  const Status = IDL.Record({ storageReservation: IDL.Opt(StorageReservation) });
  const [result] = IDL.decode([IDL.Variant({ ok: Status, err: IDL.Text })], reply) as unknown as [
    { readonly ok: { readonly storageReservation: [Reservation?] } },
  ];
  return result.ok.storageReservation[0];
}

const readings = () => network.answersTo('canister_status').length;

async function store(count: number): Promise<void> {
  for (let number = 0; number < count; number++) {
    const file = { bucketId: 'photos', path: `${readings()}-${number}.bin`, contentType: 'a/b' };
    expect(await network.call('uploadFile', { ...file, ...none, bytes })).toHaveProperty('ok');
  }
}

async function waitHours(count: number): Promise<void> {
  for (let hour = 0; hour < count; hour++) {
    await network.wait(hourSeconds);
    // The turn of upkeep may have started a timer
    await network.wait(0);
  }
}

beforeAll(() => network.install(settings({ stored: null })));

describe('getStatus', () => {
  test('has no reservation while nobody uses the canister, which asks nobody then', async () => {
    await network.wait(0);
    await waitHours(30);
    expect(readings()).toBe(0);
    expect(await reservation()).toBeUndefined();
  });

  test('has the reserved cycles, their limit and the time of reading after growth', async () => {
    expect(await network.call('createBucket', 'photos')).toHaveProperty('ok');
    await store(12);
    await waitHours(1);
    const { reservedCycles = 0n } = network.engine.balance(network.canisterId()) ?? {};
    expect(reservedCycles).toBeGreaterThan(0n);
    const readAt = network.nowNs;
    const limitCycles = 5_000_000_000_000n;
    expect(await reservation()).toEqual({ reservedCycles, limitCycles, readAt });
    expect(readings()).toBe(1);
  });

  test('shows them only to those who see the cycles', async () => {
    expect(await reservation(Principal.anonymous())).toBeUndefined();
    expect(await reservation(Principal.selfAuthenticating(new Uint8Array(44)))).toBeUndefined();
  });

  test('keeps them while the canister does not grow, and has new ones after growth', async () => {
    const former = await reservation();
    await waitHours(30);
    expect(await reservation()).toEqual(former);
    expect(readings()).toBe(1);
    await store(12);
    await waitHours(1);
    const { reservedCycles = 0n, readAt = 0n } = (await reservation()) ?? {};
    expect(reservedCycles).toBeGreaterThan(former?.reservedCycles ?? 0n);
    expect([readAt, readings()]).toEqual([network.nowNs, 2]);
  });

  test('has none after an upgrade, until the canister is used', async () => {
    await network.upgrade();
    await network.wait(0);
    await waitHours(2);
    expect([await reservation(), readings()]).toEqual([undefined, 2]);
    await store(1);
    await waitHours(1);
    expect((await reservation())?.reservedCycles).toBeGreaterThan(0n);
  });
});
