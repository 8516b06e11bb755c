// Finds the canister of a request and whether its responses are verified: by host name, then
// `?canisterId=`, then the Referer, in the order of the network's gateways.

import { Principal } from '@dfinity/principal';
import { GatewayError } from './gateway-error.ts';

export interface ResolutionInput {
  /** The authority as received: `Host`, or that of an absolute request target. */
  readonly host: string | undefined;
  /** Path and query as received. */
  readonly url: string;
  readonly referer: string | undefined;
}

export interface Resolution {
  /** Undefined if the request names no canister. */
  readonly canisterId: Principal | undefined;
  /** Whether responses pass unverified, on a `raw` host. */
  readonly isRaw: boolean;
}

const baseHosts: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);
const hostHelp = 'are served at <canister id>.localhost, <canister id>.raw.localhost or localhost';

/** Throws a GatewayError for an unsupported host and for an invalid canister id. */
export function resolveCanister(input: ResolutionInput): Resolution {
  const byHost = resolveHost(input.host);
  if (byHost.canisterId !== undefined) return byHost;
  const canisterId = idFromQuery(input.url) ?? idFromReferer(input.referer);
  return { canisterId, isRaw: byHost.isRaw };
}

function resolveHost(host: string | undefined): Resolution {
  if (host === undefined || host === '') {
    throw new GatewayError('MalformedRequest', 'The request has no Host header.');
  }
  const name = hostName(host);
  if (baseHosts.has(name)) return { canisterId: undefined, isRaw: false };
  if (!name.endsWith('.localhost')) throw unknownHost(host);
  const labels = name.slice(0, -'.localhost'.length).split('.');
  const isRaw = labels.at(-1) === 'raw';
  if (isRaw) labels.pop();
  const [label, ...deeper] = labels;
  if (deeper.length > 0) throw unknownHost(host);
  if (label === undefined) return { canisterId: undefined, isRaw };
  const canisterId = parseId(label.split('--').at(-1) ?? '');
  if (canisterId === undefined) {
    throw new GatewayError('CanisterIdInvalid', `"${label}" in the host is not a canister id.`);
  }
  return { canisterId, isRaw };
}

/** Returns the name in lower case, without the port and without a trailing dot. */
export function hostName(host: string): string {
  const name = host.toLowerCase().replace(/:\d*$/, '');
  return name.endsWith('.') ? name.slice(0, -1) : name;
}

function unknownHost(host: string): GatewayError {
  return new GatewayError(
    'UnknownHost',
    `The host "${host}" is unknown here; canisters ${hostHelp}.`,
  );
}

function idFromQuery(url: string): Principal | undefined {
  const text = queryParameter(url);
  if (text === null) return undefined;
  const id = parseId(text);
  if (id === undefined) {
    throw new GatewayError('CanisterIdInvalid', `canisterId=${text} is not a canister id.`);
  }
  return id;
}

function queryParameter(url: string): string | null {
  const start = url.indexOf('?');
  return start < 0 ? null : new URLSearchParams(url.slice(start + 1)).get('canisterId');
}

/** Returns the canister whose page requests an image or script. */
function idFromReferer(referer: string | undefined): Principal | undefined {
  if (referer === undefined || !URL.canParse(referer)) return undefined;
  const { hostname, search } = new URL(referer);
  const [label = ''] = hostname.split('.');
  return parseId(label) ?? parseId(queryParameter(search) ?? '');
}

function parseId(text: string): Principal | undefined {
  try {
    return text === '' ? undefined : Principal.fromText(text);
  } catch {
    return undefined;
  }
}
