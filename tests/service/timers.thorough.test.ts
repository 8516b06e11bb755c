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
  const use = () => {
    const key = { name: 'k', buckets: ['photos'], permissions: ['read'], expiresAt: [] };
    return network.call('createApiKey', key);
  };
  for (let turn = 0; turn < 3; turn++) {
    await use();
    await network.wait(1);
  }
  expect((await network.status()).isRotating).toBe(false);
  network.reports.length = 0;
  for (let turn = 0; turn < 6; turn++) {
    await use();
    await network.wait(600);
  }
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
  const record = Buffer.from([12, 0, 0, 0, 1, 5, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
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

/** Runs the timers of a day; returns the turns of upkeep and the cycles of all messages. */
async function passDay(network: KeyNetwork): Promise<{ turns: number; cycles: bigint }> {
  network.reports.length = 0;
  for (let turn = 0; turn < 144; turn++) await network.wait(600);
  const count = (wanted: string) => network.reports.filter(({ kind }) => kind === wanted).length;
  const reseeds = network.reports.filter(({ method }) => method === 'raw_rand').length;
  const cycles = network.reports.reduce((sum, report) => sum + report.cycles, 0n);
  return { turns: count('update') - reseeds, cycles };
}

describe('upkeep', () => {
  test('rests for a day while nothing can expire', async () => {
    const network = await networkWithStoredKey();
    await passDay(network);
    const { turns, cycles } = await passDay(network);
    expect(turns).toBeLessThanOrEqual(2);
    // 2,820 M with a turn every ten minutes, 630 M if random bytes are fetched meanwhile
    expect(cycles).toBeLessThan(30_000_000n);
  });

  test('looks every ten minutes after a call, and ends what expires in time', async () => {
    const network = await networkWithStoredKey();
    await network.wait(600);
    await network.wait(600);
    const areEnded = await revokeKey(network);
    for (let turn = 0; turn < 3; turn++) await network.wait(600);
    expect(await areEnded()).toBe(true);
  });

  test('looks every ten minutes while there are links', async () => {
    const network = await networkWithStoredKey();
    const named = { bucketId: 'photos', path: 'a' };
    const Name = { bucketId: IDL.Text, path: IDL.Text };
    const Upload = IDL.Record({ ...Name, contentType: IDL.Text, bytes: IDL.Vec(IDL.Nat8) });
    const upload = { ...named, contentType: 'text/plain', bytes: [1] };
    await network.send('uploadFile', [Upload], [upload]);
    await network.send('createLink', [IDL.Record(Name)], [named]);
    const { turns } = await passDay(network);
    expect(turns).toBeGreaterThan(140);
  });
});
