// Falls back to older endpoints for agents where a host lacks the newer ones: `call` from v4 to v3
// and v2, `query` and `read_state` from v3 to v2. The signed body is the same for all of them.
// Interface specification, "Request: Call", "Request: Query call", "Request: Read state". The agent
// itself falls back for `call` only, and only if a response names its URL.

import { StorageError } from '../storage-error.ts';
import type { WholeResponse } from './watched-fetch.ts';

/** Sends one request to the URL. */
type Send = (url: URL) => Promise<WholeResponse>;

const endpoint = /\/api\/v([34])\/canister\/[^/]+\/(call|query|read_state)$/;
const oldest = 2;

/** Remembers the newest version that a host has, by the last part of its path. */
export function createOlderEndpoints() {
  const newest = new Map<string, number>();
  return async function answerOf(url: URL, send: Send): Promise<WholeResponse> {
    const [, asked, name = ''] = endpoint.exec(url.pathname) ?? [];
    if (asked === undefined) return send(url);
    const path = url.pathname;
    let version = Math.min(Number(asked), newest.get(name) ?? Number(asked));
    for (;;) {
      const tried = new URL(path.replace(/\/v[34]\//, `/v${version}/`), url);
      const answer = await send(tried);
      if (!lacksEndpoint(answer)) {
        newest.set(name, version);
        return answer;
      }
      if (version === oldest) throw noEndpoint(tried, answer);
      version -= 1;
    }
  };
}

/** The network reports a missing canister in words: `error: canister_not_found`. */
function lacksEndpoint({ status, headers, bytes }: WholeResponse): boolean {
  if (status !== 404 || headers.has('x-ic-error-cause')) return false;
  return !/canister|subnet/i.test(new TextDecoder().decode(bytes.subarray(0, 10_000)));
}

function noEndpoint(url: URL, { status, headers }: WholeResponse): StorageError {
  const type = headers.get('content-type') ?? 'no content type';
  const message =
    `${url.href} answered ${status} (${type}): this host has no endpoints for agents. Use ` +
    'https://icp-api.io for the Internet Computer, or the address of a replica.';
  return new StorageError('HttpError', message, { status });
}
