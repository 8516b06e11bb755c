// Requests to the service, by the client library's exchange and retries. Importing its modules
// instead of createHttpStorage() keeps the elements at half of that function's size.

import { defaultRetryPolicy, retry } from '../../client/src/connection/retry.ts';
import { xhrSender } from '../../client/src/connection/xhr-sender.ts';
import type { HttpPlace } from '../../client/src/http/exchange.ts';
import { abortedError } from '../../client/src/storage-error.ts';

/** A request fails if no byte moves for so long. */
const timeoutMs = 60_000;

export function connectionTo(url: string, apiKey?: string): HttpPlace {
  return {
    url,
    apiKey: apiKey || undefined,
    timeoutMs,
    // A redirect could send a file or a key to another host.
    fetch: (input, init) => fetch(input, { ...init, redirect: 'error' }),
    sendBody: xhrSender,
  };
}

export interface Waiting {
  readonly signal: AbortSignal;
  /** Called with true while the browser has no network. */
  onOffline?(isOffline: boolean): void;
}

/** Repeats an operation as the client library does; a browser without a network waits for one. */
export function persist<T>(
  operation: (attempt: number) => Promise<T>,
  waiting: Waiting,
): Promise<T> {
  const { signal } = waiting;
  const policy = defaultRetryPolicy;
  return retry(
    async (attempt) => {
      await untilOnline(waiting);
      return operation(attempt);
    },
    { policy, signal },
  );
}

async function untilOnline({ signal, onOffline }: Waiting): Promise<void> {
  if (navigator.onLine) return;
  onOffline?.(true);
  await new Promise<void>((resolve) => {
    const done = () => {
      removeEventListener('online', done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    addEventListener('online', done);
    signal.addEventListener('abort', done);
  });
  onOffline?.(false);
  if (signal.aborted) throw abortedError(signal.reason);
}
