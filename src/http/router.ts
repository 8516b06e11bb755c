// Routes a request to its handler, and turns results and errors into responses. A handler that
// changes something answers `upgrade` in a query.

import { KeyUnavailable } from '../domain/keys/root-keys.ts';
import { looksLikeKey } from '../domain/rights/api-key-secrets.ts';
import type { ApiKey } from '../domain/rights/api-keys.ts';
import type { Call } from '../domain/shared/caller.ts';
import { areCyclesLow, requireCycles } from '../domain/shared/cycles.ts';
import { quote } from '../domain/shared/names.ts';
import { Refusal, type RefusalCode } from '../domain/shared/refusal.ts';
import { emptyBytes } from '../lib/bytes.ts';
import { withinBudget } from './budgets.ts';
import { type Answer, type Exchange, upgrade } from './exchange.ts';
import {
  decodedPath,
  type Header,
  type HttpRequest,
  type HttpResponse,
  header,
} from './message.ts';
import { answerFields, apiPreflight, exposedHeaders, preflightResponse } from './preflight.ts';
import { refusalResponse } from './respond.ts';
import { shownOfSite } from './site-answers.ts';

export { type Answer, type Exchange, upgrade };

export type Handler = (exchange: Exchange) => Answer;

export interface Route {
  /** Matches the percent-decoded path. Sticky: other patterns are tried at each character. */
  readonly pattern: RegExp;
  readonly handlers: Readonly<Record<string, Handler>>;
  /** Whether GET and HEAD cost more than a refusal may; the inspection then refuses them. */
  readonly isList?: true;
  /** The methods that begin or store an upload: they are refused while cycles are low. */
  readonly uploadMethods?: readonly string[];
  /** Whether X-HTTP-Method-Override replaces the method POST, as tus requires. */
  readonly allowsOverride?: true;
}

/** Answers as GET, without the content (RFC 9110 §9.3.2). */
export function headOf(get: Handler): Handler {
  return (exchange) => {
    const response = get(exchange);
    return response === upgrade ? upgrade : { ...response, body: emptyBytes };
  };
}

export function handleRequest(
  routes: readonly Route[],
  exchange: Omit<Exchange, 'captures'>,
): Answer {
  const requestId = requestIdOf(exchange.call);
  const answered = (payer: ApiKey | undefined) => {
    const { charge } = exchange.call;
    // The same for a query, without two copies of 7,000 instructions each
    if (charge === undefined && payer === undefined) return answer(routes, exchange, requestId);
    const isPaid = payer !== undefined;
    const call = { ...exchange.call, charge: charge && { ...charge, isPaid } };
    return answer(routes, { ...exchange, call, payer }, requestId);
  };
  const isHead = exchange.request.method === 'HEAD';
  const refuse = (refusal: Refusal) => refusalResponse(refusal, { requestId, isHead });
  const response =
    exchange.phase === 'update' ? withinBudget(exchange, answered, refuse) : answered(undefined);
  if (response === upgrade) {
    return response;
  }
  const named: Header = ['X-Request-Id', requestId];
  const { method, url } = exchange.request;
  // Outside of /api/ the headers are certified; the answer to OPTIONS has exposedHeaders already.
  if (!url.startsWith('/api/') || method === 'OPTIONS') {
    return { ...response, headers: [...response.headers, named] };
  }
  // Replaces the field of a file, which lists fewer names
  const own = response.headers.filter(([name]) => name !== exposedHeaders[0]);
  return { ...response, headers: [...own, named, ...answerFields(url)] };
}

function answer(
  routes: readonly Route[],
  exchange: Omit<Exchange, 'captures'>,
  requestId: string,
): Answer {
  const found = unlessRefused(exchange, requestId, () => dispatch(routes, exchange));
  if (found === upgrade || found.isMissing !== true) return found;
  return unlessRefused(exchange, requestId, () => shownOfSite(exchange, found));
}

/**
 * Whether an update may answer otherwise than this node. An upload that a holder of a right
 * continues may have begun by the last request, which this node has not executed yet.
 */
