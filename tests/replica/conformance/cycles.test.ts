// Cycles charged for messages, calls, time and storage, as the balance shows them.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Principal } from '@dfinity/principal';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openDiskStore } from '../../../packages/replica/src/persistence/disk-store.ts';
import { createMemoryStore } from '../../../packages/replica/src/persistence/memory-store.ts';
import {
  installOn,
  numberOf,
  startTestReplica,
  type TestReplica,
  textOf,
} from '../../support/wasm-canisters/test-replica.ts';
import { canister } from '../../support/wasm-canisters/text-module.ts';

const day = 86_400n;
const nanoseconds = 1_000_000_000n;
const gib = 2n ** 30n;
/** The reserve for a callback of 40 G instructions and an answer of 2 MiB. */
const answerReserve = 5_000_000n + 40_000_000_000n + 1_000n * 2n ** 21n;

const imports = [
  ...['call_new', 'call_perform', 'call_data_append', 'call_cycles_add', 'canister_cycle_balance'],
  ...['canister_self_copy', 'stable64_grow', 'cost_call', 'msg_cycles_accept', 'trap'],
];
/** `call` returns the cycles that `call_perform` took from the balance, and its result. */
const calling = canister(
  imports,
  `(memory 1) (table 3 funcref) (elem (i32.const 0) $nothing $fail $cleaned)
  (data (i32.const 100) "silent")
  (func $nothing (param i32))
  (func $fail (param i32) unreachable)
  (func $cleaned (param i32))
  (func $begin (param $callback i32)
    (call $canister_self_copy (i32.const 0) (i32.const 0) (i32.const 10))
    (call $call_new (i32.const 0) (i32.const 10) (i32.const 100) (i32.const 6)
      (local.get $callback) (i32.const 0) (local.get $callback) (i32.const 0))
    (call $call_data_append (i32.const 0) (i32.const 20)))
  (func (export "canister_update silent"))
  (func (export "canister_update grow")
    (call $reply64 (call $stable64_grow (i64.const 160))))
  (func (export "canister_query balance") (call $reply64 (call $canister_cycle_balance)))
  (func (export "canister_query cost")
    (call $cost_call (i64.const 6) (i64.const 20) (i32.const 0))
    (call $reply64 (i64.load (i32.const 0))))
  (func (export "canister_update call") (local $before i64)
    (call $begin (i32.const 0))
    (local.set $before (call $canister_cycle_balance))
    (i64.store (i32.const 16) (i64.extend_i32_u (call $call_perform)))
    (i64.store (i32.const 8) (i64.sub (local.get $before) (call $canister_cycle_balance)))
    (call $msg_reply_data_append (i32.const 8) (i32.const 16)) (call $msg_reply))
  (func (export "canister_update wait")
    (call $call_new (i32.const 0) (i32.const 0) (i32.const 100) (i32.const 6)
      (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0))
    (call $reply32 (call $call_perform)))
  (func (export "canister_update failing") (call $begin (i32.const 1))
    (drop (call $call_perform)) (call $reply32 (i32.const 0)))`,
);

function cyclesOf({ engine }: TestReplica, id: Principal): bigint {
  return engine.balance(id)?.cycles ?? 0n;
}

/** The numbers in a reply, of 64 bits each. */
function numbers(outcome: Parameters<typeof numberOf>[0]): bigint[] {
  if (outcome.status === 'rejected') throw new Error(outcome.message);
  const bytes = Buffer.from(outcome.arg);
  return [bytes.readBigInt64LE(0), bytes.readBigInt64LE(8)];
}

/** The total cycles of all messages in the reports. */
function reported({ reports }: TestReplica): bigint {
  return reports.reduce((sum, { cycles }) => sum + cycles, 0n);
}

