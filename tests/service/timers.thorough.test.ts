// Every one-shot timer of the canister is set again after it was lost.

import { IDL } from '@dfinity/candid';
import { describe, expect, test } from 'vitest';
import { type StateStore, wasmPageBytes } from '../../packages/replica/src/core.ts';
import { KeyNetwork, settings } from '../support/key-network.ts';
import {
  loseTimer,
  losses,
  networkWithStoredKey,
  revokeKey,
  timerCases,
} from '../support/lost-timers.ts';
import { createCopiedStore } from '../support/store-copies.ts';

describe('after a loss', () => {
  test.each(timerCases)('the $name timer is armed again', async (timer) => {
    const network = await networkWithStoredKey();
    for (const loss of losses) {
      // The timer's message to the canister is pending.
      expect(await loseTimer(network, timer, { loss, point: 1 }), loss).toBe(true);
    }
  });
});

test('updates restart the timers of a snapshot that was taken while they ran', async () => {
  const network = await networkWithStoredKey();
  const canisterId = network.canisterId();
  const { snapshots } = network.engine;
  let taken: ReturnType<typeof snapshots.take> | undefined;
  network.onMessage = () => {
    const isFirst = taken === undefined && network.reports.at(-1)?.kind === 'timer';
    if (isFirst)
      void Promise.resolve().then(() => {
        taken ??= snapshots.take({ canisterId, replace: undefined, chunks: [] });
      });
  };
  await network.wait(600);
  network.onMessage = undefined;
  if (taken === undefined || 'status' in taken) throw new Error('no snapshot was taken');
  const origin = { caller: canisterId, isCanister: false };
  // Code that was removed and restored has no system timer.
  await network.engine.uninstall(canisterId);
  expect(snapshots.load({ canisterId, snapshotId: taken.id, origin })).toBeUndefined();
  expect(await network.call('rotateBucketKey', 'photos')).toEqual({ ok: null });
  for (let turn = 0; turn < 4; turn++) await network.wait(600);
  expect((await network.status()).isRotating, 'its timers are lost').toBe(true);
  // Each call draws from the random source, which then counts as fresh.
  for (let turn = 0; turn < 3; turn++) {
    await network.call('createApiKey', {
      name: `k${turn}`,
      buckets: ['photos'],
      permissions: ['read'],
      expiresAt: [],
    });
    await network.wait(1);
  }
  expect((await network.status()).isRotating).toBe(false);
  network.reports.length = 0;
  for (let turn = 0; turn < 6; turn++) await network.wait(600);
  const turns = network.reports.filter(({ kind }) => kind === 'timer');
  expect(turns.length, 'upkeep has its interval again').toBeGreaterThanOrEqual(5);
  expect(turns.length, 'and only one').toBeLessThanOrEqual(8);
});

/** Makes the record of the upgrade's progress unreadable, so that each step traps. */
function damageProgress(store: StateStore, id: string): void {
  const memory = store.stableMemory(id);
  const bytes = Buffer.alloc(memory.pages() * wasmPageBytes);
  memory.read(0, bytes);
  // Version, target, the stage `done`, and two numbers; before them the length of the record
  const record = Buffer.from([12, 0, 0, 0, 1, 4, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
  const at = bytes.indexOf(record);
  if (at === -1) throw new Error('the progress of the upgrade is not in stable memory');
  memory.write(at + 4, Buffer.of(255));
  store.commit({ canisters: store.load(), stableMemories: [id], cleared: [], deleted: [] });
}

test('upkeep ends uploads while each step of the work on records traps', async () => {
  const { store, copy } = createCopiedStore();
  const first = new KeyNetwork({ store });
  await first.install(settings({ stored: null }));
  await first.send('createBucket', [IDL.Text], ['photos']);
  const damaged = copy();
  damageProgress(damaged, first.canisterId().toText());
  const network = new KeyNetwork({ store: damaged });
  await network.resume();
  const areEnded = await revokeKey(network);
  for (let turn = 0; turn < 4; turn++) await network.wait(600);
  const failures = network.reports.filter(({ error }) => error !== undefined);
  expect(failures.length, 'steps that trapped').toBeGreaterThan(1);
  expect(await areEnded()).toBe(true);
});

test('upkeep without work takes one message', async () => {
  const network = await networkWithStoredKey();
  await network.wait(600);
  network.reports.length = 0;
  await network.wait(600);
  const updates = network.reports.filter(({ kind }) => kind === 'update');
  expect(updates).toHaveLength(1);
});
