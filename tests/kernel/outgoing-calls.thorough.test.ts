// The kernel between a small canister and its outgoing calls, on the replica's engine. Tests decide
// when the management canister answers: before or after the canister gets a new instance.

import { randomBytes } from 'node:crypto';
import type { Principal } from '@dfinity/principal';
import binaryen from 'binaryen';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { upgradedWords } from '../../packages/client/src/actor/transient-reject.ts';
import type { MessageReport } from '../../packages/replica/src/core.ts';
import { createEngine, type RunningEngine } from '../../packages/replica/src/execution/engine.ts';
import {
  createInProcessCalls,
  type InProcessCalls,
} from '../../packages/replica/src/in-process-calls.ts';
import { createManagement } from '../../packages/replica/src/management/management.ts';
import { createSigningKeys } from '../../packages/replica/src/management/signing-keys.ts';
import { createVetKeys } from '../../packages/replica/src/management/vetkd.ts';
import { createMemoryStore } from '../../packages/replica/src/persistence/memory-store.ts';
import { buildKernel } from '../../scripts/kernel.ts';
import { mergeKernel } from '../../scripts/merge-wasm.ts';

/**
 * Each callback adds its number to a counter of four bytes: replies at 0, rejects at 4, cleanups at
 * 8. Number 1 is for calls that nothing waits for.
 */
const canisterText = `(module
  (import "ic0" "certified_data_set" (func $certify (param i32 i32)))
  (import "ic0" "call_new" (func $new (param i32 i32 i32 i32 i32 i32 i32 i32)))
  (import "ic0" "call_on_cleanup" (func $on_cleanup (param i32 i32)))
  (import "ic0" "call_data_append" (func $append_argument (param i32 i32)))
  (import "ic0" "call_perform" (func $perform (result i32)))
  (import "ic0" "canister_self_copy" (func $self (param i32 i32 i32)))
  (import "ic0" "global_timer_set" (func $set_timer (param i64) (result i64)))
  (import "ic0" "msg_arg_data_copy" (func $argument (param i32 i32 i32)))
  (import "ic0" "msg_reply_data_append" (func $append (param i32 i32)))
  (import "ic0" "msg_reply" (func $reply))
  (memory 1)
  (export "memory" (memory 0))
  (data (i32.const 64) "raw_rand")
  (data (i32.const 80) "nothing!")
  (data (i32.const 96) "work")
  (data (i32.const 104) "ask")
  (data (i32.const 112) "DIDL\\00\\00")
  (table 4 4 funcref)
  (elem (i32.const 1) $answered $rejected $cleaned)
  (func $add (param $at i32) (param $number i32)
    (i32.store (local.get $at) (i32.add (i32.load (local.get $at)) (local.get $number))))
  (func $answer (call $append (i32.const 0) (i32.const 16)) (call $reply))
  (func $answered (param $number i32)
    (call $add (i32.const 0) (local.get $number))
    (if (i32.eq (local.get $number) (i32.const 13)) (then (unreachable)))
    (if (i32.ne (local.get $number) (i32.const 1)) (then (call $answer))))
  (func $rejected (param $number i32)
    (call $add (i32.const 4) (local.get $number))
    (if (i32.ne (local.get $number) (i32.const 101)) (then (call $answer))))
  (func $cleaned (param $number i32) (call $add (i32.const 8) (local.get $number)))
  (func $build (param $name i32) (param $number i32)
    (call $new (i32.const 0) (i32.const 0) (local.get $name) (i32.const 8)
      (i32.const 1) (local.get $number)
      (i32.const 2) (i32.add (local.get $number) (i32.const 100)))
    (call $append_argument (i32.const 112) (i32.const 6)))
  (func $send (param $name i32) (param $number i32)
    (call $build (local.get $name) (local.get $number))
    (call $on_cleanup (i32.const 3) (i32.add (local.get $number) (i32.const 200)))
    (call $add (i32.const 12) (call $perform)))
  (func (export "canister_query state") (call $answer))
  (func (export "canister_update ask") (call $send (i32.const 64) (i32.const 7)))
  (func (export "canister_update refused") (call $send (i32.const 80) (i32.const 7)))
  (func (export "canister_update trapping") (call $send (i32.const 64) (i32.const 13)))
  (func (export "canister_update plain")
    (call $build (i32.const 64) (i32.const 13))
    (call $add (i32.const 12) (call $perform)))
  (func (export "canister_update many") (local $left i32)
    (local.set $left (i32.const 600))
    (loop $next
      (call $send (i32.const 80) (i32.const 1))
      (local.set $left (i32.sub (local.get $left) (i32.const 1)))
      (br_if $next (local.get $left)))
    (call $answer))
  (func (export "canister_update replaced") (local $left i32)
    (local.set $left (i32.const 2100))
    (loop $next
      (call $build (i32.const 64) (i32.const 1))
      (local.set $left (i32.sub (local.get $left) (i32.const 1)))
      (br_if $next (local.get $left)))
    (call $send (i32.const 64) (i32.const 7)))
  (func (export "canister_update dropped")
    (call $build (i32.const 64) (i32.const 1))
    (call $answer))
  (func (export "canister_update twice")
    (call $build (i32.const 64) (i32.const 1))
    (call $on_cleanup (i32.const 3) (i32.const 0))
    (call $on_cleanup (i32.const 3) (i32.const 0)))
  (func (export "canister_update none") (call $on_cleanup (i32.const 3) (i32.const 0)))
  (func (export "canister_update unbuilt") (drop (call $perform)))
  (func (export "canister_update arm") (drop (call $set_timer (i64.const 1))) (call $answer))
  (func (export "canister_global_timer") (call $send (i32.const 64) (i32.const 1)))
  (func (export "canister_update work") (call $answer) (call $send (i32.const 64) (i32.const 1)))
  (func (export "canister_update far")
    (call $argument (i32.const 128) (i32.const 0) (i32.const 10))
    (call $new (i32.const 128) (i32.const 10) (i32.const 104) (i32.const 3)
      (i32.const 1) (i32.const 5) (i32.const 2) (i32.const 105))
    (drop (call $perform)))
  (func (export "canister_update delegate")
    (call $self (i32.const 128) (i32.const 0) (i32.const 10))
    (call $new (i32.const 128) (i32.const 10) (i32.const 96) (i32.const 4)
      (i32.const 1) (i32.const 5) (i32.const 2) (i32.const 5))
    (drop (call $perform))))`;

