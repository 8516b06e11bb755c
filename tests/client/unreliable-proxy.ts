// A network that loses requests and answers, delays them so that they overtake each other,
// duplicates them, and refuses some. It counts the chunks that the service has accepted.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  Cbor,
  type HashTree,
  lookup_path,
  lookupResultToBuffer,
  requestIdOf,
} from '@icp-sdk/core/agent';
import { IDL } from '@icp-sdk/core/candid';
import { methodTypes } from '../../packages/client/src/actor/candid-interface.ts';
import { randomShares } from '../support/random-numbers.ts';
import { seedOr } from '../support/seed.ts';

export interface Faults {
  /**
   * Shares of the requests. A share of 0.1 affects one of every ten requests, at a random position.
   */
  readonly loseRequest: number;
  readonly loseAnswer: number;
  readonly sendTwice: number;
  readonly refuse: number;
  readonly delayMsMax: number;
}

export const noFaults: Faults = {
  loseRequest: 0,
  loseAnswer: 0,
  sendTwice: 0,
  refuse: 0,
  delayMsMax: 0,
};

export interface UnreliableProxy {
  readonly url: string;
  /** Requests affected by each fault. */
  readonly counts: { lostRequests: number; lostAnswers: number; twice: number; refused: number };
  /** How often each chunk was accepted, by upload id and index as in the URL. */
  readonly accepted: ReadonlyMap<string, number>;
  faults: Faults;
  /** Called with the number of chunks accepted so far. */
  onAccepted: ((count: number) => void) | undefined;
  /** Called with each executed request; if it returns true, the answer is lost. */
  losesAnswer: ((url: string, body: Buffer) => boolean) | undefined;
  /**
   * Resolves when no request is in transit, and none can still come from a stopped caller: its
   * requests are answered, or lost with its connections.
   */
  idle(): Promise<void>;
  stop(): Promise<void>;
}

type Fields = Readonly<Record<string, unknown>>;

const settleMs = 10;

type Share = Exclude<keyof Faults, 'delayMsMax'>;

interface Relay {
  readonly target: string;
  readonly random: () => number;
  /** For each fault, the numbers of requests until the next affected one and the next round. */
  readonly rounds: Map<Share, { untilHit: number; left: number }>;
  readonly proxy: UnreliableProxy & { readonly accepted: Map<string, number> };
  readonly underWay: Set<Promise<void>>;
}

/** `random` draws the positions of faults and the delays, by default from the seed of the run. */
export async function startProxy(
  target: string,
  random = randomShares(seedOr(20261126)),
): Promise<UnreliableProxy> {
  const underWay = new Set<Promise<void>>();
  const rounds: Relay['rounds'] = new Map();
  const server = createServer((request, response) => {
    response.on('error', () => response.destroy());
    const work = relay({ target, random, rounds, proxy, underWay }, request, response)
      .catch(() => void response.destroy())
      .finally(() => underWay.delete(work));
    underWay.add(work);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const proxy: Relay['proxy'] = {
    url: `http://127.0.0.1:${port}`,
    counts: { lostRequests: 0, lostAnswers: 0, twice: 0, refused: 0 },
    accepted: new Map(),
    faults: noFaults,
    onAccepted: undefined,
    losesAnswer: undefined,
    async idle() {
      do {
        await Promise.all(underWay);
        // Bytes of a stopped caller reach the server in later turns of the event loop.
        await pause(settleMs);
      } while (underWay.size > 0);
      server.closeAllConnections();
    },
    async stop() {
      await proxy.idle();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return proxy;
}

/**
 * Returns whether the next request is affected by the fault. Probabilities would sometimes omit a
 * fault, because the number of requests depends on the faults.
 */
function meets({ random, rounds, proxy }: Relay, fault: Share): boolean {
  const share = proxy.faults[fault];
  if (share === 0) return false;
  let round = rounds.get(fault);
  if (round === undefined || round.left === 0) {
    const left = Math.round(1 / share);
    round = { left, untilHit: Math.floor(random() * left) };
    rounds.set(fault, round);
  }
  round.left -= 1;
  round.untilHit -= 1;
  return round.untilHit === -1;
}

async function relay(
  state: Relay,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { random, proxy, underWay } = state;
  const { delayMsMax } = proxy.faults;
  const body = await bodyOf(request);
  await pause(random() * delayMsMax);
  if (meets(state, 'loseRequest')) {
    proxy.counts.lostRequests++;
    response.destroy();
    return;
  }
  if (meets(state, 'refuse')) {
    proxy.counts.refused++;
    response.writeHead(random() < 0.5 ? 503 : 429, { 'content-type': 'text/html' }).end('<html>');
    return;
  }
  if (meets(state, 'sendTwice')) {
    proxy.counts.twice++;
    // The copy arrives late, after others.
    const copy = pause(random() * 2 * delayMsMax)
      .then(() => forward(state, request, body))
      .then(
        () => {},
        () => {},
      )
      .finally(() => underWay.delete(copy));
    underWay.add(copy);
  }
  const answer = await forward(state, request, body);
  if (proxy.losesAnswer?.(request.url ?? '', body) || meets(state, 'loseAnswer')) {
    proxy.counts.lostAnswers++;
    response.destroy();
    return;
  }
  response.writeHead(answer.status, answer.headers).end(answer.bytes);
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece);
  return Buffer.concat(pieces);
}

const hopHeaders = ['host', 'connection', 'keep-alive', 'transfer-encoding', 'content-length'];

async function forward({ target, proxy }: Relay, request: IncomingMessage, body: Buffer) {
  const { method = 'GET', url = '/' } = request;
  const sent = Object.entries(request.headers).filter(([name]) => !hopHeaders.includes(name));
  const response = await fetch(target + url, {
    method,
    headers: sent as [string, string][],
    ...(body.length > 0 && { body: body as BodyInit }),
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  const [, put] = /\/upload\/(.*\/chunk\/\d+)$/.exec(url) ?? [];
  const chunk = response.status === 200 ? (put ?? calledChunk(url, body, bytes)) : undefined;
  if (chunk !== undefined) {
    proxy.accepted.set(chunk, (proxy.accepted.get(chunk) ?? 0) + 1);
    proxy.onAccepted?.(proxy.accepted.size);
  }
  const received = [...response.headers].filter(([name]) => !hopHeaders.includes(name));
  return { status: response.status, headers: Object.fromEntries(received), bytes };
}

/** Returns the chunk that a call of `uploadChunk` has stored. */
function calledChunk(url: string, body: Buffer, answer: Buffer): string | undefined {
  if (!url.endsWith('/call')) return undefined;
  // The library's views of a Node Buffer have wrong offsets
  const { content } = Cbor.decode<{ readonly content: Fields }>(new Uint8Array(body));
  const { certificate } = Cbor.decode<Fields>(new Uint8Array(answer));
  if (content.method_name !== 'uploadChunk' || certificate === undefined) return undefined;
  const { tree } = Cbor.decode<{ readonly tree: HashTree }>(certificate as Uint8Array);
  const path = ['request_status', requestIdOf(content), 'reply'];
  const reply = lookupResultToBuffer(lookup_path(path, tree)) ?? new Uint8Array(0);
  const { argTypes, result } = methodTypes('uploadChunk');
  const [{ ok }] = IDL.decode([result], reply) as unknown as [
    { readonly ok?: { readonly upload: { readonly uploadId: string } } },
  ];
  const [, index] = IDL.decode(argTypes, content.arg as Uint8Array);
  return ok && `${ok.upload.uploadId}/chunk/${index}`;
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
