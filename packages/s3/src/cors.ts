// Requests by pages of other origins (Fetch Standard, "CORS protocol"), as S3 answers them for a
// CORS configuration with one rule: the origins that the server's owner named may send every
// request with every header field. They get no right: signatures decide on those.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Answer } from './answer.ts';
import { S3Error } from './s3-error.ts';

/** Origins such as `https://app.example`; `*` for all. */
export type CorsOrigins = readonly string[];

export const corsMethods = ['GET', 'HEAD', 'PUT', 'POST', 'DELETE'] as const;
export const corsMaxAgeSeconds = 3_600;
/** S3 puts a request's origin into answers, so caches must not give them to another origin. */
const varying = 'Origin, Access-Control-Request-Headers, Access-Control-Request-Method';
const originField = 'Access-Control-Allow-Origin';

/** Sets the header fields that each answer to the request has, also an error. */
export function setCorsHeaders(
  { headers: { origin } }: IncomingMessage,
  response: ServerResponse,
  origins: CorsOrigins,
): void {
  if (origins.length === 0) return;
  response.setHeader('Vary', varying);
  if (origin === undefined) return;
  if (origins.includes(origin)) {
    response.setHeader(originField, origin);
    // As S3 does for an origin that a rule names, for clients that always send cookies
    response.setHeader('Access-Control-Allow-Credentials', 'true');
  } else if (origins.includes('*')) response.setHeader(originField, '*');
}

/** Lets the page read every header field of an answer to an allowed origin. */
export function exposeHeaders(response: ServerResponse): void {
  if (!response.hasHeader(originField)) return;
  const names = response
    .getHeaderNames()
    .filter((name) => !/^(?:access-control-|vary$)/.test(name));
  response.setHeader('Access-Control-Expose-Headers', names.join(', '));
}

/** Answers a preflight, which has no signature. Throws AccessForbidden, as S3 does. */
export function preflightAnswer({ headers }: IncomingMessage, origins: CorsOrigins): Answer {
  const { origin } = headers;
  const method = headers['access-control-request-method'];
  if (origin === undefined || method === undefined) {
    throw new S3Error(
      'InvalidRequest',
      'OPTIONS is only for preflights of browsers, with Origin and Access-Control-Request-Method.',
    );
  }
  const isAllowed = origins.includes(origin) || origins.includes('*');
  if (!isAllowed || !corsMethods.some((known) => known === method)) {
    throw new S3Error(
      'AccessForbidden',
      'CORSResponse: This CORS request is not allowed. The owner of the server allows origins by ' +
        `efs serve s3 --cors-origin, for the methods ${corsMethods.join(', ')}.`,
    );
  }
  return {
    status: 200,
    headers: {
      'Access-Control-Allow-Methods': corsMethods.join(', '),
      'Access-Control-Allow-Headers': headers['access-control-request-headers'],
      'Access-Control-Max-Age': String(corsMaxAgeSeconds),
    },
  };
}
