// Loads a snapshot onto a canister: code, heap, globals and changed pages of stable memory in one
// commit. Tables come from the module, as on the network. IC spec, "load_canister_snapshot".

import type { Principal } from '@dfinity/principal';
import type { ChangeOrigin, Reject, StableMemory } from '../core.ts';
import { osPageBytes } from '../core.ts';
import type { SnapshotFacts } from '../snapshot-facts.ts';
import { hashModule } from '../wasm/compile.ts';
import { InvalidModule } from '../wasm/invalid-module.ts';
import type { Canister, CanisterRecord } from './canister.ts';
import type { EngineState } from './core-state.ts';
import { commitRecord } from './core-state.ts';
import {
  CanisterTrap,
  canisterNotFound,
  rejectOfTrap,
  snapshotNotFound,
  snapshotRefused,
  snapshotTooDear,
  storageFailed,
} from './errors.ts';
import { allocatedBytes, freezingReserve } from './freezing.ts';
import { historyWith } from './history.ts';
import { createHost } from './ic0-host.ts';
import { chargeIdle } from './idle.ts';
import { newInstance } from './instance-image.ts';
import { nextLowMemoryHook } from './low-memory-hook.ts';
import { compilationInstructions, loadingCycles } from './prices.ts';
import { storedValue } from './register-values.ts';
import { Sandbox } from './sandbox.ts';
import { layoutOf, memoryOf, ownerOf, readList, snapshotBytes } from './snapshot-list.ts';
import { payForGrowth } from './storage-growth.ts';

const bufferBytes = 2 ** 20;

export function loadSnapshot(
  state: EngineState,
  options: {
    readonly canisterId: Principal;
    readonly snapshotId: Uint8Array;
    readonly origin: ChangeOrigin;
  },
): Reject | undefined {
  const { canisterId, snapshotId, origin } = options;
  const canister = state.canisters.get(canisterId.toText());
  if (canister === undefined) return canisterNotFound(canisterId.toText());
  const owner = ownerOf(snapshotId);
  const facts =
    owner &&
    readList(state.store, owner.toText()).snapshots.find(({ id }) => {
      return Buffer.compare(id, snapshotId) === 0;
    });
  if (facts === undefined) return snapshotNotFound(canister.idText, snapshotId);
  const stable = state.store.stableMemory(canister.idText);
  chargeIdle(state, canister);
  try {
    const refused = replaceCode(state, canister, { facts, owner, origin });
    if (refused !== undefined) stable.rollback();
    return refused;
  } catch (error) {
    stable.rollback();
    const why = error instanceof Error ? error.message : String(error);
    if (error instanceof Inconsistent || error instanceof InvalidModule) {
      return snapshotRefused(`The snapshot cannot be loaded: ${why}`);
    }
    return storageFailed(why);
  }
}

/** The parts of an uploaded snapshot do not fit together. */
class Inconsistent extends Error {}

function replaceCode(
  state: EngineState,
  canister: Canister,
  parts: {
    readonly facts: SnapshotFacts;
    readonly owner: Principal | undefined;
    readonly origin: ChangeOrigin;
  },
): Reject | undefined {
  const { store } = state;
  const { facts, owner, origin } = parts;
  const memory = store.stableMemory(memoryOf(facts.id));
  const module = new Uint8Array(facts.moduleBytes);
  memory.read(layoutOf(facts).module, module);
  const hash = hashModule(module);
  const hex = Buffer.from(hash).toString('hex');
  const compiled = state.compile(module, hex);
  const isKnown = state.compiledModules.has(hex);
  const compilation = compilationInstructions(compiled.shape.instructions, isKnown);
  const before = allocatedBytes(state, canister);
  const sandbox = restore(canister, { facts, memory, compiled });
  replacePages(store.stableMemory(canister.idText), { memory, bytes: facts.stableBytes });
  const loaded = { ...canister, sandbox, moduleBytes: module.length };
  const cost = loadingCycles(snapshotBytes(facts), compilation);
  const paid = payLoaded(state, loaded, { before, cost });
  if ('status' in paid) return paid;
  state.compiledModules.add(hex);
  const record = loadedRecord({ ...canister.record, ...paid }, { facts, hash });
  const from = owner?.toText() === canister.idText ? undefined : owner;
  const { id: snapshotId, canisterVersion, takenAt, source } = facts;
  const change = historyWith(store, canister.idText, {
    timestamp: state.world.now(),
    canisterVersion: record.version,
    origin,
    details: { kind: 'snapshot', from, snapshotId, canisterVersion, takenAt, source },
  });
  store.putModule(hex, module);
  const heap = () => newInstance(canister, sandbox);
  commitRecord(state, { canister, record, values: [change], heap });
  sandbox.commit();
  canister.module = compiled;
  canister.moduleBytes = module.length;
  canister.sandbox = sandbox;
  canister.failure = undefined;
  state.onTimer();
  return undefined;
}

