// The HTTP face: a query that answers or asks to be called again as an update, and that update.

import { dataCertificate, msgReply, query, update } from 'azle';
import type { Call } from '../domain/caller.ts';
import type { HttpRequest as Request, HttpResponse as Response } from '../http/message.ts';
import { handleRequest, upgrade } from '../http/router.ts';
import { routes } from '../http/routes.ts';
import { emptyBytes } from '../lib/bytes.ts';
import { decodeRequest, encodeResponse } from './bulk-messages.ts';
import { currentCall } from './call.ts';
import { HttpRequest, HttpResponse, HttpUpdateRequest } from './candid.ts';
import { provenResponse } from './certified-answer.ts';
import { decodeArguments } from './method.ts';
import { onceReady, stores } from './runtime.ts';
import { systemFigures } from './status.ts';

/** A gateway reads nothing of it but the wish. */
const upgradeResponse: Response = { status: 200, headers: [], body: emptyBytes };

interface Sent {
  readonly request: Request;
  readonly call: Call;
}

/** `undefined` when the message has been rejected: it is no request. */
function received(name: string): Sent | undefined {
  const signature = { name, parameters: [HttpRequest] };
  const decoded = decodeArguments(signature, (argument) => [decodeRequest(argument)]);
  return decoded && { request: decoded[0] as Request, call: currentCall() };
}

function respond(phase: 'query' | 'update', { request, call }: Sent): void {
  const response = handleRequest(routes, {
    stores,
    call,
    request,
    phase,
    random: stores.secrets.random,
    system: systemFigures,
  });
  // There is none in an update, and in a query that is carried out as one.
  const certificate = phase === 'query' ? dataCertificate() : undefined;
  const isFinal = response === upgrade || certificate === undefined;
  const shown = isFinal ? response : provenResponse({ request, response, certificate });
  const isUpgrade = shown === upgrade;
  msgReply(encodeResponse(isUpgrade ? upgradeResponse : shown, isUpgrade));
}

/**
 * The types stand in the interface; decoding and encoding are done by hand, see bulk-messages.ts.
 */
export class HttpActor {
  @query([HttpRequest], HttpResponse, { manual: true })
  http_request(): void {
    const sent = received('http_request');
    if (sent !== undefined) respond('query', sent);
  }

  @update([HttpUpdateRequest], HttpResponse, { manual: true })
  http_request_update(): void | Promise<void> {
    const sent = received('http_request_update');
    if (sent === undefined) return;
    return onceReady(() => respond('update', sent));
  }
}
