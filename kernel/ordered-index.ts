// An ordered index: byte strings with a number each, in a counted B+tree that finds the rank of a
// key as fast as the key. An index with sums finds the sum of the values of all lesser keys in the
// same way, and has a reference for each key, which is not summed. Keys are not interpreted. State
// is only in stable memory: every operation starts from the superblock. An inner cell has a lower
// bound of the keys below it; the first cell of an inner page has the key that its page has in the
// parent page, and the very first cell has the empty key.

import { heapBase, indexKeyAt } from './heap';
import { changeValue, growUp, shrinkUp } from './ordered-index-change';
import {
  buffer, cellAt, cellHead, cells, cellStart, clearPage, hasSums, height, keyBytesMax, keyCount,
  leafPageKind, openCell, openIndex, removeCell, root, saveIndex, setKeyCount, setRoot, sumAt,
  takePage, writePage, writePart,
} from './ordered-index-pages';
import {
  descend, descendToRank, forgetFound, forgetPages, lastReference, lastValue, leafPage, rankOf,
  sumBefore, wasFound,
} from './ordered-index-search';

const rowBytes: usize = 16;

export function indexCount(space: u32): u64 {
  openIndex(space);
  return keyCount();
}

/** Returns true if the key exists; then `lastValue()` is its value. */
export function indexFind(space: u32, key: usize, length: usize): bool {
  openIndex(space);
  if (height() == 0) return false;
  descend(key, length);
  return wasFound();
}

/** Returns true if the key existed; then `lastValue()` is the replaced value. */
export function indexInsert(space: u32, key: usize, length: usize, value: u64): bool {
  putAt(indexPlace(space, key, length), key, length, value, lastReference());
  return wasFound();
}

/** Searches for the key; returns its place, for `putAt()` and, if it was found, `removeAt()`. */
export function indexPlace(space: u32, key: usize, length: usize): u32 {
  if (length > keyBytesMax) unreachable();
  openIndex(space);
  return height() == 0 ? forgetFound() : descend(key, length);
}

/** Sets the value and the reference of the key whose place `indexPlace()` has just returned. */
export function putAt(index: u32, key: usize, length: usize, value: u64, reference: u64): void {
  if (wasFound()) {
    setFound(index, value, reference);
    return;
  }
  if (height() == 0) {
    startTree();
    descend(key, length);
  }
  addAt(index, key, length, value, reference);
}

function setFound(index: u32, value: u64, reference: u64): void {
  const leaf = buffer(0);
  const start = cellStart(leaf, index);
  store<u64>(leaf + start, value);
  writePart(leafPage(), leaf, start, 8);
  if (hasSums() && reference != lastReference()) {
    const at = sumAt(leaf + start);
    store<u64>(at, reference);
    writePart(leafPage(), leaf, at - leaf, 8);
  }
  changeValue(lastValue(), value);
}

function addAt(index: u32, key: usize, length: usize, value: u64, reference: u64): void {
  const leaf = buffer(0);
  const cell = openCell(leaf, index, length);
  store<u64>(cell, value);
  if (length > 0) memory.copy(cell + cellHead, key, length); // an empty key can have any address
  if (hasSums()) store<u64>(sumAt(cell), reference);
  growUp(value);
  setKeyCount(keyCount() + 1);
  saveIndex();
}

/** Returns true if the key existed; then `lastValue()` is its value. */
export function indexRemove(space: u32, key: usize, length: usize): bool {
  openIndex(space);
  if (height() == 0) return false;
  const index = descend(key, length);
  if (wasFound()) removeAt(index);
  return wasFound();
}

/** Removes the key that `indexPlace()` has just found. */
export function removeAt(index: u32): void {
  removeCell(buffer(0), index);
  shrinkUp(lastValue());
  setKeyCount(keyCount() - 1);
  saveIndex();
}

/** Returns the number of lesser keys. */
export function indexRank(space: u32, key: usize, length: usize): u64 {
  openIndex(space);
  forgetPages();
  return rankOf(key, length);
}

/** Returns the sum of the values of all lesser keys, in an index with sums. */
export function indexSum(space: u32, key: usize, length: usize): u64 {
  openIndex(space);
  if (!hasSums()) unreachable();
  forgetPages();
  return sumBefore(key, length);
}

/**
 * Counts the keys of consecutive blocks: those that begin with the given key, whose big-endian u32
 * at offset `at` is the number of the first block and increases with each block. The byte after
 * these bytes is never 0xff. Counts are u32.
 */
export function indexCountBlocks(
  space: u32, key: usize, length: usize, at: u64, counts: usize, blocks: u32,
): void {
  if (length >= keyBytesMax || at + 4 > <u64>length) unreachable();
  openIndex(space);
  forgetPages();
  const copy = heapBase() + indexKeyAt;
  memory.copy(copy, key, length);
  store<u8>(copy + length, 0xff);
  const number = copy + <usize>at;
  const first = bswap<u32>(load<u32>(number));
  for (let i: u32 = 0; i < blocks; i++) {
    store<u32>(number, bswap<u32>(first + i));
    const start = rankOf(copy, length);
    store<u32>(counts + (<usize>i << 2), <u32>(rankOf(copy, length + 1) - start));
  }
}

/**
 * Reads entries from that rank on, up to `limit`, the last entry, or the end of `out`. Each has a
 * row: value u64, key start u32, key length u32; the keys follow the `limit` rows. Returns the
 * number of entries.
 */
export function indexRead(space: u32, rank: u64, limit: u32, out: usize, room: usize): u32 {
  openIndex(space);
  let keysEnd = <usize>limit * rowBytes;
  if (<u64>limit * rowBytes > <u64>room) unreachable();
  let written: u32 = 0;
  while (written < limit && rank < keyCount()) {
    let index = descendToRank(rank);
    const leaf = buffer(0);
    const end = cells(leaf);
    for (; index < end && written < limit; index++) {
      const cell = cellAt(leaf, index);
      const length = <usize>load<u16>(cell, 8);
      if (keysEnd + length > room) return written;
      const row = out + <usize>written * rowBytes;
      store<u64>(row, load<u64>(cell));
      store<u32>(row, <u32>keysEnd, 8);
      store<u32>(row, <u32>length, 12);
      memory.copy(out + keysEnd, cell + cellHead, length);
      keysEnd += length;
      written++;
      rank++;
    }
  }
  return written;
}

function startTree(): void {
  setRoot(takePage(), 1);
  clearPage(buffer(0), leafPageKind());
  writePage(root(), buffer(0));
}
