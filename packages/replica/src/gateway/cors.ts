// Cross-origin headers of the network's gateways. Fetch standard, "CORS protocol"; the values are
// those of ic-gateway, `src/routing/middleware/cors.rs`. A gateway that passes OPTIONS on adds the
// headers that a canister leaves out; a gateway that answers OPTIONS itself overwrites a canister's
// headers, as tower-http's CorsLayer does.

import type { Principal } from '@dfinity/principal';
import type { HeaderField } from './http-messages.ts';
import { headerValue, withoutHeaders } from './http-messages.ts';

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
      'cookie, x-requested-with, x-ic-canister-id, x-oc-jwt, x-oc-api-key',
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
  const missing = defaultsOf(method).filter(([name]) => headerValue(headers, name) === undefined);
  return [...headers, ...missing];
}

/** Replaces a canister's cross-origin headers with the gateway's. */
export function withGatewayCors(
  method: string,
  headers: readonly HeaderField[],
): readonly HeaderField[] {
  const defaults = defaultsOf(method);
  // `Vary` is the only field that is extended instead of replaced.
  const replaced = new Set(defaults.map(([name]) => name).filter((name) => name !== 'vary'));
  return [...withoutHeaders(headers, replaced), ...defaults];
}

function defaultsOf(method: string): readonly HeaderField[] {
  return [...(method === 'OPTIONS' ? onPreflights : onAnswers), ...always];
}

const dayNs = 86_400_000_000_000n;

/** Canisters whose answer to OPTIONS was not usable: for a day the gateway answers for them. */
export function createRefusedPreflights(nowNs: () => bigint) {
  const endsNs = new Map<string, bigint>();
  return {
    has: (canisterId: Principal) => (endsNs.get(canisterId.toText()) ?? 0n) > nowNs(),
    add: (canisterId: Principal) => {
      endsNs.set(canisterId.toText(), nowNs() + dayNs);
    },
  };
}

/** Returns whether a canister's answer to OPTIONS is usable: 2xx, empty and with a CORS header. */
export function isPreflightAnswer(answer: {
  readonly status: number;
  readonly headers: readonly HeaderField[];
  readonly bodyBytes: number;
}): boolean {
  const { status, headers, bodyBytes } = answer;
  if (status < 200 || status > 299 || bodyBytes > 0) return false;
  return preflightMarks.some((name) => headerValue(headers, name) !== undefined);
}
