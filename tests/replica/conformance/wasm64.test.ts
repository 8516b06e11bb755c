// Canisters with 64-bit memory. They run on Node 24 and later; older versions refuse them at
// installation.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, test } from 'vitest';
import { ic0Interface } from '../../../packages/replica/src/execution/ic0-table.ts';
import { startReplica } from '../../../packages/replica/src/replica.ts';
import { createCompiler } from '../../../packages/replica/src/wasm/compile.ts';
import { hasMemory64 } from '../../../packages/replica/src/wasm/web-assembly.ts';
import { startTestReplica, textOf } from '../../support/wasm-canisters/test-replica.ts';
import { assemble } from '../../support/wasm-canisters/text-module.ts';

const stateDir = mkdtempSync(join(tmpdir(), 'replica-wasm64-'));
afterAll(() => rmSync(stateDir, { recursive: true, force: true }));

const imports: Readonly<Record<string, string>> = {
  msg_arg_data_size: '(result i64)',
  msg_arg_data_copy: '(param i64 i64 i64)',
  msg_reply_data_append: '(param i64 i64)',
  msg_reply: '',
  call_new: '(param i64 i64 i64 i64 i64 i64 i64 i64)',
  call_perform: '(result i32)',
  stable64_grow: '(param i64) (result i64)',
  stable64_write: '(param i64 i64 i64)',
  canister_cycle_balance128: '(param i64)',
};

function canister64(body: string): Uint8Array {
  const lines = Object.entries(imports).map(
    ([name, type]) => `(import "ic0" "${name}" (func $${name} ${type}))`,
  );
  return assemble(`(module ${lines.join('\n')} (memory i64 1)
    (func $reply (param i64) (i64.store (i64.const 0) (local.get 0))
      (call $msg_reply_data_append (i64.const 0) (i64.const 8)) (call $msg_reply))
    ${body})`);
}

function update(body: string): string {
  return `(func (export "canister_update f") ${body})`;
}

const compile = (text: string) =>
  createCompiler(ic0Interface)(assemble(`(module ${text})`), 'a module');

describe('Interface specification, "Overview of imports": I', () => {
  const only32 = [
    'msg_cycles_available',
    'msg_cycles_refunded',
    'msg_cycles_accept',
    'canister_cycle_balance',
    'call_cycles_add',
    'stable_size',
    'stable_grow',
    'stable_write',
    'stable_read',
  ];
  it('omits functions that exist only for 32-bit addresses', () => {
    const missing = [...ic0Interface.i.keys()].filter((name) => !ic0Interface.I.has(name));
    expect(missing.sort()).toEqual(only32.sort());
  });

  test.each([
    ['call_new', 'IIIIIIII', ''],
    ['call_on_cleanup', 'II', ''],
    ['cost_call', 'III', ''],
    ['cost_sign_with_ecdsa', 'IIiI', 'i'],
    ['cycles_burn128', 'III', ''],
    ['debug_print', 'II', ''],
    ['env_var_count', '', 'I'],
    ['env_var_name_copy', 'IIII', ''],
    ['env_var_name_exists', 'II', 'i'],
    ['env_var_name_size', 'I', 'I'],
    ['env_var_value_copy', 'IIIII', ''],
    ['is_controller', 'II', 'i'],
    ['msg_arg_data_copy', 'III', ''],
    ['msg_arg_data_size', '', 'I'],
    ['msg_cycles_accept128', 'III', ''],
    ['msg_reject', 'II', ''],
    ['msg_reject_code', '', 'i'],
    ['performance_counter', 'i', 'I'],
    ['root_key_size', '', 'I'],
    ['canister_status', '', 'i'],
    ['call_with_best_effort_response', 'i', ''],
  ])('%s', (name, params, results) => {
    expect(ic0Interface.I.get(name)).toEqual({ params, results });
  });

  test.each([
    [
      'an import with 32-bit parameters',
      '(import "ic0" "msg_reject" (func (param i32 i32))) (memory i64 1)',
      "Expected input params [I64, I64] for 'msg_reject', got [I32, I32].",
    ],
    [
      'an import that exists only for 32 bits',
      '(import "ic0" "stable_size" (func (result i32))) (memory i64 1)',
      "'stable_size' from 'ic0' that is not exported by the runtime",
    ],
    [
      'a data segment whose offset is not constant',
      '(memory i64 1) (global $g i64 (i64.const 1)) (data (global.get $g) "abc")',
      'Invalid offset expression in data segment for 64bit memory',
    ],
    ['more than 6 GiB', '(memory i64 1 98305)', 'a memory of 98305 pages which exceeds'],
  ])('a module with a 64-bit memory is refused for %s', (_what, text, refusal) => {
    expect(() => compile(text)).toThrow(refusal);
  });

  it('is not used for a module without memory, whose addresses are i32', () => {
    expect(() => compile('(import "ic0" "msg_reject" (func (param i32 i32)))')).not.toThrow();
  });
});

describe.skipIf(hasMemory64())('Node without 64-bit memories', () => {
  it('refuses such a module at installation, and names the required version of Node', async () => {
    const { install } = startTestReplica();
    await expect(install(canister64(''))).rejects.toThrow(/start the .* with Node 24 or newer/);
    const table = assemble('(module (table i64 1 funcref))');
    await expect(install(table)).rejects.toThrow(/addresses of 64 bits.* with Node 24 or newer/);
  });
});

