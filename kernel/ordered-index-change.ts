// Growth and shrinking of an ordered index: splits and joins pages, and updates the counts and sums
// on the path to the root. A page that is less than half full is joined with a neighbor if both fit
// into one page.

import { heapBase, indexKeyAt } from './heap';
import {
  appendCells, buffer, cellAt, cellHead, cells, cellStart, clearPage, freePage, hasSums, height,
  innerPageKind, isLeaf, openCell, pageBytes, pageHead, readPage, removeCell, setRoot, slotBytes,
  sumAt, takePage, truncateCells, used, writeCount, writePage, writeSum,
} from './ordered-index-pages';
import { commonLength, leafPage, step, stepSum } from './ordered-index-search';

const fillBytesMin: usize = pageBytes / 2;

/** Writes the leaf in buffer 0 after a key with that value was added; splits pages as needed. */
export function growUp(value: u64): void {
  const at = buffer(0);
  let level = height() - 1;
  let page = leafPage();
  while (used(at) > pageBytes) {
    const right = takePage();
    const separatorLength = split(at, buffer(1));
    const leftCount = below(at);
    const rightCount = below(buffer(1));
    const leftSum = sumBelow(at);
    const rightSum = sumBelow(buffer(1));
    writePage(page, at);
    writePage(right, buffer(1));
    const separator = cellAt(buffer(1), 0) + cellHead;
    memory.copy(heapBase() + indexKeyAt, separator, separatorLength);
    let index: u32 = 0;
    if (level == 0) {
      const left = page;
      page = takePage();
      setRoot(page, height() + 1);
      clearPage(at, innerPageKind());
      store<u32>(openCell(at, 0, 0), left);
    } else {
      level--;
      page = load<u32>(step(level));
      index = load<u32>(step(level), 4);
      readPage(page, at);
    }
    store<u32>(cellAt(at, index), leftCount, 4);
    const cell = openCell(at, index + 1, separatorLength);
    store<u32>(cell, right);
    store<u32>(cell, rightCount, 4);
    memory.copy(cell + cellHead, heapBase() + indexKeyAt, separatorLength);
    setSum(cellAt(at, index), leftSum);
    setSum(cell, rightSum);
  }
  writePage(page, at);
  changeCounts(level, 1);
  changeSums(level, value);
}

/** Changes the counts of the cells on the path above that level. */
function changeCounts(level: u32, change: i32): void {
  while (level-- > 0) {
    const entry = step(level);
    writeCount(load<u32>(entry), load<u16>(entry, 8), load<u32>(entry, 12) + change);
  }
}

/** Changes the sums of the same cells; a removed value is added as its negative. */
function changeSums(level: u32, change: u64): void {
  if (!hasSums() || change == 0) return;
  while (level-- > 0) {
    const entry = step(level);
    writeSum(load<u32>(entry), load<u16>(entry, 10), load<u64>(stepSum(level)) + change);
  }
}

/** Updates the sums for a key on the path whose value has changed. */
export function changeValue(former: u64, value: u64): void {
  changeSums(height() - 1, value - former);
}

function setSum(cell: usize, sum: u64): void {
  if (hasSums()) store<u64>(sumAt(cell), sum);
}

/** Returns the sum of the values below a page; 0 in an index without sums. */
function sumBelow(at: usize): u64 {
  if (!hasSums()) return 0;
  let sum: u64 = 0;
  for (let index: u32 = 0; index < cells(at); index++) {
    const cell = cellAt(at, index);
    sum += load<u64>(isLeaf(at) ? cell : sumAt(cell));
  }
  return sum;
}

/** Returns the number of keys below a page. */
function below(at: usize): u32 {
  if (isLeaf(at)) return cells(at);
  let count: u32 = 0;
  for (let index: u32 = 0; index < cells(at); index++) count += load<u32>(cellAt(at, index), 4);
  return count;
}

/**
 * Moves the upper half to another page. Returns how many bytes of that page's first key distinguish
 * it from all remaining ones: for a leaf a prefix may suffice, an inner page needs its whole first
 * key.
 */
function split(at: usize, right: usize): usize {
  const half = used(at) / 2;
  const count = cells(at);
  let index: u32 = 1;
  while (index < count - 1 && cellStart(at, index) - slotBytes * (count - index) < half) index++;
  clearPage(right, load<u16>(at));
  appendCells(right, at, index, count);
  const last = cellAt(at, index - 1);
  const lastLength = <usize>load<u16>(last, 8);
  const first = cellAt(right, 0);
  const firstLength = <usize>load<u16>(first, 8);
  const isInner = !isLeaf(at);
  const shared = commonLength(last + cellHead, first + cellHead, min(lastLength, firstLength));
  truncateCells(at, index);
  return isInner ? firstLength : shared + 1;
}

/** Writes the leaf in buffer 0 after a key with that value was removed; joins pages as needed. */
export function shrinkUp(value: u64): void {
  let at = buffer(0);
  let parent = buffer(1);
  let level = height() - 1;
  let page = leafPage();
  while (level > 0 && used(at) < fillBytesMin) {
    readPage(load<u32>(step(level - 1)), parent);
    const index = load<u32>(step(level - 1), 4);
    if (!join(at, parent, index) && !joinLeft(at, parent, index)) break;
    level--;
    page = load<u32>(step(level));
    const child = at;
    at = parent;
    parent = child;
  }
  if (level == 0) lowerRoot(page, at);
  else writePage(page, at);
  changeCounts(level, -1);
  changeSums(level, 0 - value);
}

/** Joins a page with its right neighbor, if there is one and both fit into one page. */
function join(at: usize, parent: usize, index: u32): bool {
  if (index + 1 >= cells(parent)) return false;
  const neighbour = load<u32>(cellAt(parent, index + 1));
  readPage(neighbour, buffer(2));
  if (used(at) + used(buffer(2)) - pageHead > pageBytes) return false;
  appendCells(at, buffer(2), 0, cells(buffer(2)));
  finishJoin(at, parent, index);
  freePage(neighbour);
  return true;
}

/** Joins a page with its left neighbor. */
function joinLeft(at: usize, parent: usize, index: u32): bool {
  if (index == 0) return false;
  readPage(load<u32>(cellAt(parent, index - 1)), buffer(2));
  if (used(at) + used(buffer(2)) - pageHead > pageBytes) return false;
  appendCells(buffer(2), at, 0, cells(at));
  const emptied = load<u32>(cellAt(parent, index));
  finishJoin(buffer(2), parent, index - 1);
  freePage(emptied);
  return true;
}

function finishJoin(joined: usize, parent: usize, index: u32): void {
  const cell = cellAt(parent, index);
  writePage(load<u32>(cell), joined);
  store<u32>(cell, below(joined), 4);
  setSum(cell, sumBelow(joined));
  removeCell(parent, index + 1);
}

/** Replaces the root in the heap by its child while it has only one; otherwise writes it. */
function lowerRoot(page: u32, at: usize): void {
  let isWritten = false;
  while (!isLeaf(at) && cells(at) == 1) {
    const child = load<u32>(cellAt(at, 0));
    freePage(page);
    setRoot(child, height() - 1);
    page = child;
    readPage(page, at);
    isWritten = true;
  }
  if (!isWritten) writePage(page, at);
}
