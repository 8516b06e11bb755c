// Calls between canisters: replies, rejects, cleanup, cycles, deadlines; changes before an await
// stay.

import { describe, expect, it } from 'vitest';
import type { Reject } from '../../../packages/replica/src/core.ts';
import { numberOf, startTestReplica, textOf } from '../../support/wasm-canisters/test-replica.ts';
import { canister } from '../../support/wasm-canisters/text-module.ts';

const imports = [
  'msg_arg_data_size',
  'msg_arg_data_copy',
  'msg_reject_code',
  'msg_reject_msg_size',
  'msg_reject_msg_copy',
  'msg_reject',
  'msg_cycles_available',
  'msg_cycles_accept',
  'msg_cycles_refunded',
  'canister_self_copy',
  'call_new',
  'call_on_cleanup',
  'call_data_append',
  'call_cycles_add',
  'call_with_best_effort_response',
  'call_perform',
  'canister_cycle_balance',
  'trap',
];

/** Names of methods are in memory from 100 on, in slots of 20 bytes. */
const methods = ['answer', 'refuse', 'trap', 'silent', 'missing', 'accept', 'wait'] as const;
type Method = (typeof methods)[number];

const names = methods
  .map((name, index) => `(data (i32.const ${100 + index * 20}) "${name}")`)
  .join('\n');

/**
 * Calls a method of the canister itself with the callbacks at 0 (reply), 1 (reject), 2 (cleanup).
 */
function callSelf(method: Method, extra = ''): string {
  return `(call $canister_self_copy (i32.const 0) (i32.const 0) (i32.const 10))
    (call $call_new (i32.const 0) (i32.const 10)
      (i32.const ${100 + methods.indexOf(method) * 20}) (i32.const ${method.length})
      (i32.const 0) (i32.const 11) (i32.const 1) (i32.const 22))
    (call $call_on_cleanup (i32.const 2) (i32.const 33))
    (call $call_data_append (i32.const 50) (i32.const 4))
    ${extra}
    (drop (call $call_perform))`;
}

/** `$onReply`, `$onReject`: bodies of the callbacks; their environment is local 0. */
function caller(options: { onReply?: string; onReject?: string; body: string }): Uint8Array {
  const relay = `(call $msg_reject_msg_copy
      (i32.const 300) (i32.const 0) (call $msg_reject_msg_size))
    (i32.store8 (i32.add (i32.const 300) (call $msg_reject_msg_size))
      (i32.add (i32.const 48) (call $msg_reject_code)))
    (call $msg_reply_data_append (i32.const 300)
      (i32.add (i32.const 1) (call $msg_reject_msg_size)))
    (call $msg_reply)`;
  const answer = `(call $msg_arg_data_copy (i32.const 0) (i32.const 0) (i32.const 4))
    (call $reply32 (i32.add (i32.load (i32.const 0)) (local.get 0)))`;
  return canister(
    imports,
    `(memory 1)
    (table 3 funcref) (elem (i32.const 0) $reply $reject $cleanup)
    (global $cleaned (mut i32) (i32.const 0))
    ${names}
    (data (i32.const 50) "\\05\\00\\00\\00")
    (func $reply (param i32) ${options.onReply ?? answer})
    (func $reject (param i32) ${options.onReject ?? relay})
    (func $cleanup (param i32) (global.set $cleaned (local.get 0)))
    (func (export "canister_query cleaned") (call $reply32 (global.get $cleaned)))
    (func (export "canister_query written") (call $reply32 (i32.load (i32.const 1000))))
    (func (export "canister_update answer")
      (call $msg_arg_data_copy (i32.const 0) (i32.const 0) (i32.const 4))
      (call $reply32 (i32.mul (i32.load (i32.const 0)) (i32.const 10))))
    (func (export "canister_update refuse") (call $msg_reject (i32.const 100) (i32.const 6)))
    (func (export "canister_update trap") (call $trap (i32.const 140) (i32.const 4)))
    (func (export "canister_update silent"))
    (func (export "canister_update accept")
      (drop (call $msg_cycles_accept (i64.const 400))) (call $reply64 (i64.const 0)))
    (func (export "canister_update wait") (call $call_new (i32.const 0) (i32.const 0)
      (i32.const 100) (i32.const 6) (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 0))
      (drop (call $call_perform)))
    (func (export "canister_update go") ${options.body})`,
  );
}

async function go(module: Uint8Array) {
  const replica = startTestReplica();
  const id = await replica.install(module);
  const outcome = await replica.update(id, 'go');
  return { replica, id, outcome };
}

