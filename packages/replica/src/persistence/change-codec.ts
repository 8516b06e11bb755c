// The bytes of a commit in the journal, and of the snapshot that replaces a replayed journal.
// Checksums are the journal's and the snapshot's business; pages stay out of the CBOR so that they
// are not copied.
//
//   commit  u32 length of the head, little endian | head, CBOR | page runs, one after another

import { decode, encode } from 'cborg';
import { osPageBytes } from '../core.ts';
import type { StableChange } from './stable-overlay.ts';
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
  readonly values: readonly (readonly [name: string, value: Uint8Array])[];
}

/** The small state at one moment; page files hold the rest. */
export interface Snapshot {
  /** The last journal record that is part of it. */
  readonly sequence: number;
  readonly canisters: readonly (readonly [id: string, record: Uint8Array])[];
  readonly values: readonly (readonly [name: string, value: Uint8Array])[];
  readonly memories: readonly (readonly [canisterId: string, pages: number])[];
}

export function encodeChange(change: PreparedChange): Uint8Array[] {
  const head: CommitHead = {
    canisters: change.canisters.map(({ id, record }) => [id, record]),
    memories: change.memories.map(({ canisterId, cleared, pages, runs }) => ({
      id: canisterId,
      cleared,
      pages,
      runs: runs.map(({ firstPage, bytes }) => [firstPage, bytes.length / osPageBytes]),
    })),
    deleted: change.deleted,
    values: change.values,
  };
  const headBytes = encode(head);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(headBytes.length);
  const pages = change.memories.flatMap(({ runs }) => runs.map(({ bytes }) => bytes));
  return [length, headBytes, ...pages];
}

/** The reverse of `encodeChange`; the caller has checked the checksum. Page runs are views into
 * `payload`. */
export function decodeChange(payload: Uint8Array): PreparedChange {
  const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
  let position = 4 + view.getUint32(0, true);
  const head = decode(payload.subarray(4, position)) as CommitHead;
  const memories: StableChange[] = head.memories.map(({ id, cleared, pages, runs }) => ({
    canisterId: id,
    cleared,
    pages,
    runs: runs.map(([firstPage, pageCount]) => {
      const start = position;
      position += pageCount * osPageBytes;
      return { firstPage, bytes: payload.subarray(start, position) };
    }),
  }));
  return {
    canisters: head.canisters.map(([id, record]) => ({ id, record: record.slice() })),
    memories,
    deleted: head.deleted,
    values: head.values.map(([name, value]) => [name, value.slice()]),
  };
}

export function encodeSnapshot(snapshot: Snapshot): Uint8Array {
  return encode(snapshot);
}

export function decodeSnapshot(bytes: Uint8Array): Snapshot {
  return decode(bytes) as Snapshot;
}
