// Information about a canister from the management canister: logs, status, history.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Principal } from '@dfinity/principal';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hashEnvironment } from '../../../packages/replica/src/execution/history.ts';
import type { Replica } from '../../../packages/replica/src/index.ts';
import { startReplica } from '../../../packages/replica/src/index.ts';
import { canister } from '../../support/wasm-canisters/text-module.ts';
import { alice, argumentOf, ask, bob, manage, resultOf } from './management-client.ts';

const stateDir = mkdtempSync(join(tmpdir(), 'logs-'));
let now = 1_700_000_000_000_000_000n;
let replica: Replica;
const start = () => startReplica({ server: false, stateDir, now: () => now });
beforeAll(async () => {
  replica = await start();
});
afterAll(async () => {
  await replica.stop();
  rmSync(stateDir, { recursive: true });
});

const imports = ['debug_print', 'trap', 'msg_arg_data_size', 'msg_arg_data_copy'].concat([
  'call_new',
  'call_data_append',
  'call_perform',
  'msg_reject_msg_size',
  'msg_reject_msg_copy',
]);
/** `call` sends its argument, after a byte with the length of the method's name, to aaaaa-aa. */
const text = (what: string) => `
  (data (i32.const 100) "${what}")
  (func $argument (result i32)
    (call $msg_arg_data_copy (i32.const 1000) (i32.const 0) (call $msg_arg_data_size))
    (call $msg_arg_data_size))
  (func $print (call $debug_print (i32.const 1000) (call $argument)))
  (func (export "canister_init") (call $debug_print (i32.const 100) (i32.const ${what.length})))
  (func (export "canister_post_upgrade")
    (call $debug_print (i32.const 100) (i32.const ${what.length})))
  (func (export "canister_update print") (call $print) (call $msg_reply))
  (func (export "canister_query look") (call $print) (call $msg_reply))
  (func (export "canister_update many") (local $left i32)
    (local.set $left (i32.const 1000))
    (loop $again
      (call $print)
      (br_if $again (local.tee $left (i32.sub (local.get $left) (i32.const 1)))))
    (call $msg_reply))
  (func (export "canister_update fail") (call $print) unreachable)
  (func (export "canister_update trap") (call $trap (i32.const 1000) (call $argument)))
  (func (export "canister_update beyond") (call $debug_print (i32.const -1) (i32.const 1)))
  (table funcref (elem $replied $rejected))
  (func $replied (param i32) (call $msg_reply_data_append (i32.const 1000) (call $argument))
    (call $msg_reply))
  (func $rejected (param i32)
    (call $msg_reject_msg_copy (i32.const 1000) (i32.const 0) (call $msg_reject_msg_size))
    (call $trap (i32.const 1000) (call $msg_reject_msg_size)))
  (func $send (local $name i32)
    (drop (call $argument))
    (local.set $name (i32.load8_u (i32.const 1000)))
    (call $call_new (i32.const 0) (i32.const 0) (i32.const 1001) (local.get $name)
      (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 0))
    (call $call_data_append (i32.add (i32.const 1001) (local.get $name))
      (i32.sub (i32.sub (call $msg_arg_data_size) (i32.const 1)) (local.get $name)))
    (drop (call $call_perform)))
  (func (export "canister_update call") (call $send))
  (func (export "canister_composite_query ask") (call $send))`;

const module = canister(imports, text('begun'));

async function install(settings: object = {}, code = module): Promise<Principal> {
  const method = 'provisional_create_canister_with_cycles';
  const id = (await manage(replica, method, { settings })).canister_id;
  await replica.install(id, code, new Uint8Array(), { sender: alice });
  return id;
}

const bytes = (what: string) => new TextEncoder().encode(what);
const fetched = async (id: Principal, more: object = {}) => {
  const records: { idx: bigint; timestamp_nanos: bigint; content: Uint8Array }[] = (
    await ask(replica, 'fetch_canister_logs', { canister_id: id, ...more })
  ).canister_log_records;
  return records.map(({ idx, timestamp_nanos: time, content }) => {
    return [Number(idx), time - now, Buffer.from(content).toString()];
  });
};
const linesOf = async (id: Principal) => (await fetched(id)).map(([, , line]) => line);

/** Calls the management canister from the canister itself. */
async function through(id: Principal, method: 'call' | 'ask', call: readonly [string, Uint8Array]) {
  const [name, arg] = call;
  const message = Buffer.concat([Uint8Array.of(name.length), bytes(name), arg]);
  return method === 'call' ? replica.call(id, 'call', message) : replica.query(id, 'ask', message);
}

