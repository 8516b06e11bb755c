// Calls between canisters of different subnets: answers, cycles, the management canister, and the
// rounds that they take.

import { Principal } from '@dfinity/principal';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { mainnetProfile } from '../../../packages/replica/src/network/profile.ts';
import {
  type Replica,
  type ReplicaOptions,
  startReplica,
} from '../../../packages/replica/src/replica.ts';
import { argumentOf, resultOf } from '../conformance/management-client.ts';
import { relayCanister, relayed } from './relay-canister.ts';

const management = Principal.managementCanister();
const running: Replica[] = [];
const text = (bytes: Uint8Array) => Buffer.from(bytes).toString();

afterEach(async () => {
  for (const replica of running.splice(0)) await replica.stop();
});

/** Starts two canisters on the first of two subnets and one on the second. */
async function start(options: ReplicaOptions = {}) {
  const now = () => 1_800_000_000_000_000_000n;
  const replica = await startReplica({ subnets: 2, server: false, now, ...options });
  running.push(replica);
  const [first, second] = replica.subnets;
  if (first === undefined || second === undefined) throw new Error('two subnets were asked for');
  const install = async (subnet: Principal) => {
    const id = await replica.createCanister({ subnet, cycles: 10n ** 15n });
    await replica.install(id, relayCanister());
    return id;
  };
  const [caller, neighbor, remote] = [
    await install(first),
    await install(first),
    await install(second),
  ];
  const cyclesOf = (id: Principal) =>
    replica.canisters().find((one) => one.id.compareTo(id) === 'eq')?.cycles ?? 0n;
  return { replica, first, second, caller, neighbor, remote, cyclesOf };
}

describe('a call to a canister of another subnet', () => {
  test('is answered, and costs as much as one within the subnet', async () => {
    const { replica, caller, neighbor, remote, cyclesOf } = await start();
    const arg = new Uint8Array(1_000).fill(65);
    const costOf = async (callee: Principal) => {
      const before = cyclesOf(caller);
      const reply = await replica.call(caller, 'relay', relayed(callee, 'echo', { arg }));
      expect(reply).toEqual(arg);
      return before - cyclesOf(caller);
    };
    const cost = await costOf(remote);
    expect(cost).toBe(await costOf(neighbor));
    const transmission = 260_000n + 1_000n * (4n + 1_000n) + 1_000n * 1_000n;
    expect(cost).toBeGreaterThan(transmission);
  });

  test('transfers cycles, and returns those that a rejected call had', async () => {
    const { replica, caller, remote, cyclesOf } = await start();
    const cycles = 5_000_000_000_000n;
    const before = cyclesOf(remote);
    await replica.call(caller, 'relay', relayed(remote, 'accept', { cycles }));
    const gained = cyclesOf(remote) - before;
    expect(gained).toBeGreaterThan(cycles - 10_000_000n);
    const left = cyclesOf(caller);
    const reject = await replica.call(caller, 'relay', relayed(remote, 'missing', { cycles }));
    expect(text(reject)).toMatch(/^5.*has no update method 'missing'/);
    expect(left - cyclesOf(caller)).toBeLessThan(100_000_000n);
  });

  test('is rejected by the subnet of the id if the canister does not exist', async () => {
    const { replica, caller } = await start();
    const absent = Principal.fromHex('00000000002000090101');
    const reject = await replica.call(caller, 'relay', relayed(absent, 'echo'));
    expect(text(reject)).toMatch(/^3Canister .* not found/);
  });
});

describe('a call to the management canister', () => {
  const encoded = (method: 'canister_status' | 'deposit_cycles', id: Principal) =>
    argumentOf(method, { canister_id: id });

  test('is executed by the subnet of the canister that it concerns', async () => {
    const { replica, caller, remote, cyclesOf } = await start();
    const before = cyclesOf(remote);
    const arg = encoded('deposit_cycles', remote);
    const sent = relayed(management, 'deposit_cycles', { arg, cycles: 7_000_000_000n });
    await replica.call(caller, 'relay', sent);
    expect(cyclesOf(remote) - before).toBe(7_000_000_000n);
    const status = relayed(management, 'canister_status', {
      arg: encoded('canister_status', remote),
    });
    const refusal = await replica.call(caller, 'relay', status);
    expect(text(refusal)).toContain(`Only controllers of canister ${remote.toText()}`);
  });

  test('raw_rand is executed by the own subnet', async () => {
    const { replica, remote } = await start();
    const arg = argumentOf('raw_rand', {});
    const random = await replica.call(remote, 'relay', relayed(management, 'raw_rand', { arg }));
    expect(resultOf('raw_rand', random)).toHaveLength(32);
  });

  test('in process reaches the subnet of the canister that it concerns', async () => {
    const { replica, remote } = await start();
    const status = await replica.call(
      management,
      'canister_status',
      encoded('canister_status', remote),
    );
    expect(status.length).toBeGreaterThan(100);
  });

  test('create_canister creates one on the subnet of the caller', async () => {
    const { replica, remote } = await start();
    const arg = argumentOf('create_canister', {});
    const cycles = 600_000_000_000n;
    await replica.call(remote, 'relay', relayed(management, 'create_canister', { arg, cycles }));
    const made = replica.canisters().at(-1)?.id.toHex().toLowerCase();
    expect(made).toBe('00000000002000010101');
  });
});

describe('the profile of the mainnet', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  /** Returns the rounds from the call to the callee's message, and from there to the callback. */
  async function roundsOf(callee: 'neighbor' | 'remote', roundMs: number) {
    const scale = roundMs / mainnetProfile.roundMs;
    const { finalizationMs, certificationMs, latencyMs, instructionsPerSecond } = mainnetProfile;
    const times: number[] = [];
    const started = await start({
      profile: {
        ...mainnetProfile,
        roundMs,
        roundJitterMs: 0,
        finalizationMs: scale * finalizationMs,
        certificationMs: scale * certificationMs,
        latencyMs: [scale * latencyMs[0], scale * latencyMs[1]],
        instructionsPerSecond: instructionsPerSecond / scale,
      },
      onReport: ({ kind }) => {
        if (kind === 'update' || kind === 'reply') times.push(performance.now());
      },
    });
    const sent = relayed(started[callee], 'echo');
    const reply = started.replica.call(started.caller, 'relay', sent);
    await vi.advanceTimersByTimeAsync(10 * roundMs);
    await reply;
    const [sentMs = 0, executedMs = 0, answeredMs = 0] = times;
    return [(executedMs - sentMs) / roundMs, (answeredMs - executedMs) / roundMs];
  }

  test('makes a call to another subnet take one to three rounds each way', async () => {
    const { finalizationMs, certificationMs, latencyMs, roundMs } = mainnetProfile;
    const least = (finalizationMs + certificationMs + latencyMs[0]) / roundMs;
    const most = (finalizationMs + certificationMs + latencyMs[1]) / roundMs + 1;
    for (const ms of [1_000, 100]) {
      for (const rounds of await roundsOf('remote', ms)) {
        expect(rounds).toBeGreaterThanOrEqual(least - 0.01);
        expect(rounds).toBeLessThanOrEqual(most + 0.02);
      }
    }
  });

  test('executes a call within a subnet in the same round', async () => {
    expect(await roundsOf('neighbor', 1_000)).toEqual([0, 0]);
  });
});
