// The freezing reserve: the cycles that an idle canister needs for the time of its freezing
// threshold. Messages cannot spend them. Callbacks run nevertheless, because each call prepays its
// callback. IC spec, "Cycles", freezing_limit and liquid_balance.

import { chargeOn, type SubnetType } from '../subnet-type.ts';
import type { Canister, CanisterRecord, Execution } from './canister.ts';
import type { EngineState } from './core-state.ts';
import { cyclesOfRate, executionCycles, type IdleCycles, idleCyclesPerDay } from './prices.ts';

const wasmPageBytes = 65_536;

interface Memory {
  readonly heapBytes: number;
  readonly stablePages: number;
}

function usedBytes({ moduleBytes }: Canister, { heapBytes, stablePages }: Memory): bigint {
  return BigInt(moduleBytes) + BigInt(heapBytes) + BigInt(stablePages) * BigInt(wasmPageBytes);
}

function memoryOf(state: EngineState, canister: Canister): Memory {
  const heapBytes = canister.sandbox?.heap().length ?? 0;
  return { heapBytes, stablePages: state.store.stableMemory(canister.idText).pages() };
}

function idleCycles(type: SubnetType, { settings }: CanisterRecord, used: bigint): IdleCycles {
  const { memoryAllocation, computeAllocation } = settings;
  const allocated = used > memoryAllocation ? used : memoryAllocation;
  const { storage, compute } = idleCyclesPerDay(allocated, computeAllocation);
  return { storage: chargeOn(type, storage), compute: chargeOn(type, compute) };
}

function reserveFor(type: SubnetType, record: CanisterRecord, used: bigint): bigint {
  const { storage, compute } = idleCycles(type, record, used);
  const limit = cyclesOfRate(storage + compute, record.settings.freezingThreshold);
  return limit > record.reservedCycles ? limit - record.reservedCycles : 0n;
}

/** Returns the memory used between two messages, or the canister's allocation if that is larger. */
export function allocatedBytes(state: EngineState, canister: Canister): bigint {
  const used = usedBytes(canister, memoryOf(state, canister));
  const { memoryAllocation } = canister.record.settings;
  return used > memoryAllocation ? used : memoryAllocation;
}

/** Returns the same as `allocatedBytes`, within a running message. */
export function allocatedInMessage({ canister, sandbox, stable }: Execution): bigint {
  const memory = { heapBytes: sandbox.heap().length, stablePages: stable.pages() };
  const used = usedBytes(canister, memory);
  const { memoryAllocation } = canister.record.settings;
  return used > memoryAllocation ? used : memoryAllocation;
}

/** Returns the cost of a day for a canister between two messages. */
export function idleCyclesOf(state: EngineState, canister: Canister): IdleCycles {
  const used = usedBytes(canister, memoryOf(state, canister));
  return idleCycles(state.world.subnetType, canister.record, used);
}

/** Returns the freezing reserve of a canister between two messages. */
export function freezingReserve(state: EngineState, canister: Canister): bigint {
  const used = usedBytes(canister, memoryOf(state, canister));
  return reserveFor(state.world.subnetType, canister.record, used);
}

/** Returns the cycles that a running message may not spend. */
export function reserveInMessage({ world, canister, sandbox, stable }: Execution): bigint {
  const memory = { heapBytes: sandbox.heap().length, stablePages: stable.pages() };
  return reserveFor(world.subnetType, canister.record, usedBytes(canister, memory));
}

/** Returns the cycles that a running message may still spend. */
export function liquidCycles(execution: Execution): bigint {
  const liquid = execution.effects.cycles - reserveInMessage(execution);
  return liquid > 0n ? liquid : 0n;
}

/** Returns the cycles missing to prepay these instructions above the reserve; 0 or less if none. */
export function missingCycles(
  state: EngineState,
  canister: Canister,
  instructions: bigint,
): bigint {
  const reserve = freezingReserve(state, canister);
  const price = chargeOn(state.world.subnetType, executionCycles(instructions));
  return price + reserve - canister.record.cycles;
}
