// Stops uploads while the cycles that are left are needed for other work.

import { cyclesReserve } from '../../limits.ts';
import { Refusal } from './refusal.ts';

/** `spendable`: cycles that can be spent before the canister freezes. */
export function areCyclesLow(spendable: number): boolean {
  return spendable < cyclesReserve;
}

/**
 * Refuses requests that begin or store an upload; requests that free space are always accepted.
 * Check the caller's right before, so that callers without a right get the usual refusal.
 */
export function requireCycles(spendable: number): void {
  if (areCyclesLow(spendable)) {
    throw new Refusal(
      'ServiceUnavailable',
      'The canister is low on cycles and accepts no uploads: ask its operator to top it up.',
    );
  }
}
