// A message that traps changes nothing; a query never does; changes before an await stay.

import type { Principal } from '@dfinity/principal';
import { describe, expect, it } from 'vitest';
import type { TestReplica } from '../../support/wasm-canisters/test-replica.ts';
import { numberOf, startTestReplica, textOf } from '../../support/wasm-canisters/test-replica.ts';
import { canister } from '../../support/wasm-canisters/text-module.ts';

/**
 * Every kind of state, each with a query that reads it, and an update `write` that changes all of
 * it.
 */
const stateful = canister(
  [
    'stable64_size',
    'stable64_grow',
    'stable64_write',
    'stable64_read',
    'certified_data_set',
    'global_timer_set',
    'call_new',
    'call_perform',
    'canister_version',
  ],
  `(memory 1)
  (global $g (mut i32) (i32.const 7))
  (global $v (mut v128) (v128.const i64x2 5 -6))
  (data (i32.const 600) "aaaaa")
  (func $change
    (i32.store (i32.const 1000) (i32.const 99))
    (global.set $g (i32.const 8))
    (global.set $v (v128.const i64x2 8 9))
    (drop (call $stable64_grow (i64.const 1)))
    (i64.store (i32.const 2000) (i64.const 99))
    (call $stable64_write (i64.const 16) (i64.const 2000) (i64.const 8)))
  (func $change_system
    (call $certified_data_set (i32.const 600) (i32.const 5))
    (drop (call $global_timer_set (i64.const 1)))
    (call $call_new (i32.const 0) (i32.const 0) (i32.const 600) (i32.const 5)
      (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0))
    (drop (call $call_perform)))
  (func (export "canister_init") (drop (call $stable64_grow (i64.const 1))))
  (func (export "canister_update write") (call $change) (call $reply32 (i32.const 0)))
  (func (export "canister_update write_and_trap") (call $change) (call $change_system) unreachable)
  (func (export "canister_update grow") (drop (memory.grow (i32.const 3)))
    (i32.store (i32.const 200000) (i32.const 5)) (call $reply32 (memory.size)))
  (func (export "canister_update grow_and_trap") (call $change) (drop (memory.grow (i32.const 3)))
    (i32.store (i32.const 200000) (i32.const 5)) unreachable)
  (func (export "canister_query write_in_query") (call $change) (drop (memory.grow (i32.const 3)))
    (call $reply32 (i32.const 0)))
  (func (export "canister_query read_heap") (call $reply32 (i32.load (i32.const 1000))))
  (func (export "canister_query read_grown") (call $reply32 (i32.load (i32.const 200000))))
  (func (export "canister_query read_size") (call $reply32 (memory.size)))
  (func (export "canister_query read_global") (call $reply32 (global.get $g)))
  (func (export "canister_query read_vector")
    (call $reply32 (i32.sub (i32x4.extract_lane 0 (global.get $v))
      (i32x4.extract_lane 2 (global.get $v)))))
  (func (export "canister_query read_pages")
    (call $reply32 (i32.wrap_i64 (call $stable64_size))))
  (func (export "canister_query read_stable")
    (call $stable64_read (i64.const 3000) (i64.const 16) (i64.const 8))
    (call $reply32 (i32.load (i32.const 3000))))`,
);

const readers = {
  read_heap: 0,
  read_size: 1,
  read_global: 7,
  read_vector: 11,
  read_pages: 1,
  read_stable: 0,
};

async function readAll(replica: TestReplica, id: Principal): Promise<Record<string, number>> {
  const values: Record<string, number> = {};
  for (const name of Object.keys(readers)) values[name] = numberOf(await replica.query(id, name));
  return values;
}

describe('a message that traps', () => {
  it.each(['write_and_trap', 'grow_and_trap'])('changes nothing: %s', async (method) => {
    const replica = startTestReplica();
    const id = await replica.install(stateful);
    const before = replica.engine.canister(id);
    expect(await readAll(replica, id)).toEqual(readers);
    expect(textOf(await replica.update(id, method))).toMatch(/^IC0502: .*trapped: unreachable/);
    expect(await readAll(replica, id)).toEqual(readers);
    const after = replica.engine.canister(id);
    expect(after?.certifiedData).toEqual(before?.certifiedData);
    expect(after?.version).toBe(before?.version);
    await replica.engine.tick();
    expect(replica.managementCalls).toEqual([]);
  });

  it('keeps the writes of earlier messages in a heap that grew', async () => {
    const replica = startTestReplica();
    const id = await replica.install(stateful);
    expect(numberOf(await replica.update(id, 'grow'))).toBe(4);
    await replica.update(id, 'write');
    const written = await readAll(replica, id);
    expect(written).toMatchObject({
      read_heap: 99,
      read_global: 8,
      read_vector: -1,
      read_pages: 2,
    });
    await replica.update(id, 'grow_and_trap');
    expect(await readAll(replica, id)).toEqual(written);
    expect(numberOf(await replica.query(id, 'read_grown'))).toBe(5);
    expect(numberOf(await replica.update(id, 'grow'))).toBe(7);
  });
});

describe('a query', () => {
  it('changes nothing', async () => {
    const replica = startTestReplica();
    const id = await replica.install(stateful);
    const version = replica.engine.canister(id)?.version;
    for (let time = 0; time < 3; time += 1) {
      expect(numberOf(await replica.query(id, 'write_in_query'))).toBe(0);
      expect(await readAll(replica, id)).toEqual(readers);
    }
    expect(replica.engine.canister(id)?.version).toBe(version);
  });
});

describe('dirty pages', () => {
  it('cost 1,000 instructions each, in the heap and in stable memory', async () => {
    const replica = startTestReplica();
    const module = canister(
      ['stable64_grow', 'stable64_write'],
      `(memory 4)
      (func (export "canister_update none") (call $msg_reply))
      (func (export "canister_update heap")
        (i32.store8 (i32.const 5000) (i32.const 1)) (i32.store8 (i32.const 6000) (i32.const 1))
        (i32.store8 (i32.const 9000) (i32.const 1)) (call $msg_reply))
      (func (export "canister_init") (drop (call $stable64_grow (i64.const 4))))
      (func (export "canister_update stable")
        (call $stable64_write (i64.const 4000) (i64.const 0) (i64.const 200))
        (call $stable64_write (i64.const 4100) (i64.const 0) (i64.const 10)) (call $msg_reply))`,
    );
    const id = await replica.install(module);
    const used = async (method: string) => {
      await replica.update(id, method);
      return replica.engine.lastReport();
    };
    const reply = 1 + 5 + 500;
    expect((await used('none'))?.instructions).toBe(BigInt(reply));
    const heap = await used('heap');
    expect(heap).toMatchObject({ heapPages: 2, instructions: BigInt(reply + 3 * 3 + 2_000) });
    const stable = await used('stable');
    const calls = 2 * (3 + 5 + 20) + 200 + 10;
    expect(stable).toMatchObject({ stablePages: 2, instructions: BigInt(reply + calls + 2_000) });
  });
});
