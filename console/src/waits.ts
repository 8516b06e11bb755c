// The retries of the page's clients, and a message while the service makes them wait.

import type { RetryNotice } from '../../packages/client/src/connection/retry.ts';
import { tell } from './notices.ts';
import { spanOf } from './words.ts';

/** The clients' own pauses are shorter; the service may name longer ones, up to two minutes. */
const quietMsMax = 2_000;

/** Gives up after about two seconds, unless the service names a time to wait. */
export const retryOptions = {
  retry: { attemptsMax: 4 },
  onRetry({ delayMs }: RetryNotice): void {
    if (delayMs <= quietMsMax) return;
    tell(`The service is busy: trying again in ${spanOf(delayMs)}.`, { shownMs: delayMs });
  },
};
