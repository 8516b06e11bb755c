// The freezing threshold: the cycles that a canister must keep for its memory, and the messages
// that it refuses with fewer cycles.

import { describe, expect, it } from 'vitest';
import type { Canister } from '../../../packages/replica/src/execution/canister.ts';
import { newSettings } from '../../../packages/replica/src/execution/canister-settings.ts';
import type { EngineState } from '../../../packages/replica/src/execution/core-state.ts';
import { freezingReserve } from '../../../packages/replica/src/execution/freezing.ts';
import { numberOf, startTestReplica, textOf } from '../../support/wasm-canisters/test-replica.ts';
import { canister } from '../../support/wasm-canisters/text-module.ts';

const body = `(memory 160)
  (func $balance (call $canister_liquid_cycle_balance128 (i32.const 16))
    (call $reply64 (i64.load (i32.const 16))))
  (func (export "canister_query liquid") (call $balance))
  (func (export "canister_update spend") (call $balance))
  (func (export "canister_update grow") (call $reply64 (call $stable64_grow (i64.const 16384))))
  (func (export "canister_global_timer") (i32.store (i32.const 32) (i32.const 1)))
  (func (export "canister_update arm") (call $reply64 (call $global_timer_set (i64.const 1))))
  (func (export "canister_query fired") (call $reply32 (i32.load (i32.const 32))))`;
const module = canister(
  ['canister_liquid_cycle_balance128', 'stable64_grow', 'global_timer_set'],
  body,
);
/** Cost per day of 160 pages and the module, at 127,000 cycles per GiB and second. */
const perDay = ((10_485_760n + BigInt(module.length)) * 127_000n * 86_400n) / 2n ** 30n;
const reserve = perDay * 30n;
const held = 40_005_000_000n;
/** Reduces the cycles that an installation reserves. */
const limits = { installInstructions: 100_000_000n };

describe('a canister', () => {
  it('may spend the balance above the reserve; in an update, minus the cycles held for it', async () => {
    const replica = startTestReplica({ limits });
    const id = await replica.install(module, 100_000_000_000n);
    const cycles = replica.engine.canister(id)?.cycles ?? 0n;
    expect(numberOf(await replica.query(id, 'liquid'))).toBe(Number(cycles - reserve));
    const seen = BigInt(numberOf(await replica.update(id, 'spend')));
    // 1.2 M and 2,000 per byte were already charged.
    expect(seen).toBe(cycles - reserve - held - 1_200_000n - 2_000n * 5n);
    const now = replica.engine.canister(id)?.cycles ?? 0n;
    expect(cycles - now).toBeLessThan(10_000_000n);
  });

  it('with too little above the reserve accepts no update and runs no timer, but answers queries', async () => {
    const replica = startTestReplica({ limits });
    const id = await replica.install(module, 100_000_000_000n);
    await replica.update(id, 'arm');
    const { cycles = 0n } = replica.engine.canister(id) ?? {};
    const days = (cycles - held / 2n) / (reserve / 30n);
    replica.engine.updateSettings(id, { freezingThreshold: days * 86_400n });
    expect(textOf(await replica.update(id, 'spend'))).toMatch(
      /^IC0207: Canister .* is out of cycles: please top up the canister with at least \d+/,
    );
    await replica.engine.tick();
    expect(numberOf(await replica.query(id, 'fired'))).toBe(0);
  });

  it('below the reserve is frozen: it answers nothing until it is topped up', async () => {
    const replica = startTestReplica({ limits });
    const id = await replica.install(module, 400_000_000_000n);
    expect(numberOf(await replica.update(id, 'grow'))).toBe(0);
    replica.engine.updateSettings(id, { freezingThreshold: 86_400n * 60n });
    expect(textOf(await replica.query(id, 'liquid'))).toMatch(/^IC0207: .*because it's frozen/);
    const message = { sender: id, canisterId: id, method: 'spend', arg: new Uint8Array(0) };
    expect(await replica.engine.checkIngress(message)).toMatchObject({ errorCode: 'IC0207' });
    replica.engine.depositCycles(id, 500_000_000_000n);
    expect(numberOf(await replica.query(id, 'liquid'))).toBeGreaterThan(0);
    expect(await replica.engine.checkIngress(message)).toBeUndefined();
  });
});

describe('freezingReserve()', () => {
  const state = {
    store: { stableMemory: () => ({ pages: () => 16_384 }) },
    world: { subnetType: 'application' },
  } as unknown as EngineState;
  const settings = newSettings([]);
  /** The cost of a GiB of stable memory for 30 days. */
  const limit = 127_000n * 86_400n * 30n;
  const reserveWith = (reservedCycles: bigint) => {
    const record = { settings, reservedCycles };
    const canister = { record, moduleBytes: 0, sandbox: undefined, idText: 'x' };
    return freezingReserve(state, canister as unknown as Canister);
  };

  it('counts cycles that are reserved for memory already, and never falls below 0', () => {
    expect(reserveWith(0n)).toBe(limit);
    expect(reserveWith(limit / 3n)).toBe(limit - limit / 3n);
    expect(reserveWith(limit)).toBe(0n);
    expect(reserveWith(2n * limit)).toBe(0n);
  });
});
