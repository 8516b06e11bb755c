// The HTTP gateway: serves canisters at http://<canister id>.localhost, as the network's gateways
// do. Binds the protocol to Node's HTTP server and answers every failure with an error page.

import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Principal } from '@dfinity/principal';
import { AbortedRequest } from '../aborted-request.ts';
import type { AnswerCache } from '../network/answer-cache.ts';
import { answerRequest } from './answer-request.ts';
import type { GatewayEngine } from './canister-client.ts';
import { createCanisterClient } from './canister-client.ts';
import { resolveCanister } from './canister-resolution.ts';
import {
  createRefusedPreflights,
  isPreflightAnswer,
  withCorsDefaults,
  withGatewayCors,
} from './cors.ts';
import { errorBody } from './error-pages.ts';
import { GatewayError, toGatewayError } from './gateway-error.ts';
import type { HeaderField, HttpAnswer } from './http-messages.ts';
import { strictTransport, withoutHeaders } from './http-messages.ts';
import { readBody, readHeaders, readTarget } from './read-request.ts';
import { writeAnswer } from './write-answer.ts';

export interface GatewayOptions {
  readonly engine: GatewayEngine;
  /** DER. */
  readonly rootKey: Uint8Array;
  /** Returns whether code of this hash serves HTTP. */
  servesHttp(moduleHash: Uint8Array): boolean;
  /** Returns the canister that was set for plain `localhost`. */
  plainCanister(): Principal | undefined;
  /** Cached responses; absent: no cache. */
  readonly cache?: AnswerCache | undefined;
  /** Time limit for a request's body; undefined: no limit. */
  readonly bodyMs?: number | undefined;
  readonly preflights?: PreflightMode | undefined;
}

/**
 * Whether OPTIONS are passed on to canisters, as by ic-gateway with its option
 * `--cors-canister-passthrough`, or answered by the gateway itself, as without that option.
 */
export type PreflightMode = 'passed-on' | 'answered';

export interface Gateway {
  /** Answers a request; never rejects. */
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
}

interface Exchange {
  readonly options: GatewayOptions;
  readonly refusedPreflights: ReturnType<typeof createRefusedPreflights>;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
}

export function createGateway(options: GatewayOptions): Gateway {
  const refusedPreflights = createRefusedPreflights(() => options.engine.now());
  return {
    handle: async (request, response) => {
      const requestId = randomUUID();
      const exchange = { options, refusedPreflights, request, response, requestId };
      try {
        await serve(exchange);
      } catch (error) {
        await fail(exchange, error);
      }
    },
  };
}

async function serve(exchange: Exchange): Promise<void> {
  const { options, request, response } = exchange;
  const target = readTarget(request);
  const { referer } = request.headers;
  const { canisterId: named, isRaw } = resolveCanister({ ...target, referer });
  const headers = readHeaders(request);
  const canisterId = named ?? plainCanister(options);
  requireCanister(options, canisterId);
  const method = request.method ?? 'GET';
  const body = await readBody(request, { timeMs: options.bodyMs });
  const ask = () =>
    answerRequest(
      { method, url: target.url, headers, body },
      {
        canister: createCanisterClient(options.engine, canisterId),
        isRaw,
        rootKey: options.rootKey,
        nowNs: () => options.engine.now(),
      },
    );
  const { range } = request.headers;
  const key = { method, host: target.host ?? '', url: target.url, range };
  const answerOf = () => options.cache?.answer(key, ask) ?? ask();
  const answer = await (method === 'OPTIONS'
    ? preflightOf(exchange, canisterId, answerOf)
    : answerOf());
  await writeAnswer(response, withGatewayHeaders(exchange, answer, canisterId));
}

/** Returns the canister's answer to OPTIONS if it is usable, and otherwise the gateway's. */
async function preflightOf(
  { options, refusedPreflights }: Exchange,
  canisterId: Principal,
  ask: () => Promise<HttpAnswer>,
): Promise<HttpAnswer> {
  if (options.preflights === 'answered' || refusedPreflights.has(canisterId)) return preflight;
  const answer = await ask().catch(() => undefined);
  if (answer !== undefined && isPreflight(answer)) return answer;
  refusedPreflights.add(canisterId);
  return preflight;
}

/** The gateway's own answer to OPTIONS, to which the CORS defaults are added. */
const preflight: HttpAnswer = { status: 200, headers: [], body: new Uint8Array(0) };

function isPreflight({ status, headers, body }: HttpAnswer): boolean {
  return (
    body instanceof Uint8Array && isPreflightAnswer({ status, headers, bodyBytes: body.length })
  );
}

function requireCanister(options: GatewayOptions, canisterId: Principal): void {
  if (options.engine.canister(canisterId) !== undefined) return;
  throw new GatewayError('CanisterNotFound', `Canister ${canisterId.toText()} does not exist.`);
}

/** Returns the canister of plain `localhost`: the one set, or the oldest that serves HTTP. */
function plainCanister(options: GatewayOptions): Principal {
  const named = options.plainCanister();
  if (named !== undefined) return named;
  for (const { id, moduleHash } of options.engine.canisters()) {
    if (moduleHash !== undefined && options.servesHttp(moduleHash)) return id;
  }
  throw new GatewayError(
    'CanisterIdMissing',
    'The request names no canister, and no installed canister serves HTTP.',
  );
}

async function fail(exchange: Exchange, error: unknown): Promise<void> {
  const { request, response } = exchange;
  if (error instanceof AbortedRequest || response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const isPreflight = request.method === 'OPTIONS';
  const answer = isPreflight ? preflight : pageOf(toGatewayError(error), request);
  await writeAnswer(response, withGatewayHeaders(exchange, answer, undefined));
}

function pageOf(error: GatewayError, request: IncomingMessage): HttpAnswer {
  const { contentType, body } = errorBody(error, request.headers['user-agent']);
  const headers: readonly HeaderField[] = [
    ['content-type', contentType],
    ['x-ic-error-cause', error.errorCause],
  ];
  return { status: error.status, headers, body };
}

const gatewayHeaders: ReadonlySet<string> = new Set([
  'x-request-id',
  'x-ic-canister-id',
  strictTransport[0],
]);

function withGatewayHeaders(
  { options, request, requestId }: Exchange,
  answer: HttpAnswer,
  canisterId: Principal | undefined,
): HttpAnswer {
  const headers = withoutHeaders(answer.headers, gatewayHeaders);
  headers.push(['x-request-id', requestId], strictTransport);
  if (canisterId) headers.push(['x-ic-canister-id', canisterId.toText()]);
  const withCors = options.preflights === 'answered' ? withGatewayCors : withCorsDefaults;
  return { ...answer, headers: withCors(request.method ?? 'GET', headers) };
}
