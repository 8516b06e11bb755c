// Simulates the network on request: servers as slow as a profile describes, and a node that answers
// queries wrongly. In-process calls bypass it.

import { Principal } from '@dfinity/principal';
import type { AgentRequest, AgentResponse } from '../agent/agent-message.ts';
import { textResponse } from '../agent/agent-message.ts';
import type { CallMessage, Engine, MessageReport } from '../core.ts';
import { GatewayError, replicaFailed } from '../gateway/gateway-error.ts';
import { subnetOf } from '../subnet-ranges.ts';
import { AnswerCache } from './answer-cache.ts';
import type { ClientTimes, NetworkProfile } from './profile.ts';
import { createFaultyNode, type FaultyNode, type QueryFaults } from './query-faults.ts';
import { addressLimit, tokenBucket } from './rate-limit.ts';
import { Rounds } from './rounds.ts';
import { pause, type Random, seededRandom } from './seeded-random.ts';
import type { Transit } from './streams.ts';

type HandleApi = (request: AgentRequest) => Promise<AgentResponse>;

/** The network between the HTTP server and the replica. An absent part changes nothing. */
export interface Network {
  /** The engines of the agent endpoints, by subnet: an update takes rounds. */
  readonly agentEngines: readonly Engine[];
  /** The engine of the gateway: adds the latency to the node. */
  readonly gatewayEngine: Engine;
  readonly faultyNode: FaultyNode | undefined;
  readonly cache: AnswerCache | undefined;
  readonly clientTimes: ClientTimes | undefined;
  /** Adds latency and rate limits to the agent endpoints. */
  slowApi(handle: HandleApi): HandleApi;
  onReport(report: MessageReport): void;
  /** Resolves when a message between subnets is to be executed; absent: at once. */
  readonly transit?: Transit;
}

export interface NetworkOptions {
  /** The engines of all subnets as one. */
  readonly engine: Engine;
  /** The engine of each subnet, by number. */
  readonly subnets: readonly Engine[];
  readonly profile: NetworkProfile | undefined;
  readonly faults: QueryFaults | undefined;
  readonly seed: number | undefined;
}

export function createNetwork(options: NetworkOptions): Network {
  const { engine, subnets, profile, faults, seed } = options;
  const faultyNode = faults && createFaultyNode(faults, engine);
  const withFaults = (one: Engine) => (faultyNode ? withQueries(one, faultyNode) : one);
  const nodes = subnets.map(withFaults);
  if (profile === undefined) {
    return {
      agentEngines: nodes,
      gatewayEngine: withFaults(engine),
      faultyNode,
      cache: undefined,
      clientTimes: undefined,
      slowApi: (handle) => handle,
      onReport: () => undefined,
    };
  }
  const random = seededRandom(seed);
  const rounds = subnets.map((_, number) => new Rounds(profile, random, clockOf(number, profile)));
  const at = <T>(list: readonly T[], id: Principal) => list[subnetOf(id, subnets.length - 1)];
  const nowMs = () => Number(engine.now()) / 1e6;
  const agentEngines = nodes.map((node, number) => withRounds(node, rounds[number]));
  const wayMs = () => halfOf(profile.latencyMs, random);
  const buckets = subnets.map(() => tokenBucket(profile.updates, () => performance.now()));
  const takesUpdate: TakesUpdate = (id) => at(buckets, id)?.() ?? true;
  const isFull = (id: Principal) => at(rounds, id)?.isFull() ?? false;
  const update = (message: CallMessage) =>
    (at(agentEngines, message.canisterId) ?? engine).update(message);
  return {
    agentEngines,
    gatewayEngine: withWays({ ...withFaults(engine), update }, { wayMs, takesUpdate, isFull }),
    faultyNode,
    cache: new AnswerCache(profile.cache, random, nowMs),
    clientTimes: profile.clientTimes,
    slowApi: (handle) => limited(withWay(handle, wayMs), { profile, takesUpdate, isFull }),
    onReport: ({ canisterId, kind, instructions }) => {
      const own = at(rounds, Principal.fromText(canisterId));
      if (!untimed.has(kind)) own?.executed(canisterId, instructions);
    },
    // A node of the receiving subnet requests what the sending one has certified.
    transit: async ({ from, to, bytes }) => {
      await at(rounds, from)?.certified(from.toText());
      await pause(2 * wayMs());
      await at(rounds, to)?.induct(to.toText(), bytes);
    },
  };
}

/** Returns a clock by which the blocks of a subnet come at other times than those of the others. */
function clockOf(subnet: number, { roundMs }: NetworkProfile): () => number {
  // Multiples of the golden ratio are spread evenly, however many there are.
  const shiftMs = ((subnet * 0.618_034) % 1) * roundMs;
  return () => performance.now() + shiftMs;
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

function withRounds(engine: Engine, rounds: Rounds | undefined): Engine {
  if (rounds === undefined) return engine;
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
  { wayMs, takesUpdate, isFull }: { readonly wayMs: () => number } & Capacity,
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
      if (!takesUpdate(message.canisterId)) throw new GatewayError('RateLimited', tooManyUpdates);
      if (isFull(message.canisterId)) throw replicaFailed(503, overloaded);
      const way = wayMs();
      await pause(way);
      const outcome = await engine.update(message);
      await pause(way);
      return outcome;
    },
  };
}

/** Takes one update call to the subnet of a canister; returns false if there are too many. */
type TakesUpdate = (canisterId: Principal) => boolean;

interface Capacity {
  readonly takesUpdate: TakesUpdate;
  /** Returns whether the pool of the canister's subnet is full. */
  isFull(canisterId: Principal): boolean;
}

/** Returns the canister in the path of a call, otherwise the management canister (root subnet). */
function calledCanister(path: string): Principal | undefined {
  if (!path.endsWith('/call')) return undefined;
  const [, id = ''] = /^\/api\/v\d\/canister\/([^/]+)\/call$/.exec(path) ?? [];
  try {
    return Principal.fromText(id);
  } catch {
    return Principal.managementCanister();
  }
}

/** `dfinity/ic` rs/http_endpoints/public/src/call.rs. */
const overloaded = 'Service is overloaded, try again later.';
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
  { profile, takesUpdate, isFull }: { readonly profile: NetworkProfile } & Capacity,
): HandleApi {
  const { requests } = profile;
  const passOf = addressLimit(requests, () => performance.now());
  const shutOut =
    `Too many requests from this address: it is shut out for ${requests.banMs / 1_000} s, during ` +
    'which the network would not answer at all.';
  return async (request) => {
    if (passOf() === 'isShutOut') return textResponse(429, shutOut);
    const id = calledCanister(request.path);
    if (id && !takesUpdate(id)) return textResponse(429, tooManyUpdates);
    if (id && isFull(id)) return textResponse(503, overloaded);
    return handle(request);
  };
}
