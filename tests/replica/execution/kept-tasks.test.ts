// Tasks and callbacks that could not run when they were due: because of too few cycles, a stopped
// canister, or a full disk. The network keeps each until it runs.

import type { Principal } from '@dfinity/principal';
import { describe, expect, it } from 'vitest';
import type { StateStore } from '../../../packages/replica/src/core.ts';
import { createMemoryStore } from '../../../packages/replica/src/persistence/memory-store.ts';
import {
  numberOf,
  startTestReplica,
  type TestReplica,
} from '../../support/wasm-canisters/test-replica.ts';
import { canister } from '../../support/wasm-canisters/text-module.ts';

const module = canister(
  ['global_timer_set', 'call_new', 'call_on_cleanup', 'call_perform', 'canister_self_copy'],
  `(memory 1) (table 4 funcref) (elem (i32.const 0) $answered $trapping $clean $nothing)
  (data (i32.const 100) "raw_rand")
  (func $add (param $at i32)
    (i32.store (local.get $at) (i32.add (i32.load (local.get $at)) (i32.const 1))))
  (func $answered (param i32) (call $add (i32.const 1004)))
  (func $trapping (param i32) (call $add (i32.const 1004)) unreachable)
  (func $clean (param i32) (call $add (i32.const 1008)))
  (func $nothing (param i32))
  (func $call (param $callback i32)
    (call $call_new (i32.const 0) (i32.const 0) (i32.const 100) (i32.const 8)
      (local.get $callback) (i32.const 0) (i32.const 3) (i32.const 0))
    (call $call_on_cleanup (i32.const 2) (i32.const 0))
    (drop (call $call_perform)) (call $msg_reply))
  (func (export "canister_global_timer") (call $add (i32.const 1000)))
  (func (export "canister_on_low_wasm_memory") (call $add (i32.const 1012)))
  (func (export "canister_update arm") (drop (call $global_timer_set (i64.const 1))) (call $msg_reply))
  (func (export "canister_update ask") (call $call (i32.const 0)))
  (func (export "canister_update fail") (call $call (i32.const 1)))
  (func (export "canister_query fired") (call $reply32 (i32.load (i32.const 1000))))
  (func (export "canister_query answered") (call $reply32 (i32.load (i32.const 1004))))
  (func (export "canister_query cleaned") (call $reply32 (i32.load (i32.const 1008))))
  (func (export "canister_query warned") (call $reply32 (i32.load (i32.const 1012))))`,
);

/** Returns a store whose disk can become full. */
function fillableStore() {
  const disk = { isFull: false };
  const memory = createMemoryStore();
  const store: StateStore = {
    ...memory,
    commit(change) {
      if (disk.isFull) throw new Error('ENOSPC: no space left on device');
      memory.commit(change);
    },
  };
  return { disk, store };
}

const counts = async (replica: TestReplica, id: Principal) => ({
  fired: numberOf(await replica.query(id, 'fired')),
  answered: numberOf(await replica.query(id, 'answered')),
  cleaned: numberOf(await replica.query(id, 'cleaned')),
  warned: numberOf(await replica.query(id, 'warned')),
});

const none = { fired: 0, answered: 0, cleaned: 0, warned: 0 };