function mayUpdateKnow(error: unknown, { method }: HttpRequest): boolean {
  if (error instanceof KeyUnavailable) return true;
  const isUnknownUpload = error instanceof Refusal && error.code === 'NoSuchUpload';
  return isUnknownUpload && method !== 'GET' && method !== 'HEAD';
}

/** Returns the response to a refusal in place of the answer. */
function unlessRefused(
  { request, phase }: Omit<Exchange, 'captures'>,
  requestId: string,
  act: () => Answer,
): Answer {
  try {
    return act();
  } catch (error) {
    if (phase === 'query' && mayUpdateKnow(error, request)) return upgrade;
    if (!(error instanceof Refusal)) throw error;
    const isMissing = missingCodes.has(error.code) && !(error instanceof KeyInUrl);
    const isHead = request.method === 'HEAD';
    return { ...refusalResponse(error, { requestId, isHead }), isMissing };
  }
}

/** Returns the response to a refusal outside of every route. */
export function errorResponse(
  refusal: Refusal,
  { call, request }: { readonly call: Call; readonly request: HttpRequest },
): HttpResponse {
  const requestId = requestIdOf(call);
  const response = refusalResponse(refusal, { requestId, isHead: request.method === 'HEAD' });
  return { ...response, headers: [...response.headers, ['X-Request-Id', requestId]] };
}

/** Returns the id that identifies the request in its answer. */
export function requestIdOf({ nowNs }: Call): string {
  return nowNs.toString(36);
}

const missingCodes: ReadonlySet<RefusalCode> = new Set([
  'NoSuchFile',
  'NoSuchBucket',
  'InvalidPath',
  'InvalidBucketId',
]);

/** Keeps its own message, unlike a missing path: the sender must learn of the exposed key. */
class KeyInUrl extends Refusal {}

function dispatch(routes: readonly Route[], exchange: Omit<Exchange, 'captures'>): Answer {
  const { request } = exchange;
  if (request.method === 'OPTIONS') {
    return request.url.startsWith('/api/') ? apiPreflight(request.url) : preflightResponse;
  }
  const path = decodedPath(request);
  refuseKeys(path);
  for (const route of routes) {
    route.pattern.lastIndex = 0;
    const match = route.pattern.exec(path);
    if (match !== null) {
      return carryOut(route, { ...exchange, captures: match.slice(1) });
    }
  }
  return refuseNowhere(path);
}

function carryOut(route: Route, exchange: Exchange): Answer {
  const method = methodOf(route, exchange.request);
  const handler = handlerOf(route, method);
  if (route.uploadMethods?.includes(method) !== true) return handler(exchange);
  const { spendableCycles } = exchange.system();
  if (!areCyclesLow(spendableCycles)) return handler(exchange);
  // As a query, it only checks the request
  const response = handler({ ...exchange, phase: 'query' });
  if (response === upgrade) requireCycles(spendableCycles);
  return response;
}

function methodOf({ allowsOverride }: Route, request: HttpRequest): string {
  const { method } = request;
  if (allowsOverride !== true || method !== 'POST') return method;
  return header(request, 'x-http-method-override') ?? method;
}

/** `path`: percent-decoded. */
export function refuseNowhere(path: string): never {
  throw new Refusal(
    'NoSuchFile',
    `${quote(path)} does not exist: files are at /cloud/{bucket}/{path}.`,
  );
}

function handlerOf(route: Route, method: string): Handler {
  const handler = Object.hasOwn(route.handlers, method) ? route.handlers[method] : undefined;
  if (handler === undefined) {
    const allow = [...Object.keys(route.handlers), 'OPTIONS'].join(', ');
    throw new Refusal('MethodNotAllowed', `The method is not allowed here: use ${allow}.`, {
      allow,
    });
  }
  return handler;
}

function refuseKeys(path: string): void {
  if (path.includes('efs_') && path.split('/').some(looksLikeKey)) {
    throw new KeyInUrl(
      'NoSuchFile',
      'The URL contains an API key. URLs are logged, so revoke this key, ' +
        'and send a new one as Authorization: Bearer.',
    );
  }
}
