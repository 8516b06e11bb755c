// Where gateways serve a canister whose host for agents is all that is known.

import { StorageError } from './storage-error.ts';

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

/**
 * The canister that a gateway's address leads to, by the header that gateways send, since names of
 * an owner's own and the plain address of a local replica have no id in them. HttpError when the
 * answer names none.
 */
export async function findCanister(url: string): Promise<string> {
  const label = new URL(url).hostname.split('.', 1)[0] ?? '';
  // IC spec, "Textual representation of principals": a canister's has groups of five.
  if (/^(?:[a-z2-7]{5}-)+[a-z2-7]{1,5}$/.test(label)) return label;
  const { headers } = await fetch(url, { method: 'HEAD' }).catch((error) => {
    throw new StorageError('NetworkError', 'The gateway cannot be reached.', { cause: error });
  });
  const id = headers.get('x-ic-canister-id');
  if (id !== null) return id;
  throw new StorageError('HttpError', `${url} does not say which canister it leads to.`);
}

/** The host is one of the network's own, whose keys are known. */
export function isNetwork(url: string): boolean {
  const { hostname } = new URL(url);
  return networkHosts.some((host) => hostname === host || hostname.endsWith(`.${host}`));
}