describe('Interface specification, "IC method fetch_canister_logs"', () => {
  test('returns printed lines and the reasons of traps, in replicated execution', async () => {
    const id = await install();
    await replica.call(id, 'print', bytes('one'));
    now += 5n;
    await replica.query(id, 'look', bytes('not this'));
    await expect(replica.call(id, 'fail', bytes('before'))).rejects.toThrow('unreachable');
    await expect(replica.call(id, 'trap', bytes('on purpose'))).rejects.toThrow('on purpose');
    await expect(replica.call(id, 'trap', bytes(''))).rejects.toThrow('ic0.trap');
    await expect(replica.call(id, 'beyond')).rejects.toThrow('did not reply');
    expect(await fetched(id)).toEqual([
      [0, -5n, 'begun'],
      [1, -5n, 'one'],
      [2, 0n, 'before'],
      [3, 0n, '[TRAP]: unreachable'],
      [4, 0n, '[TRAP]: on purpose'],
      [5, 0n, '[TRAP]: (no message)'],
      [6, 0n, '(debug_print message out of memory bounds)'],
    ]);
    const filter = { by_idx: { start: 1n, end: 3n } };
    expect((await fetched(id, { filter })).map(([index]) => index)).toEqual([1, 2]);
    const since = { by_timestamp_nanos: { start: now, end: now + 1n } };
    expect(await fetched(id, { filter: since })).toHaveLength(5);
  });

  test('canister_status has the size of the log, with 40 bytes besides each line', async () => {
    const id = await install();
    await replica.call(id, 'print', bytes('one'));
    const { memory_metrics: metrics } = await manage(replica, 'canister_status', {
      canister_id: id,
    });
    expect(metrics.log_memory_store_size).toBe(BigInt(2 * 40 + 'begunone'.length));
  });

  test('keeps the log over restarts and upgrades, and purges it at reinstall and uninstall', async () => {
    const id = await install();
    await expect(replica.call(id, 'fail', bytes('last'))).rejects.toThrow('unreachable');
    await replica.stop();
    replica = await start();
    expect(await linesOf(id)).toEqual(['begun', 'last', '[TRAP]: unreachable']);
    await replica.upgrade(id, canister(imports, text('again')), bytes(''), { sender: alice });
    expect(await linesOf(id)).toEqual(['begun', 'last', '[TRAP]: unreachable', 'again']);
    const options = { sender: alice, mode: 'reinstall' } as const;
    await replica.install(id, module, bytes(''), options);
    expect(await fetched(id)).toEqual([[4, 0n, 'begun']]);
    await manage(replica, 'uninstall_code', { canister_id: id });
    expect(await linesOf(id)).toEqual([]);
  });

  test('returns the reason of a failed installation', async () => {
    const method = 'provisional_create_canister_with_cycles';
    const id = (await manage(replica, method, {})).canister_id;
    const failing = canister(
      ['debug_print'],
      `(data (i32.const 0) "tried") (func (export "canister_init")
        (call $debug_print (i32.const 0) (i32.const 5)) unreachable)`,
    );
    const refused = replica.install(id, failing, bytes(''), { sender: alice });
    await expect(refused).rejects.toThrow('unreachable');
    expect(await linesOf(id)).toEqual(['tried', '[TRAP]: unreachable']);
  });

  test('returns the newest 4 KiB, or as much as the setting allows', async () => {
    const id = await install();
    await replica.call(id, 'many', bytes('x'.repeat(60)));
    const lines = await fetched(id);
    expect(lines.map(([index]) => index)).toEqual(
      Array.from({ length: 40 }, (_, at) => 1_001 - 40 + at),
    );
    await replica.call(id, 'print', bytes('y'.repeat(5_000)));
    expect((await linesOf(id)).map((line) => String(line).length)).toEqual([4_096 - 40]);
    const limited = (limit: bigint) =>
      manage(replica, 'update_settings', {
        canister_id: id,
        settings: { log_memory_limit: limit },
      });
    await limited(2n ** 21n);
    await replica.call(id, 'many', bytes('x'.repeat(60)));
    expect(await fetched(id)).toHaveLength(1_001);
    await limited(4_096n);
    expect(await fetched(id)).toHaveLength(40);
    await limited(0n);
    await replica.call(id, 'print', bytes('unheard'));
    expect(await linesOf(id)).toEqual([]);
  });

  test('is open to the principals that log_visibility names', async () => {
    const id = await install();
    const seenBy = (sender: Principal) => fetched(id, { sender });
    const show = (visibility: object) =>
      manage(replica, 'update_settings', {
        canister_id: id,
        settings: { log_visibility: visibility },
      });
    await expect(seenBy(bob)).rejects.toThrow('not allowed to access canister logs');
    await show({ allowed_viewers: [bob] });
    expect(await seenBy(bob)).toHaveLength(1);
    expect(await seenBy(alice)).toHaveLength(1);
    await expect(seenBy(Principal.anonymous())).rejects.toThrow('not allowed');
    await show({ public: null });
    expect(await seenBy(Principal.anonymous())).toHaveLength(1);
  });

  test('can be called only as a query, by users and by composite queries', async () => {
    const id = await install({ log_visibility: { public: null } });
    const arg = argumentOf('fetch_canister_logs', { canister_id: id });
    const words = ['can not be called via ingress messages', 'can be called only as a query'];
    const sent = manage(replica, 'fetch_canister_logs', { canister_id: id });
    await expect(sent).rejects.toThrow(words[0]);
    await expect(through(id, 'call', ['fetch_canister_logs', arg])).rejects.toThrow(words[1]);
    const reply = await through(id, 'ask', ['fetch_canister_logs', arg]);
    const [record] = resultOf('fetch_canister_logs', reply).canister_log_records;
    expect(Buffer.from(record.content).toString()).toBe('begun');
  });
});

