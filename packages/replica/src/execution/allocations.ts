// Allocations of a subnet: compute and memory reserved for single canisters.

import type { Reject } from '../core.ts';
import type { CanisterSettings } from '../settings.ts';
import type { Canister } from './canister.ts';
import type { EngineState } from './core-state.ts';
import { reject } from './errors.ts';

/**
 * `dfinity/ic` `rs/execution_environment/src/scheduler/round_schedule.rs`,
 * compute_capacity_percent: one core less than the four of `rs/config/src/subnet_config.rs`; the
 * sum of allocations stays below it.
 */
const computePercentMax = 299n;
/** `rs/config/src/execution_environment.rs`, SUBNET_MEMORY_CAPACITY. */
const memoryBytesMax = 2n ** 41n;

/** Returns the reason for refusing allocations; present ones of `canister` count as free. */
export function refuseAllocations(
  state: EngineState,
  wanted: Partial<CanisterSettings>,
  canister?: Canister,
): Reject | undefined {
  const { computeAllocation: compute, memoryAllocation: memory } = wanted;
  if (!compute && !memory) return undefined;
  let freeCompute = computePercentMax;
  let freeMemory = memoryBytesMax;
  for (const other of state.canisters.values()) {
    if (other === canister) continue;
    freeCompute -= other.record.settings.computeAllocation;
    freeMemory -= other.record.settings.memoryAllocation;
  }
  if (compute !== undefined && compute > freeCompute) {
    return oversubscribed(
      `Canister requested a compute allocation of ${compute}% which cannot be satisfied because ` +
        `the Subnet's remaining compute capacity is ${freeCompute}%`,
    );
  }
  if (memory !== undefined && memory > freeMemory) {
    return oversubscribed(
      `Canister requested ${memory} B of memory but only ${freeMemory} B are available in the ` +
        'subnet',
    );
  }
  return undefined;
}

function oversubscribed(message: string): Reject {
  return reject(1, 'IC0101', message);
}
