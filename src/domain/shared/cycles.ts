// Cycles: uploads stop while there are enough left for all else.

import { cyclesReserve } from '../../limits.ts';
import { Refusal } from './refusal.ts';

/**
 * For whatever begins or stores an upload; what makes room is taken at any time. `liquidCycles`:
 * what may be spent before the canister freezes.
 */
export function requireCycles(liquidCycles: number): void {
  if (liquidCycles < cyclesReserve) {
    throw new Refusal(
      'ServiceUnavailable',
      'The canister is low on cycles and accepts no uploads: ask its operator to top it up.',
    );
  }
}