describe('Interface specification, "Inter-canister method calls": a call', () => {
  const request = 260_000n + 1_000n * 26n;

  it('pays for its answer when it is performed, as `cost_call` says', async () => {
    const replica = startTestReplica();
    const id = await replica.install(calling);
    const [paid, performed] = numbers(await replica.update(id, 'call'));
    expect([paid, performed]).toEqual([request + answerReserve, 0n]);
    expect(BigInt(numberOf(await replica.query(id, 'cost')))).toBe(paid);
  });

  it.each(['call', 'failing'])(
    'gets back the cost of the unused part of its answer: %s',
    async (method) => {
      const replica = startTestReplica();
      const id = await replica.install(calling);
      const before = cyclesOf(replica, id);
      replica.reports.length = 0;
      await replica.update(id, method);
      await replica.engine.idle();
      expect(replica.reports.map(({ kind }) => kind)).toEqual(['update', 'update', 'reject']);
      const message = `1Canister ${id.toText()} did not reply to the call`;
      const transmitted = request + 1_000n * BigInt(message.length);
      expect(before - cyclesOf(replica, id)).toBe(reported(replica) + transmitted);
    },
  );

  it('is not performed if the balance is below the reserve', async () => {
    const replica = startTestReplica({ limits: { installInstructions: 10n ** 9n } });
    const id = await replica.install(calling, 82_000_000_000n);
    const [paid, performed] = numbers(await replica.update(id, 'call'));
    expect([paid, performed]).toEqual([0n, 2n]);
    expect(replica.reports.at(-1)?.error).toBeUndefined();
  });

  it('in progress is settled after a restart', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'cycles-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const never = new Promise<never>(() => undefined);
    const first = openDiskStore(folder);
    const replica = startTestReplica({ store: first, answer: () => never });
    const id = await replica.install(calling);
    const before = cyclesOf(replica, id);
    replica.reports.length = 0;
    expect(numberOf(await replica.update(id, 'wait'))).toBe(0);
    first.close();
    const second = openDiskStore(folder);
    onTestFinished(() => second.close());
    const again = startTestReplica({ store: second });
    await again.engine.resume();
    await again.engine.idle();
    expect(again.reports.map(({ kind }) => kind)).toEqual(['reject']);
    const message = '1The replica was restarted before the call was answered.';
    const transmitted = 260_000n + 1_000n * BigInt(6 + message.length);
    const executed = reported(replica) + reported(again);
    expect(before - cyclesOf(again, id)).toBe(executed + transmitted);
  });
});

