// A node that answers queries wrongly, for tests of clients: its responses are false, outdated,
// missing, or have a wrong time. Updates are not affected, because the subnet answers them, not one
// node.

import { AbortedRequest } from '../aborted-request.ts';
import type { CallMessage, Outcome } from '../core.ts';
import { type Random, seededRandom } from './seeded-random.ts';

/** Probabilities per query; default 0. */
export interface QueryFaults {
  /** The same seed repeats the same faults. */
  readonly seed?: number;
  /** A response that was changed in transit, so its node's signature does not match. */
  readonly altered?: number;
  /** A response that the node itself has changed and signed. */
  readonly lies?: number;
  /** A response from an older state, or the oldest known one, with the older time. */
  readonly lags?: number;
  /** Age of that state; default 30 s. */
  readonly lagNs?: bigint;
  /** A connection that ends without a response. */
  readonly dropped?: number;
  /** A response of a node whose clock has jumped: it signs with that time. */
  readonly clockJumps?: number;
  /** Forward, or backward if negative; default an hour. */
  readonly clockJumpNs?: bigint;
  /**
   * Returns a reply that the node makes up and signs, for a query that would get `reply`, or
   * undefined for the true one. Not called for rejected queries.
   */
  readonly forge?: (query: CallMessage, reply: Uint8Array) => Uint8Array | undefined;
}

/** One node's answer to a query. */
export interface NodeAnswer {
  readonly signed: Outcome;
  readonly sent: Outcome;
  /** Time of the node's clock, ns since 1970. */
  readonly timestampNs: bigint;
}

export interface FaultyNode {
  /** Throws an AbortedRequest if the response is dropped. */
  answer(message: CallMessage): Promise<NodeAnswer>;
  /** Applies to later queries. Throws an Error for an invalid probability. */
  setFaults(faults: QueryFaults): void;
}

interface Past {
  readonly atNs: bigint;
  readonly outcome: Outcome;
}

const lagNsDefault = 30_000_000_000n;
const clockJumpNsDefault = 3_600_000_000_000n;
/** Maximum number of responses remembered for one query; the oldest are dropped first. */
const pastAnswersMax = 16;
const pastQueriesMax = 1_000;

type Probability = 'altered' | 'lies' | 'lags' | 'dropped' | 'clockJumps';

/** Throws an Error for an invalid probability. */
export function createFaultyNode(
  given: QueryFaults,
  node: { query(message: CallMessage): Promise<Outcome>; now(): bigint },
): FaultyNode {
  let faults = checked(given);
  let random = seededRandom(faults.seed);
  const past = new Map<string, Past[]>();
  const happens = (fault: Probability) => random() < (faults[fault] ?? 0);
  return {
    setFaults(next) {
      faults = checked(next);
      random = seededRandom(faults.seed);
    },
    async answer(message) {
      // All numbers are drawn in a fixed order, so that the faults are independent.
      const drawn = {
        dropped: happens('dropped'),
        lags: happens('lags'),
        lies: happens('lies'),
        altered: happens('altered'),
        clockJumps: happens('clockJumps'),
      };
      if (drawn.dropped) throw new AbortedRequest();
      const fresh = { atNs: node.now(), outcome: await node.query(message) };
      const lagNs = faults.lagNs ?? lagNsDefault;
      const history = remember(past, keyOf(message), fresh);
      const chosen = drawn.lags ? asOf(history, fresh.atNs - lagNs) : fresh;
      const jump = drawn.clockJumps ? (faults.clockJumpNs ?? clockJumpNsDefault) : 0n;
      const own = forged(chosen.outcome, message, faults.forge);
      const signed = drawn.lies ? alter(own, random) : own;
      const sent = drawn.altered ? alter(signed, random) : signed;
      return { signed, sent, timestampNs: chosen.atNs + jump };
    },
  };
}

function checked(faults: QueryFaults): QueryFaults {
  for (const fault of ['altered', 'lies', 'lags', 'dropped', 'clockJumps'] as const) {
    const probability = faults[fault] ?? 0;
    if (probability >= 0 && probability <= 1) continue;
    throw new Error(`The probability of "${fault}" must be 0 to 1; got ${probability}.`);
  }
  return faults;
}

function keyOf({ sender, canisterId, method, arg }: CallMessage): string {
  const content = Buffer.from(arg).toString('base64');
  return [sender.toText(), canisterId.toText(), method, content].join(' ');
}

function remember(past: Map<string, Past[]>, key: string, fresh: Past): readonly Past[] {
  const history = past.get(key) ?? [];
  history.push(fresh);
  if (history.length > pastAnswersMax) history.shift();
  past.set(key, history);
  for (const oldest of past.keys()) {
    if (past.size <= pastQueriesMax) break;
    past.delete(oldest);
  }
  return history;
}

function asOf(history: readonly Past[], atNs: bigint): Past {
  const known = history.findLast((one) => one.atNs <= atNs) ?? history[0];
  if (known === undefined) throw new Error('a query is remembered before it is answered');
  return { outcome: known.outcome, atNs };
}

function forged(outcome: Outcome, query: CallMessage, forge: QueryFaults['forge']): Outcome {
  const arg = outcome.status === 'replied' ? forge?.(query, outcome.arg) : undefined;
  return arg === undefined ? outcome : { status: 'replied', arg };
}

/** Changes one bit of a reply, or the text of a reject. */
function alter(outcome: Outcome, random: Random): Outcome {
  if (outcome.status === 'rejected') {
    return { ...outcome, message: `${outcome.message} (altered)` };
  }
  const arg = new Uint8Array(outcome.arg);
  const place = Math.floor(random() * arg.length);
  const byte = arg[place];
  if (byte !== undefined) arg[place] = byte ^ (1 << Math.floor(random() * 8));
  return { status: 'replied', arg };
}
