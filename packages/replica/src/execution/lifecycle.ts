// Operations of the management canister: creates, changes and deletes canisters. Returns refusals
// with the network's codes. IC spec, "The IC management canister".

import { Principal } from '@dfinity/principal';
import type { ChangeOrigin, Lifecycle, Reject } from '../core.ts';
import type { CanisterSettings } from '../settings.ts';
import { canisterIdBytes, firstIndexOf, subnetOf } from '../subnet-ranges.ts';
import { refuseAllocations } from './allocations.ts';
import type { Canister } from './canister.ts';
import { changeOf } from './canister-change.ts';
import { limitLog, readLog, removeLog } from './canister-log.ts';
import { newRecord } from './canister-record.ts';
import type { EngineState } from './core-state.ts';
import { commitRecord, createCanister, viewCanister } from './core-state.ts';
import {
  allocationTooDear,
  canisterNotFound,
  canisterNotStopped,
  reject,
  stopCancelled,
} from './errors.ts';
import { freezingReserve, idleCyclesOf } from './freezing.ts';
import { hashEnvironment, readHistory, removeHistory } from './history.ts';
import { chargeIdle } from './idle.ts';
import { installCode } from './install.ts';
import { nextLowMemoryHook } from './low-memory-hook.ts';
import { removedSnapshots } from './snapshot-list.ts';
import { createSnapshots } from './snapshots.ts';
import { cancelStopping, setStatus, stopCanister } from './stopping.ts';
import { closeContexts, uninstallCode } from './uninstall.ts';

function nextIdKeyOf(subnet: number): string {
  return subnet === 0 ? 'next canister id' : `next canister id of subnet ${subnet}`;
}

function allocateId(state: EngineState): Principal {
  const { number } = state.subnet ?? { number: 0 };
  const key = nextIdKeyOf(number);
  const stored = state.store.getValue(key);
  let counter = stored ? Buffer.from(stored).readBigUInt64BE() : firstIndexOf(number);
  const idOf = (index: bigint) => Principal.fromUint8Array(canisterIdBytes(index));
  let id = idOf(counter);
  while (state.canisters.has(id.toText()) || state.world.reservedIds.has(id.toText())) {
    counter += 1n;
    id = idOf(counter);
  }
  const next = Buffer.alloc(8);
  next.writeBigUInt64BE(counter + 1n);
  state.store.setValue(key, Uint8Array.from(next));
  return id;
}

function refuseId({ subnet, canisters }: EngineState, id: Principal): Reject | undefined {
  const idText = id.toText();
  if (canisters.has(idText)) return reject(2, 'IC0205', `Canister ${idText} already exists`);
  if (subnet === undefined || subnetOf(id, subnet.count) === subnet.number) return undefined;
  return reject(
    4,
    'IC0408',
    `Canister id ${idText} belongs to another subnet than ${subnet.id.toText()}: send the call to ` +
      'the subnet of the id, with the id as effective canister id',
  );
}

function changeSettings(
  state: EngineState,
  canister: Canister,
  { change, origin }: { change: Partial<CanisterSettings>; origin: ChangeOrigin | undefined },
): Reject | undefined {
  chargeIdle(state, canister);
  const refused =
    refuseAllocations(state, change, canister) ?? refuseUnpaid(state, canister, change);
  if (refused) return refused;
  const settings = { ...canister.record.settings, ...change };
  const record = { ...canister.record, settings, version: canister.record.version + 1n };
  const heapBytes = canister.sandbox?.heap().length ?? 0;
  const lowMemoryHook = nextLowMemoryHook(record, heapBytes);
  const values = limitLog(state.store, canister.idText, settings.logMemoryLimit);
  if (change.controllers) {
    const details = { kind: 'controllers', controllers: change.controllers } as const;
    values.push(changeOf(state, { canister, version: record.version, origin, details }));
  }
  commitRecord(state, { canister, record: { ...record, lowMemoryHook }, values });
  return undefined;
}