describe('Interface specification, "IC method install_code": an installation', () => {
  it('costs one message, its instructions, and 6,000 for each instrumented instruction', async () => {
    const replica = startTestReplica();
    const module = canister([], '(func (export "canister_init") (drop (i32.const 1)))');
    const id = await replica.install(module, 10n ** 12n);
    const { instructions = 0n, cycles } = replica.reports.at(-1) ?? {};
    // `$reply32` and `$reply64` have seven instructions and one end each; init has two and one.
    const own = 2n * (2n + 1n + 2n + 1n + 1n + 1n) + 3n;
    // The network adds ten to each of these functions, and three globals of two.
    const compiled = own + 3n * 10n + 3n * 2n;
    expect(cycles).toBe(5_000_000n + instructions + 6_000n * compiled);
    expect(cyclesOf(replica, id)).toBe(10n ** 12n - (cycles ?? 0n));
  });

  it('of a module that the subnet has compiled costs a hundredth until the next checkpoint', async () => {
    const replica = startTestReplica();
    const compiled = async (module: Uint8Array) => {
      await replica.install(module);
      const { instructions = 0n, cycles = 0n } = replica.reports.at(-1) ?? {};
      return cycles - 5_000_000n - instructions;
    };
    const module = canister([], '(func (export "canister_init") (drop (i32.const 1)))');
    expect([await compiled(module), await compiled(module)]).toEqual([330_000n, 3_300n]);
    const other = canister([], '(func (export "canister_init") (drop (i32.const 2)))');
    expect(await compiled(other)).toBe(330_000n);
    replica.time.now += 499n * nanoseconds;
    expect(await compiled(module)).toBe(3_300n);
    replica.time.now += nanoseconds;
    expect([await compiled(module), await compiled(module)]).toEqual([330_000n, 3_300n]);
  });

  it('is refused if the balance could not pay for all of it', async () => {
    const replica = startTestReplica();
    const poor = replica.install(calling, 300_000_000_000n);
    await expect(poor).rejects.toThrow(/installation failed with `Canister .* is out of cycles/);
  });

  it('that would freeze its canister is refused, and costs the used cycles', async () => {
    const replica = startTestReplica({ limits: { installInstructions: 10n ** 9n } });
    const id = await replica.install(calling, 60_000_000_000n);
    const before = cyclesOf(replica, id);
    const large = canister([], '(memory 4096)');
    const refused = await installOn(replica.engine, {
      canisterId: id,
      module: large,
      mode: 'reinstall',
    });
    expect(refused).toMatch(/cannot grow memory by \d+ bytes due to insufficient cycles/);
    expect(before - cyclesOf(replica, id)).toBeGreaterThan(5_000_000n);
    expect(numberOf(await replica.query(id, 'balance'))).toBeGreaterThan(0);
  });
});

describe('Interface specification, "Canister cycles": the charge for time', () => {
  async function start(cycles: bigint) {
    const replica = startTestReplica({ limits: { installInstructions: 10n ** 9n } });
    const id = await replica.install(calling, cycles);
    const bytes = BigInt(65_536 + calling.length);
    return { replica, id, perDay: (bytes * 127_000n * day) / gib };
  }

  it('is the price of all memory and allocations, for whole seconds', async () => {
    const { replica, id, perDay } = await start(10n ** 18n);
    const before = cyclesOf(replica, id);
    replica.time.now += 9n * nanoseconds;
    expect(cyclesOf(replica, id)).toBe(before);
    replica.time.now += day * nanoseconds - 9n * nanoseconds;
    expect(before - cyclesOf(replica, id)).toBe(perDay);
    replica.engine.updateSettings(id, { computeAllocation: 2n, memoryAllocation: gib });
    expect(replica.engine.balance(id)?.idleCyclesPerDay).toBe((20_000_000n + 127_000n) * day);
    replica.time.now += 10n * nanoseconds + 999_999_999n;
    expect(before - cyclesOf(replica, id)).toBe(perDay + 10n * 20_127_000n);
    replica.time.now += 9_000_000_001n;
    expect(before - cyclesOf(replica, id)).toBe(perDay + 20n * 20_127_000n);
  });

  it('is taken at messages and ticks, and not again after a restart', async () => {
    const store = createMemoryStore();
    const replica = startTestReplica({ store });
    const id = await replica.install(calling);
    replica.time.now += 10n * day * nanoseconds;
    await replica.engine.tick();
    const ticked = replica.engine.canister(id)?.cycles ?? 0n;
    expect(ticked).toBe(cyclesOf(replica, id));
    await replica.update(id, 'grow');
    const again = startTestReplica({ store });
    again.time.now = replica.time.now;
    await again.engine.resume();
    expect(cyclesOf(again, id)).toBe(cyclesOf(replica, id));
  });

  it('is taken until the balance is 0, and then the code is removed', async () => {
    const { replica, id, perDay } = await start(60_000_000_000n);
    const days = cyclesOf(replica, id) / perDay;
    replica.engine.updateSettings(id, { freezingThreshold: 0n });
    replica.time.now += days * day * nanoseconds;
    await replica.engine.tick();
    expect(replica.engine.canister(id)?.moduleHash).toBeDefined();
    replica.time.now += 2n * day * nanoseconds;
    await replica.engine.tick();
    expect(replica.engine.canister(id)).toMatchObject({ moduleHash: undefined, cycles: 0n });
    expect(textOf(await replica.update(id, 'silent'))).toMatch(/^IC0537/);
  });
});

describe('Interface specification, "Message execution": memory that is added', () => {
  const limits = { installInstructions: 10n ** 9n };

  it('must be affordable for the time of the freezing threshold, or the message traps', async () => {
    const replica = startTestReplica({ limits });
    const id = await replica.install(calling, 42_000_000_000n);
    expect(textOf(await replica.update(id, 'grow'))).toMatch(/^IC0532: .*grow memory by 10485760 /);
    replica.engine.updateSettings(id, { freezingThreshold: 0n });
    expect(numberOf(await replica.update(id, 'grow'))).toBe(0);
  });

  it('reserves cycles on a full subnet, which pay for it', async () => {
    const full = { ...limits, subnetStorageThreshold: 2n ** 23n, subnetStorageMax: 2n ** 25n };
    const replica = startTestReplica({ limits: full });
    const id = await replica.install(calling);
    const { cycles: before = 0n } = replica.engine.balance(id) ?? {};
    replica.reports.length = 0;
    expect(numberOf(await replica.update(id, 'grow'))).toBe(0);
    const above = 10_485_760n + 65_536n + BigInt(calling.length) - 2n ** 23n;
    const seconds = (300_000_000n * above) / (2n ** 25n - 2n ** 23n) / 2n;
    const reserved = (above * 127_000n * seconds) / gib;
    const after = replica.engine.balance(id);
    expect(after?.reservedCycles).toBe(reserved);
    expect(before - (after?.cycles ?? 0n)).toBe(reserved + reported(replica));
    replica.time.now += day * nanoseconds;
    const later = replica.engine.balance(id);
    expect(later?.cycles).toBe(after?.cycles);
    expect(reserved - (later?.reservedCycles ?? 0n)).toBe(after?.idleCyclesPerDay);
    replica.engine.updateSettings(id, { reservedCyclesLimit: reserved });
    expect(textOf(await replica.update(id, 'grow'))).toMatch(/^IC0534: .*reserved cycles limit/);
  });
});

describe('Interface specification, "Calls with insufficient cycles are rejected"', () => {
  it('applies to calls by other canisters, but not by users or the canister itself', async () => {
    const replica = startTestReplica();
    const callee = await replica.install(calling);
    const bytes = [...callee.toUint8Array()].map(
      (byte) => `\\${byte.toString(16).padStart(2, '0')}`,
    );
    const relay = canister(
      ['call_new', 'call_perform', 'call_cycles_add', 'msg_reject_code', 'msg_cycles_refunded'],
      `(memory 1) (table 1 funcref) (elem (i32.const 0) $answered)
      (data (i32.const 0) "${bytes.join('')}") (data (i32.const 100) "silent")
      (func $answered (param i32) (i64.store (i32.const 200) (call $msg_cycles_refunded))
        (i64.store (i32.const 208) (i64.extend_i32_u (call $msg_reject_code)))
        (call $msg_reply_data_append (i32.const 200) (i32.const 16)) (call $msg_reply))
      (func (export "canister_update go")
        (call $call_new (i32.const 0) (i32.const 10) (i32.const 100) (i32.const 6)
          (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0))
        (call $call_cycles_add (i64.const 9)) (drop (call $call_perform)))`,
    );
    const caller = await replica.install(relay);
    const kinds = () => replica.reports.splice(0).map(({ kind }) => kind);
    kinds();
    replica.engine.updateSettings(callee, { minimumIncomingCallCycles: 10n });
    expect(numbers(await replica.update(caller, 'go'))).toEqual([9n, 5n]);
    expect(kinds()).toEqual(['update', 'reject']);
    replica.engine.updateSettings(callee, { minimumIncomingCallCycles: 9n });
    expect(numbers(await replica.update(caller, 'go'))).toEqual([9n, 5n]);
    expect(kinds()).toEqual(['update', 'update', 'reject']);
    replica.engine.updateSettings(callee, { minimumIncomingCallCycles: 10n });
    await replica.update(callee, 'call');
    await replica.engine.idle();
    expect(kinds()).toEqual(['update', 'update', 'reject']);
  });
});
