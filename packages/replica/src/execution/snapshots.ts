// Operations on snapshots of canisters: take, upload, read, load and delete. Bytes are copied in
// several commits; the last one lists the snapshot, which exists from then on. IC spec, "IC method
// take_canister_snapshot" and the following ones.

import type { Reject, Snapshots, StableMemory, ValueChange } from '../core.ts';
import { osPageBytes } from '../core.ts';
import type { SnapshotFacts, SnapshotGlobal, SnapshotMetadata } from '../snapshot-facts.ts';
import type { Canister } from './canister.ts';
import type { EngineState } from './core-state.ts';
import {
  canisterNotFound,
  snapshotNotFound,
  snapshotRefused,
  snapshotTooDear,
  storageFailed,
} from './errors.ts';
import { freezingReserve } from './freezing.ts';
import { chargeIdle } from './idle.ts';
import { loadSnapshot } from './load-snapshot.ts';
import { snapshotCycles } from './prices.ts';
import { prepay } from './run-message.ts';
import type { Sandbox } from './sandbox.ts';
import {
  chunkSlotBytes,
  layoutOf,
  listChange,
  memoryOf,
  readList,
  snapshotBytes,
  snapshotIdOf,
} from './snapshot-list.ts';

/** `dfinity/ic` `rs/config/src/execution_environment.rs`, MAX_NUMBER_OF_SNAPSHOTS_PER_CANISTER. */
const snapshotsMax = 10;
/** Maximum number of bytes copied between two commits. */
const pieceBytes = 16 * 2 ** 20;
const bufferBytes = 2 ** 20;
const zeroPage = new Uint8Array(osPageBytes);
const typeNames: Readonly<Record<string, SnapshotGlobal['type']>> = {
  i: 'i32',
  I: 'i64',
  f: 'f32',
  F: 'f64',
};

export function createSnapshots(state: EngineState): Snapshots {
  return {
    list: (canisterId) => readList(state.store, canisterId.toText()).snapshots,
    find: ({ canisterId, snapshotId }) => findSnapshot(state, canisterId.toText(), snapshotId),
    take: (options) => takeSnapshot(state, options),
    create: ({ canisterId, replace, metadata }) => {
      const canister = state.canisters.get(canisterId.toText());
      if (canister === undefined) return canisterNotFound(canisterId.toText());
      const facts = { ...metadata, source: 'upload', chunks: [] } as const;
      return addSnapshot(state, canister, { facts, replace, fill: () => undefined });
    },
    read: (facts, part, { offset, size }) => {
      const bytes = new Uint8Array(size);
      state.store.stableMemory(memoryOf(facts.id)).read(layoutOf(facts)[part] + offset, bytes);
      return bytes;
    },
    readChunk: (facts, hash) => readChunk(state, facts, hash),
    write: (facts, part, { offset, bytes }) => {
      const at = layoutOf(facts)[part] + offset;
      return commitInto(state, facts, (memory) => {
        memory.write(at, bytes);
        return [];
      });
    },
    addChunk: (facts, chunk) => addChunk(state, facts, chunk),
    load: (options) => loadSnapshot(state, options),
    remove: ({ canisterId, snapshotId }) => {
      const idText = canisterId.toText();
      const found = findSnapshot(state, idText, snapshotId);
      if ('status' in found) return found;
      const { next, snapshots } = readList(state.store, idText);
      const left = snapshots.filter(({ id }) => !isSame(id, snapshotId));
      const values = [listChange(idText, { next, snapshots: left })];
      const nothing = { canisters: [], stableMemories: [], cleared: [] };
      state.store.commit({ ...nothing, deleted: [memoryOf(snapshotId)], values });
      return undefined;
    },
  };
}

function findSnapshot(
  state: EngineState,
  idText: string,
  snapshotId: Uint8Array,
): SnapshotFacts | Reject {
  const { snapshots } = readList(state.store, idText);
  return snapshots.find(({ id }) => isSame(id, snapshotId)) ?? snapshotNotFound(idText, snapshotId);
}

