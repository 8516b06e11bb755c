// The cycles that a canister may not touch: what its memory costs for the time of its freezing
// threshold. Nothing of it is spent on messages, but for answers to calls, which are paid for when
// the call leaves. IC spec, "Cycles", freezing_limit.

import type { Canister, Execution } from './canister.ts';
import type { EngineState } from './core-state.ts';
import { storageCycles, updateBaseCycles } from './prices.ts';

const wasmPageBytes = 65_536;

interface Memory {
  readonly heapBytes: number;
  readonly stablePages: number;
}

function reserveFor({ record }: Canister, { heapBytes, stablePages }: Memory): bigint {
  const bytes = BigInt(heapBytes) + BigInt(stablePages) * BigInt(wasmPageBytes);
  return storageCycles(bytes, record.settings.freezingThreshold);
}

/** Of a canister between two messages. */
export function freezingReserve(state: EngineState, canister: Canister): bigint {
  const heapBytes = canister.sandbox?.heap().length ?? 0;
  const stablePages = state.store.stableMemory(canister.idText).pages();
  return reserveFor(canister, { heapBytes, stablePages });
}

/** What a running message may still spend. */
export function liquidCycles({ canister, sandbox, stable, effects }: Execution): bigint {
  const memory = { heapBytes: sandbox.heap().length, stablePages: stable.pages() };
  const liquid = effects.cycles - reserveFor(canister, memory);
  return liquid > 0n ? liquid : 0n;
}

/**
 * Cycles that lack for a message: what is paid to take it in, and the most that it may cost, which
 * is held back until it ends. 0 or less when there are enough.
 */
export function missingCycles(
  state: EngineState,
  canister: Canister,
  ingressCycles: bigint,
): bigint {
  const needed = ingressCycles + updateBaseCycles + state.world.limits.updateInstructions;
  return needed + freezingReserve(state, canister) - canister.record.cycles;
}
