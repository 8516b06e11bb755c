// The retries of the page's clients, and a message while the service makes them wait.

import type { RetryNotice } from '../../packages/client/src/connection/retry.ts';
import { loadedTexts } from './language.ts';
import { tell } from './notices.ts';
import { distanceOf } from './words.ts';

/** The clients' own pauses are shorter; the service may name longer ones, up to two minutes. */
const quietMsMax = 2_000;

/** Gives up after about two seconds, unless the service names a time to wait. */
export const retryOptions = {
  retry: { attemptsMax: 4, stoppedMsMax: 2_000 },
  onRetry({ delayMs }: RetryNotice): void {
    if (delayMs <= quietMsMax) return;
    void loadedTexts().then(({ page }) => {
      tell(page.busy(distanceOf(delayMs)), { shownMs: delayMs });
    });
  },
};
