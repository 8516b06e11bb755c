// The id of the canister behind a gateway's address.

import { StorageError } from '../storage-error.ts';
import { networkFault } from './network-errors.ts';

/**
 * Returns the id of the canister behind a gateway's address. Custom domains and the plain address
 * of a local replica do not contain the id, so the function asks the gateway for its header. Throws
 * HttpError if the response has no such header, and the fault that the response describes, such as
 * Frozen.
 */
export async function findCanister(url: string): Promise<string> {
  const { canisterIdIn } = await import('./canister-id.ts');
  const named = canisterIdIn(url);
  if (named !== undefined) return named;
  const { headers, ok } = await ask(url, 'HEAD');
  const id = headers.get('x-ic-canister-id');
  if (id !== null) return id;
  const fault = ok ? undefined : await faultAt(url);
  throw fault ?? new StorageError('HttpError', `${url} does not name its canister.`);
}

function ask(url: string, method: 'GET' | 'HEAD'): Promise<Response> {
  return fetch(url, { method, redirect: 'error' }).catch((error) => {
    throw new StorageError('NetworkError', 'The gateway cannot be reached.', { cause: error });
  });
}

/** Only the body says what is wrong. */
async function faultAt(url: string): Promise<StorageError | undefined> {
  const response = await ask(url, 'GET');
  const text = await response.text();
  return networkFault({ address: url, text, cause: response.headers.get('x-ic-error-cause') });
}
