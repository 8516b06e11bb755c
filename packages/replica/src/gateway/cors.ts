// Cross-origin headers that the network's gateways add if the canister sends none. Fetch standard,
// "CORS protocol"; the values are ic-gateway's.

import type { HeaderField } from './http-messages.ts';
import { headerValue } from './http-messages.ts';

const always: readonly HeaderField[] = [
  ['access-control-allow-origin', '*'],
  ['vary', 'origin, access-control-request-method, access-control-request-headers'],
];

const onAnswers: readonly HeaderField[] = [
  [
    'access-control-expose-headers',
    'accept-ranges, content-length, content-range, x-request-id, x-ic-canister-id',
  ],
];

const onPreflights: readonly HeaderField[] = [
  ['access-control-allow-methods', 'HEAD, GET, POST, PUT, DELETE, PATCH'],
  [
    'access-control-allow-headers',
    'user-agent, dnt, if-none-match, if-modified-since, cache-control, content-type, range, ' +
      'cookie, x-requested-with, x-ic-canister-id',
  ],
  ['access-control-max-age', '7200'],
];

const preflightMarks: readonly string[] = [
  'access-control-allow-headers',
  'access-control-allow-methods',
  'access-control-allow-origin',
  'access-control-allow-credentials',
  'access-control-max-age',
];

/** Adds the gateway's defaults for missing headers. */
export function withCorsDefaults(
  method: string,
  headers: readonly HeaderField[],
): readonly HeaderField[] {
  const defaults = [...(method === 'OPTIONS' ? onPreflights : onAnswers), ...always];
  const missing = defaults.filter(([name]) => headerValue(headers, name) === undefined);
  return [...headers, ...missing];
}

/** Whether a canister's answer to OPTIONS is used: it is 2xx, empty and has a CORS header. */
export function isPreflightAnswer(answer: {
  readonly status: number;
  readonly headers: readonly HeaderField[];
  readonly bodyBytes: number;
}): boolean {
  const { status, headers, bodyBytes } = answer;
  if (status < 200 || status > 299 || bodyBytes > 0) return false;
  return preflightMarks.some((name) => headerValue(headers, name) !== undefined);
}
