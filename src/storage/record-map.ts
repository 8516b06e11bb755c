// Records in two spaces of stable memory, by the native kernel (kernel/records.ts): an index by key
// with the sums of the records' weights, and slots. Azle's stable map takes 58,000 instructions for
// a look-up among 1,000 records and 100,000 among 100,000.

import {
  createCommand,
  type KernelCommand,
  kernelCall,
  kernelLongs,
  kernelOperations,
  kernelWords,
  refuseOperand,
} from '../crypto/kernel.ts';
import { concatBytes } from '../lib/bytes.ts';
import { indexKeyBytesMax, openSummedIndex } from './ordered-index.ts';
import type { StableSpace } from './stable-space.ts';

export const recordBytesMax = 122_876;

export interface RecordMap {
  /** The space of the index, for operations of the kernel that read records themselves. */
  readonly space: StableSpace;
  get(key: Uint8Array): Uint8Array | undefined;
  has(key: Uint8Array): boolean;
  /** Returns the replaced record. `weight` is summed by `sum()`, 0 if absent. */
  set(key: Uint8Array, record: Uint8Array, weight?: number): Uint8Array | undefined;
  /** Returns the removed record. */
  delete(key: Uint8Array): Uint8Array | undefined;
  /**
   * Visits the records of the keys that consist of the head and one of the tails, and
   * `undefined` for those without a record, until `visit` returns false.
   */
  each(
    keys: { readonly head: Uint8Array; readonly tails: readonly Uint8Array[] },
    visit: (record: Uint8Array | undefined, tail: Uint8Array) => boolean,
  ): void;
  /** Returns the number of lesser keys. */
  rank(key: Uint8Array): number;
  /** Returns the sum of the weights of all lesser keys. */
  sum(key: Uint8Array): number;
  bytesInUse(): number;
}

const absent = 0xffff_ffff;
/** Longer records are rare, and are copied by a second call. */
const quickBytes = 4_096;
/** Expected bytes of a record, for the first estimate of the size of many. */
export const recordBytesExpected = 768;
/** Records read by one call. */
const batchMax = 64;

const getCommand = createCommand(kernelOperations.recordGet, 2);
const setCommand = createCommand(kernelOperations.recordSet, 3);
const removeCommand = createCommand(kernelOperations.recordRemove, 2);
const readCommand = createCommand(kernelOperations.recordsRead, 5);
const inUseCommand = createCommand(kernelOperations.recordsInUse, 0);

/** Receives records; each is copied before the next call. */
const quick = new Uint8Array(quickBytes);

/** `space`: the space of the index; the slots are in the next one. Both contain nothing else. */
export function openRecordMap(space: 2 | 6): RecordMap {
  const index = openSummedIndex(space);
  for (const { words } of [getCommand, setCommand, removeCommand, readCommand, inUseCommand]) {
    words[kernelWords.selector] = space;
  }

  function set(key: Uint8Array, record: Uint8Array, weight: number, out: Uint8Array): number {
    setCommand.longs[kernelLongs.offset] = BigInt(weight);
    kernelCall(setCommand.bytes);
    kernelCall(key);
    kernelCall(record);
    kernelCall(out);
    return setCommand.words[kernelWords.result] ?? absent;
  }

  return {
    space,
    get(key) {
      requireKey(key);
      return taken((out) => readTo(getCommand, key, out));
    },
    has(key) {
      requireKey(key);
      return readTo(getCommand, key, quick) !== absent;
    },
    set(key, record, weight = 0) {
      requireKey(key);
      if (!(record instanceof Uint8Array) || record.length > recordBytesMax) {
        refuseOperand('record', record);
      }
      return taken((out) => set(key, record, weight, out));
    },
    delete(key) {
      requireKey(key);
      return taken((out) => readTo(removeCommand, key, out));
    },
    each({ head, tails }, visit) {
      for (let start = 0; start < tails.length; start += batchMax) {
        if (!visitBatch(head, tails.slice(start, start + batchMax), visit)) return;
      }
    },
    rank: index.rank,
    sum: index.sum,
    bytesInUse() {
      kernelCall(inUseCommand.bytes);
      return Number(inUseCommand.longs[kernelLongs.result]);
    },
  };
}

function requireKey(key: Uint8Array): void {
  if (!(key instanceof Uint8Array) || key.length > indexKeyBytesMax) refuseOperand('key', key);
}

function readTo({ bytes, words }: KernelCommand, key: Uint8Array, out: Uint8Array): number {
  kernelCall(bytes);
  kernelCall(key);
  kernelCall(out);
  return words[kernelWords.result] ?? absent;
}

/** Calls `run` again for a long record: it changes nothing if the array is too short. */
function taken(run: (out: Uint8Array) => number): Uint8Array | undefined {
  const length = run(quick);
  if (length === absent) return undefined;
  if (length <= quickBytes) return quick.slice(0, length);
  const long = new Uint8Array(length);
  run(long);
  return long;
}

type Visit = Parameters<RecordMap['each']>[1];

/** Returns false once `visit` has. The records are views of one array. */
function visitBatch(head: Uint8Array, tails: readonly Uint8Array[], visit: Visit): boolean {
  let left = tails;
  let room = tails.length * recordBytesExpected;
  while (left.length > 0) {
    const read = readMany(head, left, room);
    let start = 0;
    for (let index = 0; index < read.count; index++) {
      const end = read.ends[index] ?? start;
      const record = end === start ? undefined : read.records.subarray(start, end);
      if (!visit(record, left[index] ?? head)) return false;
      start = end;
    }
    // At least one record fits into the second array
    if (read.count === 0) room = recordBytesMax;
    left = left.slice(read.count);
  }
  return true;
}

/** Returns the tails one after the other, and their lengths as u32. */
export function joinedTails(tails: readonly Uint8Array[]) {
  const lengths = Uint32Array.from(tails, (tail) => tail.length);
  return { joined: concatBytes(...tails), lengths: new Uint8Array(lengths.buffer) };
}

function readMany(head: Uint8Array, tails: readonly Uint8Array[], room: number) {
  const { joined, lengths } = joinedTails(tails);
  const ends = new Uint32Array(tails.length);
  const endBytes = new Uint8Array(ends.buffer);
  const records = new Uint8Array(room);
  kernelCall(readCommand.bytes);
  kernelCall(head);
  kernelCall(joined);
  kernelCall(lengths);
  kernelCall(endBytes);
  kernelCall(records);
  return { count: readCommand.words[kernelWords.result] ?? 0, ends, records };
}
