// Repeats failed operations after growing delays with jitter, or after Retry-After. The service's
// interface makes this safe: a chunk can be sent twice, and a completion can be repeated.

import { abortedError, StorageError } from '../storage-error.ts';
import { onAbort } from './abort.ts';

export interface RetryPolicy {
  /**
   * Including the first attempt; 1: nothing is retried. Attempts that a stopped canister refuses do
   * not count.
   */
  readonly attemptsMax: number;
  /** The delay before the second attempt; doubled before each further one. */
  readonly delayMsMin: number;
  readonly delayMsMax: number;
  /**
   * Time from the first refusal by a stopped canister to the last attempt. Tools stop a canister
   * for the seconds in which they upgrade it.
   */
  readonly stoppedMsMax: number;
}

/** Passed to `onRetry` before each pause. */
export interface RetryNotice {
  /** The number of the failed attempt, from 1. */
  readonly attempt: number;
  readonly attemptsMax: number;
  /** Since the start of the first attempt. */
  readonly elapsedMs: number;
  /** Until the next attempt. */
  readonly delayMs: number;
  readonly error: StorageError;
}

/** The shortest pauses add up to 22.9 s, enough for a gateway or router to restart. */
export const defaultRetryPolicy: RetryPolicy = {
  attemptsMax: 10,
  delayMsMin: 250,
  delayMsMax: 10_000,
  stoppedMsMax: 30_000,
};

/** The operation fails at once if Retry-After is longer: the service is unavailable. */
const retryAfterSecondsMax = 120;

/** Returns the seconds of a Retry-After field, which is a number or a date (RFC 9110 §10.2.3). */
export function retryAfterSeconds(headers: Headers): number | undefined {
  const field = headers.get('retry-after')?.trim() ?? '';
  if (/^\d{1,9}$/.test(field)) return Number(field);
  const until = Date.parse(field);
  if (Number.isNaN(until)) return undefined;
  // The sender's clock may differ from this machine's.
  const now = Date.parse(headers.get('date') ?? '');
  return Math.max(0, (until - (Number.isNaN(now) ? Date.now() : now)) / 1_000);
}

export interface RetryOptions {
  readonly policy: RetryPolicy;
  readonly onRetry?: ((notice: RetryNotice) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs `operation` with the number of the attempt, from 1, until it succeeds or cannot be retried.
 */
export async function retry<T>(
  operation: (attempt: number) => Promise<T>,
  { policy, onRetry, signal }: RetryOptions,
): Promise<T> {
  const startMs = Date.now();
  let stoppedEndMs = 0;
  for (let attempt = 1; ; attempt++) {
    if (signal?.aborted) throw abortedError(signal.reason);
    try {
      return await operation(attempt);
    } catch (error) {
      if (signal?.aborted) throw abortedError(signal.reason);
      const passes = error instanceof StorageError && error.isRetryable;
      const { attemptsMax } = policy;
      if (!passes || attemptsMax === 1) throw error;
      const seconds = error.retryAfterSeconds ?? 0;
      if (seconds > retryAfterSecondsMax) throw error;
      const elapsedMs = Date.now() - startMs;
      let delay = Math.max(delayMs(policy, attempt), 1_000 * seconds);
      let isLast = attempt >= attemptsMax;
      if (error.code === 'Stopped') {
        stoppedEndMs ||= elapsedMs + policy.stoppedMsMax;
        isLast = elapsedMs >= stoppedEndMs;
        delay = Math.min(delay, stoppedEndMs - elapsedMs);
      }
      if (isLast) throw error;
      onRetry?.({ attempt, attemptsMax, elapsedMs, delayMs: delay, error });
      await pause(delay, signal);
    }
  }
}

/** Returns a random time from half to all of the delay, so that clients do not retry at once. */
export function delayMs({ delayMsMin, delayMsMax }: RetryPolicy, attempt: number): number {
  const whole = Math.min(delayMsMax, delayMsMin * 2 ** (attempt - 1));
  return whole * (0.5 + Math.random() / 2);
}

function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(abortedError(signal?.reason));
    };
    const timer = setTimeout(() => {
      settled();
      resolve();
    }, milliseconds);
    const settled = onAbort(signal, stop);
  });
}
