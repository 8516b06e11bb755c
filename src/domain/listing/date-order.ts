// Files by date. All files are in the lowest level of the index (file-index.ts) in the order of
// their dates. Those with a prefix are read through its blocks, whose counts show which ones a page
// needs. Files of one date are in ascending order of their paths, whether the dates ascend or
// descend.

import { present } from '../../lib/assert.ts';
import { emptyBytes } from '../../lib/bytes.ts';
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
  const cut = { skip, limit, isDescending };
  const found =
    prefix.length === 0 ? readAll(stores, scope, cut) : readBlocks(stores, selection, cut);
  const head = scope.length + dateKeyHeadBytes;
  return found.map((entry) => entry.key.subarray(head));
}

/** Positions in the index by blocks. */
type StartOf = (block: Block) => number;

function readAll(stores: Stores, scope: Uint8Array, cut: DateCut): readonly IndexEntry[] {
  const { skip, limit, isDescending } = cut;
  const { index } = stores;
  const key = dateKey(scope, emptyBytes);
  const startOf: StartOf = (block) => {
    setBlock(key, scope, block);
    return index.rank(key);
  };
  const first = startOf({ level: 0, number: 0 });
  const end = startOf({ level: 1, number: 0 });
  const taken = Math.min(limit, end - first - skip);
  if (taken <= 0) return [];
  return isDescending
    ? readDescending(stores, startOf, { end, skip, taken })
    : index.read(first + skip, taken);
}

/** The page may begin and end within the files of one date, which ascend by their paths. */
function readDescending(
  { index }: Stores,
  startOf: StartOf,
  { end, skip, taken }: { readonly end: number; readonly skip: number; readonly taken: number },
): IndexEntry[] {
  const [latest] = index.read(end - 1 - skip, 1);
  const number = Number(present(latest, 'file of a page').value);
  const start = startOf({ level: 0, number });
  const after = startOf({ level: 0, number: number + 1 });
  const from = start + skip - (end - after);
  const found = [...index.read(from, Math.min(taken, after - from))];
  const missing = taken - found.length;
  if (missing === 0) return found;
  const earlier = index.read(start - missing, missing);
  for (let last = missing; last > 0; ) {
    const { value } = present(earlier[last - 1], 'file of a page');
    const next = last;
    while (last > 0 && earlier[last - 1]?.value === value) last -= 1;
    // The first files of the page's last date may come before those that were read
    found.push(
      ...(last > 0
        ? earlier.slice(last, next)
        : index.read(startOf({ level: 0, number: Number(value) }), next)),
    );
  }
  return found;
}

/** Reads files with a prefix. */
function readBlocks(
  stores: Stores,
  { bucketId, scope, prefix }: DateSelection,
  { skip, limit, isDescending }: DateCut,
): readonly IndexEntry[] {
  const key = dateKey(scope, prefix);
  const walk: Walk = { stores, scope, key, isDescending, found: [], skip, missing: limit };
  const levels = blocksOf(latestSequence(stores.index, bucketId));
  for (const blocks of isDescending ? levels.reverse() : levels) {
    if (walk.missing > 0) walkBlocks(walk, blocks);
  }
  return walk.found;
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
