// Cycles charged for taking and loading snapshots. `dfinity/ic`
// rs/execution_environment/src/canister_manager.rs, take_canister_snapshot, load_canister_snapshot.

import type { Principal } from '@dfinity/principal';
import { describe, expect, it } from 'vitest';
import type { Reject } from '../../../packages/replica/src/core.ts';
import type { SnapshotFacts } from '../../../packages/replica/src/snapshot-facts.ts';
import {
  anybody,
  startTestReplica,
  type TestReplica,
} from '../../support/wasm-canisters/test-replica.ts';
import { canister } from '../../support/wasm-canisters/text-module.ts';

const nanoseconds = 1_000_000_000n;
const message = 5_000_000n;
const baseline = 2_000_000_000n;
const reserve = (bytes: bigint) => (bytes * 127_000n * 2_592_000n) / 2n ** 30n;

const module = canister(
  ['stable64_grow'],
  `(func (export "canister_init") (drop (i32.const 1)))
  (func (export "canister_update grow") (call $reply64 (call $stable64_grow (i64.const 160))))`,
);

function cyclesOf({ engine }: TestReplica, id: Principal): bigint {
  return engine.balance(id)?.cycles ?? 0n;
}

function take({ engine }: TestReplica, canisterId: Principal): SnapshotFacts | Reject {
  return engine.snapshots.take({ canisterId, replace: undefined, chunks: [] });
}

function taken(replica: TestReplica, id: Principal): SnapshotFacts {
  const facts = take(replica, id);
  if ('status' in facts) throw new Error(facts.message);
  return facts;
}

function load({ engine }: TestReplica, canisterId: Principal, snapshotId: Uint8Array) {
  const origin = { caller: anybody, isCanister: false };
  return engine.snapshots.load({ canisterId, snapshotId, origin });
}

const bytes = BigInt(module.length + 65_536);

/** The price of the module's compilation, as its installation has paid it. */
async function installed() {
  const replica = startTestReplica();
  const id = await replica.install(module, 10n ** 12n);
  const { instructions = 0n, cycles = 0n } = replica.reports.at(-1) ?? {};
  return { replica, id, compilation: cycles - message - instructions };
}

describe('Interface specification, "IC method take_canister_snapshot": taking a snapshot', () => {
  it('costs 2 G instructions and one for each byte', async () => {
    const { replica, id } = await installed();
    const before = cyclesOf(replica, id);
    taken(replica, id);
    expect(before - cyclesOf(replica, id)).toBe(message + baseline + bytes);
  });

  it('that would freeze the canister is refused, and costs nothing', async () => {
    const { replica, id } = await installed();
    replica.engine.updateSettings(id, { freezingThreshold: 2n ** 40n });
    const before = cyclesOf(replica, id);
    expect(take(replica, id)).toMatchObject({ errorCode: 'IC0207' });
    expect(take(replica, id)).toMatchObject({
      message: expect.stringMatching(/^Canister snapshotting failed with: `Canister \S+ is out of/),
    });
    expect(cyclesOf(replica, id)).toBe(before);
    expect(replica.engine.snapshots.list(id)).toEqual([]);
  });
});

describe('Interface specification, "IC method load_canister_snapshot": loading a snapshot', () => {
  it('compiles the module: at a hundredth until the next checkpoint, then at the full price', async () => {
    const { replica, id, compilation } = await installed();
    const { id: snapshot } = taken(replica, id);
    const loaded = () => {
      const before = cyclesOf(replica, id);
      expect(load(replica, id, snapshot)).toBeUndefined();
      return before - cyclesOf(replica, id);
    };
    const always = 2n * message + baseline + bytes;
    expect(loaded()).toBe(always + compilation / 100n);
    replica.time.now += 500n * nanoseconds;
    // Charges the time, so that what remains is the load's own price.
    await replica.update(id, 'none');
    expect([loaded(), loaded()]).toEqual([always + compilation, always + compilation / 100n]);
  });

  it('that would freeze the canister is refused, and changes nothing', async () => {
    const { replica, id } = await installed();
    await replica.update(id, 'grow');
    const { id: snapshot } = taken(replica, id);
    const poor = await replica.install(module, 330_000_000_000n);
    const before = cyclesOf(replica, poor);
    const grown = 160n * 65_536n;
    replica.engine.updateSettings(poor, {
      freezingThreshold: ((before - baseline) * 2_592_000n) / reserve(bytes + grown),
    });
    expect(load(replica, poor, snapshot)).toMatchObject({ errorCode: 'IC0207' });
    expect(cyclesOf(replica, poor)).toBe(before);
    expect(replica.store.stableMemory(poor.toText()).pages()).toBe(0);
    replica.engine.updateSettings(poor, { freezingThreshold: 0n });
    expect(load(replica, poor, snapshot)).toBeUndefined();
    expect(replica.store.stableMemory(poor.toText()).pages()).toBe(160);
  });

  it('reserves cycles for the memory it adds on a full subnet', async () => {
    const replica = startTestReplica({
      limits: { subnetStorageThreshold: 2n ** 20n, subnetStorageMax: 2n ** 26n },
    });
    const [one, other] = [await replica.install(module), await replica.install(module)];
    const small = taken(replica, one);
    await replica.update(one, 'grow');
    const large = taken(replica, one);
    const reserved = () => replica.engine.balance(other)?.reservedCycles ?? 0n;
    const before = reserved();
    expect(load(replica, other, small.id)).toBeUndefined();
    expect(reserved()).toBe(before);
    replica.engine.updateSettings(other, { reservedCyclesLimit: 1n });
    expect(load(replica, other, large.id)).toMatchObject({ errorCode: 'IC0534' });
    replica.engine.updateSettings(other, { reservedCyclesLimit: 2n ** 80n });
    expect(load(replica, other, large.id)).toBeUndefined();
    expect(reserved()).toBeGreaterThan(before);
  });
});
