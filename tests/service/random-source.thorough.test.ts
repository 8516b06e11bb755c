// The random source on the built canister: when it fetches fresh bytes, and which calls wait for
// them.

import { expect, test } from 'vitest';
import { type KeyNetwork, networkWithKey } from '../support/key-network.ts';

const hour = 3_600;
const nsPerSecond = 1_000_000_000n;

const fetched = (network: KeyNetwork) => network.answersTo('raw_rand').length;

test('fresh bytes arrive every hour by a timer, even if none are drawn', async () => {
  const network = await networkWithKey();
  for (let hours = 1; hours <= 5; hours++) {
    for (let part = 0; part < 6; part++) await network.wait(hour / 6);
    expect(fetched(network)).toBeGreaterThanOrEqual(hours);
  }
  expect(fetched(network)).toBeLessThanOrEqual(6);
  const timers = network.reports.filter(({ kind }) => kind === 'update');
  expect(timers.every(({ method }) => method.includes('timer_executor'))).toBe(true);
  // A message that draws random bytes is answered without waiting.
  network.reports.length = 0;
  expect(await network.call('createBucket', 'notes')).toHaveProperty('ok');
  expect(network.reports.map(({ kind }) => kind)).toEqual(['inspect', 'update']);
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
  const id = network.canisterId();
  const former = network.engine.settings(id)?.freezingThreshold ?? 0n;
  network.engine.updateSettings(id, { freezingThreshold: 2n ** 50n });
  await network.wait(2 * hour);
  expect(fetched(network)).toBe(0);
  network.engine.updateSettings(id, { freezingThreshold: former });
  for (let hours = 0; hours < 3; hours++) await network.wait(hour);
  expect(fetched(network)).toBeGreaterThanOrEqual(3);
});
