// The rules of cloud engines: nothing is charged, canisters hold no cycles, and calls that leave
// the engine wait a bounded time without cycles. `dfinity/ic`
// rs/messaging/src/routing/stream_builder.rs and rs/types/cycles, CanisterCyclesCostSchedule.

import { Principal } from '@dfinity/principal';
import { afterEach, describe, expect, it } from 'vitest';
import {
  type Replica,
  type ReplicaOptions,
  startReplica,
} from '../../../packages/replica/src/replica.ts';
import { canister } from '../../support/wasm-canisters/text-module.ts';
import { relayCanister, relayed } from '../subnets/relay-canister.ts';
import { argumentOf, resultOf } from './management-client.ts';

const management = Principal.managementCanister();
const refusal =
  '1Unbounded-wait calls and calls with cycles are not allowed to CloudEngine subnets';
const running: Replica[] = [];
const nowNs = 1_800_000_000_000_000_000n;

afterEach(async () => {
  for (const replica of running.splice(0)) await replica.stop();
});

async function start(options: ReplicaOptions): Promise<Replica> {
  const replica = await startReplica({ server: false, now: () => nowNs, ...options });
  running.push(replica);
  return replica;
}

async function install(
  replica: Replica,
  options: { readonly subnet?: Principal; readonly module?: Uint8Array } = {},
): Promise<Principal> {
  const { subnet, module = relayCanister() } = options;
  const id = await replica.createCanister({ cycles: 10n ** 15n, ...(subnet && { subnet }) });
  await replica.install(id, module);
  return id;
}

/** Starts a cloud engine with two canisters, and one on the rest of the network. */
async function startEngine() {
  const replica = await start({ subnetType: 'cloud-engine' });
  const caller = await install(replica);
  const neighbor = await install(replica);
  const remote = await install(replica, { subnet: replica.rootSubnet });
  return { replica, caller, neighbor, remote };
}

const cyclesOf = (replica: Replica, id: Principal) =>
  replica.canisters().find((one) => one.id.compareTo(id) === 'eq')?.cycles;
const text = (bytes: Uint8Array) => Buffer.from(bytes).toString();

/** Replies with `cost_call`, `cost_create_canister`, `cost_http_request` and that of a vetKey. */
const pricing = canister(
  ['cost_call', 'cost_create_canister', 'cost_http_request', 'cost_vetkd_derive_key'],
  `(memory 1) (data (i32.const 100) "key_1")
  (func (export "canister_query prices")
    (call $cost_call (i64.const 6) (i64.const 20) (i32.const 0))
    (call $cost_create_canister (i32.const 16))
    (call $cost_http_request (i64.const 100) (i64.const 1000) (i32.const 32))
    (drop (call $cost_vetkd_derive_key
      (i32.const 100) (i32.const 5) (i32.const 0) (i32.const 48)))
    (call $msg_reply_data_append (i32.const 0) (i32.const 64)) (call $msg_reply))`,
);

describe('the type of a subnet', () => {
  it.each(['system', 'cloud-engine'] as const)(
    '%s: nothing is charged, and ic0.cost_* answer 0',
    async (subnetType) => {
      const replica = await start({ subnetType });
      const id = await install(replica, { module: pricing });
      const before = cyclesOf(replica, id);
      expect(before).toBe(subnetType === 'system' ? 10n ** 15n : 0n);
      expect(await replica.query(id, 'prices')).toEqual(new Uint8Array(64));
      const echo = await install(replica);
      await replica.call(echo, 'echo', new Uint8Array(1_000));
      expect(cyclesOf(replica, echo)).toBe(before);
      expect(replica.reports.filter(({ cycles }) => cycles > 0n)).toEqual([]);
    },
  );

  it('application: prices are those of the list', async () => {
    const replica = await start({ subnetType: 'application' });
    const id = await install(replica, { module: pricing });
    const prices = Buffer.from(await replica.query(id, 'prices'));
    const amounts = [0, 16, 32, 48].map((at) => prices.readBigUInt64LE(at));
    expect(amounts.every((amount) => amount > 0n)).toBe(true);
    expect(amounts[3]).toBe(26_153_846_153n);
  });

  it('that is unknown is refused with the known ones', async () => {
    const subnetType = 'verified' as 'system';
    const known = 'application, system, cloud-engine; got verified';
    await expect(startReplica({ server: false, subnetType })).rejects.toThrow(known);
  });
});

