// Delivery of a bucket's entries to canisters that subscribe them: what arrives, and how it goes on
// after a subscriber was stopped, trapped, replied late, was deleted or upgraded.

import { IDL } from '@dfinity/candid';
import { Principal } from '@dfinity/principal';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createInProcessCalls } from '../../packages/replica/src/in-process-calls.ts';
import { type KeyNetwork, owner } from '../support/key-network.ts';
import { networkWithStoredKey } from '../support/lost-timers.ts';
import { Subscriber } from '../support/subscriber.ts';
import { Subscriptions } from '../support/subscriptions.ts';

const daySeconds = 86_400;
const CanisterId = IDL.Record({ canister_id: IDL.Principal });
let network: KeyNetwork;
let subscriptions: Subscriptions;
let subscriber: Subscriber;

beforeAll(async () => {
  network = await networkWithStoredKey();
  subscriptions = new Subscriptions(network);
});
beforeEach(async () => {
  subscriber = await Subscriber.install(network);
});
afterEach(async () => {
  for (const { id } of await subscriptions.list()) await subscriptions.remove(id);
});

/** Runs the timer of the last change, and no other that is due later. */
const deliver = () => network.wait(0);

async function waitFor(seconds: number, step: number): Promise<void> {
  for (let passed = 0; passed < seconds; passed += step) await network.wait(step);
}

/** Holds the replies of the slow subscriber up, until the returned function is called. */
function holdReplies(): () => void {
  let release = () => {};
  network.holdCall = ({ caller }) => {
    if (caller.compareTo(subscriber.id) !== 'eq') return undefined;
    return new Promise<void>((resolve) => {
      release = resolve;
    });
  };
  return () => {
    network.holdCall = undefined;
    release();
  };
}

describe('addSubscription', () => {
  test('delivers each later change at once, in one call with all of its fields', async () => {
    await subscriptions.put('before');
    const { id, cursor } = await subscriptions.add(subscriber.id);
    await deliver();
    await subscriptions.put('a/1');
    await deliver();
    await subscriptions.put('a/2');
    await subscriptions.put('a/3');
    await deliver();
    const [first, second, ...others] = subscriber.received();
    expect(others).toEqual([]);
    expect(first).toMatchObject({ bucketId: 'photos', subscription: id, after: cursor });
    expect(first?.entries).toHaveLength(1);
    expect(first?.entries[0]).toMatchObject({
      seq: cursor + 1n,
      kind: 'file.stored',
      subject: 'a/1',
      version: [1n],
      by: { principal: expect.anything() },
    });
    expect(second).toMatchObject({ after: cursor + 1n, cursor: cursor + 3n });
    expect(second?.entries.map(({ subject }) => subject)).toEqual(['a/2', 'a/3']);
    expect(await subscriptions.only()).toMatchObject({ cursor: cursor + 3n, failingSince: [] });
  });

  test('with a prefix and kinds delivers only these, and with after 0 all former ones', async () => {
    await subscriptions.put('x/1');
    await subscriptions.put('y/1');
    const kinds = ['file.stored', 'file.deleted'];
    await subscriptions.add(subscriber.id, { prefix: '/x/', kinds, after: 0n });
    await deliver();
    expect(subscriber.paths()).toEqual(['x/1']);
    await subscriptions.put('y/2');
    await deliver();
    await network.call('deleteFile', 'photos', 'x/1', []);
    await deliver();
    expect(subscriber.entries().map(({ kind }) => kind)).toEqual(kinds);
    expect(subscriber.received()).toHaveLength(2);
  });

  test('refuses methods of other names, principals without code, itself, and too many', async () => {
    const { id } = subscriber;
    const user = Principal.selfAuthenticating(new Uint8Array(44));
    const method = { method: 'icrc1_transfer' };
    await expect(subscriptions.add(id, method)).rejects.toThrow(/begins with efs_/);
    await expect(subscriptions.add(user)).rejects.toThrow(/is not a canister/);
    await expect(subscriptions.add(Principal.managementCanister())).rejects.toThrow(/not a canis/);
    await expect(subscriptions.add(network.canisterId())).rejects.toThrow(
      /cannot subscribe itself/,
    );
    await expect(subscriptions.add(id, { kinds: ['file.read'] })).rejects.toThrow(/"file.read"/);
    await expect(subscriptions.add(id, { after: 10_000n })).rejects.toThrow(/after is 10000/);
    for (let count = 0; count < 8; count++) await subscriptions.add(id);
    await expect(subscriptions.add(id)).rejects.toThrow(/^QuotaExceeded: .* 8 subscriptions/);
  });

  test('and the other methods refuse callers who do not own the bucket', async () => {
    const { id } = await subscriptions.add(subscriber.id);
    const others = new Subscriptions(network, Principal.selfAuthenticating(new Uint8Array(44)));
    await expect(others.add(subscriber.id)).rejects.toThrow(/NoSuchBucket|AccessDenied/);
    await expect(others.list()).rejects.toThrow(/NoSuchBucket|AccessDenied/);
    await expect(others.change(id, { isPaused: true })).rejects.toThrow(
      /NoSuchBucket|AccessDenied/,
    );
    await expect(others.remove(id)).rejects.toThrow(/NoSuchBucket|AccessDenied/);
  });
});

