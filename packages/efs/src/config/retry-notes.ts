// Prints a note about retries when they take longer than a moment.

import type { RetryNotice } from '../../../client/src/connection/retry.ts';
import type { StorageError } from '../../../client/src/storage-error.ts';
import { inWords, notReached } from '../output/failure-words.ts';
import { formatSeconds, printNote } from '../output/output.ts';

const silenceMs = 1_000;

/** Concurrent requests fail together, so only one of them prints a note. */
export function retryNotes(address: string): (notice: RetryNotice) => void {
  let lastMs = Number.NEGATIVE_INFINITY;
  return ({ attempt, attemptsMax, elapsedMs, delayMs, error }) => {
    const now = performance.now();
    if (elapsedMs + delayMs < silenceMs || now - lastMs < silenceMs / 2) return;
    lastMs = now;
    const pause = formatSeconds(Math.max(1, delayMs / 1_000));
    // Time limits the attempts at a stopped canister, not their number
    const whole = error.code === 'Stopped' ? '' : ` of ${attemptsMax}`;
    const next = `attempt ${attempt + 1}${whole}`;
    printNote(`Retrying ${address} in ${pause}, ${next}: ${reasonOf(error)}`);
  };
}

/** Returns the reason; advice follows only if all attempts fail. */
function reasonOf(error: StorageError): string {
  const [, reason] = notReached.exec(error.message) ?? [];
  return reason ?? inWords(error);
}
