// A transport with its retry policy, as every operation takes them.

import { type RetryNotice, type RetryPolicy, retry } from './retry.ts';
import type { Signal, Transport } from './transport.ts';

export interface Connection {
  readonly transport: Transport;
  readonly retryPolicy: RetryPolicy;
  readonly onRetry?: ((notice: RetryNotice) => void) | undefined;
  /** Returns the media type of a path's extension, if it is known. */
  contentTypeOf(path: string): string | undefined;
}

/** Runs `operation`, which must be safe to repeat, until it succeeds or a retry cannot help. */
export function trying<T>(
  connection: Connection,
  signal: Signal,
  operation: (attempt: number) => Promise<T>,
): Promise<T> {
  const { retryPolicy: policy, onRetry } = connection;
  return retry(operation, { policy, onRetry, signal });
}
