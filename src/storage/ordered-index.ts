// An ordered index in a space of stable memory, by the native kernel (kernel/ordered-index.ts):
// byte strings in bytewise order, each with a number. It finds the rank of any key in logarithmic
// time and, in an index with sums, the sum of the numbers of all lesser keys.

import {
  createCommand,
  type KernelCommand,
  kernelCall,
  kernelLongs,
  kernelOperations,
  kernelWords,
  refuseOperand,
} from '../crypto/kernel.ts';

export const indexKeyBytesMax = 1_300;

export interface IndexEntry {
  readonly key: Uint8Array;
  /** u64. */
  readonly value: bigint;
}

export interface BlockRange {
  /** Bytes, then the number of the first block as a big-endian u32, then the final bytes. */
  readonly key: Uint8Array;
  /** Offset of the number in the key. */
  readonly at: number;
  readonly blocks: number;
}

export interface OrderedIndex {
  /** Returns the replaced value, if the key existed. */
  insert(key: Uint8Array, value: bigint): bigint | undefined;
  /** Returns the removed value, if the key existed. */
  remove(key: Uint8Array): bigint | undefined;
  find(key: Uint8Array): bigint | undefined;
  /** Returns the number of lesser keys. */
  rank(key: Uint8Array): number;
  /**
   * Returns for each block the number of keys that begin with the range's key, with the block's
   * number in it. The next byte of a key is never 0xff.
   */
  countBlocks(range: BlockRange): Uint32Array;
  /** Returns at most `limit` entries in order, from that rank on. */
  read(rank: number, limit: number): IndexEntry[];
  /** Like read(), but returns only the keys, without their first `head` bytes. */
  readTails(rank: number, limit: number, head: number): Uint8Array[];
  count(): number;
}

/** An index with sums of the values. */
export interface SummedIndex extends OrderedIndex {
  /** Returns the sum of the values of all lesser keys. */
  sum(key: Uint8Array): number;
}

const rowBytes = 16;
/** Expected bytes of a key, for the first estimate of a read's size. */
const keyBytesExpected = 128;

const findCommand = createCommand(kernelOperations.indexFind, 1);
const insertCommand = createCommand(kernelOperations.indexInsert, 1);
const removeCommand = createCommand(kernelOperations.indexRemove, 1);
const rankCommand = createCommand(kernelOperations.indexRank, 1);
const countBlocksCommand = createCommand(kernelOperations.indexCountBlocks, 2);
const readCommand = createCommand(kernelOperations.indexRead, 1);
const countCommand = createCommand(kernelOperations.indexCount, 0);
const sumCommand = createCommand(kernelOperations.indexSum, 1);

/** Added to the number of a space for an index with sums. */
const sumsFlag = 0x100;

/** `space`: a space of the kernel that contains only this index. */
export function openOrderedIndex(space: 1 | 2 | 3): OrderedIndex {
  return openSelected(space);
}

/** `space`: a space of the kernel that contains only this index, always with sums. */
export function openSummedIndex(space: 2 | 6): SummedIndex {
  const selector = space | sumsFlag;
  return {
    ...openSelected(selector),
    sum(key) {
      run(selector, sumCommand, key);
      return Number(sumCommand.longs[kernelLongs.result]);
    },
  };
}

function run(selector: number, command: KernelCommand, key: Uint8Array): void {
  if (!(key instanceof Uint8Array) || key.length > indexKeyBytesMax) refuseOperand('key', key);
  command.words[kernelWords.selector] = selector;
  kernelCall(command.bytes);
  kernelCall(key);
}

function openSelected(selector: number): OrderedIndex {
  /** Returns the value of the key that the operation found. */
  function foundValue(command: KernelCommand): bigint | undefined {
    return command.words[kernelWords.result] === 1 ? command.longs[kernelLongs.result] : undefined;
  }

  return {
    insert(key, value) {
      insertCommand.longs[kernelLongs.offset] = value;
      run(selector, insertCommand, key);
      return foundValue(insertCommand);
    },
    remove(key) {
      run(selector, removeCommand, key);
      return foundValue(removeCommand);
    },
    find(key) {
      run(selector, findCommand, key);
      return foundValue(findCommand);
    },
    rank(key) {
      run(selector, rankCommand, key);
      return Number(rankCommand.longs[kernelLongs.result]);
    },
    countBlocks({ key, at, blocks }) {
      const counts = new Uint32Array(blocks);
      const bytes = new Uint8Array(counts.buffer);
      countBlocksCommand.longs[kernelLongs.offset] = BigInt(at);
      run(selector, countBlocksCommand, key);
      kernelCall(bytes);
      return counts;
    },
    read(rank, limit) {
      const entries: IndexEntry[] = [];
      for (let rows = readRows(selector, rank, limit); rows.count > 0; ) {
        const { values } = rows;
        const keys = keysOf(rows, 0);
        for (let index = 0; index < keys.length; index++) {
          entries.push({ key: keys[index] ?? rows.bytes, value: values[2 * index] ?? 0n });
        }
        if (entries.length >= limit) break;
        rows = readRows(selector, rank + entries.length, limit - entries.length);
      }
      return entries;
    },
    // A loop of its own: a callback for the rows takes 3 M more for a page of 100 folders
    readTails(rank, limit, head) {
      const tails = keysOf(readRows(selector, rank, limit), head);
      while (tails.length < limit) {
        const rows = readRows(selector, rank + tails.length, limit - tails.length);
        if (rows.count === 0) break;
        tails.push(...keysOf(rows, head));
      }
      return tails;
    },
    count() {
      countCommand.words[kernelWords.selector] = selector;
      kernelCall(countCommand.bytes);
      return Number(countCommand.longs[kernelLongs.result]);
    },
  };
}

interface Rows {
  readonly rows: Uint32Array;
  /** Each entry has two, of which the first is its value. */
  readonly values: BigUint64Array;
  readonly bytes: Uint8Array;
  readonly count: number;
}

/** Reads as many entries as fit; none only at the end of the index. */
function readRows(selector: number, rank: number, limit: number): Rows {
  const room = limit * rowBytes + Math.max(indexKeyBytesMax, limit * keyBytesExpected);
  const rows = new Uint32Array(Math.ceil(room / 4));
  const bytes = new Uint8Array(rows.buffer);
  const { words, longs } = readCommand;
  words[kernelWords.selector] = selector;
  longs[kernelLongs.offset] = BigInt(rank);
  words[kernelWords.length] = limit;
  kernelCall(readCommand.bytes);
  kernelCall(bytes);
  const values = new BigUint64Array(rows.buffer, 0, 2 * limit);
  return { rows, bytes, values, count: words[kernelWords.result] ?? 0 };
}

/** Returns views of the keys. The kernel wrote the rows; checking each would cost as much. */
function keysOf({ rows, bytes, count }: Rows, head: number): Uint8Array[] {
  const keys: Uint8Array[] = [];
  const rowsEnd = 4 * count;
  for (let row = 0; row < rowsEnd; row += 4) {
    const start = rows[row + 2] ?? 0;
    keys.push(bytes.subarray(start + head, start + (rows[row + 3] ?? 0)));
  }
  return keys;
}
