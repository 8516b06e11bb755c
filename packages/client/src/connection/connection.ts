// What a transfer needs of its surroundings: the way of transport, how often to try, and the type
// of a path.

import { type RetryNotice, type RetryPolicy, retry } from './retry.ts';
import type { Signal, Transport } from './transport.ts';

export interface Connection {
  readonly transport: Transport;
  readonly retryPolicy: RetryPolicy;
  readonly onRetry?: ((notice: RetryNotice) => void) | undefined;
  /** Media type by a path's extension, if it has a known one. */
  contentTypeOf(path: string): string | undefined;
}

/** Tries `operation`, which must be safe to repeat, until it succeeds or cannot. */
export function trying<T>(
  connection: Connection,
  signal: Signal,
  operation: (attempt: number) => Promise<T>,
): Promise<T> {
  const { retryPolicy: policy, onRetry } = connection;
  return retry(operation, { policy, onRetry, signal });
}
