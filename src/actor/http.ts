// The HTTP face: a query that answers or asks to be called again as an update, and that update.

import { dataCertificate, msgReply, query, update } from 'azle';
import { skipAllHeaders } from '../certification/skip-all.ts';
import type { Call } from '../domain/caller.ts';
import type { HttpRequest as Request } from '../http/message.ts';
import { handleRequest, upgrade } from '../http/router.ts';
import { routes } from '../http/routes.ts';
import { emptyBytes } from '../lib/bytes.ts';
import { decodeRequest, encodeResponse } from './bulk-messages.ts';
import { currentCall } from './call.ts';
import { HttpRequest, HttpResponse, HttpUpdateRequest } from './candid.ts';
import { decodeArguments } from './method.ts';
import { nextRandom, seedOnce, stores } from './runtime.ts';
import { systemFigures } from './status.ts';

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
    random: nextRandom,
    system: systemFigures,
  });
  if (response === upgrade) {
    msgReply(encodeResponse({ status: 200, headers: [], body: emptyBytes }, true));
    return;
  }
  const certificate = phase === 'query' ? dataCertificate() : undefined;
  const proof = certificate === undefined ? [] : skipAllHeaders(certificate);
  msgReply(encodeResponse({ ...response, headers: [...response.headers, ...proof] }, false));
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
    // Only in the moments after install and upgrade: a handler itself waits for nothing.
    const seeding = seedOnce();
    return seeding === undefined
      ? respond('update', sent)
      : seeding.then(() => respond('update', sent));
  }
}
