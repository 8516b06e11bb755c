// Measures the memory of an empty canister, and the stable memory of a file with its records.

import { IDL } from '@dfinity/candid';
import { type StableMemoryView, startReplica } from '../packages/replica/src/replica.ts';
import { openCertifiedCanister } from '../tests/support/certification/certified-canister.ts';
import { settings } from '../tests/support/key-network.ts';
import { ownReplica } from '../tests/support/network/test-network.ts';

export interface StorageCosts {
  /** Stable memory of a canister that was just installed. */
  readonly installedBytes: number;
  readonly empty: EmptyCanister;
  readonly files: readonly FileCost[];
}

/** A canister without files, as the network's `canister_status` describes it. */
export interface EmptyCanister {
  /** Heap, stable memory and module together: the network charges for all three. */
  readonly memoryBytes: number;
  readonly idleCyclesPerDay: number;
}

export interface FileCost {
  readonly bytes: number;
  /** The number of files stored. */
  readonly files: number;
  /** Bytes of stable memory per file. */
  readonly stableBytes: number;
}

const kinds: readonly (readonly [bytes: number, files: number])[] = [
  [1_000, 500],
  [10_000, 500],
  [100_000, 200],
  [1_000_000, 40],
];

// Must equal the extent of kernel/stable-extents.ts.
const extentBytes = 1_048_576;
const reservedExtents = 2;
const countAt = 12;
const tableAt = 4_096;
const spaceShift = 29;
/** Azle gives each map of space 0 regions of 8 MiB. */
const regionExtents = 8;
const blockBytes = 4_096;
const zeros = Buffer.alloc(blockBytes);

export async function measureStorage(wasm: Uint8Array): Promise<StorageCosts> {
  const replica = await startReplica({ server: false });
  const canisterId = await replica.createCanister();
  await replica.install(canisterId, wasm, settings({ stored: null }));
  const installedBytes = replica.stableMemory(canisterId.toText()).bytes;
  const argument = IDL.encode(
    [IDL.Record({ canister_id: IDL.Principal })],
    [{ canister_id: canisterId }],
  );
  const reply = await replica.call('aaaaa-aa', 'canister_status', argument);
  await replica.stop();
  return { installedBytes, empty: emptyCanister(reply), files: await measureFiles() };
}

function emptyCanister(reply: Uint8Array): EmptyCanister {
  const Status = IDL.Record({ memory_size: IDL.Nat, idle_cycles_burned_per_day: IDL.Nat });
  const [status] = IDL.decode([Status], reply) as unknown as [
    { memory_size: bigint; idle_cycles_burned_per_day: bigint },
  ];
  return {
    memoryBytes: Number(status.memory_size),
    idleCyclesPerDay: Number(status.idle_cycles_burned_per_day),
  };
}

/** Uses one bucket. The first file of each size is not counted, because it adds shared records. */
async function measureFiles(): Promise<FileCost[]> {
  const canister = await openCertifiedCanister();
  const memory = () => ownReplica(canister).stableMemory(canister.canisterId);
  const costs: FileCost[] = [];
  for (const [bytes, files] of kinds) {
    const body = new Uint8Array(bytes).fill(1);
    await canister.put(`${bytes}/first.bin`, body);
    const before = usedBytes(memory());
    for (let number = 0; number < files; number++) {
      await canister.put(`${bytes}/IMG_${(number * 7_919) % 9_973}.jpg`, body);
    }
    costs.push({ bytes, files, stableBytes: Math.round((usedBytes(memory()) - before) / files) });
  }
  await canister.stop();
  return costs;
}

/**
 * Returns the sum of the bytes of each space, and in space 0 of each region of Azle's maps, up to
 * the last nonzero byte. Unused bytes inside structures count; the rest of an extent, which the
 * next files fill, does not. All structures grow from their start, and nothing is deleted here.
 */
function usedBytes(memory: StableMemoryView): number {
  const table = Buffer.from(memory.read(0, tableAt));
  const extents = table.readUInt32LE(countAt);
  const entries = Buffer.from(memory.read(tableAt, extents * 4));
  const ends = new Map<string, number>();
  for (let extent = reservedExtents; extent < extents; extent++) {
    const entry = entries.readUInt32LE(extent * 4);
    const space = entry >>> spaceShift;
    const index = entry & ((1 << spaceShift) - 1);
    const inRegion = space === 0 ? index % regionExtents : index;
    const region = space === 0 ? `0 ${Math.floor(index / regionExtents)}` : `${space}`;
    const filled = filledBytes(Buffer.from(memory.read(extent * extentBytes, extentBytes)));
    const end = filled === 0 ? 0 : inRegion * extentBytes + filled;
    ends.set(region, Math.max(ends.get(region) ?? 0, end));
  }
  return [...ends.values()].reduce((sum, end) => sum + end, 0);
}

function filledBytes(extent: Buffer): number {
  let end = extent.length;
  while (end > 0 && extent.compare(zeros, 0, blockBytes, end - blockBytes, end) === 0) {
    end -= blockBytes;
  }
  while (end > 0 && extent[end - 1] === 0) end--;
  return end;
}
