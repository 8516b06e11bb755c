// The small state at one moment, in a file that is written atomically: canister records, values,
// and the checksums of the page files. A second copy serves repairs.
//
//   "ICRSNAP2" (8) | crc32 of the CBOR (4) | CBOR        the former layout: crc32 (4) | CBOR

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { decode, encode } from 'cborg';
import { StateDamage } from '../state-damage.ts';
import { writeFileDurably } from './durable-file.ts';
import { noPages, type PageFileFacts } from './page-file.ts';

const magic = Buffer.from('ICRSNAP2');
export const snapshotFileName = 'snapshot';
const copyFileName = 'snapshot.copy';

export type MemoryKind = 'stable' | 'heap';

export interface StoredMemory extends PageFileFacts {
  readonly canisterId: string;
  readonly kind: MemoryKind;
}

export interface Snapshot {
  /** The last commit that it includes. */
  readonly sequence: number;
  readonly canisters: readonly (readonly [id: string, record: Uint8Array])[];
  readonly values: readonly (readonly [name: string, value: Uint8Array])[];
  readonly memories: readonly StoredMemory[];
  /** The registers of each heap's instance. */
  readonly registers: readonly (readonly [canisterId: string, registers: Uint8Array])[];
}

export interface ReadSnapshot extends Snapshot {
  readonly checksum: number;
  /** Whether the file has the layout without page checksums. */
  readonly isFormer: boolean;
}

export const emptySnapshot: ReadSnapshot = {
  sequence: 0,
  canisters: [],
  values: [],
  memories: [],
  registers: [],
  checksum: 0,
  isFormer: false,
};

export function writeSnapshot(directory: string, snapshot: Snapshot): number {
  const body = encode(snapshot);
  const checksum = crc32(body);
  const head = Buffer.alloc(magic.length + 4);
  magic.copy(head);
  head.writeUInt32LE(checksum, magic.length);
  for (const name of [snapshotFileName, copyFileName]) {
    writeFileDurably(join(directory, name), [head, body]);
  }
  return checksum;
}

/** Whether a snapshot was ever written here, intact or not. */
export function hasSnapshots(directory: string): boolean {
  return [snapshotFileName, copyFileName].some((name) => existsSync(join(directory, name)));
}

/** Returns `undefined` if the file does not exist. Throws StateDamage. */
export function readSnapshot(directory: string): ReadSnapshot | undefined {
  return readFile(join(directory, snapshotFileName));
}

/** Returns the copy if it is intact. */
export function readSnapshotCopy(directory: string): ReadSnapshot | undefined {
  try {
    return readFile(join(directory, copyFileName));
  } catch (error) {
    if (error instanceof StateDamage) return undefined;
    throw error;
  }
}

function readFile(path: string): ReadSnapshot | undefined {
  if (!existsSync(path)) return undefined;
  const file = readFileSync(path);
  const isFormer = !file.subarray(0, magic.length).equals(magic);
  const start = isFormer ? 4 : magic.length + 4;
  const body = file.subarray(start);
  if (file.length < start || file.readUInt32LE(start - 4) !== crc32(body)) {
    throw new StateDamage(`The snapshot ${path} is damaged`);
  }
  const checksum = crc32(body);
  return isFormer
    ? { ...readFormer(body), checksum, isFormer }
    : { ...(decode(body) as Snapshot), checksum, isFormer };
}

function readFormer(body: Uint8Array): Snapshot {
  const former = decode(body) as Pick<Snapshot, 'sequence' | 'canisters' | 'values'> & {
    readonly memories: readonly (readonly [canisterId: string, pages: number])[];
  };
  const memories = former.memories.map(([canisterId, pages]) => {
    return { ...noPages, canisterId, kind: 'stable' as const, pages };
  });
  return { ...former, memories, registers: [] };
}
