// Addresses of canisters at gateways, and of the endpoints that agents call.

import { gatewayDomains } from '../../../wire/src/gateways.ts';
import { StorageError } from '../storage-error.ts';

/** The endpoint for agents that DFINITY recommends for the network, whatever the gateway. */
export const networkAgentHost = 'https://icp-api.io';

const networkHosts = [new URL(networkAgentHost).hostname, ...gatewayDomains];

/** Without a slash at its end; '' when the host is neither the network's nor on this machine. */
export function canisterAddress(options: {
  readonly host: string;
  readonly canisterId: string;
}): string {
  if (!URL.canParse(options.host)) return '';
  const { protocol, port } = new URL(options.host);
  if (isNetwork(options.host)) {
    return `https://${options.canisterId}.${gatewayDomains[0]}`;
  }
  // An IP address has no subdomains, localhost does.
  return isLoopback(options.host)
    ? `${protocol}//${options.canisterId}.localhost${port === '' ? '' : `:${port}`}`
    : '';
}

/**
 * Returns the id of the canister that a gateway's address belongs to. Own domains and the plain
 * address of a local replica have no id in their name, so the gateway is asked for its header.
 * Throws HttpError when the answer has no such header.
 */
export async function findCanister(url: string): Promise<string> {
  const { canisterIdIn } = await import('./canister-id.ts');
  const named = canisterIdIn(url);
  if (named !== undefined) return named;
  const request: RequestInit = { method: 'HEAD', redirect: 'error' };
  const { headers } = await fetch(url, request).catch((error) => {
    throw new StorageError('NetworkError', 'The gateway cannot be reached.', { cause: error });
  });
  const id = headers.get('x-ic-canister-id');
  if (id !== null) return id;
  throw new StorageError('HttpError', `${url} does not say which canister it leads to.`);
}

/** The address is of this machine, by its number or by localhost and the names below it. */
export function isLoopback(url: string): boolean {
  const hostname = URL.canParse(url) ? new URL(url).hostname : '';
  return /^(?:(?:.+\.)?localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
}

/** The host is one of the network's own, whose keys are known. */
export function isNetwork(url: string): boolean {
  const { hostname } = new URL(url);
  return networkHosts.some((host) => hostname === host || hostname.endsWith(`.${host}`));
}