describe.runIf(hasMemory64())(
  'Interface specification, "System API", with 64-bit addresses',
  () => {
    async function outcomeOf(body: string, arg?: Uint8Array) {
      const replica = startTestReplica();
      return replica.update(await replica.install(canister64(body)), 'f', arg);
    }

    it('copies arguments and balances, appends to replies, writes stable memory', async () => {
      const body = update(`(local $size i64) (local.set $size (call $msg_arg_data_size))
      (call $msg_arg_data_copy (i64.const 100) (i64.const 0) (local.get $size))
      (drop (call $stable64_grow (i64.const 1)))
      (call $stable64_write (i64.const 0) (i64.const 100) (local.get $size))
      (call $canister_cycle_balance128 (i64.const 200))
      (call $msg_reply_data_append (i64.const 101) (i64.const 2)) (call $msg_reply)`);
      expect(textOf(await outcomeOf(body, new TextEncoder().encode('abcd')))).toBe('bc');
    });

    it('passes all 64 bits of the environment to a callback', async () => {
      const environment = 0x7edc_ba98_7654_3211n;
      const outcome = await outcomeOf(`(table 1 funcref) (elem (i32.const 0) $back)
      (func $back (param i64) (call $reply (local.get 0)))
      ${update(`(call $call_new (i64.const 0) (i64.const 0) (i64.const 0) (i64.const 0)
        (i64.const 0) (i64.const ${environment}) (i64.const 0) (i64.const 0))
        (drop (call $call_perform))`)}`);
      if (outcome.status === 'rejected') throw new Error(outcome.message);
      expect(Buffer.from(outcome.arg).readBigUInt64LE()).toBe(environment);
    });

    it('calls a callback through a table with 64-bit indices, as Motoko has', async () => {
      const outcomeAt = (index: number) =>
        outcomeOf(`(table i64 4 funcref) (elem (i64.const 0) $back $narrow)
        (func $back (param i64) (call $reply (local.get 0)))
        (func $narrow (param i32))
        ${update(`(call $call_new (i64.const 0) (i64.const 0) (i64.const 0) (i64.const 0)
          (i64.const ${index}) (i64.const 7) (i64.const ${index}) (i64.const 7))
          (drop (call $call_perform))`)}`);
      const outcome = await outcomeAt(0);
      if (outcome.status === 'rejected') throw new Error(outcome.message);
      expect(Buffer.from(outcome.arg).readBigUInt64LE()).toBe(7n);
      expect(textOf(await outcomeAt(1))).toMatch(/^IC0504.*does not match its signature\.\n/);
      expect(textOf(await outcomeAt(2))).toMatch(/^IC0504.*unexpected null function reference\.\n/);
      expect(textOf(await outcomeAt(4))).toMatch(/^IC0513.*function 4 from table 0/);
    });

    it('calls functions by 64-bit indices, and reports empty places', async () => {
      const body = (index: number) => `(table i64 2 funcref) (elem (i64.const 0) $seven)
        (type $number (func (result i64)))
        (func $seven (result i64) (i64.const 7))
        ${update(`(call $reply (call_indirect (type $number) (i64.const ${index})))`)}`;
      const found = await outcomeOf(body(0));
      if (found.status === 'rejected') throw new Error(found.message);
      expect(Buffer.from(found.arg).readBigUInt64LE()).toBe(7n);
      expect(textOf(await outcomeOf(body(1)))).toMatch(/^IC0502.*trapped: unknown/);
    });

    test.each([
      ['a pointer beyond the heap', '(i64.const -16) (i64.const 4)', /^IC0504.*exceeds the slice/],
      ['a length beyond 2^53', '(i64.const 0) (i64.const -1)', /^IC0522|^IC0504/],
    ])('%s is refused', async (_what, operands, expected) => {
      const body = update(`(call $msg_reply_data_append ${operands})`);
      expect(textOf(await outcomeOf(body))).toMatch(expected);
    });

    it('charges 2 for a load or store, and for a fill its length, also if that is i64', async () => {
      const replica = startTestReplica();
      const id = await replica.install(
        canister64(`${update('(i64.store (i64.const 8) (i64.load (i64.const 8)))')}
        (func (export "canister_update fill")
          (memory.fill (i64.const 0) (i32.const 0) (i64.const 1000)))
        (func (export "canister_update endless")
          (memory.fill (i64.const 0) (i32.const 0) (i64.const -1)))`),
      );
      await replica.update(id, 'f');
      expect(replica.engine.lastReport()?.instructions).toBe(BigInt(1 + 2 + 2 * 2));
      await replica.update(id, 'fill');
      expect(replica.engine.lastReport()?.instructions).toBe(BigInt(1 + 3 + 100 + 1_000));
      expect(textOf(await replica.update(id, 'endless'))).toMatch(/^IC0522/);
    });

    it('accepts a heap that grew again after a trap, and keeps it over a restart', async () => {
      const wasm = canister64(`(global $calls (mut i64) (i64.const 1))
      (func $grow (drop (memory.grow (i64.const 2)))
        (global.set $calls (i64.add (global.get $calls) (i64.const 1)))
        (i64.store (i64.const 140000) (i64.const 7)))
      ${update('(call $grow) (call $msg_reply)')}
      (func (export "canister_update trap") (call $grow) unreachable)
      (func (export "canister_query sum") (call $reply (i64.add (global.get $calls)
        (i64.add (memory.size) (i64.load (i64.const 140000))))))`);
      let replica = await startReplica({ server: false, stateDir, sync: false });
      const id = (await replica.createCanister()).toText();
      const sum = async () => Number(Buffer.from(await replica.query(id, 'sum')).readBigInt64LE());
      await replica.install(id, wasm);
      await replica.call(id, 'f');
      expect(await sum()).toBe(2 + 3 + 7);
      await expect(replica.call(id, 'trap')).rejects.toThrow('unreachable');
      expect(await sum()).toBe(2 + 3 + 7);
      await replica.stop();
      replica = await startReplica({ server: false, stateDir, sync: false });
      expect(await sum()).toBe(2 + 3 + 7);
      await replica.stop();
    });
  },
);
