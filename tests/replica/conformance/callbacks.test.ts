// Table entries that are valid callbacks of a canister, and the error for each invalid one.

import { describe, expect, test } from 'vitest';
import { startTestReplica, textOf } from '../../support/wasm-canisters/test-replica.ts';
import { canister } from '../../support/wasm-canisters/text-module.ts';

/** Calls the management canister, which echoes; the reply callback is the table entry `index`. */
function caller(index: number, table: string): Uint8Array {
  return canister(
    ['call_new', 'call_perform', 'call_on_cleanup'],
    `${table}
    (type $indirect (func (param i32)))
    (func $callback (param i32) (call $reply32 (local.get 0)))
    (func $no_parameter) (func $wide (param i64))
    (func $with_result (param i32) (result i32) (i32.const 1))
    (func (export "canister_update f")
      (call $call_new (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0)
        (i32.const ${index}) (i32.const -7) (i32.const ${index}) (i32.const 8))
      (drop (call $call_perform)))`,
  );
}

const table = `(table 6 funcref)
  (elem (i32.const 0) $callback $no_parameter $wide $with_result)`;
const contract = /^IC0504: .*Canister violated contract: /.source;
const advice = '\\.\nThis is likely an error with the compiler';
const signature = `${contract}function invocation does not match its signature${advice}`;

describe('Interface specification, "Callbacks"; rs/embedders/src/wasmtime_embedder.rs: run', () => {
  test.each([
    ['(i32) -> () is called with its environment', 0, table, /^\xf9\xff\xff\xff$/.source],
    ['() -> () is refused', 1, table, signature],
    ['(i64) -> () is refused', 2, table, signature],
    ['(i32) -> (i32) is refused', 3, table, signature],
    [
      'an empty entry is refused',
      4,
      table,
      `${contract}unexpected null function reference${advice}`,
    ],
    [
      'an index beyond the table is refused',
      6,
      table,
      '^IC0513: .*requested to invoke a non-existent Wasm function 6 from table 0\\.\nThis is likely ',
    ],
    ['a missing table is refused', 0, '', `${contract}table not found${advice}`],
    [
      'a table of externref is refused',
      0,
      '(table 1 externref)',
      `${contract}not a function reference${advice}`,
    ],
  ])('%s', async (_law, index, text, expected) => {
    const replica = startTestReplica();
    const id = await replica.install(caller(index, text));
    const outcome = await replica.update(id, 'f');
    const answer =
      outcome.status === 'replied' ? Buffer.from(outcome.arg).toString('latin1') : textOf(outcome);
    expect(answer).toMatch(new RegExp(expected));
  });

  test('an indirect call with another signature fails with the same error', async () => {
    const replica = startTestReplica();
    const body = `(type $unary (func (param i32))) (table 1 funcref) (elem (i32.const 0) $f)
      (func $f (export "canister_update f")
        (call_indirect (type $unary) (i32.const 1) (i32.const 0)))`;
    const id = await replica.install(canister([], body));
    expect(textOf(await replica.update(id, 'f'))).toMatch(new RegExp(signature));
  });
});