function isSame(left: Uint8Array, right: Uint8Array): boolean {
  return Buffer.compare(left, right) === 0;
}

function takeSnapshot(
  state: EngineState,
  { canisterId, replace, chunks }: Parameters<Snapshots['take']>[0],
): SnapshotFacts | Reject {
  const idText = canisterId.toText();
  const canister = state.canisters.get(idText);
  if (canister === undefined) return canisterNotFound(idText);
  const { sandbox } = canister;
  const { moduleHash } = canister.record;
  const module = moduleHash && state.store.getModule(Buffer.from(moduleHash).toString('hex'));
  if (sandbox === undefined || module === undefined) {
    return snapshotRefused(`Failed to create snapshot for empty canister ${idText}`);
  }
  const stable = state.store.stableMemory(idText);
  const facts = {
    ...describe(canister, sandbox),
    moduleBytes: module.length,
    stableBytes: stable.pages() * 65_536,
    source: 'canister',
    chunks: chunks.map(({ hash: own, bytes }) => ({ hash: own, bytes: bytes.length })),
  } as const;
  const fill = (memory: StableMemory, commit: () => void) => {
    const copy = copier(memory, commit);
    const starts = layoutOf(facts);
    copy(starts.stable, facts.stableBytes, (offset, target) => stable.read(offset, target));
    copy(starts.heap, facts.heapBytes, fromBytes(sandbox.heap()));
    copy(starts.module, module.length, fromBytes(module));
    chunks.forEach(({ bytes }, index) => {
      copy(starts.chunks + index * chunkSlotBytes, bytes.length, fromBytes(bytes));
    });
  };
  chargeIdle(state, canister);
  const cost = snapshotCycles(snapshotBytes(facts));
  const missing = cost + freezingReserve(state, canister) - canister.record.cycles;
  if (missing > 0n) return snapshotTooDear(idText, missing);
  const taken = addSnapshot(state, canister, { facts, replace, fill });
  if (!('status' in taken)) prepay(canister, cost);
  return taken;
}

function describe(
  { record }: Canister,
  sandbox: Sandbox,
): Omit<SnapshotMetadata, 'moduleBytes' | 'stableBytes'> {
  const types = sandbox.module.shape.globalTypes;
  return {
    heapBytes: sandbox.heap().length,
    globals: sandbox.globalValues().map((value, index) => {
      return { type: typeNames[types[index] ?? ''] ?? 'i32', value: value as number | bigint };
    }),
    certifiedData: record.certifiedData,
    globalTimer: record.globalTimer,
    lowMemoryHook: record.lowMemoryHook,
  };
}

type Read = (offset: number, target: Uint8Array) => void;

function fromBytes(bytes: Uint8Array): Read {
  return (offset, target) => target.set(bytes.subarray(offset, offset + target.length));
}

/** Copies bytes that are not zero into the memory, with a commit whenever enough are written. */
function copier(memory: StableMemory, commit: () => void) {
  const buffer = Buffer.alloc(bufferBytes);
  return (start: number, length: number, read: Read): void => {
    for (let offset = 0; offset < length; offset += bufferBytes) {
      const part = buffer.subarray(0, Math.min(bufferBytes, length - offset));
      read(offset, part);
      for (let at = 0; at < part.length; at += osPageBytes) {
        const page = part.subarray(at, at + osPageBytes);
        if (page.equals(zeroPage.subarray(0, page.length))) continue;
        memory.write(start + offset + at, page);
      }
      if (memory.dirtyPages() * osPageBytes >= pieceBytes) commit();
    }
  };
}

