// The cycles of deliveries against the charges that bound those of a day, and the rounds that they
// take under the mainnet's profile.

import { readFile } from 'node:fs/promises';
import { IDL } from '@dfinity/candid';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Replica, startReplica } from '../../packages/replica/src/replica.ts';
import { buildCanister } from '../../scripts/build.ts';
import { ResultSubscription, SubscriptionRequest } from '../../src/actor/candid/subscriptions.ts';
import { type KeyNetwork, owner, settings } from '../support/key-network.ts';
import { networkWithStoredKey } from '../support/lost-timers.ts';
import { Subscriber, subscriberModule } from '../support/subscriber.ts';
import { Subscriptions } from '../support/subscriptions.ts';

describe('cyclesToday', () => {
  let network: KeyNetwork;
  let subscriptions: Subscriptions;

  beforeAll(async () => {
    network = await networkWithStoredKey();
    subscriptions = new Subscriptions(network);
  });

  /** Returns the cycles that the canister has paid while `work` ran, and those it charged. */
  async function costOf(work: () => Promise<void>): Promise<{ paid: number; charged: number }> {
    const cycles = () => network.engine.balance(network.canisterId())?.cycles ?? 0n;
    const before = { cycles: cycles(), charged: (await subscriptions.only()).cyclesToday };
    await work();
    const paid = Number(before.cycles - cycles());
    return { paid, charged: Number((await subscriptions.only()).cyclesToday - before.charged) };
  }

  test('is more than one change, a full batch and a large reply cost', async () => {
    const subscriber = await Subscriber.install(network);
    const { id } = await subscriptions.add(subscriber.id);
    const deliver = () => network.wait(0);
    await subscriptions.put('a/0');
    await deliver();
    await subscriptions.put('a/1');
    const one = await costOf(deliver);
    await subscriptions.change(id, { isPaused: true });
    for (let count = 0; count < 120; count++)
      await subscriptions.put(`${'long/'.repeat(60)}${count}`);
    await subscriptions.change(id, { isPaused: false });
    const many = await costOf(async () => {
      await deliver();
      await deliver();
    });
    await subscriptions.change(id, { prefix: 'none/' });
    await deliver();
    await subscriptions.put('b/1');
    const none = await costOf(deliver);
    await subscriptions.change(id, { prefix: '' });
    await deliver();
    await subscriber.become('large');
    await subscriptions.put('c/1');
    const large = await costOf(deliver);
    for (const [name, { paid, charged }] of Object.entries({ one, many, none, large })) {
      expect(paid, name).toBeGreaterThan(0);
      expect(paid, name).toBeLessThanOrEqual(charged);
    }
    expect(subscriber.entries().length).toBeGreaterThan(120);
  });
});

describe('addSubscription under the profile of the mainnet', () => {
  const roundMs = 1_000;
  const Upload = IDL.Record({
    ...{ bucketId: IDL.Text, path: IDL.Text, contentType: IDL.Text },
    bytes: IDL.Vec(IDL.Nat8),
  });

  test('delivers a change in the round of its update or the next one', async () => {
    const wasm = new Uint8Array(await readFile((await buildCanister({ force: false })).wasmPath));
    const times = new Map<string, number>();
    const replica: Replica = await startReplica({
      ...{ server: false, profile: 'mainnet' },
      onReport: ({ kind, method }) => {
        if (kind === 'update') times.set(method, performance.now());
      },
    });
    try {
      const [id, subscriber] = [
        await replica.createCanister({ controllers: [owner] }),
        await replica.createCanister({ controllers: [owner] }),
      ];
      await replica.install(id, wasm, settings({ stored: null }), { sender: owner });
      await replica.install(subscriber, subscriberModule(), undefined, { sender: owner });
      const send = (method: string, types: IDL.Type[], values: unknown[]) =>
        replica.call(id, method, new Uint8Array(IDL.encode(types, values)), { sender: owner });
      await send('createBucket', [IDL.Text], ['photos']);
      const optionals = { prefix: [], kinds: [], after: [] };
      const request = { bucketId: 'photos', canister: subscriber, method: 'efs_events' };
      const added = await send(
        'addSubscription',
        [SubscriptionRequest],
        [{ ...request, ...optionals }],
      );
      expect(IDL.decode([ResultSubscription], added)[0]).toHaveProperty('ok');
      const rounds: number[] = [];
      for (let count = 0; count < 5; count++) {
        times.clear();
        const file = { bucketId: 'photos', path: `${count}`, contentType: 'a/b', bytes: [1] };
        await send('uploadFile', [Upload], [file]);
        await expect.poll(() => times.has('efs_events'), { timeout: 20_000 }).toBe(true);
        const [storedMs = 0, receivedMs = 0] = [times.get('uploadFile'), times.get('efs_events')];
        rounds.push((receivedMs - storedMs) / roundMs);
      }
      for (const count of rounds) expect(count).toBeLessThanOrEqual(1.1);
    } finally {
      await replica.stop();
    }
  });
});
