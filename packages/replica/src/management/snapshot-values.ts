// Converts a snapshot's metadata between Candid and the engine.

import type { Reject } from '../core.ts';
import type { LowMemoryHook, SnapshotFacts, SnapshotMetadata } from '../snapshot-facts.ts';
import { moduleBytesMax } from './chunk-store.ts';
import { refused } from './rejects.ts';
import type { GlobalValue, MetadataArgument } from './snapshot-types.ts';

const wasmPageBytes = 65_536n;
/** `dfinity/ic` `rs/types/types/src/lib.rs`, MAX_STABLE_MEMORY_IN_BYTES and
 * MAX_WASM_MEMORY_IN_BYTES. */
const stableBytesMax = 500n * 2n ** 30n;
const heapBytesMax = 2n ** 32n;
/** The network's limit: 1,000 globals in a module. */
const globalsMax = 1_000;

const hooks = {
  condition_not_satisfied: 'not satisfied',
  ready: 'ready',
  executed: 'executed',
} as const satisfies Record<string, LowMemoryHook>;

export function sourceValue(source: SnapshotFacts['source']): object {
  return source === 'canister' ? { taken_from_canister: null } : { metadata_upload: null };
}

export function metadataValue(facts: SnapshotFacts): object {
  const { globalTimer, lowMemoryHook } = facts;
  const hook = Object.entries(hooks).find(([, state]) => state === lowMemoryHook);
  const timer = globalTimer ? { active: globalTimer } : { inactive: null };
  return {
    source: sourceValue(facts.source),
    taken_at_timestamp: facts.takenAt,
    wasm_module_size: BigInt(facts.moduleBytes),
    globals: facts.globals.map(({ type, value }) => ({ [type]: value })),
    wasm_memory_size: BigInt(facts.heapBytes),
    stable_memory_size: BigInt(facts.stableBytes),
    wasm_chunk_store: facts.chunks.map(({ hash }) => ({ hash })),
    canister_version: facts.canisterVersion,
    certified_data: facts.certifiedData,
    global_timer: globalTimer === undefined ? [] : [timer],
    on_low_wasm_memory_hook_status: hook === undefined ? [] : [{ [hook[0]]: null }],
  };
}

export function readMetadata(argument: MetadataArgument): SnapshotMetadata | Reject {
  const [timer] = argument.global_timer;
  const [hook] = argument.on_low_wasm_memory_hook_status;
  const hookName = hook && (Object.keys(hook)[0] as keyof typeof hooks);
  const refusal = checkSizes(argument);
  if (refusal !== undefined) return refusal;
  return {
    moduleBytes: Number(argument.wasm_module_size),
    heapBytes: Number(argument.wasm_memory_size),
    stableBytes: Number(argument.stable_memory_size),
    globals: argument.globals.map(readGlobal),
    certifiedData: argument.certified_data,
    globalTimer: timer && ('active' in timer ? timer.active : 0n),
    lowMemoryHook: hookName && hooks[hookName],
  };
}

function readGlobal(global: GlobalValue): SnapshotMetadata['globals'][number] {
  const [[type, value] = []] = Object.entries(global);
  return { type, value } as SnapshotMetadata['globals'][number];
}

function checkSizes(argument: MetadataArgument): Reject | undefined {
  const { wasm_memory_size: heap, stable_memory_size: stable, wasm_module_size: module } = argument;
  const bounds: readonly (readonly [what: string, size: bigint, most: bigint])[] = [
    ['Wasm module', module, BigInt(moduleBytesMax)],
    ['Wasm memory', heap, heapBytesMax],
    ['stable memory', stable, stableBytesMax],
  ];
  for (const [what, size, most] of bounds) {
    if (size > most) return refused(`Snapshot: the ${what} of ${size} bytes exceeds ${most}`);
  }
  if (heap % wasmPageBytes !== 0n || stable % wasmPageBytes !== 0n) {
    return refused('Snapshot: the sizes of memories must be multiples of 65536 bytes');
  }
  if (argument.certified_data.length > 32) {
    return refused('Snapshot: certified data must be no larger than 32 bytes');
  }
  if (argument.globals.length > globalsMax || argument.globals.some((one) => 'v128' in one)) {
    return refused(`Snapshot: at most ${globalsMax} globals, and none of type v128`);
  }
  return undefined;
}
