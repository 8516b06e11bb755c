// The HTTP face: a query that answers or asks to be called again as an update, and that update.

import { query, update } from 'azle';
import type { Call } from '../domain/shared/caller.ts';
import { Refusal } from '../domain/shared/refusal.ts';
import type { HttpRequest as Request, HttpResponse as Response } from '../http/message.ts';
import { budgetRefusal, errorResponse, handleRequest, upgrade } from '../http/router.ts';
import { routes } from '../http/routes.ts';
import { emptyBytes } from '../lib/bytes.ts';
import { decodeRequest, type EncodableResponse, RequestTooLarge } from './bulk-messages.ts';
import { currentCall } from './call.ts';
import { HttpRequest, HttpResponse, HttpUpdateRequest } from './candid-http.ts';
import { provenResponse } from './certified-answer.ts';
import { decodeArguments } from './method.ts';
import { replyResponse } from './native-reply.ts';
import { onceReady, stores } from './runtime.ts';
import { systemFigures } from './status.ts';
import { encodeStrategy } from './streaming.ts';
import { dataCertificate } from './system.ts';

/** A gateway reads nothing of it but the wish. */
const upgradeResponse: Response = { status: 200, headers: [], body: emptyBytes };

interface Sent {
  readonly request: Request | RequestTooLarge;
  readonly call: Call;
}

/** `undefined` when the message has been rejected: it is no request. */
function received(name: string): Sent | undefined {
  const signature = { name, parameters: [HttpRequest] };
  const request = decodeArguments(signature, (argument, bounds) => {
    try {
      return decodeRequest(argument, bounds);
    } catch (error) {
      if (error instanceof RequestTooLarge) return error;
      throw error;
    }
  });
  return request && { request, call: currentCall() };
}

/** 414 and 431: nothing of the request counts but what it is for. */
function respondTooLarge(phase: 'query' | 'update', excess: RequestTooLarge, call: Call): void {
  const { request, code } = excess;
  const words = `The request ${excess.message}: send fewer.`;
  const response = errorResponse(new Refusal(code, words), { call, request });
  const certificate = phase === 'query' ? dataCertificate() : undefined;
  reply(certificate ? provenResponse({ request, response, certificate }) : response);
}

function respond(phase: 'query' | 'update', { request, call }: Sent): void {
  if (request instanceof RequestTooLarge) {
    respondTooLarge(phase, request, call);
    return;
  }
  const environment = { stores, call, request };
  const response = handleRequest(routes, { ...environment, phase, system: systemFigures });
  // There is none in an update, and in a query that is carried out as one.
  const certificate = phase === 'query' ? dataCertificate() : undefined;
  const answer = certificate === undefined ? response : proven({ request, response, certificate });
  const refusal = answer === upgrade ? budgetRefusal(environment) : undefined;
  if (refusal === undefined) {
    reply(answer);
  } else {
    // What only an update could answer, a query of a verifying gateway cannot refuse: then the
    // inspection of the update does.
    reply(certificate ? provenResponse({ request, response: refusal, certificate }) : refusal);
  }
}

/** What a verifying gateway accepts, if it need be. */
function proven(answer: {
  readonly request: Request;
  readonly response: Response | typeof upgrade;
  readonly certificate: Uint8Array;
}): Answer {
  const { request, response, certificate } = answer;
  if (response === upgrade) return upgrade;
  const shown = provenResponse({ request, response, certificate });
  return shown === upgrade ? upgrade : { ...shown, stream: response.stream };
}

type Answer = (EncodableResponse & Pick<Response, 'stream'>) | typeof upgrade;

function reply(answer: Answer): void {
  const { stream, ...response } = answer === upgrade ? upgradeResponse : answer;
  const strategy = stream && encodeStrategy(stream);
  replyResponse({ ...response, strategy }, answer === upgrade);
}

/** HTTP, for gateways: agents have no use of these. */
export class HttpActor {
  /** Answers, or asks by `upgrade` to be sent as an update. */
  @query([HttpRequest], HttpResponse, { manual: true })
  http_request(): void {
    const sent = received('http_request');
    if (sent !== undefined) respond('query', sent);
  }

  /** What changes something, or what nothing certified answers. */
  @update([HttpUpdateRequest], HttpResponse, { manual: true })
  http_request_update(): void | Promise<void> {
    const sent = received('http_request_update');
    if (sent === undefined) return;
    return onceReady(() => respond('update', sent));
  }
}
