// Decides when `canister_on_low_wasm_memory` is due. IC spec, "On Low Wasm Memory".

import type { LowMemoryHook } from '../snapshot-facts.ts';
import type { CanisterRecord } from './canister.ts';

export const lowMemoryHookExport = 'canister_on_low_wasm_memory';

export function nextLowMemoryHook(record: CanisterRecord, heapBytes: number): LowMemoryHook {
  const { wasmMemoryLimit, wasmMemoryThreshold } = record.settings;
  const isLow = wasmMemoryLimit < BigInt(heapBytes) + wasmMemoryThreshold;
  if (!isLow) return 'not satisfied';
  return record.lowMemoryHook === 'not satisfied' ? 'ready' : record.lowMemoryHook;
}
