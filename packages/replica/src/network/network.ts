// Simulates the network on request: servers as slow as a profile describes, and a node that answers
// queries wrongly. In-process calls bypass it.

import type { AgentRequest, AgentResponse } from '../agent/agent-message.ts';
import { textResponse } from '../agent/agent-message.ts';
import type { Engine, MessageReport } from '../core.ts';
import { GatewayError } from '../gateway/gateway-error.ts';
import { AnswerCache } from './answer-cache.ts';
import type { ClientTimes, NetworkProfile } from './profile.ts';
import { createFaultyNode, type FaultyNode, type QueryFaults } from './query-faults.ts';
import { addressLimit, tokenBucket } from './rate-limit.ts';
import { Rounds } from './rounds.ts';
import { pause, type Random, seededRandom } from './seeded-random.ts';

type HandleApi = (request: AgentRequest) => Promise<AgentResponse>;

/** The network between the HTTP server and the replica. An absent part changes nothing. */
export interface Network {
  /** The engine of the agent endpoints: an update takes rounds. */
  readonly agentEngine: Engine;
  /** The engine of the gateway: adds the latency to the node. */
  readonly gatewayEngine: Engine;
  readonly faultyNode: FaultyNode | undefined;
  readonly cache: AnswerCache | undefined;
  readonly clientTimes: ClientTimes | undefined;
  /** Adds latency and rate limits to the agent endpoints. */
  slowApi(handle: HandleApi): HandleApi;
  onReport(report: MessageReport): void;
}

export interface NetworkOptions {
  readonly engine: Engine;
  readonly profile: NetworkProfile | undefined;
  readonly faults: QueryFaults | undefined;
  readonly seed: number | undefined;
}

export function createNetwork({ engine, profile, faults, seed }: NetworkOptions): Network {
  const faultyNode = faults && createFaultyNode(faults, engine);
  const node = faultyNode === undefined ? engine : withQueries(engine, faultyNode);
  if (profile === undefined) {
    return {
      agentEngine: node,
      gatewayEngine: node,
      faultyNode,
      cache: undefined,
      clientTimes: undefined,
      slowApi: (handle) => handle,
      onReport: () => undefined,
    };
  }
  const random = seededRandom(seed);
  const rounds = new Rounds(profile, random);
  const nowMs = () => Number(engine.now()) / 1e6;
  const agentEngine = withRounds(node, rounds);
  const wayMs = () => halfOf(profile.latencyMs, random);
  const takesUpdate = tokenBucket(profile.updates, () => performance.now());
  return {
    agentEngine,
    gatewayEngine: withWays(agentEngine, { wayMs, takesUpdate }),
    faultyNode,
    cache: new AnswerCache(profile.cache, random, nowMs),
    clientTimes: profile.clientTimes,
    slowApi: (handle) => limited(withWay(handle, wayMs), { profile, takesUpdate }),
    onReport: ({ canisterId, kind, instructions }) => {
      if (!untimed.has(kind)) rounds.executed(canisterId, instructions);
    },
  };
}

/** Messages without a slot in a canister's round: queries of one node, and installations. */
const untimed: ReadonlySet<MessageReport['kind']> = new Set([
  'query',
  'compositeQuery',
  'inspect',
  'start',
  'init',
  'preUpgrade',
  'postUpgrade',
]);

function withQueries(engine: Engine, faultyNode: FaultyNode): Engine {
  return { ...engine, query: async (message) => (await faultyNode.answer(message)).sent };
}

function withRounds(engine: Engine, rounds: Rounds): Engine {
  return {
    ...engine,
    async update(message) {
      const canisterId = message.canisterId.toText();
      await rounds.induct(canisterId, message.arg.length);
      const outcome = await engine.update(message);
      await rounds.certified(canisterId);
      return outcome;
    },
  };
}

/** Returns half of a random round trip. */
function halfOf([least, most]: NetworkProfile['latencyMs'], random: Random): number {
  return (least + random() * (most - least)) / 2;
}

/** Adds latency to the gateway's own calls, which have no client address. */
function withWays(
  engine: Engine,
  { wayMs, takesUpdate }: { wayMs: () => number; takesUpdate: () => boolean },
): Engine {
  return {
    ...engine,
    async query(message) {
      const way = wayMs();
      await pause(way);
      const outcome = await engine.query(message);
      await pause(way);
      return outcome;
    },
    async update(message) {
      if (!takesUpdate()) throw new GatewayError('RateLimited', tooManyUpdates);
      const way = wayMs();
      await pause(way);
      const outcome = await engine.update(message);
      await pause(way);
      return outcome;
    },
  };
}

const tooManyUpdates = 'Too many update calls to this subnet per second: try again.';

function withWay(handle: HandleApi, wayMs: () => number): HandleApi {
  return async (request) => {
    const way = wayMs();
    await pause(way);
    const answer = await handle(request);
    await pause(way);
    return answer;
  };
}

function limited(
  handle: HandleApi,
  { profile, takesUpdate }: { profile: NetworkProfile; takesUpdate: () => boolean },
): HandleApi {
  const { requests } = profile;
  const passOf = addressLimit(requests, () => performance.now());
  const shutOut =
    `Too many requests from this address: it is shut out for ${requests.banMs / 1_000} s, during ` +
    'which the network would not answer at all.';
  return async (request) => {
    if (passOf() === 'isShutOut') return textResponse(429, shutOut);
    const isCall = request.path.endsWith('/call');
    if (isCall && !takesUpdate()) return textResponse(429, tooManyUpdates);
    return handle(request);
  };
}