/**
 * Returns the balances after the payment for loading and for added memory. `dfinity/ic`
 * rs/execution_environment/src/canister_manager.rs, load_canister_snapshot: the canister must not
 * be frozen afterwards.
 */
function payLoaded(
  state: EngineState,
  loaded: Canister,
  { before, cost }: { readonly before: bigint; readonly cost: bigint },
): Pick<CanisterRecord, 'cycles' | 'reservedCycles'> | Reject {
  const { idText, record } = loaded;
  const least = freezingReserve(state, loaded);
  const cycles = record.cycles - cost;
  if (cycles < least) return snapshotTooDear(idText, least - cycles);
  const after = allocatedBytes(state, loaded);
  const reserved = payForGrowth(state, { canister: loaded, before, after, cycles, least });
  if (reserved instanceof CanisterTrap) return rejectOfTrap(idText, reserved);
  return { cycles: cycles - reserved, reservedCycles: record.reservedCycles + reserved };
}

function restore(
  canister: Canister,
  parts: {
    readonly facts: SnapshotFacts;
    readonly memory: StableMemory;
    readonly compiled: ReturnType<EngineState['compile']>;
  },
): Sandbox {
  const { facts, memory, compiled } = parts;
  const types = compiled.shape.globalTypes.join('');
  const letters = { i32: 'i', i64: 'I', f32: 'f', f64: 'F' };
  if (facts.globals.map(({ type }) => letters[type]).join('') !== types) {
    throw new Inconsistent('its globals do not match its module');
  }
  try {
    return new Sandbox(compiled, createHost(canister.slot, compiled.shape.address), {
      bytes: facts.heapBytes,
      read: (target) => memory.read(layoutOf(facts).heap, target),
      registers: { globals: facts.globals.map(({ value }) => storedValue(value)) },
    });
  } catch (error) {
    throw new Inconsistent(error instanceof Error ? error.message : String(error));
  }
}

/** IC spec: a canister's own timer and hook stay if the snapshot was taken instead of uploaded. */
function loadedRecord(
  record: CanisterRecord,
  { facts, hash }: { readonly facts: SnapshotFacts; readonly hash: Uint8Array },
): CanisterRecord {
  const isUpload = facts.source === 'upload';
  const given = (isUpload && facts.lowMemoryHook) || record.lowMemoryHook;
  const lowMemoryHook = nextLowMemoryHook({ ...record, lowMemoryHook: given }, facts.heapBytes);
  return {
    ...record,
    moduleHash: hash,
    certifiedData: facts.certifiedData,
    globalTimer: (isUpload ? facts.globalTimer : undefined) ?? record.globalTimer,
    lowMemoryHook,
    version: record.version + 1n,
  };
}

/**
 * Holds the differing pages in memory until the commit. Clears a memory larger than the snapshot's.
 */
function replacePages(
  stable: StableMemory,
  { memory, bytes }: { readonly memory: StableMemory; readonly bytes: number },
): void {
  const pages = bytes / 65_536;
  if (stable.pages() > pages) stable.clear();
  stable.grow(pages - stable.pages());
  const wanted = Buffer.alloc(bufferBytes);
  const found = Buffer.alloc(bufferBytes);
  for (let offset = 0; offset < bytes; offset += bufferBytes) {
    const length = Math.min(bufferBytes, bytes - offset);
    memory.read(offset, wanted.subarray(0, length));
    stable.read(offset, found.subarray(0, length));
    for (let at = 0; at < length; at += osPageBytes) {
      const page = wanted.subarray(at, at + osPageBytes);
      if (!page.equals(found.subarray(at, at + osPageBytes))) stable.write(offset + at, page);
    }
  }
}
