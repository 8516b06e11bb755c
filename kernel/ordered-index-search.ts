// Finds a key or a rank in the pages of an ordered index and records the steps. Changes nothing.

import { heapBase, indexLevelsAt, indexPathAt, indexSumsAt } from './heap';
import {
  buffer, cellAt, cellHead, cells, cellStart, hasSums, height, readPage, root, sumAt,
} from './ordered-index-pages';

/**
 * Size of a step: page u32 | index u32 | start of its count u16, of its sum u16 | count u32. The
 * sums are stored separately.
 */
const stepBytes: usize = 16;
/** Levels from the root whose pages stay in the heap during one read operation. */
const keptLevels: u32 = 5;

/** Whether the last search found the key, and its value. */
let isFound: bool = false;
let foundValue: u64 = 0;
let foundReference: u64 = 0;

export function wasFound(): bool {
  return isFound;
}

export function lastValue(): u64 {
  return foundValue;
}

/** Returns the reference of the key that the last search found, or 0. */
export function lastReference(): u64 {
  return foundReference;
}

/** Forgets the last search; returns the first place, for an empty index. */
export function forgetFound(): u32 {
  isFound = false;
  foundReference = 0;
  return 0;
}

// @ts-ignore: decorator
@inline
export function step(level: u32): usize {
  return heapBase() + indexPathAt + <usize>level * stepBytes;
}

// @ts-ignore: decorator
@inline
export function stepSum(level: u32): usize {
  return heapBase() + indexSumsAt + (<usize>level << 3);
}

/** Returns the page in which the last search ended. */
export function leafPage(): u32 {
  return load<u32>(step(height() - 1));
}

/**
 * Descends to the leaf of the key, or of its position. Leaves the leaf in buffer 0 and the path in
 * the steps. Returns the first cell whose key is not less.
 */
export function descend(key: usize, length: usize): u32 {
  const at = buffer(0);
  const last = height() - 1;
  let page = root();
  for (let level: u32 = 0; level < last; level++) {
    readPage(page, at);
    page = recordStep(level, page, childOf(at, key, length));
  }
  readPage(page, at);
  store<u32>(step(last), page);
  const index = lowerBound(at, key, length);
  foundReference = 0;
  if (isFound) {
    const cell = cellAt(at, index);
    foundValue = load<u64>(cell);
    if (hasSums()) foundReference = load<u64>(sumAt(cell));
  }
  return index;
}

/** Records a step and returns the child page. */
function recordStep(level: u32, page: u32, index: u32): u32 {
  const at = buffer(0);
  const entry = step(level);
  const start = cellStart(at, index);
  store<u32>(entry, page);
  store<u32>(entry, index, 4);
  store<u16>(entry, <u16>start + 4, 8);
  store<u32>(entry, load<u32>(at + start, 4), 12);
  if (hasSums()) {
    const sum = sumAt(at + start);
    store<u16>(entry, <u16>(sum - at), 10);
    store<u64>(stepSum(level), load<u64>(sum));
  }
  return load<u32>(at + start);
}

/** Returns the index of the cell whose subtree contains the key or its position. */
function childOf(at: usize, key: usize, length: usize): u32 {
  const index = lowerBound(at, key, length);
  if (isFound || index == 0) {
    isFound = false;
    return index;
  }
  return index - 1;
}

/** Returns the first cell whose key is not less; `isFound` is set if it is equal. */
function lowerBound(at: usize, key: usize, length: usize): u32 {
  let low: u32 = 0;
  let high = cells(at);
  isFound = false;
  while (low < high) {
    const middle = low + high >> 1;
    const cell = cellAt(at, middle);
    const order = compare(cell + cellHead, load<u16>(cell, 8), key, length);
    if (order == 0) {
      isFound = true;
      return middle;
    }
    if (order < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns a value below, at or above 0 if the first is less, equal or greater bytewise. */
function compare(first: usize, firstLength: usize, second: usize, secondLength: usize): i32 {
  const length = min(firstLength, secondLength);
  const start = commonLength(first, second, length);
  if (start < length) return <i32>load<u8>(first + start) - <i32>load<u8>(second + start);
  return <i32>firstLength - <i32>secondLength;
}

export function commonLength(first: usize, second: usize, length: usize): usize {
  let position: usize = 0;
  while (position + 8 <= length) {
    const difference = load<u64>(first + position) ^ load<u64>(second + position);
    if (difference != 0) return position + <usize>(ctz(difference) >> 3);
    position += 8;
  }
  while (position < length && load<u8>(first + position) == load<u8>(second + position)) position++;
  return position;
}

export function rankOf(key: usize, length: usize): u64 {
  if (height() == 0) return 0;
  const last = height() - 1;
  let page = root();
  let rank: u64 = 0;
  for (let level: u32 = 0; level < last; level++) {
    const at = keptPage(level, page);
    const child = childOf(at, key, length);
    for (let index: u32 = 0; index < child; index++) rank += load<u32>(cellAt(at, index), 4);
    page = load<u32>(cellAt(at, child));
  }
  return rank + lowerBound(keptPage(last, page), key, length);
}

/** Returns the sum of the values of all lesser keys. */
export function sumBefore(key: usize, length: usize): u64 {
  if (height() == 0) return 0;
  const last = height() - 1;
  let page = root();
  let sum: u64 = 0;
  for (let level: u32 = 0; level < last; level++) {
    const at = keptPage(level, page);
    const child = childOf(at, key, length);
    for (let index: u32 = 0; index < child; index++) sum += load<u64>(sumAt(cellAt(at, index)));
    page = load<u32>(cellAt(at, child));
  }
  const at = keptPage(last, page);
  const end = lowerBound(at, key, length);
  for (let index: u32 = 0; index < end; index++) sum += load<u64>(cellAt(at, index));
  return sum;
}

export function forgetPages(): void {
  memory.fill(heapBase() + indexLevelsAt, 0, <usize>keptLevels << 2);
}

/** Ranks of neighboring keys use the same pages, so each is read once. */
function keptPage(level: u32, page: u32): usize {
  const number = <usize>min(level, keptLevels - 1);
  const kept = heapBase() + indexLevelsAt + (number << 2);
  if (load<u32>(kept) != page) {
    readPage(page, buffer(number));
    store<u32>(kept, page);
  }
  return buffer(number);
}

/** Leaves the leaf in buffer 0 and returns the cell. The rank is below the number of keys. */
export function descendToRank(rank: u64): u32 {
  const at = buffer(0);
  let page = root();
  for (let level: u32 = 1; level < height(); level++) {
    readPage(page, at);
    let index: u32 = 0;
    while (rank >= load<u32>(cellAt(at, index), 4)) rank -= load<u32>(cellAt(at, index++), 4);
    page = load<u32>(cellAt(at, index));
  }
  readPage(page, at);
  return <u32>rank;
}