/** IC spec, update_settings: an allocation must not freeze its canister. */
function refuseUnpaid(
  state: EngineState,
  canister: Canister,
  change: Partial<CanisterSettings>,
): Reject | undefined {
  const { computeAllocation: compute, memoryAllocation: memory } = change;
  if (!compute && !memory) return undefined;
  const { record } = canister;
  const settings = { ...record.settings, ...change };
  const reserve = freezingReserve(state, { ...canister, record: { ...record, settings } });
  if (reserve <= record.cycles) return undefined;
  return allocationTooDear(compute ? 'compute' : 'memory', reserve - record.cycles);
}

function makeCanister(
  state: EngineState,
  options: Parameters<Lifecycle['create']>[0],
): Principal | Reject {
  const { controllers, cycles, settings } = options;
  const refusedId = options.id && refuseId(state, options.id);
  const refused = refusedId ?? (settings && refuseAllocations(state, settings));
  if (refused) return refused;
  const id = options.id ?? allocateId(state);
  const balance = state.world.subnetType === 'cloud-engine' ? 0n : cycles;
  const record = { ...newRecord(controllers, balance, settings), chargedAt: state.world.now() };
  const canister = createCanister(id, record);
  const environmentHash = hashEnvironment(record.settings.environmentVariables);
  const details = { kind: 'creation', controllers, environmentHash } as const;
  const values = [changeOf(state, { canister, version: 0n, origin: options.origin, details })];
  commitRecord(state, { canister, record, values });
  state.canisters.set(canister.idText, canister);
  return id;
}

function removeCanister(state: EngineState, canister: Canister): Reject | undefined {
  const { idText } = canister;
  if (canister.record.status !== 'stopped') return canisterNotStopped(idText);
  closeContexts(canister);
  const gone = removedSnapshots(state.store, idText);
  const values = [...removeLog(state.store, idText), removeHistory(idText), gone.value];
  state.store.commit({
    ...{ canisters: [], stableMemories: [], cleared: [] },
    deleted: [idText, ...gone.memories],
    values,
  });
  state.canisters.delete(idText);
  return undefined;
}

/** Calls `act` with the canister; returns a reject if it does not exist. */
function onCanister<T>(
  state: EngineState,
  id: Principal,
  act: (canister: Canister) => T,
): T | Reject {
  const idText = id.toText();
  const canister = state.canisters.get(idText);
  return canister ? act(canister) : canisterNotFound(idText);
}

export function createLifecycle(state: EngineState): Lifecycle {
  return {
    create: (options) => makeCanister(state, options),
    async install(options) {
      return onCanister(state, options.canisterId, (canister) =>
        installCode(state, { ...options, canister }),
      );
    },
    updateSettings: (id, change, origin) =>
      onCanister(state, id, (canister) => changeSettings(state, canister, { change, origin })),
    start: (id) =>
      onCanister(state, id, (canister) => {
        cancelStopping(canister, stopCancelled(canister.idText));
        if (canister.record.status !== 'running') setStatus(state, canister, 'running');
        state.onTimer();
        return undefined;
      }),
    stop: async (id) => onCanister(state, id, (canister) => stopCanister(state, canister)),
    uninstall: (id, origin) =>
      onCanister(state, id, (canister) => {
        uninstallCode(state, canister, origin);
        return undefined;
      }),
    remove: (id) => onCanister(state, id, (canister) => removeCanister(state, canister)),
    depositCycles(id, cycles) {
      const canister = state.canisters.get(id.toText());
      if (!canister) return;
      const record = { ...canister.record, cycles: canister.record.cycles + cycles };
      commitRecord(state, { canister, record });
    },
    settings: (id) => state.canisters.get(id.toText())?.record.settings,
    canister(id) {
      const canister = state.canisters.get(id.toText());
      return canister && viewCanister(state, canister);
    },
    balance(id) {
      const canister = state.canisters.get(id.toText());
      if (!canister) return undefined;
      chargeIdle(state, canister);
      const { cycles, reservedCycles } = canister.record;
      const { storage, compute } = idleCyclesOf(state, canister);
      const { moduleBytes } = canister;
      return { cycles, reservedCycles, idleCyclesPerDay: storage + compute, moduleBytes };
    },
    logs: (id) => readLog(state.store, id.toText()),
    history: (id) => readHistory(state.store, id.toText()),
    snapshots: createSnapshots(state),
  };
}