/** Adds a snapshot atomically: the next attempt deletes the remains of a failed one. */
function addSnapshot(
  state: EngineState,
  canister: Canister,
  wanted: {
    readonly facts: SnapshotMetadata & Pick<SnapshotFacts, 'source' | 'chunks'>;
    readonly replace: Uint8Array | undefined;
    readonly fill: (memory: StableMemory, commit: () => void) => void;
  },
): SnapshotFacts | Reject {
  const { store, world } = state;
  const { idText } = canister;
  const { next, snapshots } = readList(store, idText);
  const { replace } = wanted;
  const left = snapshots.filter(({ id }) => replace === undefined || !isSame(id, replace));
  if (replace && left.length === snapshots.length) return snapshotNotFound(idText, replace);
  if (left.length >= snapshotsMax) {
    const most = `maximum number of snapshots allowed: ${snapshotsMax}`;
    return snapshotRefused(`Canister ${idText} has reached the ${most}.`);
  }
  const id = snapshotIdOf(canister.id, next);
  const takenAt = world.now();
  const facts = { ...wanted.facts, id, takenAt, canisterVersion: canister.record.version };
  const name = memoryOf(id);
  const nothing = { canisters: [], stableMemories: [], cleared: [], deleted: [] };
  const discard = () => store.commit({ ...nothing, deleted: [name] });
  try {
    discard();
    const memory = store.stableMemory(name);
    memory.grow(layoutOf(facts).pages);
    const commit = () => store.commit({ ...nothing, stableMemories: [name] });
    wanted.fill(memory, commit);
    const values = [listChange(idText, { next: next + 1, snapshots: [...left, facts] })];
    const deleted = replace ? [memoryOf(replace)] : [];
    store.commit({ ...nothing, stableMemories: [name], deleted, values });
    return facts;
  } catch (error) {
    store.stableMemory(name).rollback();
    tryTo(discard);
    return storageFailed(error instanceof Error ? error.message : String(error));
  }
}

/** Ignores errors, for example of a full disk, because the next attempt repeats the work. */
function tryTo(act: () => void): void {
  try {
    act();
  } catch {
    return;
  }
}

function readChunk(
  state: EngineState,
  facts: SnapshotFacts,
  hash: Uint8Array,
): Uint8Array | undefined {
  const index = facts.chunks.findIndex((chunk) => isSame(chunk.hash, hash));
  const chunk = facts.chunks[index];
  if (chunk === undefined) return undefined;
  const bytes = new Uint8Array(chunk.bytes);
  const start = layoutOf(facts).chunks + index * chunkSlotBytes;
  state.store.stableMemory(memoryOf(facts.id)).read(start, bytes);
  return bytes;
}

/** Commits a change of a snapshot's bytes, and of the list if it changes too. */
function commitInto(
  { store }: EngineState,
  { id }: SnapshotFacts,
  change: (memory: StableMemory) => readonly ValueChange[],
): Reject | undefined {
  const name = memoryOf(id);
  const memory = store.stableMemory(name);
  try {
    const values = change(memory);
    store.commit({ canisters: [], stableMemories: [name], cleared: [], deleted: [], values });
    return undefined;
  } catch (error) {
    memory.rollback();
    return storageFailed(error instanceof Error ? error.message : String(error));
  }
}

function addChunk(
  state: EngineState,
  facts: SnapshotFacts,
  { hash, bytes }: { readonly hash: Uint8Array; readonly bytes: Uint8Array },
): Reject | undefined {
  if (facts.chunks.some((chunk) => isSame(chunk.hash, hash))) return undefined;
  const chunks = [...facts.chunks, { hash, bytes: bytes.length }];
  const idText = memoryOf(facts.id).replace(/-s\d+$/, '');
  const { next, snapshots } = readList(state.store, idText);
  const changed = snapshots.map((one) => (isSame(one.id, facts.id) ? { ...one, chunks } : one));
  return commitInto(state, facts, (memory) => {
    memory.grow(chunkSlotBytes / 65_536);
    memory.write(layoutOf(facts).chunks + facts.chunks.length * chunkSlotBytes, bytes);
    return [listChange(idText, { next, snapshots: changed })];
  });
}
