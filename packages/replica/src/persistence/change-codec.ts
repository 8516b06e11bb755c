// The bytes of a commit in the journal; pages are outside the CBOR, so that they are not copied.
//
//   commit  u32 length of the head, little endian | head, CBOR | page runs, one after another |
//           changes of heaps, one after another

import { decode, encode } from 'cborg';
import { osPageBytes } from '../core.ts';
import type { PageRun, StableChange } from './stable-overlay.ts';
import type { PreparedChange } from './state-store.ts';

interface CommitHead {
  readonly canisters: readonly (readonly [id: string, record: Uint8Array])[];
  readonly memories: readonly {
    readonly id: string;
    readonly cleared: boolean;
    readonly pages: number;
    readonly runs: readonly (readonly [firstPage: number, pageCount: number])[];
  }[];
  readonly deleted: readonly string[];
  /** `null`: removed. */
  readonly values: readonly (readonly [name: string, value: Uint8Array | null])[];
  /** Absent in records of the former layout. */
  readonly heaps?: readonly {
    readonly id: string;
    readonly cleared: boolean;
    readonly registers: Uint8Array | null;
    readonly pages: number;
    readonly runs: readonly (readonly [firstPage: number, pageCount: number])[];
    readonly patchBytes: number;
  }[];
}

export function encodeChange(change: PreparedChange): Uint8Array[] {
  const head: CommitHead = {
    canisters: change.canisters.map(({ id, record }) => [id, record]),
    memories: change.memories.map(({ canisterId, cleared, pages, runs }) => ({
      id: canisterId,
      cleared,
      pages,
      runs: runs.map(sizeOfRun),
    })),
    deleted: change.deleted,
    values: change.values.map(([name, value]) => [name, value ?? null]),
    heaps: change.heaps.map(({ canisterId, cleared, registers, pages, runs, patches }) => ({
      id: canisterId,
      cleared,
      registers: registers ?? null,
      pages,
      runs: runs.map(sizeOfRun),
      patchBytes: patches.length,
    })),
  };
  const headBytes = encode(head);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(headBytes.length);
  const pages = change.memories.flatMap(({ runs }) => runs.map(({ bytes }) => bytes));
  const heaps = change.heaps.flatMap(({ runs, patches }) => [
    ...runs.map(({ bytes }) => bytes),
    patches,
  ]);
  return [length, headBytes, ...pages, ...heaps];
}

function sizeOfRun({ firstPage, bytes }: PageRun): readonly [number, number] {
  return [firstPage, bytes.length / osPageBytes];
}

/** Reverses `encodeChange`, once the checksum is checked. Page runs are views into `payload`. */
export function decodeChange(payload: Uint8Array): PreparedChange {
  const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
  let position = 4 + view.getUint32(0, true);
  const head = decode(payload.subarray(4, position)) as CommitHead;
  const take = (bytes: number) => {
    position += bytes;
    return payload.subarray(position - bytes, position);
  };
  const runOf = ([firstPage, pageCount]: readonly [number, number]): PageRun => {
    return { firstPage, bytes: take(pageCount * osPageBytes) };
  };
  const memories: StableChange[] = head.memories.map(({ id, runs, ...memory }) => {
    return { ...memory, canisterId: id, runs: runs.map(runOf) };
  });
  const heaps = (head.heaps ?? []).map(({ id, registers, runs, patchBytes, ...heap }) => ({
    ...heap,
    canisterId: id,
    registers: registers?.slice(),
    runs: runs.map(runOf),
    patches: take(patchBytes),
  }));
  return {
    canisters: head.canisters.map(([id, record]) => ({ id, record: record.slice() })),
    memories,
    deleted: head.deleted,
    values: head.values.map(([name, value]) => [name, value?.slice()]),
    heaps,
  };
}
