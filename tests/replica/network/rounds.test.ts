// When messages are executed and certified, on a clock that the test controls.

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createNetwork } from '../../../packages/replica/src/network/network.ts';
import { mainnetProfile } from '../../../packages/replica/src/network/profile.ts';
import { type RoundSettings, Rounds } from '../../../packages/replica/src/network/rounds.ts';
import { seededRandom } from '../../../packages/replica/src/network/seeded-random.ts';
import { anybody, startTestReplica } from '../../support/wasm-canisters/test-replica.ts';
import { canister } from '../../support/wasm-canisters/text-module.ts';

const steady = { ...mainnetProfile, roundJitterMs: 0 };
const megabyte = 1_000_000;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function newRounds(settings: RoundSettings, seed = 1) {
  const startMs = performance.now();
  // Rounds begin at fixed times of the clock, which is at the start of a round here.
  const nowMs = () => performance.now() - startMs;
  return { rounds: new Rounds(settings, seededRandom(seed), nowMs), nowMs };
}

/** Returns the time at which each message is executed. */
async function inducted(settings: RoundSettings, sizes: readonly number[], seed = 1) {
  const { rounds, nowMs } = newRounds(settings, seed);
  const times = sizes.map(async (bytes) => {
    await rounds.induct('a', bytes);
    return Math.round(nowMs());
  });
  await vi.advanceTimersByTimeAsync(60_000);
  return Promise.all(times);
}

describe('a pool', () => {
  test('is full while more bytes or messages wait than it holds', async () => {
    const { rounds } = newRounds({ ...steady, poolBytesMax: 20, poolMessagesMax: 2 });
    const full: boolean[] = [];
    const induct = (bytes: number) => {
      void rounds.induct('a', bytes);
      full.push(rounds.isFull());
    };
    for (const bytes of [10, 10, 1]) induct(bytes);
    await vi.advanceTimersByTimeAsync(2_000);
    full.push(rounds.isFull());
    induct(21);
    expect(full).toEqual([false, false, true, false, true]);
  });

  test('that is full answers 503: to agents in plain words, through the gateway as its error', async () => {
    const replica = startTestReplica();
    const canisterId = await replica.install(
      canister([], '(func (export "canister_update f") (call $reply32 (i32.const 1)))'),
    );
    const network = createNetwork({
      engine: replica.engine,
      subnets: [replica.engine],
      profile: { ...steady, latencyMs: [0, 0], poolMessagesMax: 0 },
      faults: undefined,
      seed: 1,
    });
    const message = { sender: anybody, canisterId, method: 'f', arg: new Uint8Array() };
    const first = network.agentEngines[0]?.update(message);
    await expect(network.gatewayEngine.update(message)).rejects.toMatchObject({
      status: 503,
      errorCause: 'backend_http_gateway',
      message: expect.stringContaining('status 503 Service Unavailable, content type "text/plain'),
    });
    const answer = { status: 200, contentType: 'text/plain', body: new Uint8Array() };
    const handle = network.slowApi(async () => answer);
    const call = { path: `/api/v3/canister/${canisterId}/call`, method: 'POST' };
    const refused = await handle({ ...call, body: new Uint8Array() });
    expect(refused.status).toBe(503);
    expect(Buffer.from(refused.body).toString()).toContain('Service is overloaded');
    await vi.advanceTimersByTimeAsync(3_000);
    expect(await first).toMatchObject({ status: 'replied' });
    const accepted = handle({ ...call, body: new Uint8Array() });
    await vi.advanceTimersByTimeAsync(1);
    expect((await accepted).status).toBe(200);
  });
});

describe('a block', () => {
  test('takes messages of 4 MiB together, and leaves the others to the next blocks', async () => {
    const times = await inducted(
      steady,
      [1.9, 1.9, 1.9, 1.9, 1.9].map((size) => size * megabyte),
    );
    expect(times).toEqual([1_600, 1_600, 2_600, 2_600, 3_600]);
  });

  test('takes at most a thousand messages', async () => {
    const times = await inducted(steady, Array(1_001).fill(10));
    expect(times.filter((time) => time === 1_600)).toHaveLength(1_000);
    expect(times.at(-1)).toBe(2_600);
  });

  test('has room for a small message that arrived later', async () => {
    const times = await inducted(steady, [3.9 * megabyte, megabyte, 1_000]);
    expect(times).toEqual([1_600, 2_600, 1_600]);
  });

  test('takes a single message that exceeds its size', async () => {
    expect(await inducted(steady, [9 * megabyte])).toEqual([1_600]);
  });

  test('is made a little early or late, the same for the same seed', async () => {
    const sizes = Array(10).fill(4 * megabyte);
    const [times, again, others] = [
      await inducted(mainnetProfile, sizes, 7),
      await inducted(mainnetProfile, sizes, 7),
      await inducted(mainnetProfile, sizes, 8),
    ];
    expect(again).toEqual(times);
    expect(others).not.toEqual(times);
    for (const [index, time] of times.entries()) {
      expect(Math.abs(time - 1_600 - 1_000 * index)).toBeLessThanOrEqual(151);
    }
  });
});

describe('execution', () => {
  test('of a message that takes longer than a round delays only its canister', async () => {
    const { rounds, nowMs } = newRounds(steady);
    const run = async (canister: string, instructions: bigint) => {
      await rounds.induct(canister, 10);
      const begun = Math.round(nowMs());
      rounds.executed(canister, instructions);
      await rounds.certified(canister);
      return [begun, Math.round(nowMs())];
    };
    const calls = [run('a', 5_000_000_000n), run('a', 1_000n), run('b', 1_000n)];
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await Promise.all(calls)).toEqual([
      [1_600, 4_100],
      [4_100, 4_600],
      [1_600, 2_100],
    ]);
  });
});
