// Files by date, read through the blocks of the index (file-index.ts): the counts of blocks show
// which ones a page needs. Files of one date are in ascending order of their paths, whether the
// dates ascend or descend.

import { present } from '../../lib/assert.ts';
import type { IndexEntry } from '../../storage/ordered-index.ts';
import type { Stores } from '../shared/stores.ts';
import {
  type Block,
  blockFanOut,
  dateKey,
  dateKeyHeadBytes,
  latestSequence,
  setBlock,
} from './file-index.ts';

export interface DateCut {
  readonly skip: number;
  readonly limit: number;
  readonly isDescending: boolean;
}

export interface DateSelection {
  readonly bucketId: string;
  readonly scope: Uint8Array;
  readonly prefix: Uint8Array;
}

/** A block with at most this many of the wanted files is read completely and sorted. */
const sortedBlockFiles = 64;
/** Greater than every sequence number. */
const sequenceEnd = 2 ** 32;

interface Blocks {
  readonly level: number;
  readonly first: number;
  readonly count: number;
}

interface Walk {
  readonly stores: Stores;
  readonly scope: Uint8Array;
  /** Scope, level, block, prefix. */
  readonly key: Uint8Array;
  readonly isDescending: boolean;
  readonly found: IndexEntry[];
  skip: number;
  missing: number;
}

/** Returns the paths, in UTF-8, of at most `limit` files after the first `skip`. */
export function readByDate(
  stores: Stores,
  selection: DateSelection,
  { skip, limit, isDescending }: DateCut,
): Uint8Array[] {
  const { scope, prefix } = selection;
  const key = dateKey(scope, prefix);
  const walk: Walk = { stores, scope, key, isDescending, found: [], skip, missing: limit };
  const levels = blocksOf(latestSequence(stores.index, selection.bucketId));
  for (const blocks of isDescending ? levels.reverse() : levels) {
    if (walk.missing > 0) walkBlocks(walk, blocks);
  }
  const head = scope.length + dateKeyHeadBytes;
  return walk.found.map((entry) => entry.key.subarray(head));
}

/**
 * Returns blocks that cover each number up to the latest exactly once; only the lowest level
 * includes block 0.
 */
function blocksOf(latest: number): Blocks[] {
  const blocks: Blocks[] = [];
  let last = latest;
  for (let level = 0; level === 0 || last > 0; level++) {
    const first = level === 0 ? 0 : 1;
    blocks.push({ level, first, count: Math.min(last + 1, blockFanOut) - first });
    last = Math.floor(last / blockFanOut);
  }
  return blocks;
}

function walkBlocks(walk: Walk, { level, first, count }: Blocks): void {
  const { stores, scope, key, isDescending } = walk;
  setBlock(key, scope, { level, number: first });
  const counts = stores.index.countBlocks({ key, at: scope.length + 1, blocks: count });
  for (let turn = 0; turn < count && walk.missing > 0; turn++) {
    const position = isDescending ? count - 1 - turn : turn;
    const files = present(counts[position], 'count of a block');
    const number = first + position;
    if (files <= walk.skip) {
      walk.skip -= files;
    } else if (level === 0 || files <= sortedBlockFiles) {
      takeFiles(walk, { level, number }, files);
    } else {
      walkBlocks(walk, { level: level - 1, first: number * blockFanOut, count: blockFanOut });
    }
  }
}

/** Takes files from a block that has more of them than have to be skipped. */
function takeFiles(walk: Walk, block: Block, files: number): void {
  const { stores, scope, key, skip } = walk;
  setBlock(key, scope, block);
  const start = stores.index.rank(key);
  const taken = Math.min(files - skip, walk.missing);
  // A block of the lowest level contains files of one date.
  const entries =
    block.level === 0
      ? stores.index.read(start + skip, taken)
      : byDate(stores.index.read(start, files), walk.isDescending).slice(skip, skip + taken);
  walk.found.push(...entries);
  walk.missing -= taken;
  walk.skip = 0;
}

/**
 * Sorts by number, then by position. Both fit into one float64, so that the native sort needs no
 * comparison function.
 */
function byDate(entries: readonly IndexEntry[], isDescending: boolean): IndexEntry[] {
  const places = Float64Array.from(entries, ({ value }, place) => {
    const number = isDescending ? sequenceEnd - Number(value) : Number(value);
    return number * sortedBlockFiles + place;
  });
  places.sort();
  return Array.from(places, (sum) => {
    return present(entries[sum % sortedBlockFiles], 'entry of a block');
  });
}
