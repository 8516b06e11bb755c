// Addresses of canisters at gateways, and of agent endpoints.

import { gatewayDomains } from '../../../wire/src/gateways.ts';

/** The agent endpoint that DFINITY recommends for the network, whichever gateway is used. */
export const networkAgentHost = 'https://icp-api.io';

const networkHosts = [new URL(networkAgentHost).hostname, ...gatewayDomains];

/** Returns the canister's address at a gateway, without a final slash; '' for unknown hosts. */
export function canisterAddress(options: {
  readonly host: string;
  readonly canisterId: string;
}): string {
  if (!URL.canParse(options.host)) return '';
  const { protocol, port } = new URL(options.host);
  if (isNetwork(options.host)) {
    return `https://${options.canisterId}.${gatewayDomains[0]}`;
  }
  // An IP address has no subdomains, so its canisters are addressed below localhost.
  return isLoopback(options.host)
    ? `${protocol}//${options.canisterId}.localhost${port === '' ? '' : `:${port}`}`
    : '';
}

/**
 * Returns the address of another canister at the gateway of `url`, or at the network's default
 * gateway if `url` is a custom domain; without a final slash.
 */
export function addressBeside(url: string, canisterId: string): string {
  const { hostname } = new URL(url);
  const domain = gatewayDomains.find((name) => hostname.endsWith(`.${name}`));
  if (domain !== undefined) return `https://${canisterId}.${domain}`;
  return canisterAddress({ host: isLoopback(url) ? url : networkAgentHost, canisterId });
}

/** Returns whether the address is a loopback IP address, localhost, or a name below it. */
export function isLoopback(url: string): boolean {
  const hostname = URL.canParse(url) ? new URL(url).hostname : '';
  return /^(?:(?:.+\.)?localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
}

/** Returns whether the host is one of the network's own, whose root key is known. */
export function isNetwork(url: string): boolean {
  const { hostname } = new URL(url);
  return networkHosts.some((host) => hostname === host || hostname.endsWith(`.${host}`));
}
