// The common part of all stores: canister records, values and overlays, and a commit as one
// prepared change. The backend decides where bytes are stored.

import type {
  HeapChange,
  StateChange,
  StateStore,
  StoredCanister,
  StoredHeap,
  ValueChange,
} from '../core.ts';
import type { PreparedHeap } from './heap-change.ts';
import { type StableBase, type StableChange, StableOverlay } from './stable-overlay.ts';

/** One commit, which takes effect as a whole or not at all. */
export interface PreparedChange {
  readonly canisters: readonly StoredCanister[];
  readonly memories: readonly StableChange[];
  readonly deleted: readonly string[];
  readonly values: readonly ValueChange[];
  readonly heaps: readonly PreparedHeap[];
}

/** Committed stable memory that accepts changes. */
export interface WritableBase extends StableBase {
  apply(change: StableChange): void;
}

export interface StoreBackend {
  /** Makes the change durable before it takes effect. Throws on failure, without an effect. */
  persist(change: PreparedChange): void;
  base(canisterId: string): WritableBase;
  removeBase(canisterId: string): void;
  /** Absent if heaps are not stored. */
  readonly heaps: HeapBackend | undefined;
  /** Called after a persisted change was applied. */
  applied(): void;
  putModule(sha256Hex: string, module: Uint8Array): void;
  getModule(sha256Hex: string): Uint8Array | undefined;
  close(): void;
}

export interface HeapBackend {
  prepare(change: HeapChange): PreparedHeap;
  apply(change: PreparedHeap): void;
  get(canisterId: string): StoredHeap | undefined;
}

/** The small part of the state, which every store has in memory. */
export interface SmallState {
  readonly canisters: Map<string, Uint8Array>;
  readonly values: Map<string, Uint8Array>;
}

/** Applies a change to the committed state. Applying it twice does no harm. */
export function applyChange(
  change: PreparedChange,
  target: {
    readonly state: SmallState;
    readonly backend: Pick<StoreBackend, 'base' | 'removeBase' | 'heaps'>;
  },
): void {
  const { state, backend } = target;
  for (const { id, record } of change.canisters) state.canisters.set(id, record);
  for (const memory of change.memories) backend.base(memory.canisterId).apply(memory);
  for (const heap of change.heaps) backend.heaps?.apply(heap);
  for (const id of change.deleted) {
    state.canisters.delete(id);
    backend.removeBase(id);
  }
  for (const [name, value] of change.values) {
    if (value === undefined) state.values.delete(name);
    else state.values.set(name, value);
  }
}

/** Creates a store with a backend; `state` is the backend's state at opening. */
export function createStateStore(backend: StoreBackend, state: SmallState): StateStore {
  const overlays = new Map<string, StableOverlay>();

  function overlay(canisterId: string): StableOverlay {
    const known = overlays.get(canisterId);
    if (known !== undefined) return known;
    const made = new StableOverlay(backend.base(canisterId));
    overlays.set(canisterId, made);
    return made;
  }

  function commitPrepared(prepared: PreparedChange): void {
    backend.persist(prepared);
    applyChange(prepared, { state, backend });
    for (const memory of prepared.memories) overlay(memory.canisterId).settle();
    for (const id of prepared.deleted) overlays.get(id)?.settle();
    backend.applied();
  }

  return {
    load: () => [...state.canisters].map(([id, record]) => ({ id, record: record.slice() })),
    stableMemory: overlay,
    keepsHeaps: backend.heaps !== undefined,
    heap: (canisterId) => backend.heaps?.get(canisterId),
    commit(change) {
      const prepared = prepare(change, { overlay, heaps: backend.heaps });
      if (!isEmpty(prepared)) commitPrepared(prepared);
    },
    getValue: (name) => state.values.get(name)?.slice(),
    setValue(name, value) {
      const values = [[name, value.slice()] as const];
      commitPrepared({ canisters: [], memories: [], deleted: [], values, heaps: [] });
    },
    putModule: backend.putModule,
    getModule: backend.getModule,
    close: backend.close,
  };
}

function prepare(
  change: StateChange,
  target: {
    readonly overlay: (id: string) => StableOverlay;
    readonly heaps: HeapBackend | undefined;
  },
): PreparedChange {
  const { overlay, heaps } = target;
  const deleted = new Set(change.deleted);
  const cleared = new Set(change.cleared);
  const touched = new Set([...change.stableMemories, ...change.cleared]);
  const memories: StableChange[] = [];
  for (const id of touched) {
    if (deleted.has(id)) continue;
    // A memory that is only cleared also loses its uncommitted changes.
    if (!change.stableMemories.includes(id)) overlay(id).clear();
    const memory = overlay(id).change(id, cleared.has(id));
    if (memory !== undefined) memories.push(memory);
  }
  return {
    canisters: change.canisters
      .filter(({ id }) => !deleted.has(id))
      .map(({ id, record }) => ({ id, record: record.slice() })),
    memories,
    deleted: change.deleted,
    values: (change.values ?? []).map(([name, value]) => [name, value?.slice()]),
    heaps: heaps === undefined ? [] : (change.heaps ?? []).map((heap) => heaps.prepare(heap)),
  };
}

function isEmpty({ canisters, memories, deleted, heaps, values }: PreparedChange): boolean {
  return [canisters, memories, deleted, heaps, values].every((part) => part.length === 0);
}
