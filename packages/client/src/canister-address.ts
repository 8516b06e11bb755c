// Where gateways serve a canister whose host for agents is all that is known.

const networkHosts = ['icp-api.io', 'icp0.io', 'ic0.app'];

/** Without a slash at its end; '' when the host is neither the network's nor on this machine. */
export function canisterAddress(options: {
  readonly host: string;
  readonly canisterId: string;
}): string {
  if (!URL.canParse(options.host)) return '';
  const { protocol, hostname, port } = new URL(options.host);
  if (isNetwork(options.host)) {
    return `https://${options.canisterId}.icp0.io`;
  }
  // A number has no names below it.
  const isLocal = /^(?:(?:.+\.)?localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
  return isLocal
    ? `${protocol}//${options.canisterId}.localhost${port === '' ? '' : `:${port}`}`
    : '';
}

/** The host is one of the network's own, whose keys are known. */
export function isNetwork(url: string): boolean {
  const { hostname } = new URL(url);
  return networkHosts.some((host) => hostname === host || hostname.endsWith(`.${host}`));
}
