// The network profile and faults as programs observe them: rate limits, both hosts, and false
// answers of a node.

import { HttpAgent } from '@icp-sdk/core/agent';
import { afterEach, describe, expect, test } from 'vitest';
import { readOptions } from '../../../packages/replica/src/command/options.ts';
import { mainnetProfile } from '../../../packages/replica/src/network/profile.ts';
import type { QueryFaults } from '../../../packages/replica/src/network/query-faults.ts';
import { addressLimit, tokenBucket } from '../../../packages/replica/src/network/rate-limit.ts';
import { seededRandom } from '../../../packages/replica/src/network/seeded-random.ts';
import {
  type Replica,
  type ReplicaOptions,
  startReplica,
} from '../../../packages/replica/src/replica.ts';
import { testCanister } from '../agent/test-canister.ts';

const running: Replica[] = [];

afterEach(async () => {
  for (const replica of running.splice(0)) await replica.stop();
});

async function start(options: ReplicaOptions) {
  const replica = await startReplica(options);
  running.push(replica);
  const id = await replica.createCanister();
  await replica.install(id, testCanister());
  const { url: host } = replica;
  const agent = await HttpAgent.create({ host, shouldFetchRootKey: true, retryTimes: 0 });
  const arg = Uint8Array.from({ length: 32 }, (_, index) => index);
  return {
    replica,
    query: async () => {
      const answer = await agent.query(id.toText(), { methodName: 'echo', arg });
      return 'reply' in answer ? Buffer.from(answer.reply.arg) : undefined;
    },
    update: () => agent.call(id.toText(), { methodName: 'certify', arg }),
    certificate: async () => {
      const answer = await agent.query(id.toText(), { methodName: 'certificate', arg });
      return 'reply' in answer ? Buffer.from(answer.reply.arg) : undefined;
    },
    arg: Buffer.from(arg),
  };
}

async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return (performance.now() - begun) / 1_000;
}

describe('the profile of the mainnet', () => {
  test('makes an update take at least 1 s, and a query 0.14 s', async () => {
    const { query, update, replica } = await start({ profile: 'mainnet' });
    await query();
    const seconds = await secondsOf(query);
    expect(seconds).toBeGreaterThan(0.14);
    const updateSeconds = await secondsOf(update);
    expect(updateSeconds).toBeGreaterThan(1);
    const [canister] = replica.canisters();
    if (canister === undefined) throw new Error('no canister exists');
    const ownSeconds = await secondsOf(() => replica.query(canister.id, 'echo'));
    expect(ownSeconds, 'in process').toBeLessThan(updateSeconds);
  });

  test('refuses an address that sends too many requests, and says for how long', async () => {
    const requests = { perSecond: 1, burst: 3, banMs: 60_000 };
    const { replica } = await start({
      profile: { ...mainnetProfile, latencyMs: [0, 0], requests },
    });
    const status = () => fetch(`${replica.url}/api/v2/status`);
    let refused = await status();
    for (let count = 0; count < 3 && refused.status === 200; count += 1) refused = await status();
    expect(refused.status).toBe(429);
    expect(await refused.text()).toContain('shut out for 60 s');
  });

  test('is an option of the command, with its seed', () => {
    const words = ['--profile', 'mainnet', '--seed', '7'];
    expect(readOptions(words, false).replica).toMatchObject({ profile: 'mainnet', seed: 7 });
    expect(readOptions([], false).replica).not.toHaveProperty('profile');
  });

  test('readOptions turns --preflights into the mode of the gateway, and refuses other words', () => {
    const modeOf = (...words: string[]) => readOptions(words, false).replica.preflights;
    expect([modeOf(), modeOf('--preflights', 'answered')]).toEqual(['passed-on', 'answered']);
    expect(() => modeOf('--preflights', 'never')).toThrow(
      '--preflights must be passed-on or answered; got never',
    );
  });

  test('readOptions turns --subnets into the number of subnets, and refuses others', () => {
    const countOf = (...words: string[]) => readOptions(words, false).replica.subnets;
    expect([countOf(), countOf('--subnets', '4')]).toEqual([undefined, 4]);
    for (const word of ['0', '17', 'two']) {
      expect(() => countOf('--subnets', word)).toThrow(
        `--subnets must be a number from 1 to 16; got ${word}`,
      );
    }
  });

  test('readOptions turns --subnet-type into the type of subnets, and refuses others', () => {
    const typeOf = (...words: string[]) => readOptions(words, false).replica.subnetType;
    const types = ['application', 'system', 'cloud-engine'];
    expect(types.map((type) => typeOf('--subnet-type', type))).toEqual(types);
    expect(typeOf()).toBeUndefined();
    expect(() => typeOf('--subnet-type', 'fiduciary')).toThrow(
      '--subnet-type must be one of application, system, cloud-engine; got fiduciary',
    );
  });

  test('with an unknown name or an invalid seed is refused with a reason', async () => {
    await expect(startReplica({ profile: 'testnet' })).rejects.toThrow(
      'The network profile "testnet" does not exist; use one of: mainnet.',
    );
    await expect(startReplica({ profile: 'mainnet', seed: 0.5 })).rejects.toThrow(
      'A seed must be a whole number; got 0.5.',
    );
  });
});