describe('Interface specification, "IC method canister_status"', () => {
  test('can be called as a query by the principals that status_visibility names', async () => {
    const id = await install();
    const asked = (sender: Principal) =>
      ask(replica, 'canister_status', { canister_id: id, sender });
    expect((await asked(alice)).status).toEqual({ running: null });
    expect((await asked(id)).status).toEqual({ running: null });
    await expect(asked(bob)).rejects.toThrow('Only controllers');
    await manage(replica, 'update_settings', {
      canister_id: id,
      settings: { status_visibility: { allowed_viewers: [bob] } },
    });
    expect((await asked(bob)).status).toEqual({ running: null });
  });

  test('can be called as a query, but stop_canister cannot', async () => {
    const id = await install();
    await expect(ask(replica, 'stop_canister', { canister_id: id })).rejects.toThrow(
      'Query method stop_canister not found',
    );
  });
});

describe('Interface specification, "IC method canister_info"', () => {
  test('returns the changes of code and controllers, and who made them', async () => {
    const variables = [{ name: 'A', value: '1' }];
    const id = await install({ environment_variables: variables });
    await manage(replica, 'update_settings', {
      canister_id: id,
      settings: { controllers: [id, alice] },
    });
    const arg = argumentOf('uninstall_code', { canister_id: id, sender_canister_version: 7n });
    const other = await install({ controllers: [alice] });
    await manage(replica, 'update_settings', {
      canister_id: id,
      settings: { controllers: [other, alice] },
    });
    await through(other, 'call', ['uninstall_code', arg]);
    await replica.stop();
    replica = await start();
    const asked = argumentOf('canister_info', { canister_id: id, num_requested_changes: 4n });
    const reply = await through(other, 'call', ['canister_info', asked]);
    const info = resultOf('canister_info', reply);
    const origin = { from_user: { user_id: alice } };
    const common = { timestamp_nanos: now, origin };
    expect(info).toMatchObject({ total_num_changes: 5n, module_hash: [] });
    expect(info.controllers.map(String)).toEqual([String(other), String(alice)]);
    const [deployed, first, second, uninstalled] = info.recent_changes;
    expect(deployed).toMatchObject({ ...common, canister_version: 1n });
    expect(deployed.details.code_deployment.mode).toEqual({ install: null });
    expect(first).toMatchObject({ ...common, canister_version: 2n });
    expect(first.details.controllers_change.controllers.map(String)[0]).toBe(String(id));
    expect(second.canister_version).toBe(3n);
    expect(uninstalled).toMatchObject({ canister_version: 4n, details: { code_uninstall: null } });
    expect(uninstalled.origin.from_canister).toEqual({
      canister_id: other,
      canister_version: [7n],
    });
    const all = argumentOf('canister_info', { canister_id: id, num_requested_changes: 99n });
    const [creation] = resultOf(
      'canister_info',
      await through(other, 'call', ['canister_info', all]),
    ).recent_changes;
    const hash = hashEnvironment(new Map([['A', '1']]));
    expect(creation.details.creation.environment_variables_hash).toEqual([hash]);
    await expect(manage(replica, 'canister_info', { canister_id: id })).rejects.toThrow(
      'can not be called via ingress messages',
    );
  });

  test('returns the newest twenty', async () => {
    const id = await install();
    for (let round = 0; round < 22; round += 1) {
      await manage(replica, 'update_settings', {
        canister_id: id,
        settings: { controllers: [alice] },
      });
    }
    const asked = argumentOf('canister_info', { canister_id: id, num_requested_changes: 30n });
    const info = resultOf('canister_info', await through(id, 'call', ['canister_info', asked]));
    expect(info.total_num_changes).toBe(24n);
    expect(info.recent_changes).toHaveLength(20);
    const none = argumentOf('canister_info', { canister_id: id });
    const brief = resultOf('canister_info', await through(id, 'call', ['canister_info', none]));
    expect(brief.recent_changes).toEqual([]);
  });
});
