// Everything except updates: timers, heartbeats, inspection, and all kinds of queries.

import type { Principal } from '@dfinity/principal';
import { describe, expect, it } from 'vitest';
import type { Context } from '../../../packages/replica/src/execution/context.ts';
import { modeName } from '../../../packages/replica/src/execution/context.ts';
import {
  anybody,
  bytesOf,
  installOn,
  numberOf,
  plenty,
  startTestReplica,
  textOf,
} from '../../support/wasm-canisters/test-replica.ts';
import { canister } from '../../support/wasm-canisters/text-module.ts';

const counting = `(global $count (mut i32) (i32.const 0))
  (func $more (global.set $count (i32.add (global.get $count) (i32.const 1))))
  (func (export "canister_query count") (call $reply32 (global.get $count)))`;

describe('the global timer', () => {
  const timer = canister(
    ['global_timer_set', 'msg_arg_data_copy'],
    `${counting} (func (export "canister_global_timer") (call $more))
    (func (export "canister_update set")
      (call $msg_arg_data_copy (i32.const 0) (i32.const 0) (i32.const 8))
      (call $reply64 (call $global_timer_set (i64.load (i32.const 0)))))`,
  );
  const at = (time: bigint) => new Uint8Array(new BigUint64Array([time]).buffer);

  it('fires once at its time, and setting it returns the former value', async () => {
    const replica = startTestReplica();
    const id = await replica.install(timer);
    const due = replica.time.now + 5n;
    expect(numberOf(await replica.update(id, 'set', at(due)))).toBe(0);
    await replica.engine.tick();
    expect(numberOf(await replica.query(id, 'count'))).toBe(0);
    replica.time.now = due;
    await replica.engine.tick();
    await replica.engine.tick();
    expect(numberOf(await replica.query(id, 'count'))).toBe(1);
    expect(numberOf(await replica.update(id, 'set', at(0n)))).toBe(0);
  });

  it('does not fire if it was set back to zero', async () => {
    const replica = startTestReplica();
    const id = await replica.install(timer);
    await replica.update(id, 'set', at(1n));
    await replica.update(id, 'set', at(0n));
    await replica.engine.tick();
    expect(numberOf(await replica.query(id, 'count'))).toBe(0);
  });

  it('is driven by the clock of a running replica', async () => {
    const replica = startTestReplica({ now: () => BigInt(Date.now()) * 1_000_000n });
    const id = await replica.install(timer);
    replica.engine.startTimers();
    await replica.update(id, 'set', at(BigInt(Date.now() + 30) * 1_000_000n));
    await expect.poll(async () => numberOf(await replica.query(id, 'count'))).toBe(1);
    replica.engine.stopTimers();
  });
});

describe('the heartbeat', () => {
  it('runs once per tick', async () => {
    const replica = startTestReplica();
    const module = canister([], `${counting} (func (export "canister_heartbeat") (call $more))`);
    const id = await replica.install(module);
    await replica.engine.tick();
    await replica.engine.tick();
    expect(numberOf(await replica.query(id, 'count'))).toBe(2);
    expect(replica.reports.filter((report) => report.kind === 'heartbeat')).toHaveLength(2);
  });
});

describe('inspect_message', () => {
  it('accepts or refuses ingress, and changes nothing', async () => {
    const replica = startTestReplica();
    const module = canister(
      ['accept_message', 'msg_method_name_size'],
      `${counting} (func (export "canister_inspect_message") (call $more)
        (if (i32.eq (call $msg_method_name_size) (i32.const 4)) (then (call $accept_message)))
        (if (i32.eq (call $msg_method_name_size) (i32.const 5)) (then unreachable)))`,
    );
    const canisterId = await replica.install(module);
    const check = (method: string) =>
      replica.engine.checkIngress({ sender: anybody, canisterId, method, arg: bytesOf('') });
    expect(await check('good')).toBeUndefined();
    expect(await check('bad')).toMatchObject({ code: 4, errorCode: 'IC0406' });
    expect(await check('traps')).toMatchObject({ code: 5, errorCode: 'IC0502' });
    expect(numberOf(await replica.query(canisterId, 'count'))).toBe(0);
  });
});

describe('a query', () => {
  const module = canister(
    ['data_certificate_present'],
    `${counting} (func (export "canister_query certificate") (call $more)
      (call $reply32 (call $data_certificate_present)))
    (func (export "canister_update u") (call $msg_reply))`,
  );

  it('as an update has no certificate and still changes nothing', async () => {
    const replica = startTestReplica();
    const id = await replica.install(module);
    expect(numberOf(await replica.query(id, 'certificate'))).toBe(1);
    expect(numberOf(await replica.query(id, 'count'))).toBe(0);
    expect(numberOf(await replica.update(id, 'certificate'))).toBe(0);
    expect(replica.engine.lastReport()?.kind).toBe('replicatedQuery');
    expect(numberOf(await replica.query(id, 'count'))).toBe(0);
  });

  it('of an update method is refused', async () => {
    const replica = startTestReplica();
    const id = await replica.install(module);
    expect(textOf(await replica.query(id, 'u'))).toMatch(
      /^IC0536: .*has no query method 'u'\.\.\n/,
    );
    expect(textOf(await replica.update(id, 'n'))).toMatch(
      /^IC0536: .*has no update method 'n'\.\.\n/,
    );
  });
});

