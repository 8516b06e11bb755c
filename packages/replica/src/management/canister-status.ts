// The answer of canister_status. Figures that this replica does not count (query statistics, the
// sizes of the history and of globals) are zero, as for a canister without any.

import type { CanisterBalance, CanisterView, LogRecord } from '../core.ts';
import { snapshotBytes } from '../execution/snapshot-list.ts';
import type { CanisterSettings, Visibility } from '../settings.ts';
import type { SnapshotFacts } from '../snapshot-facts.ts';
import { recordBytes } from './inquiry-methods.ts';

export interface StatusSource {
  readonly view: CanisterView;
  readonly balance: CanisterBalance;
  readonly settings: CanisterSettings;
  readonly chunkStoreBytes: number;
  readonly snapshots: readonly SnapshotFacts[];
  readonly logs: readonly LogRecord[];
}

export function canisterStatus(source: StatusSource): object {
  const { view, balance, settings } = source;
  const heap = BigInt(view.heapBytes);
  const stable = BigInt(view.stableBytes);
  const chunks = BigInt(source.chunkStoreBytes);
  const sections = BigInt(customSectionBytes(view));
  const module = BigInt(balance.moduleBytes);
  const snapshots = source.snapshots.reduce((sum, facts) => sum + snapshotBytes(facts), 0n);
  const logs = BigInt(source.logs.reduce((sum, one) => sum + recordBytes + one.content.length, 0));
  const memorySize = heap + stable + module + chunks + sections + snapshots + logs;
  return {
    status: { [view.status]: null },
    ready_for_migration: false,
    version: view.version,
    settings: definiteSettings(settings),
    module_hash: view.moduleHash === undefined ? [] : [view.moduleHash],
    memory_size: memorySize,
    memory_metrics: {
      wasm_memory_size: heap,
      stable_memory_size: stable,
      global_memory_size: 0n,
      wasm_binary_size: module,
      custom_sections_size: sections,
      canister_history_size: 0n,
      wasm_chunk_store_size: chunks,
      snapshots_size: snapshots,
      log_memory_store_size: logs,
    },
    cycles: balance.cycles,
    reserved_cycles: balance.reservedCycles,
    idle_cycles_burned_per_day: balance.idleCyclesPerDay,
    query_stats: {
      num_calls_total: 0n,
      num_instructions_total: 0n,
      request_payload_bytes_total: 0n,
      response_payload_bytes_total: 0n,
    },
  };
}

function definiteSettings(settings: CanisterSettings): object {
  return {
    controllers: settings.controllers,
    compute_allocation: settings.computeAllocation,
    memory_allocation: settings.memoryAllocation,
    freezing_threshold: settings.freezingThreshold,
    reserved_cycles_limit: settings.reservedCyclesLimit,
    log_visibility: visibilityValue(settings.logVisibility),
    log_memory_limit: settings.logMemoryLimit,
    snapshot_visibility: visibilityValue(settings.snapshotVisibility),
    status_visibility: visibilityValue(settings.statusVisibility),
    minimum_incoming_canister_call_cycles: settings.minimumIncomingCallCycles,
    wasm_memory_limit: settings.wasmMemoryLimit,
    wasm_memory_threshold: settings.wasmMemoryThreshold,
    environment_variables: [...settings.environmentVariables].map(([name, value]) => {
      return { name, value };
    }),
  };
}

function visibilityValue(visibility: Visibility): object {
  if (typeof visibility === 'string') return { [visibility]: null };
  return { allowed_viewers: visibility.viewers };
}

function customSectionBytes(view: CanisterView): number {
  let sum = 0;
  for (const [name, { content }] of view.metadata) sum += name.length + content.length;
  return sum;
}
