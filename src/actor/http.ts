// The HTTP face: a query that answers or asks to be called again as an update, and that update.

import { dataCertificate, msgArgData, msgReply, query, update } from 'azle';
import { skipAllHeaders } from '../certification/skip-all.ts';
import { handleRequest, upgrade } from '../http/router.ts';
import { routes } from '../http/routes.ts';
import { emptyBytes } from '../lib/bytes.ts';
import { decodeRequest, encodeResponse } from './bulk-messages.ts';
import { currentCall } from './call.ts';
import { HttpRequest, HttpResponse, HttpUpdateRequest } from './candid.ts';
import { stores } from './runtime.ts';

function respond(phase: 'query' | 'update'): void {
  const request = decodeRequest(msgArgData());
  const response = handleRequest(routes, { stores, call: currentCall(), request, phase });
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
    respond('query');
  }

  @update([HttpUpdateRequest], HttpResponse, { manual: true })
  http_request_update(): void {
    respond('update');
  }
}
