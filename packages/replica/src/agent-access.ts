// The agent endpoints answer programs on this machine, and pages whose host is this machine. The
// Origin header reveals a page of another site; the Host header reveals a page that resolved its
// own name to this machine (DNS rebinding). Fetch standard, "Origin header".

import { hostName } from './gateway/canister-resolution.ts';

export interface CallerHeaders {
  readonly host?: string | undefined;
  readonly origin?: string | undefined;
}

const ownHosts: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);
const ownHelp = 'localhost, <name>.localhost, 127.0.0.1 or [::1]';

/** Throws an Error for a text that is not an origin of a web page. */
export function readAllowedOrigins(origins: readonly string[] = []): ReadonlySet<string> {
  for (const origin of origins) {
    if (webUrl(origin)?.origin === origin) continue;
    throw new Error(
      `An allowed origin must look like https://example.org or http://example.org:8080, with no path ` +
        `and no default port; got "${origin}".`,
    );
  }
  return new Set(origins);
}

/** Returns the reason for refusing the request; undefined if it is allowed. */
export function refuseStranger(
  { host, origin }: CallerHeaders,
  allowedOrigins: ReadonlySet<string>,
): string | undefined {
  if (!isOwn(hostName(host ?? ''))) {
    return `The agent endpoints answer at ${ownHelp}, not at the host "${host ?? ''}".`;
  }
  if (origin === undefined || allowedOrigins.has(origin)) return undefined;
  if (isOwn(webUrl(origin)?.hostname ?? '')) return undefined;
  return (
    `Pages of the origin "${origin}" may not use the agent endpoints, only pages of ${ownHelp}. ` +
    'Allow other origins with npm start -- --allow-origin.'
  );
}

function isOwn(name: string): boolean {
  return ownHosts.has(name) || (name.endsWith('.localhost') && name !== '.localhost');
}

function webUrl(origin: string): URL | undefined {
  if (!URL.canParse(origin)) return undefined;
  const url = new URL(origin);
  return url.protocol === 'http:' || url.protocol === 'https:' ? url : undefined;
}
