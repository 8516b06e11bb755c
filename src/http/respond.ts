// Turns results and refusals into HTTP responses: one table of statuses, one format of errors.

import { errorStatuses } from '../../packages/wire/src/error-status.ts';
import type { Refusal, RefusalCode } from '../domain/shared/refusal.ts';
import { emptyBytes } from '../lib/bytes.ts';
import { encodeUtf8 } from '../lib/text.ts';
import type { Header, HttpResponse } from './message.ts';

/** The type requires a status for every code. */
const statuses: Readonly<Record<RefusalCode, number>> = errorStatuses;

/** Returns the fields that a status requires (RFC 9110 §11.6.1, §14.4, §15.5.6; RFC 6750 §3). */
function refusalHeaders(refusal: Refusal): Header[] {
  switch (refusal.code) {
    case 'Unauthorized':
      return [['WWW-Authenticate', 'Bearer']];
    case 'InvalidApiKey':
      return [['WWW-Authenticate', 'Bearer error="invalid_token"']];
    case 'InvalidRange':
      return [['Content-Range', `bytes */${refusal.details?.size ?? '*'}`]];
    case 'MethodNotAllowed':
      return [['Allow', String(refusal.details?.allow ?? '')]];
    case 'SlowDown':
    case 'ServiceUnavailable':
      return [['Retry-After', String(refusal.details?.seconds ?? 10)]];
    default:
      return [];
  }
}

export interface ErrorContext {
  readonly requestId: string;
  readonly isHead: boolean;
  /** The results of the single items of a request, of which at least one is refused. */
  readonly items?: readonly object[];
}

export function refusalResponse(refusal: Refusal, context: ErrorContext): HttpResponse {
  const { code, message, details } = refusal;
  const { requestId, items } = context;
  const error = { code, message, requestId, details };
  const response = privateJson(statuses[code], { error, items }, refusalHeaders(refusal));
  return context.isHead ? { ...response, body: emptyBytes } : response;
}

/** Forbids every cache to store the answer. */
export const uncached: Header = ['Cache-Control', 'private, no-store'];

/** An answer for its caller only, which no cache stores. `headers` follow Content-Type. */
export function privateJson(
  status: number,
  value: object,
  headers: readonly Header[] = [],
): HttpResponse {
  const response = jsonResponse(status, value);
  return { ...response, headers: [...response.headers, ...headers, uncached] };
}

/** The answer of a deletion. */
export const noContent: HttpResponse = { status: 204, headers: [uncached], body: emptyBytes };

export const jsonField: Header = ['Content-Type', 'application/json'];

export function jsonResponse(status: number, value: object): HttpResponse {
  return {
    status,
    headers: [jsonField],
    body: encodeUtf8(JSON.stringify(value)),
  };
}
