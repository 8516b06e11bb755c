// The state that the engine's parts share: canisters, store, queue; look-ups and record commits.

import type { Principal } from '@dfinity/principal';
import type {
  CanisterView,
  HeapChange,
  Management,
  MessageReport,
  Reject,
  StateStore,
  ValueChange,
} from '../core.ts';
import type { CompiledModule } from '../wasm/compile.ts';
import type { Canister, CanisterRecord, World } from './canister.ts';
import { encodeRecord } from './canister-record.ts';
import type { CompiledModules } from './compiled-modules.ts';
import type { SubnetPlace } from './cross-subnet.ts';
import { canisterNotFound, canisterStopped, canisterStopping, noModule, reject } from './errors.ts';
import type { Scheduler } from './scheduler.ts';

export interface EngineState {
  readonly world: World;
  readonly store: StateStore;
  /** Absent: the only subnet. */
  readonly subnet: SubnetPlace | undefined;
  readonly canisters: Map<string, Canister>;
  readonly scheduler: Scheduler;
  readonly compile: (module: Uint8Array, sha256Hex: string) => CompiledModule;
  readonly compiledModules: CompiledModules;
  readonly management: () => Management;
  readonly onReport: (report: MessageReport) => void;
  readonly onTimer: () => void;
  readonly onLowMemory: (canister: Canister) => void;
  /** Calls that wait for an answer with a deadline. */
  readonly bestEffort: Set<{ readonly deadline: bigint; readonly expire: () => void }>;
  /** Callbacks whose outcome could not be stored: each runs again at the next tick. */
  readonly unstored: (() => void)[];
}

export function createCanister(id: Principal, record: CanisterRecord): Canister {
  return {
    id,
    idText: id.toText(),
    record,
    module: undefined,
    moduleBytes: 0,
    sandbox: undefined,
    slot: { execution: undefined },
    contexts: new Set(),
    lastTime: 0n,
    openCalls: new Set(),
    waiting: { total: 0, byCallee: new Map() },
    isTimerQueued: false,
    isHookQueued: false,
    isTaskHeld: false,
    failure: undefined,
    stopping: [],
  };
}

/** Makes a record and the writes to stable memory durable, then assigns it to the canister. */
export function commitRecord(
  state: EngineState,
  change: {
    readonly canister: Canister;
    readonly record: CanisterRecord;
    readonly cleared?: true;
    readonly values?: readonly ValueChange[];
    /** Called only if heaps are stored. */
    readonly heap?: () => HeapChange;
  },
): void {
  const { canister, record, cleared, heap, values = [] } = change;
  const id = canister.idText;
  state.store.commit({
    canisters: [{ id, record: encodeRecord(record) }],
    stableMemories: cleared ? [] : [id],
    cleared: cleared ? [id] : [],
    deleted: [],
    heaps: heap && state.store.keepsHeaps ? [heap()] : [],
    values,
  });
  const timerChanged = record.globalTimer !== canister.record.globalTimer;
  canister.record = record;
  if (timerChanged) state.onTimer();
  if (record.lowMemoryHook === 'ready') state.onLowMemory(canister);
}

/** Returns the time for this canister, which never runs backwards. */
export function nextTime(state: EngineState, canister: Canister): bigint {
  const now = state.world.now();
  if (now > canister.lastTime) canister.lastTime = now;
  return canister.lastTime;
}

export function isController({ record }: Canister, caller: Uint8Array): boolean {
  const isCaller = (one: Principal) => Buffer.compare(one.toUint8Array(), caller) === 0;
  return record.settings.controllers.some(isCaller);
}

/** Returns the reason why a canister cannot accept a new call, if there is one. */
export function refuseCall(canister: Canister | undefined, idText: string): Reject | undefined {
  if (canister === undefined) return canisterNotFound(idText);
  if (canister.failure !== undefined) {
    return reject(
      5,
      'IC0502',
      `Canister ${idText} could not be resumed after the restart: ${canister.failure}`,
    );
  }
  if (canister.record.status === 'stopped') return canisterStopped(idText);
  if (canister.record.status === 'stopping') return canisterStopping(idText);
  return canister.sandbox === undefined ? noModule(idText) : undefined;
}

const noMetadata: CanisterView['metadata'] = new Map();

export function viewCanister(state: EngineState, canister: Canister): CanisterView {
  const { record } = canister;
  return {
    id: canister.id,
    controllers: record.settings.controllers,
    status: record.status,
    moduleHash: record.moduleHash,
    certifiedData: record.certifiedData,
    version: record.version,
    cycles: record.cycles,
    heapBytes: canister.sandbox?.heap().length ?? 0,
    stableBytes: state.store.stableMemory(canister.idText).pages() * 65_536,
    metadata: canister.module?.metadata ?? noMetadata,
  };
}
