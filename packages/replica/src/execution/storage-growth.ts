// Payment for memory that a message or an installation adds: the balance must cover its storage for
// the freezing threshold, and on a full subnet cycles are reserved for it. IC spec,
// cycles_to_reserve and "Message execution".

import { chargeOn } from '../subnet-type.ts';
import type { Canister } from './canister.ts';
import type { EngineState } from './core-state.ts';
import type { CanisterTrap } from './errors.ts';
import { growthTooDear, reservationTooLarge } from './errors.ts';
import { allocatedBytes } from './freezing.ts';
import { reservationCycles } from './prices.ts';

export interface Growth {
  readonly canister: Canister;
  /** Allocated bytes before the message and now. */
  readonly before: bigint;
  readonly after: bigint;
  /** The balance without the cycles prepaid for the message. */
  readonly cycles: bigint;
  /** Minimum balance afterwards: 0 for a callback. */
  readonly least: bigint;
}

/** Called before a commit: returns the cycles to reserve, or why no more memory is allowed. */
export function payForGrowth(state: EngineState, growth: Growth): bigint | CanisterTrap {
  const { canister, before, cycles, least } = growth;
  const bytes = growth.after - before;
  if (bytes <= 0n) return 0n;
  const reserved = reservationFor(state, growth);
  const { record } = canister;
  const limit = record.settings.reservedCyclesLimit;
  const total = record.reservedCycles + reserved;
  if (reserved > 0n && total > limit) return reservationTooLarge(bytes, { total, limit });
  // The reservation also covers the cycles that the threshold holds back.
  const needed = reserved > least ? reserved : least;
  return cycles < needed ? growthTooDear(bytes, needed - cycles) : reserved;
}

function reservationFor(state: EngineState, { canister, before, after }: Growth): bigint {
  const { subnetStorageThreshold: threshold, subnetStorageMax: capacity } = state.world.limits;
  let bytes = before;
  for (const other of state.canisters.values()) {
    if (other.idText !== canister.idText) bytes += allocatedBytes(state, other);
  }
  const price = reservationCycles({ bytes, threshold, capacity }, after - before);
  return chargeOn(state.world.subnetType, price);
}
