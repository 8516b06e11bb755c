// Charges for time: memory and compute allocation. Charges are computed when the balance is read,
// and at least once a minute while the clock drives the engine. They cause no writes of their own.

import type { Canister } from './canister.ts';
import type { EngineState } from './core-state.ts';
import { idleCyclesOf } from './freezing.ts';
import { cyclesOfRate } from './prices.ts';
import { uninstallCode } from './uninstall.ts';

/** `dfinity/ic` rs/config/src/subnet_config.rs, duration_between_allocation_charges. */
const chargeIntervalNs = 10_000_000_000n;
const nanosecondsPerSecond = 1_000_000_000n;

/** Charges the elapsed time; a canister that cannot pay loses its code. */
export function chargeIdle(state: EngineState, canister: Canister): void {
  const { record } = canister;
  const elapsed = state.world.now() - record.chargedAt;
  if (elapsed < chargeIntervalNs) return;
  const seconds = elapsed / nanosecondsPerSecond;
  const chargedAt = record.chargedAt + seconds * nanosecondsPerSecond;
  const perDay = idleCyclesOf(state, canister);
  const cost = cyclesOfRate(perDay.storage, seconds) + cyclesOfRate(perDay.compute, seconds);
  // Reserved cycles are used first.
  const reserved = cost < record.reservedCycles ? cost : record.reservedCycles;
  const reservedCycles = record.reservedCycles - reserved;
  const cycles = record.cycles - (cost - reserved);
  if (cycles >= 0n) canister.record = { ...record, chargedAt, reservedCycles, cycles };
  else uninstallUnpaid(state, canister, chargedAt);
}

/** `dfinity/ic` rs/execution_environment/src/scheduler.rs,
 * charge_canisters_for_resource_allocation_and_usage. */
function uninstallUnpaid(state: EngineState, canister: Canister, chargedAt: bigint): void {
  const { record } = canister;
  const settings = { ...record.settings, computeAllocation: 0n, memoryAllocation: 0n };
  canister.record = { ...record, settings, chargedAt, cycles: 0n, reservedCycles: 0n };
  uninstallCode(state, canister);
}
