// The id of the canister behind a gateway's address.

import { isStorageError, StorageError } from '../storage-error.ts';
import { networkFault } from './network-errors.ts';

type Ask = typeof globalThis.fetch;

/** Returns the id of the canister behind a gateway's address. Throws HttpError if it is unknown. */
export async function findCanister(url: string): Promise<string> {
  const id = await canisterAt(url);
  if (id === undefined) throw unnamed(url);
  return id;
}

/**
 * Returns the id of the canister behind a gateway's address. Custom domains and the plain address
 * of a local replica do not contain the id, so the function asks the gateway for its header; it
 * returns undefined if a successful response has no such header. Throws the fault that the response
 * describes, such as Frozen.
 */
export async function canisterAt(url: string, fetch?: Ask): Promise<string | undefined> {
  const { canisterIdIn } = await import('./canister-id.ts');
  const named = canisterIdIn(url);
  if (named !== undefined) return named;
  const { headers, ok, status } = await ask(url, 'HEAD', fetch);
  const id = headers.get('x-ic-canister-id');
  if (id !== null || ok) return id ?? undefined;
  throw (await faultAt(url, fetch)) ?? unnamed(url, status >= 500);
}

export function unnamed(url: string, isRetryable = false): StorageError {
  const words = `${url} does not name its canister.`;
  return new StorageError('HttpError', words, { isRetryable });
}

async function ask(url: string, method: 'GET' | 'HEAD', fetch: Ask = globalThis.fetch) {
  try {
    return await fetch(url, { method, redirect: 'error' });
  } catch (cause) {
    if (isStorageError(cause)) throw cause;
    const words = 'The gateway cannot be reached.';
    throw new StorageError('NetworkError', words, { cause, isRetryable: true });
  }
}

/** Repeats the request by GET, because only a body describes the fault. */
async function faultAt(url: string, fetch?: Ask): Promise<StorageError | undefined> {
  const response = await ask(url, 'GET', fetch);
  const text = await response.text();
  return networkFault({ address: url, text, cause: response.headers.get('x-ic-error-cause') });
}