/** The next version: a late answer that reached any of its functions would trap. */
const nextText = canisterText.replace(
  /\(func \$(answered|rejected|cleaned) \(param \$number i32\)/g,
  '$& (unreachable)',
);

let wasm: Uint8Array;
let nextWasm: Uint8Array;
let engine: RunningEngine;
let calls: InProcessCalls;
let canisterId: Principal;
let reports: MessageReport[];
let nowNs: bigint;
/** The management canister answers when this resolves. */
let gate: Promise<void>;
let open: () => void;

async function merge(text: string): Promise<Uint8Array> {
  const module = binaryen.parseText(text);
  const canister = module.emitBinary();
  module.dispose();
  return mergeKernel({ canister, kernel: await buildKernel() });
}

beforeAll(async () => {
  wasm = await merge(canisterText);
  nextWasm = await merge(nextText);
});

beforeEach(async () => {
  reports = [];
  nowNs = 1_800_000_000_000_000_000n;
  openGate();
  const vetKeys = createVetKeys(new Uint8Array(32).fill(7));
  const signingKeys = createSigningKeys(new Uint8Array(32));
  const random = () => new Uint8Array(randomBytes(32));
  engine = createEngine({
    store: createMemoryStore(),
    now: () => nowNs,
    dataCertificate: () => new Uint8Array(0),
    rootKey: () => new Uint8Array(133),
    management: (lifecycle) => {
      const management = createManagement(lifecycle, { random, vetKeys, signingKeys });
      const execute: typeof management.execute = async (call) => {
        await gate;
        return management.execute(call);
      };
      return { ...management, execute };
    },
    onReport: (report) => reports.push(report),
  });
  calls = createInProcessCalls(engine);
  canisterId = await calls.createCanister();
  await calls.install(canisterId, wasm);
});

function openGate(): void {
  gate = Promise.resolve();
}

function closeGate(): void {
  gate = new Promise((resolve) => {
    open = resolve;
  });
}

/** Returns the canister's sums: of replies, rejects, cleanups, and results of `call_perform`. */
function numbers(reply: Uint8Array): number[] {
  return [...new Uint32Array(reply.slice().buffer)];
}

async function state(): Promise<number[]> {
  return numbers(await calls.query(canisterId, 'state'));
}

async function ask(method: string): Promise<number[]> {
  return numbers(await calls.call(canisterId, method));
}

/** Sends the method's call, upgrades the canister, then delivers the answer. */
async function upgradeWhile(method: string): Promise<PromiseSettledResult<Uint8Array>> {
  closeGate();
  const answer = calls.call(canisterId, method);
  const settled = Promise.allSettled([answer]);
  await new Promise((resolve) => setImmediate(resolve));
  await calls.upgrade(canisterId, nextWasm);
  open();
  await engine.idle();
  const [result] = await settled;
  return result;
}

function errors(): string[] {
  return reports.flatMap(({ kind, error }) => (error === undefined ? [] : [`${kind}: ${error}`]));
}

describe('call_perform: the answer to a call of this instance', () => {
  test('reaches its own callback with its own number', async () => {
    expect(await ask('ask')).toEqual([7, 0, 0, 0]);
    expect(await ask('refused')).toEqual([7, 107, 0, 0]);
  });

  test('runs the cleanup, if the canister has one, when its callback traps', async () => {
    await expect(ask('trapping')).rejects.toThrow('unreachable');
    expect(await state()).toEqual([0, 0, 213, 0]);
    await expect(ask('plain')).rejects.toThrow('unreachable');
    expect(await state()).toEqual([0, 0, 213, 0]);
    expect(errors()).toHaveLength(2);
  });

  test.each([
    ['answered', 'ask'],
    ['rejected', 'refused'],
    ['dropped', 'dropped'],
  ])('frees the slot of its call: %s', async (_, method) => {
    for (let count = 0; count < 2_100; count++) await ask(method);
    expect((await ask('ask'))[3]).toBe(0);
  });

  test.each(['trapping', 'plain'])(
    'frees the slot of its call when the callback traps: %s',
    async (method) => {
      for (let count = 0; count < 2_100; count++) await ask(method).catch(() => undefined);
      expect((await ask('ask'))[3]).toBe(0);
    },
  );

  test('is not expected if the call is replaced before it is sent, and its slot is freed', async () => {
    expect(await ask('replaced')).toEqual([7, 0, 0, 0]);
    expect(await ask('replaced')).toEqual([14, 0, 0, 0]);
  });

  test('is not expected if the system refuses the call, and its slot is freed', async () => {
    for (let count = 0; count < 25; count++) {
      await ask('many');
      await engine.idle();
    }
    // 500 callbacks may be open at once; further calls return 2.
    expect((await state())[3]).toBe(25 * 100 * 2);
    expect((await ask('ask'))[0]).toBe(7);
  });
});

describe('call_perform: a call without an answer', () => {
  async function waitMinute(): Promise<void> {
    nowNs += 61_000_000_000n;
    // It would resolve only when the management canister has answered.
    void engine.tick();
    await new Promise((resolve) => setImmediate(resolve));
  }

  test('of another canister is rejected after a minute, so that the canister can be stopped', async () => {
    const silent = await calls.createCanister();
    await calls.install(silent, wasm);
    closeGate();
    const asked = calls.call(canisterId, 'far', silent.toUint8Array());
    await new Promise((resolve) => setImmediate(resolve));
    expect(await state()).toEqual([0, 0, 0, 0]);
    await waitMinute();
    expect(numbers(await asked)).toEqual([0, 105, 0, 0]);
    expect(await engine.stop(canisterId)).toBeUndefined();
    open();
    await engine.idle();
    await engine.start(canisterId);
    expect(await state()).toEqual([0, 105, 0, 0]);
  });

  test.each(['ask', 'delegate'])(
    'of the management canister or the canister itself is not rejected: %s',
    async (method) => {
      closeGate();
      const asked = calls.call(canisterId, method);
      await new Promise((resolve) => setImmediate(resolve));
      await waitMinute();
      expect((await state())[1]).toBe(0);
      open();
      await asked;
      await engine.idle();
      expect((await state())[1]).toBe(0);
    },
  );
});

describe("call_perform: the system's error texts are unchanged", () => {
  test.each([
    ['twice', /at most once/],
    ['none', /no call is under construction/],
    ['unbuilt', /no call is under construction/],
  ])('%s', async (method, words) => {
    await expect(ask(method)).rejects.toThrow(words);
  });
});

describe('call_perform: the answer to a call of a former instance', () => {
  test.each(['ask', 'refused', 'plain'])(
    'changes nothing, and the caller gets an error: %s',
    async (method) => {
      const result = await upgradeWhile(method);
      expect(result).toMatchObject({
        status: 'rejected',
        reason: { message: upgradedWords, code: 4 },
      });
      expect(await state()).toEqual([0, 0, 0, 0]);
      expect(errors()).toEqual([]);
      expect(reports.some(({ kind }) => kind === 'reply' || kind === 'reject')).toBe(true);
    },
  );

  test('does not take the slot of a call of the present instance', async () => {
    closeGate();
    const former = Promise.allSettled([calls.call(canisterId, 'ask')]);
    await new Promise((resolve) => setImmediate(resolve));
    const openFormer = open;
    await calls.upgrade(canisterId, wasm);
    closeGate();
    const present = ask('ask');
    await new Promise((resolve) => setImmediate(resolve));
    openFormer();
    expect((await former)[0]?.status).toBe('rejected');
    open();
    expect(await present).toEqual([7, 0, 0, 0]);
    expect(errors()).toEqual([]);
  });

  test('is ignored if a timer made the call', async () => {
    await ask('arm');
    closeGate();
    void engine.tick();
    await new Promise((resolve) => setImmediate(resolve));
    await calls.upgrade(canisterId, nextWasm);
    open();
    await engine.idle();
    expect(reports.map(({ kind }) => kind).slice(-2)).toEqual(['timer', 'reply']);
    expect(errors()).toEqual([]);
  });

  test('is ignored if the message that made the call has already replied', async () => {
    closeGate();
    const delegated = calls.call(canisterId, 'delegate');
    expect(numbers(await delegated)).toEqual([5, 0, 0, 0]);
    await calls.upgrade(canisterId, nextWasm);
    open();
    await engine.idle();
    expect(reports.at(-1)?.kind).toBe('reply');
    expect(errors()).toEqual([]);
  });
});
