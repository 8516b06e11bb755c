// The random source on the built canister: when it fetches fresh bytes, and which calls wait for
// them.

import { expect, test } from 'vitest';
import { type KeyNetwork, networkWithKey } from '../support/key-network.ts';

const hour = 3_600;
const nsPerSecond = 1_000_000_000n;

const fetched = (network: KeyNetwork) => network.answersTo('raw_rand').length;

/** Lets the time pass in steps shorter than any interval. */
async function pass(network: KeyNetwork, seconds: number): Promise<void> {
  for (let passed = 0; passed < seconds; passed += 300) await network.wait(300);
}

test('while callers send updates, fresh bytes arrive every hour by a timer', async () => {
  const network = await networkWithKey();
  for (let hours = 1; hours <= 5; hours++) {
    await pass(network, hour);
    expect((await network.call('deleteFile', 'photos', 'none', [])).err).toMatch(/^NoSuchFile: /);
    expect(fetched(network)).toBeGreaterThanOrEqual(hours - 1);
  }
  expect(fetched(network)).toBeLessThanOrEqual(7);
  const timers = network.reports.filter(({ kind }) => kind === 'update');
  const others = timers.filter(({ method }) => method !== 'deleteFile');
  expect(others.every(({ method }) => method.includes('timer_executor'))).toBe(true);
  // A message that draws random bytes is answered without waiting.
  network.reports.length = 0;
  expect(await network.call('createBucket', 'notes')).toHaveProperty('ok');
  expect(network.reports.map(({ kind }) => kind)).toEqual(['inspect', 'update']);
});

test('at rest no bytes are fetched, and the first update waits for them', async () => {
  const network = await networkWithKey();
  await pass(network, 2 * hour);
  network.reports.length = 0;
  await pass(network, 48 * hour);
  expect(fetched(network)).toBe(0);
  network.reports.length = 0;
  expect(await network.call('createBucket', 'first')).toHaveProperty('ok');
  expect(fetched(network)).toBe(1);
  network.reports.length = 0;
  expect(await network.call('createBucket', 'second')).toHaveProperty('ok');
  expect(network.reports.map(({ kind }) => kind)).toEqual(['inspect', 'update']);
  await pass(network, hour);
  expect(fetched(network)).toBe(1);
});

test('each rotation requests fresh bytes without waiting for them', async () => {
  const network = await networkWithKey();
  for (const [method, ...values] of [
    ['rotateBucketKey', 'photos'],
    ['rotateRootKey', []],
  ] as const) {
    network.reports.length = 0;
    expect(await network.call(method, ...values)).toEqual({ ok: null });
    expect(fetched(network)).toBe(0);
    await network.wait(0);
    expect(fetched(network)).toBe(1);
  }
});

/** Advances the clock but not the heap, as the load of a snapshot of that age does. */
function loadSnapshotOf(network: KeyNetwork, seconds: number): void {
  network.nowNs += BigInt(seconds) * nsPerSecond;
  network.reports.length = 0;
}

test('after a possible load of a snapshot, a draw waits for fresh bytes', async () => {
  const network = await networkWithKey();
  loadSnapshotOf(network, hour + 1);
  const created = network.call('createBucket', 'notes');
  expect(await created).toHaveProperty('ok');
  const kinds = network.reports.map(({ kind, method }) => `${kind} ${method}`);
  expect(kinds.slice(0, 3)).toEqual([
    'inspect createBucket',
    'update createBucket',
    'reply raw_rand',
  ]);
  loadSnapshotOf(network, hour - 1);
  expect(await network.call('createBucket', 'more')).toHaveProperty('ok');
  expect(fetched(network)).toBe(0);
});

test('a draw is refused if fresh bytes cannot be fetched, and other requests succeed', async () => {
  const network = await networkWithKey();
  const id = network.canisterId();
  const { cycles = 0n, idleCyclesPerDay = 1n } = network.engine.balance(id) ?? {};
  // The canister has enough cycles for an update, but not for a call.
  const freezingThreshold = ((cycles - 60_000_000_000n) * 86_400n) / idleCyclesPerDay;
  const former = network.engine.settings(id)?.freezingThreshold ?? 0n;
  network.engine.updateSettings(id, { freezingThreshold });
  loadSnapshotOf(network, 2 * hour);
  expect((await network.call('createBucket', 'notes')).err).toMatch(/^ServiceUnavailable: /);
  expect((await network.call('deleteFile', 'photos', 'none', [])).err).toMatch(/^NoSuchFile: /);
  network.engine.updateSettings(id, { freezingThreshold: former });
  await network.wait(10);
  expect(await network.call('createBucket', 'notes')).toHaveProperty('ok');
});

test('timers that were due while the canister was frozen run afterwards', async () => {
  const network = await networkWithKey();
  await network.call('createBucket', 'notes');
  network.reports.length = 0;
  const id = network.canisterId();
  const former = network.engine.settings(id)?.freezingThreshold ?? 0n;
  network.engine.updateSettings(id, { freezingThreshold: 2n ** 50n });
  await network.wait(2 * hour);
  expect(fetched(network)).toBe(0);
  network.engine.updateSettings(id, { freezingThreshold: former });
  await pass(network, hour);
  expect(fetched(network)).toBe(1);
});