describe('Cloud engine: a canister', () => {
  it('is charged nothing for a year, and keeps its code', async () => {
    const { replica, caller } = await startEngine();
    replica.advanceTime(31_536_000n * 1_000_000_000n);
    await replica.tick();
    expect(text(await replica.call(caller, 'echo', Buffer.from('still here')))).toBe('still here');
    expect(cyclesOf(replica, caller)).toBe(0n);
  });

  it('cannot attach cycles', async () => {
    const { replica, caller, neighbor } = await startEngine();
    const sent = relayed(neighbor, 'echo', { cycles: 1n });
    const words = `Canister ${caller.toText()} is out of cycles`;
    const failed = replica.call(caller, 'relay', sent);
    await expect(failed).rejects.toMatchObject({
      code: 5,
      errorCode: 'IC0504',
      message: expect.stringContaining(words),
    });
  });

  it('cannot be topped up', async () => {
    const { replica, caller } = await startEngine();
    const arg = argumentOf('provisional_top_up_canister', { canister_id: caller, amount: 5n });
    const failed = replica.call(management, 'provisional_top_up_canister', arg);
    await expect(failed).rejects.toMatchObject({
      code: 4,
      message: expect.stringContaining('cannot be topped up'),
    });
    expect(cyclesOf(replica, caller)).toBe(0n);
  });

  it('creates canisters without cycles', async () => {
    const { replica, caller } = await startEngine();
    const sent = relayed(management, 'create_canister', { arg: argumentOf('create_canister', {}) });
    await replica.call(caller, 'relay', sent);
    expect(replica.canisters().at(-1)?.cycles).toBe(0n);
  });

  it('has the randomness of its own subnet, by a call that waits without limit', async () => {
    const { replica, caller } = await startEngine();
    const arg = argumentOf('raw_rand', {});
    const random = await replica.call(caller, 'relay', relayed(management, 'raw_rand', { arg }));
    expect(resultOf('raw_rand', random)).toHaveLength(32);
  });
});

describe('Cloud engine: a call', () => {
  it('within the engine may wait without limit', async () => {
    const { replica, caller, neighbor } = await startEngine();
    const arg = Buffer.from('hello');
    expect(text(await replica.call(caller, 'relay', relayed(neighbor, 'echo', { arg })))).toBe(
      'hello',
    );
  });

  it('that leaves the engine must have a time limit', async () => {
    const { replica, caller, remote } = await startEngine();
    const arg = Buffer.from('hello');
    const sent = relayed(remote, 'echo', { arg });
    expect(text(await replica.call(caller, 'relay', sent))).toBe(refusal);
    expect(text(await replica.call(caller, 'relayBounded', sent))).toBe('hello');
  });

  it('that enters the engine must have a time limit and no cycles', async () => {
    const { replica, caller, remote } = await startEngine();
    const arg = Buffer.from('hello');
    const sent = relayed(caller, 'echo', { arg });
    expect(text(await replica.call(remote, 'relay', sent))).toBe(refusal);
    expect(text(await replica.call(remote, 'relayBounded', sent))).toBe('hello');
    const before = cyclesOf(replica, remote) ?? 0n;
    const paid = relayed(caller, 'accept', { cycles: 10n ** 12n });
    expect(text(await replica.call(remote, 'relayBounded', paid))).toBe(refusal);
    expect(before - (cyclesOf(replica, remote) ?? 0n)).toBeLessThan(10n ** 9n);
    expect(cyclesOf(replica, caller)).toBe(0n);
  });

  it('deposit_cycles does not enter the engine', async () => {
    const { replica, caller, remote } = await startEngine();
    const arg = argumentOf('deposit_cycles', { canister_id: caller });
    const sent = relayed(management, 'deposit_cycles', { arg, cycles: 10n ** 12n });
    expect(text(await replica.call(remote, 'relay', sent))).toBe(refusal);
    expect(cyclesOf(replica, caller)).toBe(0n);
  });

  it('vetkd_public_key leaves the engine, and vetkd_derive_key lacks cycles there', async () => {
    const { replica, caller } = await startEngine();
    const key_id = { curve: { bls12_381_g2: null }, name: 'key_1' };
    const context = new Uint8Array(3);
    const publicKey = argumentOf('vetkd_public_key', { context, key_id });
    const asked = relayed(management, 'vetkd_public_key', { arg: publicKey });
    expect(text(await replica.call(caller, 'relay', asked))).toBe(refusal);
    const answer = await replica.call(caller, 'relayBounded', asked);
    expect(resultOf('vetkd_public_key', answer)).toMatchObject({ public_key: { length: 96 } });
    const transport_public_key = new Uint8Array(48);
    const derivation = { input: context, context, transport_public_key, key_id };
    const arg = argumentOf('vetkd_derive_key', derivation);
    const derived = relayed(management, 'vetkd_derive_key', { arg });
    expect(text(await replica.call(caller, 'relay', derived))).toBe(refusal);
    expect(text(await replica.call(caller, 'relayBounded', derived))).toContain(
      'sent with 0 cycles, but 26153846153 cycles are required',
    );
  });
});
