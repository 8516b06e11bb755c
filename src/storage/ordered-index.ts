// An ordered index in a space of stable memory, by the native kernel (kernel/ordered-index.ts):
// byte strings in bytewise order with a number each, where the position of any key among all is
// found in logarithmic time; so is, where an index keeps sums, the sum of the numbers of all lesser
// keys. Knows nothing of what keys mean.

import {
  createCommand,
  type KernelCommand,
  kernelCall,
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
  /** Bytes, then the number of the first block as a big-endian u32, then bytes that end it. */
  readonly key: Uint8Array;
  /** Offset of the number in the key. */
  readonly at: number;
  readonly blocks: number;
}

export interface OrderedIndex {
  /** The value that was replaced, if the key was there. */
  insert(key: Uint8Array, value: bigint): bigint | undefined;
  /** The value that the key had, if it was there. */
  remove(key: Uint8Array): bigint | undefined;
  find(key: Uint8Array): bigint | undefined;
  /** How many keys are less than this one. */
  rank(key: Uint8Array): number;
  /** How many keys begin with the range's key, for each block. No key has 0xff where that ends. */
  countBlocks(range: BlockRange): Uint32Array;
  /** At most `limit` entries in order, from the one with that rank on. */
  read(rank: number, limit: number): IndexEntry[];
  count(): number;
}

/** Its values are amounts. */
export interface SummedIndex extends OrderedIndex {
  /** The values of all keys that are less than this one, together. */
  sum(key: Uint8Array): number;
}

/** Values and results of 64 bits lie in the same block as the words. */
interface IndexCommand extends KernelCommand {
  readonly longs: BigUint64Array;
}

const offsetLong = kernelWords.offset / 2;
const resultLong = kernelWords.longResult / 2;
const rowBytes = 16;
/** Room for a key in the first guess at how much a read returns. */
const keyBytesExpected = 128;

function createIndexCommand(operation: keyof typeof kernelOperations, operands: number) {
  const { bytes, words } = createCommand(kernelOperations[operation], operands);
  return { bytes, words, longs: new BigUint64Array(words.buffer as ArrayBuffer) };
}

const findCommand = createIndexCommand('indexFind', 1);
const insertCommand = createIndexCommand('indexInsert', 1);
const removeCommand = createIndexCommand('indexRemove', 1);
const rankCommand = createIndexCommand('indexRank', 1);
const countBlocksCommand = createIndexCommand('indexCountBlocks', 2);
const readCommand = createIndexCommand('indexRead', 1);
const countCommand = createIndexCommand('indexCount', 0);
const sumCommand = createIndexCommand('indexSum', 1);

/** Beside the number of a space, for an index with sums. */
const sumsFlag = 0x100;

/** `space`: one of the kernel's, for the index alone. */
export function openOrderedIndex(space: 1 | 2 | 3): OrderedIndex {
  return openSelected(space);
}

/** `space`: one of the kernel's, for the index alone, which has kept sums from its beginning. */
export function openSummedIndex(space: 2 | 6): SummedIndex {
  const selector = space | sumsFlag;
  return {
    ...openSelected(selector),
    sum(key) {
      run(selector, sumCommand, key);
      return Number(sumCommand.longs[resultLong]);
    },
  };
}

function run(selector: number, command: IndexCommand, key: Uint8Array): void {
  if (!(key instanceof Uint8Array) || key.length > indexKeyBytesMax) refuseOperand('key', key);
  command.words[kernelWords.selector] = selector;
  kernelCall(command.bytes);
  kernelCall(key);
}

function openSelected(selector: number): OrderedIndex {
  /** The value of the key that the operation found. */
  function foundValue(command: IndexCommand): bigint | undefined {
    return command.words[kernelWords.result] === 1 ? command.longs[resultLong] : undefined;
  }

  return {
    insert(key, value) {
      insertCommand.longs[offsetLong] = value;
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
      return Number(rankCommand.longs[resultLong]);
    },
    countBlocks({ key, at, blocks }) {
      const counts = new Uint32Array(blocks);
      const bytes = new Uint8Array(counts.buffer);
      countBlocksCommand.longs[offsetLong] = BigInt(at);
      run(selector, countBlocksCommand, key);
      kernelCall(bytes);
      return counts;
    },
    read(rank, limit) {
      const entries = readEntries(selector, rank, limit);
      while (entries.length < limit) {
        const found = readEntries(selector, rank + entries.length, limit - entries.length);
        if (found.length === 0) break;
        entries.push(...found);
      }
      return entries;
    },
    count() {
      countCommand.words[kernelWords.selector] = selector;
      kernelCall(countCommand.bytes);
      return Number(countCommand.longs[resultLong]);
    },
  };
}

/** As many as have room; none only where the index ends. */
function readEntries(selector: number, rank: number, limit: number): IndexEntry[] {
  const room = limit * rowBytes + Math.max(indexKeyBytesMax, limit * keyBytesExpected);
  const rows = new Uint32Array(Math.ceil(room / 4));
  const bytes = new Uint8Array(rows.buffer);
  const { words, longs } = readCommand;
  words[kernelWords.selector] = selector;
  longs[offsetLong] = BigInt(rank);
  words[kernelWords.length] = limit;
  kernelCall(readCommand.bytes);
  kernelCall(bytes);
  const values = new BigUint64Array(rows.buffer, 0, 2 * limit);
  const entries: IndexEntry[] = [];
  const rowsEnd = 4 * (words[kernelWords.result] ?? 0);
  for (let row = 0; row < rowsEnd; row += 4) {
    // The kernel has written them; to check each costs as much as to read it
    const start = rows[row + 2] ?? 0;
    const end = start + (rows[row + 3] ?? 0);
    entries.push({ key: bytes.subarray(start, end), value: values[row / 2] ?? 0n });
  }
  return entries;
}
