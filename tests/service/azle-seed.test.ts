// Azle seeds the source behind `crypto.getRandomValues` by a timer at install and upgrade. The
// timer traps if cycles are short, and Azle does not arm it again.

import { IDL } from '@dfinity/candid';
import { beforeAll, expect, test } from 'vitest';
import { createRandomSource } from '../../src/crypto/random.ts';
import { installNodeKernel } from '../support/kernel-host.ts';
import { KeyNetwork, settings } from '../support/key-network.ts';

beforeAll(() => installNodeKernel());

const cycles = 3_000_000_000_000n;
/** Enough for three of Azle's timers at once, but not for the calls that two of them make. */
const liquidCycles = 200_000_000_000n;
const secondsPerDay = 86_400n;

/** Leaves so many cycles above the reserve, as after an upgrade with few. Returns the way back. */
function makePoor(network: KeyNetwork): () => void {
  const { engine } = network;
  const id = network.canisterId();
  const { computeAllocation = 0n, freezingThreshold = 0n } = engine.settings(id) ?? {};
  // Computing keeps the reserve independent of the memory that a message allocates.
  engine.updateSettings(id, { computeAllocation: 1n });
  const balance = engine.balance(id);
  const perDay = balance?.idleCyclesPerDay ?? 1n;
  const reserved = (balance?.cycles ?? 0n) - liquidCycles;
  engine.updateSettings(id, { freezingThreshold: (reserved * secondsPerDay) / perDay });
  return () => void engine.updateSettings(id, { computeAllocation, freezingThreshold });
}

/** Returns whether the canister's heap contains these bytes. */
function heapContains(network: KeyNetwork, bytes: Uint8Array): boolean {
  const { snapshots } = network.engine;
  const canisterId = network.canisterId();
  const facts = snapshots.take({ canisterId, replace: undefined, chunks: [] });
  if ('status' in facts) throw new Error(facts.message);
  const heap = snapshots.read(facts, 'heap', { offset: 0, size: facts.heapBytes });
  snapshots.remove({ canisterId, snapshotId: facts.id });
  return Buffer.from(heap).includes(Buffer.from(bytes));
}

test('post_upgrade with few cycles: a seed timer of Azle that traps ends nothing, and the next fetch of fresh bytes seeds its source', async () => {
  const network = new KeyNetwork();
  await network.install(settings({ stored: null }), cycles);
  for (let turn = 0; turn < 4; turn += 1) await network.wait(1);
  await network.send('createBucket', [IDL.Text], ['photos']);
  await network.upgrade();
  const topUp = makePoor(network);
  network.reports.length = 0;
  await network.wait(0);
  const traps = network.reports.flatMap(({ error }) => error ?? []);
  expect(traps).toEqual([expect.stringContaining('Azle SeedFromRawRandError: insufficient')]);
  expect(await network.call('deleteFile', 'photos', 'none', [])).toHaveProperty('err');
  topUp();
  network.seeds.length = 0;
  network.reports.length = 0;
  await network.wait(30);
  const [entropy] = network.seeds;
  if (entropy === undefined) throw new Error('Nothing has fetched random bytes');
  const source = createRandomSource();
  source.seed(entropy, network.nowNs);
  const seed = source.next(32, network.nowNs);
  expect(heapContains(network, seed)).toBe(true);
  expect(network.reports.flatMap(({ error }) => error ?? [])).toEqual([]);
  expect(await network.call('createBucket', 'more')).toHaveProperty('ok');
});
