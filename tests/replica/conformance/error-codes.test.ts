// The error code and reject code of each failure.

import type { Principal } from '@dfinity/principal';
import { describe, expect, it } from 'vitest';
import type { TestReplica } from '../../support/wasm-canisters/test-replica.ts';
import {
  anybody,
  installOn,
  startTestReplica,
  textOf,
} from '../../support/wasm-canisters/test-replica.ts';
import { canister } from '../../support/wasm-canisters/text-module.ts';

const imports = [
  ...['call_new', 'call_perform', 'canister_self_copy', 'canister_cycle_balance'],
  ...['msg_arg_data_size', 'msg_arg_data_copy', 'msg_reject_msg_size', 'msg_reject_msg_copy'],
];
/** `deep` calls itself, and returns the answer, or the reason why the call failed. */
const module = canister(
  imports,
  `(memory 1) (table 3 funcref) (elem (i32.const 0) $reply $reject)
  (data (i32.const 100) "deep")
  (func $answer (param $size i32)
    (call $msg_reply_data_append (i32.const 200) (local.get $size)) (call $msg_reply))
  (func $reply (param i32)
    (call $msg_arg_data_copy (i32.const 200) (i32.const 0) (call $msg_arg_data_size))
    (call $answer (call $msg_arg_data_size)))
  (func $reject (param i32)
    (call $msg_reject_msg_copy (i32.const 200) (i32.const 0) (call $msg_reject_msg_size))
    (call $answer (call $msg_reject_msg_size)))
  (func (export "canister_update silent"))
  (func (export "canister_update divide")
    (drop (i32.div_s (i32.const 1) (i32.const 0))))
  (type $call (func))
  (func (export "canister_update null") (call_indirect (type $call) (i32.const 2)))
  (func (export "canister_update spin") (loop $l (br $l)))
  (func (export "canister_update balance") (drop (call $canister_cycle_balance)))
  (func (export "canister_composite_query deep")
    (call $canister_self_copy (i32.const 0) (i32.const 0) (i32.const 10))
    (call $call_new (i32.const 0) (i32.const 10) (i32.const 100) (i32.const 4)
      (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 0))
    (drop (call $call_perform)))
  (func (export "canister_inspect_message"))`,
);
const limits = { updateInstructions: 100_000n };

type Act = (replica: TestReplica, id: Principal) => Promise<string>;
const update =
  (method: string): Act =>
  async (replica, id) =>
    textOf(await replica.update(id, method));

async function afterStop(replica: TestReplica, id: Principal): Promise<string> {
  await replica.engine.stop(id);
  return textOf(await replica.update(id, 'silent'));
}

async function afterUninstall(replica: TestReplica, id: Principal): Promise<string> {
  replica.engine.uninstall(id);
  return textOf(await replica.update(id, 'silent'));
}

async function queryAfterStop(replica: TestReplica, id: Principal): Promise<string> {
  await replica.engine.stop(id);
  return textOf(await replica.query(id, 'deep'));
}

async function inspectedAfterUninstall(replica: TestReplica, id: Principal): Promise<string> {
  replica.engine.uninstall(id);
  return inspected(replica, id);
}

async function inspected({ engine }: TestReplica, canisterId: Principal): Promise<string> {
  const message = { sender: anybody, canisterId, method: 'silent', arg: new Uint8Array() };
  const reject = await engine.checkIngress(message);
  return reject ? textOf(reject) : '';
}

const cases: readonly (readonly [string, RegExp, Act])[] = [
  ['a division by zero', /^IC0502: .*: integer division by 0\.\nConsider /, update('divide')],
  [
    'a balance beyond 64 bits',
    /^IC0502: .*: cycles amount exceeds 64-bit representation\.\n/,
    update('balance'),
  ],
  ['no answer', /^IC0506: Canister \S+ did not reply to the call$/, update('silent')],
  ['an empty place in the table', /^IC0502: .*trapped: unknown\.\n.*#trapped$/s, update('null')],
  ['a stopped canister', /^IC0508: Canister \S+ is stopped$/, afterStop],
  [
    'a query of a stopped canister',
    /^IC0508: .* is stopped and therefore does not have a CallContextManager$/,
    queryAfterStop,
  ],
  ['too many instructions', /^IC0522: .*#instruction-limit-exceeded$/s, update('spin')],
  ['a method that does not exist', /^IC0536: .*#method-not-found$/s, update('missing')],
  ['a canister without code', /^IC0537: .*#wasm-module-not-found$/s, afterUninstall],
  [
    'ingress to a canister without code',
    /^IC0537: Requested canister has no wasm module$/,
    inspectedAfterUninstall,
  ],
  ['a message that is not accepted', /^IC0406: /, inspected],
  ['a composite query as an update', /^IC0527: /, update('deep')],
];

describe('Interface specification, "Error codes"; rs/types/error_types/src/lib.rs', () => {
  it.each(cases)('%s', async (_what, text, act) => {
    const replica = startTestReplica({ limits });
    const id = await replica.install(module, 2n ** 64n + 10n ** 12n);
    expect(await act(replica, id)).toMatch(text);
  });

  it.each([
    ['deep', { compositeDepthMax: 2 }, 'exceeded the maximum depth of the call graph'],
    ['costly', { compositeCallInstructions: 2_000_000_000n }, 'IC0526: '],
  ])('a composite query that is too %s: its callers get the reason', async (_what, more, why) => {
    const replica = startTestReplica({ limits: more });
    const id = await replica.install(module);
    expect(textOf(await replica.query(id, 'deep'))).toContain(why);
  });
});

describe('Interface specification, "Message execution": `wasm_memory_limit`', () => {
  const grow = '(drop (memory.grow (i32.const 2)))';
  const growing = canister(
    ['global_timer_set'],
    `(memory 1)
    (func (export "canister_update update") ${grow} (call $msg_reply))
    (func (export "canister_query query") ${grow} (call $msg_reply))
    (func (export "canister_update pages") (call $reply32 (memory.size)))
    (func (export "canister_update arm") (drop (call $global_timer_set (i64.const 1)))
      (call $msg_reply))
    (func (export "canister_global_timer") ${grow})`,
  );

  it('aborts updates and installations, but not queries and tasks', async () => {
    const replica = startTestReplica();
    const { engine } = replica;
    const id = await replica.install(growing);
    engine.updateSettings(id, { wasmMemoryLimit: 131_072n });
    expect(textOf(await replica.update(id, 'update'))).toMatch(/^IC0539: /);
    expect(textOf(await replica.query(id, 'query'))).toBe('');
    expect(textOf(await replica.update(id, 'query'))).toBe('');
    await replica.update(id, 'arm');
    await engine.tick();
    expect(replica.reports.at(-1)).toMatchObject({ kind: 'timer' });
    expect(replica.reports.at(-1)?.error).toBeUndefined();
    expect(textOf(await replica.update(id, 'pages'))).toMatch(/^IC0539: /);
    const large = canister([], '(memory 3) (func (export "canister_init"))');
    const refused = await installOn(engine, { canisterId: id, module: large, mode: 'upgrade' });
    expect(refused).toBeUndefined();
    const again = await installOn(engine, { canisterId: id, module: large, mode: 'reinstall' });
    expect(again).toContain('Wasm memory limit of 131072 bytes');
  });
});
