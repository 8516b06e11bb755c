// A transport with its retry policy, and calls that follow the retry rules of the table.

import type { ArgumentOf, ResultOf, RetryRule } from '../operations/operation.ts';
import { type Calls, type Operations, operationRows } from '../operations/table.ts';
import { isStorageError } from '../storage-error.ts';
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

/** The names of operations that can be retried without comparing the stored state. */
export type RuledName<Rows> = {
  [Name in keyof Rows]: Rows[Name] extends { readonly retry: 'compare' } ? never : Name;
}[keyof Rows];

/** Calls an operation, and retries it by the rule in its row. */
export function perform<Name extends RuledName<typeof operationRows>>(
  connection: Connection,
  name: Name,
  argument: ArgumentOf<Operations[Name]>,
  signal: Signal,
): Promise<ResultOf<Operations[Name]>> {
  const { retry: rule } = operationRows[name];
  const calls: Calls<Operations> = connection.transport;
  return byRule(connection, { rule, signal }, () => calls[name](argument, signal));
}

export function byRule<T>(
  connection: Connection,
  { rule, signal }: { readonly rule: Exclude<RetryRule, 'compare'>; readonly signal: Signal },
  operation: () => Promise<T>,
): Promise<T> {
  if (rule === 'never') return operation();
  return trying(connection, signal, async (attempt) => {
    try {
      return await operation();
    } catch (error) {
      const isDone = rule !== 'repeat' && attempt > 1 && isStorageError(error, rule.doneIf);
      if (isDone) return undefined as T;
      throw error;
    }
  });
}
