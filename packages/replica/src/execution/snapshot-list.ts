// The list of a canister's snapshots, one value in the store. Their bytes are in a separate memory,
// which is as sparse, checked and durable as stable memory:
//
//   memory ID-sN      stable memory | heap | module, each aligned to a Wasm page | chunks, each
//                     1 MiB after the previous one
//   snapshots of ID   CBOR [next N, [facts]]

import { Principal } from '@dfinity/principal';
import { decode, encode } from 'cborg';
import type { StateStore, ValueChange } from '../core.ts';
import { wasmPageBytes } from '../core.ts';
import type { SnapshotFacts } from '../snapshot-facts.ts';

type Stored = readonly [next: number, snapshots: readonly StoredFacts[]];

/** 64-bit numbers as CBOR decodes them: small ones as `number`. */
type StoredFacts = {
  readonly [K in keyof SnapshotFacts]: SnapshotFacts[K] extends bigint
    ? bigint | number
    : SnapshotFacts[K];
};

export interface SnapshotList {
  readonly next: number;
  readonly snapshots: readonly SnapshotFacts[];
}

const listName = (idText: string) => `snapshots of ${idText}`;
export const chunkSlotBytes = 2 ** 20;

export function readList(store: StateStore, idText: string): SnapshotList {
  const stored = store.getValue(listName(idText));
  if (stored === undefined) return { next: 0, snapshots: [] };
  const [next, snapshots] = decode(stored) as Stored;
  return { next, snapshots: snapshots.map(readFacts) };
}

export function listChange(idText: string, { next, snapshots }: SnapshotList): ValueChange {
  return [listName(idText), encode([next, snapshots.map(storedFacts)])];
}

export function removedSnapshots(
  store: StateStore,
  idText: string,
): { readonly memories: readonly string[]; readonly value: ValueChange } {
  const { snapshots } = readList(store, idText);
  return {
    memories: snapshots.map(({ id }) => memoryOf(id)),
    value: [listName(idText), undefined],
  };
}

/** Returns the network's form: eight bytes of number, big endian, then the canister id. */
export function snapshotIdOf(canisterId: Principal, number: number): Uint8Array {
  const head = Buffer.alloc(8);
  head.writeBigUInt64BE(BigInt(number));
  return new Uint8Array(Buffer.concat([head, canisterId.toUint8Array()]));
}

/** Returns the canister of a snapshot; `undefined` for a malformed id. */
export function ownerOf(snapshotId: Uint8Array): Principal | undefined {
  if (snapshotId.length <= 8 || snapshotId.length > 8 + 29) return undefined;
  return Principal.fromUint8Array(snapshotId.slice(8));
}

export function memoryOf(snapshotId: Uint8Array): string {
  const owner = Principal.fromUint8Array(snapshotId.slice(8)).toText();
  return `${owner}-s${Buffer.from(snapshotId).readBigUInt64BE()}`;
}

/** Returns the size of a snapshot as the network reports it and charges for it. */
export function snapshotBytes(
  facts: Pick<SnapshotFacts, 'stableBytes' | 'heapBytes' | 'moduleBytes' | 'chunks'>,
): bigint {
  const { moduleBytes, heapBytes, stableBytes, chunks } = facts;
  return BigInt(moduleBytes + heapBytes + stableBytes + chunks.length * chunkSlotBytes);
}

/** Returns the offset in bytes at which each part begins, and the number of Wasm pages. */
export function layoutOf(
  facts: Pick<SnapshotFacts, 'stableBytes' | 'heapBytes' | 'moduleBytes' | 'chunks'>,
): { readonly [part in 'stable' | 'heap' | 'module' | 'chunks' | 'pages']: number } {
  const heap = facts.stableBytes;
  const module = heap + facts.heapBytes;
  const chunks = module + Math.ceil(facts.moduleBytes / wasmPageBytes) * wasmPageBytes;
  const end = chunks + facts.chunks.length * chunkSlotBytes;
  return { stable: 0, heap, module, chunks, pages: end / wasmPageBytes };
}

/** CBOR writes whole floating point numbers as integers, so they are stored with their type. */
function storedFacts(facts: SnapshotFacts): object {
  return {
    ...facts,
    globalTimer: facts.globalTimer ?? null,
    lowMemoryHook: facts.lowMemoryHook ?? null,
  };
}

function readFacts(stored: StoredFacts): SnapshotFacts {
  const { globalTimer } = stored;
  return {
    ...stored,
    takenAt: BigInt(stored.takenAt),
    canisterVersion: BigInt(stored.canisterVersion),
    globalTimer:
      globalTimer === null || globalTimer === undefined ? undefined : BigInt(globalTimer),
    lowMemoryHook: stored.lowMemoryHook ?? undefined,
    globals: stored.globals.map(({ type, value }) => {
      return { type, value: type === 'i64' ? BigInt(value) : Number(value) };
    }),
  };
}