describe('a call', () => {
  it('passes the data of the reply and its own environment to the callback', async () => {
    const { outcome } = await go(caller({ body: callSelf('answer') }));
    expect(numberOf(outcome)).toBe(50 + 11);
  });

  it.each([
    ['refuse', /^answer4$/],
    ['trap', /Canister called `ic0.trap` with message: 'trap'\.\n.*#trapped-explicitly5$/],
    ['silent', /^Canister \S+ did not reply to the call5$/],
    ['missing', /Canister has no update method 'missing'\.\.\nCheck that .*#method-not-found5$/],
  ] as const)('returns a reject with code and message: %s', async (method, text) => {
    const { outcome } = await go(caller({ body: callSelf(method) }));
    expect(textOf(outcome)).toMatch(text);
  });

  it('to a missing canister is rejected as such', async () => {
    const body = `(call $call_new (i32.const 50) (i32.const 4) (i32.const 100) (i32.const 6)
      (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 0)) (drop (call $call_perform))`;
    const { outcome } = await go(caller({ body }));
    expect(textOf(outcome)).toMatch(/^Canister .* not found3$/);
  });

  it('to the management canister passes caller, method and argument', async () => {
    const body = `(call $call_new (i32.const 0) (i32.const 0) (i32.const 100) (i32.const 6)
      (i32.const 0) (i32.const 1) (i32.const 1) (i32.const 0))
      (call $call_data_append (i32.const 50) (i32.const 4)) (drop (call $call_perform))`;
    const { outcome, replica, id } = await go(caller({ body }));
    expect(numberOf(outcome)).toBe(6);
    expect(replica.managementCalls).toMatchObject([
      { fromCanister: true, method: 'answer', arg: Uint8Array.of(5, 0, 0, 0) },
    ]);
    expect(replica.managementCalls[0]?.caller.toText()).toBe(id.toText());
  });

  it('that is not performed is never sent', async () => {
    const body = `(call $call_new (i32.const 0) (i32.const 0) (i32.const 100) (i32.const 6)
      (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 0)) (call $reply32 (i32.const 1))`;
    const { outcome, replica } = await go(caller({ body }));
    expect(numberOf(outcome)).toBe(1);
    await replica.engine.idle();
    expect(replica.managementCalls).toEqual([]);
  });

  it('runs its callback even after a reply, and the callback cannot reply again', async () => {
    const body = `(call $reply32 (i32.const 9)) ${callSelf('answer')}`;
    const { outcome, replica, id } = await go(caller({ body }));
    expect(numberOf(outcome)).toBe(9);
    await replica.engine.idle();
    const errors = replica.reports.flatMap((report) => report.error ?? []);
    expect(errors).toEqual([expect.stringContaining('the call is already replied')]);
    expect(numberOf(await replica.query(id, 'cleaned'))).toBe(33);
  });
});

describe('a callback that traps', () => {
  it('runs the cleanup, keeps the changes before the call, and rejects the message', async () => {
    const write = '(i32.store (i32.const 1000) (i32.const 77))';
    const onReply = '(i32.store (i32.const 1000) (i32.const 78)) unreachable';
    const { outcome, replica, id } = await go(
      caller({ onReply, body: `${write} ${callSelf('answer')}` }),
    );
    expect(textOf(outcome)).toMatch(/^IC0502: .*Canister trapped: unreachable/);
    expect(numberOf(await replica.query(id, 'cleaned'))).toBe(33);
    expect(numberOf(await replica.query(id, 'written'))).toBe(77);
  });
});

describe('cycles on a call', () => {
  it('are accepted in part, and the rest is returned', async () => {
    const add = '(call $call_cycles_add (i64.const 1000))';
    const onReply = '(call $reply64 (call $msg_cycles_refunded))';
    const { outcome } = await go(caller({ onReply, body: callSelf('accept', add) }));
    expect(numberOf(outcome)).toBe(600);
  });

  it('are returned in full if the call fails', async () => {
    const add = '(call $call_cycles_add (i64.const 1000))';
    const onReject = '(call $reply64 (call $msg_cycles_refunded))';
    const { outcome } = await go(caller({ onReject, body: callSelf('trap', add) }));
    expect(numberOf(outcome)).toBe(1000);
  });

  it('cannot exceed the balance', async () => {
    const add = '(call $call_cycles_add (i64.const 0x7fffffffffffffff))';
    const { outcome } = await go(caller({ body: callSelf('accept', add) }));
    expect(textOf(outcome)).toMatch(
      /^IC0504: Error from Canister \S+: Canister \S+ is out of cycles$/,
    );
  });
});

describe('a best-effort call', () => {
  it('is rejected with SYS_UNKNOWN once its time has passed', async () => {
    const never = new Promise<never>(() => undefined);
    const replica = startTestReplica({ answer: () => never });
    const limit = '(call $call_with_best_effort_response (i32.const 10))';
    const id = await replica.install(caller({ body: callSelf('wait', limit) }));
    const answer = replica.update(id, 'go');
    await new Promise((resolve) => setTimeout(resolve, 20));
    replica.time.now += 9_000_000_000n;
    void replica.engine.tick();
    replica.time.now += 2_000_000_000n;
    void replica.engine.tick();
    expect(textOf(await answer)).toBe('Call deadline has expired.6');
  });
});

describe('a canister may not', () => {
  it('use call_* without call_new', async () => {
    const { outcome } = await go(caller({ body: '(drop (call $call_perform))' }));
    expect((outcome as Reject).errorCode).toBe('IC0504');
  });

  it('reply twice', async () => {
    const body = '(call $reply32 (i32.const 1)) (call $reply32 (i32.const 1))';
    const { outcome } = await go(caller({ body }));
    expect(textOf(outcome)).toContain('the call is already replied');
  });
});