describe('a due global timer is kept, and fires once', () => {
  it('while the canister has too few cycles', async () => {
    const replica = startTestReplica({ limits: { installInstructions: 100_000_000n } });
    const id = await replica.install(module, 100_000_000_000n);
    await replica.update(id, 'arm');
    replica.engine.updateSettings(id, { freezingThreshold: 2n ** 40n });
    for (let turn = 0; turn < 3; turn++) await replica.engine.tick();
    replica.engine.updateSettings(id, { freezingThreshold: 0n });
    expect(await counts(replica, id)).toEqual(none);
    for (let turn = 0; turn < 3; turn++) await replica.engine.tick();
    expect(await counts(replica, id)).toEqual({ ...none, fired: 1 });
  });

  it('while the canister is stopped, also if it was stopped between the tick and the task', async () => {
    const replica = startTestReplica();
    const id = await replica.install(module);
    await replica.update(id, 'arm');
    const ticking = replica.engine.tick();
    await replica.engine.stop(id);
    await ticking;
    await replica.engine.tick();
    expect(await replica.engine.start(id)).toBeUndefined();
    expect(await counts(replica, id)).toEqual(none);
    for (let turn = 0; turn < 3; turn++) await replica.engine.tick();
    expect(await counts(replica, id)).toEqual({ ...none, fired: 1 });
  });

  it('while its commit fails on a full disk, and costs nothing until then', async () => {
    const { disk, store } = fillableStore();
    const replica = startTestReplica({ store });
    const id = await replica.install(module);
    await replica.update(id, 'arm');
    const { cycles } = replica.engine.canister(id) ?? {};
    disk.isFull = true;
    for (let turn = 0; turn < 3; turn++) await replica.engine.tick();
    expect(await counts(replica, id)).toEqual(none);
    expect(replica.engine.canister(id)?.cycles).toBe(cycles);
    disk.isFull = false;
    for (let turn = 0; turn < 3; turn++) await replica.engine.tick();
    expect(await counts(replica, id)).toEqual({ ...none, fired: 1 });
  });

  it('but not if an upgrade has cancelled it meanwhile', async () => {
    const { disk, store } = fillableStore();
    const replica = startTestReplica({ store });
    const id = await replica.install(module);
    await replica.update(id, 'arm');
    disk.isFull = true;
    await replica.engine.tick();
    disk.isFull = false;
    await replica.engine.install({
      canisterId: id,
      mode: 'upgrade',
      module,
      arg: new Uint8Array(),
      sender: id,
    });
    await replica.engine.tick();
    expect(await counts(replica, id)).toEqual(none);
  });

  it('also if the clock of a running replica fires it', async () => {
    const { disk, store } = fillableStore();
    const replica = startTestReplica({ store, now: () => BigInt(Date.now()) * 1_000_000n });
    const id = await replica.install(module);
    await replica.update(id, 'arm');
    disk.isFull = true;
    replica.engine.startTimers();
    await expect.poll(() => replica.reports.some(({ kind }) => kind === 'timer')).toBe(true);
    disk.isFull = false;
    await expect.poll(() => counts(replica, id)).toEqual({ ...none, fired: 1 });
    replica.engine.stopTimers();
  });
});

describe('while the disk is full', () => {
  it('an answer waits for its callback, which runs once', async () => {
    const { disk, store } = fillableStore();
    const replica = startTestReplica({
      store,
      answer: (call) => {
        disk.isFull = true;
        return { outcome: { status: 'replied', arg: call.arg }, refundedCycles: 0n };
      },
    });
    const id = await replica.install(module);
    await replica.update(id, 'ask');
    for (let turn = 0; turn < 3; turn++) await replica.engine.tick();
    expect(await counts(replica, id)).toEqual(none);
    disk.isFull = false;
    for (let turn = 0; turn < 3; turn++) await replica.engine.tick();
    expect(await counts(replica, id)).toEqual({ ...none, answered: 1 });
    expect(await replica.engine.stop(id), 'nothing is open').toBeUndefined();
  });

  it('the cleanup of a callback that traps waits, and runs once', async () => {
    const { disk, store } = fillableStore();
    const replica = startTestReplica({
      store,
      answer: (call) => {
        disk.isFull = true;
        return { outcome: { status: 'replied', arg: call.arg }, refundedCycles: 0n };
      },
    });
    const id = await replica.install(module);
    await replica.update(id, 'fail');
    await replica.engine.tick();
    disk.isFull = false;
    for (let turn = 0; turn < 3; turn++) await replica.engine.tick();
    expect(await counts(replica, id)).toEqual({ ...none, cleaned: 1 });
    expect(await replica.engine.stop(id), 'nothing is open').toBeUndefined();
  });

  it('a stopping canister is stopped when there is room again', async () => {
    const { disk, store } = fillableStore();
    let end = () => {};
    const replica = startTestReplica({
      store,
      answer: async (call) => {
        await new Promise<void>((resolve) => {
          end = resolve;
        });
        return { outcome: { status: 'replied', arg: call.arg }, refundedCycles: 0n };
      },
    });
    const id = await replica.install(module);
    await replica.update(id, 'ask');
    const stopping = replica.engine.stop(id);
    disk.isFull = true;
    end();
    await replica.engine.idle();
    await replica.engine.tick();
    disk.isFull = false;
    await replica.engine.tick();
    expect(await stopping).toBeUndefined();
    expect(replica.engine.canister(id)?.status).toBe('stopped');
  });

  it('the hook for low memory waits, and runs once', async () => {
    const { disk, store } = fillableStore();
    const replica = startTestReplica({ store });
    const id = await replica.install(module);
    const memory = { wasmMemoryLimit: 131_072n, wasmMemoryThreshold: 100_000n };
    replica.engine.updateSettings(id, memory);
    disk.isFull = true;
    await replica.engine.tick();
    expect(await counts(replica, id)).toEqual(none);
    disk.isFull = false;
    for (let turn = 0; turn < 3; turn++) await replica.engine.tick();
    expect(await counts(replica, id)).toEqual({ ...none, warned: 1 });
  });
});
