// The limit of a canister's calls that wait for an answer.

import { describe, expect, it } from 'vitest';
import type { Limits } from '../../../packages/replica/src/execution/limits.ts';
import { numberOf, startTestReplica } from '../../support/wasm-canisters/test-replica.ts';
import { canister } from '../../support/wasm-canisters/text-module.ts';

const imports = ['call_new', 'call_perform', 'canister_self_copy', 'msg_arg_data_copy'];

/**
 * `toManagement` and `toItself` try as many calls as their argument says and return how many were
 * performed. The management canister answers when the test says.
 */
const module = canister(
  imports,
  `(memory 1) (table 1 funcref) (elem (i32.const 0) $nothing)
  (func $nothing (param i32))
  (data (i32.const 100) "silent")
  (func $call (param $size i32) (result i32)
    (call $call_new (i32.const 0) (local.get $size) (i32.const 100) (i32.const 6)
      (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0))
    (call $call_perform))
  (func $many (param $size i32) (local $left i32) (local $done i32)
    (call $msg_arg_data_copy (i32.const 50) (i32.const 0) (i32.const 4))
    (local.set $left (i32.load (i32.const 50)))
    (loop $next
      (if (i32.eqz (call $call (local.get $size)))
        (then (local.set $done (i32.add (local.get $done) (i32.const 1)))))
      (local.set $left (i32.sub (local.get $left) (i32.const 1)))
      (br_if $next (local.get $left)))
    (call $reply32 (local.get $done)))
  (func (export "canister_update silent"))
  (func (export "canister_update toManagement") (call $many (i32.const 0)))
  (func (export "canister_update toItself")
    (call $canister_self_copy (i32.const 0) (i32.const 0) (i32.const 10))
    (call $many (i32.const 10)))`,
);

function number(value: number): Uint8Array {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value);
  return bytes;
}

async function start(limits: Partial<Limits>) {
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const replica = startTestReplica({
    limits,
    answer: async ({ arg }) => {
      await released;
      return { outcome: { status: 'replied', arg }, refundedCycles: 0n };
    },
  });
  const id = await replica.install(module, 10n ** 18n);
  const call = async (method: string, count: number) =>
    numberOf(await replica.update(id, method, number(count)));
  return { replica, call, release };
}

describe('Interface specification, "Inter-canister method calls": `call_perform` answers 2', () => {
  it('beyond 500 waiting calls to the same canister (DEFAULT_QUEUE_CAPACITY)', async () => {
    const { call } = await start({});
    expect(await call('toManagement', 501)).toBe(500);
    expect(await call('toManagement', 1)).toBe(0);
    expect(await call('toItself', 501)).toBe(500);
  });

  it('no longer once they are answered', async () => {
    const { replica, call, release } = await start({ callsPerPairMax: 3 });
    expect(await call('toManagement', 5)).toBe(3);
    expect(await call('toManagement', 1)).toBe(0);
    release();
    await replica.engine.idle();
    expect(await call('toManagement', 5)).toBe(3);
  });

  it('beyond the guaranteed 50 if the subnet has no more (SUBNET_CALLBACK_SOFT_LIMIT)', async () => {
    const { call } = await start({ subnetCallsMax: 60 });
    expect(await call('toManagement', 100)).toBe(60);
    const full = await start({ subnetCallsMax: 10 });
    expect(await full.call('toManagement', 100)).toBe(50);
    expect(await full.call('toManagement', 1)).toBe(0);
  });
});
