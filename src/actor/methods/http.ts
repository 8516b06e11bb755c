// The HTTP interface: the query `http_request` answers, or asks the gateway to repeat the request
// as the update `http_request_update`.

import { query, update } from 'azle';
import type { Call } from '../../domain/shared/caller.ts';
import { Refusal } from '../../domain/shared/refusal.ts';
import { isFront } from '../../domain/shared/role-record.ts';
import { maySayInUpdate, updateRefusal } from '../../http/budgets.ts';
import type { HttpRequest as Request, HttpResponse as Response } from '../../http/message.ts';
import { errorResponse, handleRequest, upgrade } from '../../http/router.ts';
import { routes } from '../../http/routes.ts';
import { emptyBytes } from '../../lib/bytes.ts';
import { HttpRequest, HttpResponse, HttpUpdateRequest } from '../candid/http.ts';
import { provenResponse } from '../dispatch/certified-answer.ts';
import { frontAnswer } from '../dispatch/front-answer.ts';
import { decodeArguments } from '../dispatch/method.ts';
import {
  decodeRequest,
  type EncodableResponse,
  RequestTooLarge,
} from '../messages/bulk-messages.ts';
import { replyResponse } from '../messages/native-reply.ts';
import { currentCall } from '../runtime/call.ts';
import { onceReady, stores } from '../runtime/runtime.ts';
import { dataCertificate } from '../runtime/system.ts';
import { systemFigures } from './status.ts';
import { encodeStrategy } from './streaming.ts';

/** A gateway reads only the upgrade flag. */
const upgradeResponse: Response = { status: 200, headers: [], body: emptyBytes };

type Received = Request | RequestTooLarge;

/** Returns `undefined` after rejecting a message that is not a request. */
function received(name: string): Received | undefined {
  const signature = { name, parameters: [HttpRequest] };
  return decodeArguments<Received>(signature, (argument, bounds) => {
    try {
      return decodeRequest(argument, bounds);
    } catch (error) {
      if (error instanceof RequestTooLarge) return error;
      throw error;
    }
  });
}

/** Answers 414 or 431; only the method and the URL of the request are known. */
function respondTooLarge(phase: 'query' | 'update', excess: RequestTooLarge, call: Call): void {
  const { request, code } = excess;
  const words = `The request ${excess.message}: send a smaller one.`;
  const response = errorResponse(new Refusal(code, words), { call, request });
  const certificate = phase === 'query' ? dataCertificate() : undefined;
  // Asking for an update is pointless, because the inspection accepts no request that is too large
  reply(proven({ request, call, response, certificate }, true));
}

function respond(phase: 'query' | 'update', request: Received): void {
  // Not before, because an update may have waited for the key, and time has passed
  const call = currentCall();
  const asked = request instanceof RequestTooLarge ? request.request : request;
  if (isFront(stores)) {
    reply(frontAnswer(asked, phase === 'query' ? dataCertificate() : undefined));
    return;
  }
  if (request instanceof RequestTooLarge && asked.method !== 'OPTIONS') {
    respondTooLarge(phase, request, call);
    return;
  }
  const charge = phase === 'update' ? { bytes: asked.body.length, isInspected: false } : undefined;
  const charged = charge ? { ...call, charge } : call;
  const exchange = { stores, call: charged, request: asked, phase, system: systemFigures };
  const response = handleRequest(routes, exchange);
  if (phase === 'update') {
    reply(response);
    return;
  }
  reply(queryAnswer({ request: asked, call, response, certificate: dataCertificate() }));
}

interface Queried {
  readonly request: Request;
  readonly call: Call;
  readonly response: Response | typeof upgrade;
  /** `undefined` in a query that is executed as an update. */
  readonly certificate: Uint8Array | undefined;
}

/** Returns the answer for a verifying gateway; asks for an update only within a budget. */
function queryAnswer(queried: Queried): Answer {
  const { request, call, response, certificate } = queried;
  const answer = proven(queried, true);
  if (answer !== upgrade) return answer;
  const environment = { stores, call, request };
  const refusal = updateRefusal(environment, response);
  if (refusal === undefined) return upgrade;
  const whole = certificate && wholeFile(queried, certificate);
  if (whole !== undefined) return whole;
  const isRefused = response !== upgrade && response.status >= 400;
  const shown = isRefused ? response : errorResponse(refusal, environment);
  return proven({ ...queried, response: shown }, maySayInUpdate(environment));
}

/**
 * Returns the whole certified file in place of a range or a 304: a server may ignore Range (RFC
 * 9110 §14.2), and the file is better than a refusal. `undefined` for a file of several chunks.
 */
function wholeFile({ request, call, response }: Queried, certificate: Uint8Array) {
  const isRefused = response === upgrade || response.status >= 400;
  if (isRefused || request.method !== 'GET') return undefined;
  const headers = request.headers.filter(([name]) => !selecting.has(name.toLowerCase()));
  const plain = { method: 'GET', url: request.url, headers, body: emptyBytes };
  const exchange = { stores, call, request: plain, phase: 'query', system: systemFigures } as const;
  const whole = handleRequest(routes, exchange);
  if (whole === upgrade || whole.status !== 200) return undefined;
  const answer = provenResponse({ request: plain, response: whole, mayAsk: false, certificate });
  return answer === upgrade ? undefined : answer;
}

const selecting: ReadonlySet<string> = new Set([
  'range',
  'if-range',
  'if-none-match',
  'if-modified-since',
  'if-match',
  'if-unmodified-since',
]);

/** Returns the answer with its proof if it goes to a verifying gateway. */
function proven({ request, response, certificate }: Queried, mayAsk: boolean): Answer {
  if (response === upgrade || certificate === undefined) return response;
  const shown = provenResponse({ request, response, mayAsk, certificate });
  const { stream } = response;
  return shown === upgrade || stream === undefined ? shown : { ...shown, stream };
}

type Answer = (EncodableResponse & Pick<Response, 'stream'>) | typeof upgrade;

function reply(answer: Answer): void {
  const response = answer === upgrade ? upgradeResponse : answer;
  const { stream } = response;
  const whole = stream ? { ...response, strategy: encodeStrategy(stream) } : response;
  replyResponse(whole, answer === upgrade);
}

/** HTTP: for gateways; agents do not need these methods. */
export class HttpActor {
  /** Answers a request, or asks with `upgrade` to repeat it as an update. */
  @query([HttpRequest], HttpResponse, { manual: true })
  http_request(): void {
    const request = received('http_request');
    if (request !== undefined) respond('query', request);
  }

  /** Answers requests that change something, or whose response cannot be certified. */
  @update([HttpUpdateRequest], HttpResponse, { manual: true })
  http_request_update(): void | Promise<void> {
    const request = received('http_request_update');
    if (request === undefined) return;
    return onceReady(() => respond('update', request));
  }
}
