// The blocks and limits of several subnets under the mainnet's profile, on a clock that the test
// controls.

import { Principal } from '@dfinity/principal';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { AgentRequest } from '../../../packages/replica/src/agent/agent-message.ts';
import type { Engine, MessageReport } from '../../../packages/replica/src/core.ts';
import { createNetwork } from '../../../packages/replica/src/network/network.ts';
import { mainnetProfile } from '../../../packages/replica/src/network/profile.ts';
import { createPlainEngine } from '../agent/plain-engine.ts';

const first = Principal.fromHex('00000000001000000101');
const second = Principal.fromHex('00000000002000000101');
const sender = Principal.anonymous();

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function networkOfTwo(profile = mainnetProfile) {
  const engine = createPlainEngine();
  const subnets = [engine, engine, engine];
  return createNetwork({ engine, subnets, profile, faults: undefined, seed: 1 });
}

/** Returns the time that an update takes. */
async function roundsOf(engine: Engine | undefined, canisterId: Principal, bytes = 0) {
  const startMs = performance.now();
  await engine?.update({ sender, canisterId, method: 'write', arg: new Uint8Array(bytes) });
  return (performance.now() - startMs) / mainnetProfile.roundMs;
}

describe('createNetwork with two subnets', () => {
  test('leaves the blocks of one subnet free while those of the other are full', async () => {
    const { agentEngines } = networkOfTwo();
    const bytes = 4_000_000;
    const full = Array.from({ length: 6 }, () => roundsOf(agentEngines[1], first, bytes));
    const free = roundsOf(agentEngines[2], second, bytes);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(await full.at(-1)).toBeGreaterThan(5);
    expect(await free).toBeLessThan(2.5);
  });

  test('does not make a subnet wait for the instructions of the other', async () => {
    const { agentEngines, onReport } = networkOfTwo();
    const report = { kind: 'update', instructions: 20_000_000_000n, canisterId: first.toText() };
    onReport(report as MessageReport);
    const rounds = [roundsOf(agentEngines[1], first), roundsOf(agentEngines[2], second)];
    await vi.advanceTimersByTimeAsync(20_000);
    const [busy = 0, idle = 0] = await Promise.all(rounds);
    expect(busy).toBeGreaterThan(10);
    expect(idle).toBeLessThan(2.5);
  });

  test('limits the update calls to each subnet', async () => {
    const profile = { ...mainnetProfile, updates: { perSecond: 1, burst: 2 } };
    const handle = networkOfTwo(profile).slowApi(async () => {
      return { status: 200, contentType: 'text/plain', body: new Uint8Array(0) };
    });
    const call = (target: string): AgentRequest => {
      return { method: 'POST', path: `/api/v4/${target}/call`, body: new Uint8Array(0) };
    };
    const targets = [first, first, first, second].map((id) => `canister/${id.toText()}`);
    const others = ['subnet/x', 'subnet/x', 'canister/x'];
    const answers = Promise.all([...targets, ...others].map((target) => handle(call(target))));
    await vi.advanceTimersByTimeAsync(1_000);
    expect((await answers).map(({ status }) => status)).toEqual([
      ...[200, 200, 429, 200],
      ...[200, 200, 429],
    ]);
  });
});