describe('a subscriber that fails', () => {
  test('by a trap or a reject gets everything in order once it replies', async () => {
    await subscriptions.add(subscriber.id);
    for (const mode of ['trapping', 'rejecting'] as const) {
      await subscriber.become(mode);
      await subscriptions.put(`${mode}/1`);
      await deliver();
      await subscriptions.put(`${mode}/2`);
      await waitFor(30, 3);
      const { failingSince, error } = await subscriptions.only();
      expect(failingSince).toHaveLength(1);
      expect(error[0]).toMatch(mode === 'trapping' ? /trapped|unreachable/ : /raw_rand/);
      await subscriber.become('prompt');
      await waitFor(60, 6);
      expect(await subscriptions.only()).toMatchObject({ failingSince: [], error: [] });
    }
    const expected = ['trapping/1', 'trapping/2', 'rejecting/1', 'rejecting/2'];
    expect(subscriber.paths()).toEqual(expected);
  });

  test('does not delay other subscribers, and is paused after a day until it is resumed', async () => {
    const other = await Subscriber.install(network);
    await subscriber.become('trapping');
    const { id } = await subscriptions.add(subscriber.id);
    await subscriptions.add(other.id);
    await subscriptions.put('p/1');
    await deliver();
    expect(other.paths()).toEqual(['p/1']);
    await waitFor(daySeconds - 600, 600);
    expect((await subscriptions.only()).pausedAt).toEqual([]);
    await waitFor(7_200, 600);
    expect((await subscriptions.only()).pausedAt).toHaveLength(1);
    const callsOf = () =>
      network.reports.filter(({ method, error }) => error && method === 'efs_events');
    expect(callsOf().length).toBeGreaterThan(10);
    expect(callsOf().length).toBeLessThan(50);
    await subscriber.become('prompt');
    await subscriptions.put('p/2');
    await waitFor(7_200, 600);
    expect(subscriber.paths()).toEqual([]);
    expect(other.paths()).toEqual(['p/1', 'p/2']);
    await subscriptions.change(id, { isPaused: false });
    await deliver();
    expect(subscriber.paths()).toEqual(['p/1', 'p/2']);
    expect((await subscriptions.only()).pausedAt).toEqual([]);
  });

  test('because it is stopped, upgraded or deleted delays nothing else', async () => {
    const { engine } = network;
    const other = await Subscriber.install(network);
    await subscriptions.add(subscriber.id);
    await subscriptions.add(other.id);
    await engine.stop(subscriber.id);
    await subscriptions.put('s/1');
    await deliver();
    await subscriber.upgrade();
    await engine.start(subscriber.id);
    await waitFor(30, 6);
    expect(subscriber.paths()).toEqual(['s/1']);
    await engine.stop(subscriber.id);
    await createInProcessCalls(engine).call(
      Principal.managementCanister(),
      'delete_canister',
      new Uint8Array(IDL.encode([CanisterId], [{ canister_id: subscriber.id }])),
      { sender: owner },
    );
    await subscriptions.put('s/2');
    await deliver();
    expect(other.paths()).toEqual(['s/1', 's/2']);
    expect((await subscriptions.only()).error[0]).toMatch(/not found/);
  });

  test('by no reply for a minute gets the entries again, without a stop that waits', async () => {
    const other = await Subscriber.install(network);
    await subscriptions.add(subscriber.id);
    await subscriptions.add(other.id);
    await deliver();
    await subscriber.become('slow');
    const release = holdReplies();
    await subscriptions.put('w/1');
    void network.engine.tick();
    await expect.poll(() => subscriber.paths()).toEqual(['w/1']);
    await subscriptions.put('w/2');
    void network.engine.tick();
    await expect.poll(() => other.paths()).toEqual(['w/1', 'w/2']);
    // The call waits at most a minute, and so does the stop
    const stopping = network.engine.stop(network.canisterId());
    network.nowNs += 61_000_000_000n;
    void network.engine.tick();
    await stopping;
    await network.engine.start(network.canisterId());
    release();
    await subscriber.become('prompt');
    await network.wait(0);
    await waitFor(1_400, 100);
    expect(subscriber.paths()).toEqual(['w/1', 'w/2']);
    expect(subscriber.received()[1]?.entries[0]?.subject).toBe('w/1');
  });
});

describe('an upgrade', () => {
  test('while a delivery is under way lets it arrive again', async () => {
    await subscriptions.add(subscriber.id);
    await deliver();
    await subscriber.become('slow');
    const release = holdReplies();
    await subscriptions.put('u/1');
    void network.engine.tick();
    await expect.poll(() => subscriber.paths()).toEqual(['u/1']);
    await network.upgrade();
    release();
    await subscriber.become('prompt');
    await waitFor(10, 1);
    await subscriptions.put('u/2');
    await deliver();
    expect(subscriber.paths()).toEqual(['u/1', 'u/2']);
    const [first, second] = subscriber.received();
    expect(second?.after).toBe(first?.after);
    expect(await subscriptions.only()).toMatchObject({
      failingSince: [],
      cursor: subscriber.received().at(-1)?.cursor,
    });
  });
});

describe('removeSubscription', () => {
  test('ends the delivery, as the deletion of the bucket does', async () => {
    const { id } = await subscriptions.add(subscriber.id);
    await subscriptions.put('r/1');
    await subscriptions.remove(id);
    await waitFor(5, 1);
    expect(subscriber.received()).toEqual([]);
    await expect(subscriptions.remove(id)).rejects.toThrow(`has no subscription ${id}`);
  });
});