describe('a composite query', () => {
  /** `up` writes, calls the method of the canister that its argument names, and adds the result. */
  const module = canister(
    [
      'canister_self_copy',
      'call_new',
      'call_perform',
      'msg_arg_data_size',
      'msg_arg_data_copy',
      'msg_reject_code',
    ],
    `(memory 1) (table 2 funcref) (elem (i32.const 0) $reply $reject)
    (global $g (mut i32) (i32.const 0))
    (func $call
      (call $canister_self_copy (i32.const 0) (i32.const 0) (i32.const 10))
      (call $msg_arg_data_copy (i32.const 100) (i32.const 0) (call $msg_arg_data_size))
      (call $call_new (i32.const 0) (i32.const 10) (i32.const 100) (call $msg_arg_data_size)
        (i32.const 0) (i32.const 7) (i32.const 1) (i32.const 0))
      (drop (call $call_perform)))
    (func $reply (param i32)
      (call $msg_arg_data_copy (i32.const 0) (i32.const 0) (i32.const 4))
      (call $reply32 (i32.add (i32.load (i32.const 0))
        (i32.add (global.get $g) (i32.load (i32.const 200000))))))
    (func $reject (param i32) (call $reply32 (i32.sub (i32.const 0) (call $msg_reject_code))))
    (func (export "canister_composite_query up")
      (global.set $g (i32.const 1000)) (drop (memory.grow (i32.const 4)))
      (i32.store (i32.const 200000) (i32.const 10000)) (call $call))
    (func (export "canister_composite_query again")
      (call $canister_self_copy (i32.const 0) (i32.const 0) (i32.const 10))
      (call $call_new (i32.const 0) (i32.const 10) (i32.const 120) (i32.const 5)
        (i32.const 0) (i32.const 7) (i32.const 1) (i32.const 0))
      (drop (call $call_perform)))
    (data (i32.const 120) "again")
    (func (export "canister_query peek") (call $reply32 (i32.add (i32.const 5) (global.get $g))))
    (func (export "canister_query size") (call $reply32 (memory.size)))`,
  );

  async function start(): Promise<{ replica: ReturnType<typeof startTestReplica>; id: Principal }> {
    const replica = startTestReplica();
    return { replica, id: await replica.install(module) };
  }

  it('keeps its changes until its end, while the queries that it calls see committed state', async () => {
    const { replica, id } = await start();
    expect(numberOf(await replica.query(id, 'up', bytesOf('peek')))).toBe(5 + 1000 + 10000);
    expect(numberOf(await replica.query(id, 'peek'))).toBe(5);
    expect(numberOf(await replica.query(id, 'size'))).toBe(1);
  });

  it('gets a reject for a call to a method that does not exist', async () => {
    const { replica, id } = await start();
    expect(numberOf(await replica.query(id, 'up', bytesOf('nope')))).toBe(-5);
  });

  it('cannot call itself endlessly', async () => {
    const { replica, id } = await start();
    expect((await replica.query(id, 'again')).status).toBe('replied');
    expect(replica.reports.filter((report) => report.kind === 'compositeQuery')).toHaveLength(7);
  });

  it('cannot be called as an update', async () => {
    const { replica, id } = await start();
    expect(textOf(await replica.update(id, 'up'))).toMatch(/^IC0527/);
  });
});

/**
 * Each entry point calls a function that its mode forbids: `ic0.call_perform` in inspection,
 * `ic0.accept_message` in the others.
 */
describe('each entry point runs in its own mode', () => {
  const forbidden = ['accept_message', 'call_perform'] as const;
  const cases: readonly (readonly [Context, string])[] = [
    ['s', '(start $f)'],
    ['I', '(export "canister_init" (func $f))'],
    ['U', '(export "canister_update f" (func $f))'],
    ['NRQ', '(export "canister_query f" (func $f))'],
    ['CQ', '(export "canister_composite_query f" (func $f))'],
    ['F', '(export "canister_inspect_message" (func $f))'],
    ['T', '(export "canister_heartbeat" (func $f))'],
  ];
  it.each(cases)('%s', async (context, declaration) => {
    const name = context === 'F' ? forbidden[1] : forbidden[0];
    const call = name === 'call_perform' ? '(drop (call $call_perform))' : '(call $accept_message)';
    const replica = startTestReplica();
    const canisterId = replica.engine.create({ controllers: [anybody], cycles: plenty });
    if ('status' in canisterId) throw new Error(canisterId.message);
    const module = canister([...forbidden], `(func $f ${call}) ${declaration}`);
    await installOn(replica.engine, { canisterId, module });
    await replica.update(canisterId, 'f');
    await replica.query(canisterId, 'f');
    const message = { sender: anybody, canisterId, method: 'f', arg: bytesOf('') };
    await replica.engine.checkIngress(message);
    await replica.engine.tick();
    const expected = `"ic0_${name}" cannot be executed in ${modeName(context)} mode`;
    const errors = replica.reports.map((report) => report.error ?? '');
    expect(errors.some((error) => error.includes(expected))).toBe(true);
  });
});