describe('a rate limit', () => {
  test('admits a burst up to its capacity, and then as it refills', () => {
    let time = 0;
    const take = tokenBucket({ perSecond: 10, burst: 3 }, () => time);
    expect([take(), take(), take(), take()]).toEqual([true, true, true, false]);
    time = 100;
    expect([take(), take()]).toEqual([true, false]);
    time = 10_000;
    expect([take(), take(), take(), take()]).toEqual([true, true, true, false]);
  });

  test('of an address blocks the address for the configured time', () => {
    let time = 0;
    const pass = addressLimit({ perSecond: 10, burst: 1, banMs: 5_000 }, () => time);
    expect([pass(), pass()]).toEqual(['passes', 'isShutOut']);
    time = 4_999;
    expect(pass()).toBe('isShutOut');
    time = 5_000;
    expect(pass()).toBe('passes');
  });
});

describe('a node that answers queries badly', () => {
  test('is detected by agents if its signature is wrong, and does not affect updates', async () => {
    const { query, update, replica, arg } = await start({ faults: { altered: 1 } });
    await expect(query()).rejects.toThrow(/signature/i);
    expect((await update()).response.status).toBe(200);
    replica.setFaults({});
    expect(await query()).toEqual(arg);
  });

  test("may sign a wrong answer: a query's caller cannot notice", async () => {
    const { query, arg } = await start({ faults: { lies: 1 } });
    const told = await query();
    expect(told).toHaveLength(arg.length);
    expect(told).not.toEqual(arg);
  });

  test('may give no answer', async () => {
    const { query } = await start({ faults: { dropped: 1 } });
    await expect(query()).rejects.toThrow(/fetch/);
  });

  test('whose clock has jumped is refused by agents', async () => {
    const back = { clockJumps: 1, clockJumpNs: -3_600_000_000_000n };
    const { query } = await start({ faults: back });
    await expect(query()).rejects.toThrow(/5 minutes/);
  });

  test('that lags repeats its earlier answers', async () => {
    const { certificate, update, replica } = await start({ faults: {} });
    const earlier = await certificate();
    await update();
    const later = await certificate();
    expect(later).not.toEqual(earlier);
    replica.setFaults({ lags: 1, lagNs: 240_000_000_000n });
    expect(await certificate()).toEqual(earlier);
    replica.setFaults({ lags: 1, lagNs: 1n });
    expect(await certificate()).toEqual(later);
  });

  test('makes the same faults for the same seed', async () => {
    const outcomes = async (seed: number) => {
      const { query, replica } = await start({ faults: { altered: 0.5, seed } });
      const seen: boolean[] = [];
      for (let count = 0; count < 12; count += 1) {
        seen.push(await query().then(Boolean, () => false));
      }
      await replica.stop();
      return seen;
    };
    const seen = await outcomes(5);
    expect(await outcomes(5)).toEqual(seen);
    expect(new Set(seen).size).toBe(2);
  });

  test('needs probabilities of 0 to 1, and the option `faults` at the start', async () => {
    const wrong: QueryFaults = { lies: 2 };
    await expect(startReplica({ faults: wrong })).rejects.toThrow(
      'The probability of "lies" must be 0 to 1; got 2.',
    );
    const { replica } = await start({});
    expect(() => replica.setFaults({})).toThrow('Start the replica with `faults: {}`');
  });
});

test('random decisions are the same for the same seed, and cover the interval', () => {
  const [random, same] = [seededRandom(3), seededRandom(3)];
  const numbers = Array.from({ length: 1_000 }, () => random());
  expect(numbers.every((number) => number >= 0 && number < 1 && number === same())).toBe(true);
  const mean = numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
  expect(Math.abs(mean - 0.5)).toBeLessThan(0.05);
});
