// Pages of the ordered index in a space of stable memory, and how they are edited in the kernel's
// heap. A page is always compact: every edit moves the following cells.
//
//   page 0       superblock: magic u64 | version u32 | root u32 | height u32 | allocated pages u32
//                | first free page u32 | free pages u32 | keys in the index u64
//   other page   kind u16: 1 leaf, 2 inner, 3 inner with sums, 4 leaf with references | cells u16
//                | bytes used u16 | 0 u16 | start of each cell u16 ... | cells ...
//   leaf cell    value u64 | key length u16 | key | in an index with sums: reference u64
//   inner cell   page u32 | keys below it u32 | key length u16 | least key below it
//                | in an index with sums: sum of the values below it u64
//   free page    0 u32 | next free page u32
//
// Version 3 of the superblock is an index with sums, whose pages have the kinds 3 and 4: each key
// also has a reference, which is not summed. The caller that names the space of an index also
// selects the version.

import { heapBase, indexPagesAt, indexSuperblockAt } from './heap';
import { spaceGrow, spaceRead, spaceSize, spaceWrite } from './stable-space';

const magic: u64 = 0x31584449_53464500; // "\0EFSIDX1" as bytes
const version: u32 = 1;
const versionWithSums: u32 = 3;
const superblockBytes: u64 = 48;
export const pageBytes: usize = 4096;
const wasmPageBytes: u64 = 65536;
/** The space grows in steps of one extent. */
const growPages: u64 = 16;
/** A page in the heap has space for one extra cell. */
const bufferBytes: usize = 0x1800;

const scratchBuffer: usize = 3;

const leafKind: u32 = 1;
const innerKind: u32 = 2;
const innerKindWithSums: u32 = 3;
const leafKindWithReferences: u32 = 4;
/** Added to the number of a space for an index with sums. */
const sumsFlag: u32 = 0x100;
export const pageHead: usize = 8;
export const cellHead: usize = 10;
export const slotBytes: usize = 2;
export const keyBytesMax: usize = 1300;

let space: u32 = 0;
let isSummed: bool = false;

/** Whether the open index has sums of the values. */
// @ts-ignore: decorator
@inline
export function hasSums(): bool {
  return isSummed;
}

/** Kind of the leaves of the open index. */
export function leafPageKind(): u32 {
  return isSummed ? leafKindWithReferences : leafKind;
}

/** Kind of the inner pages of the open index. */
export function innerPageKind(): u32 {
  return isSummed ? innerKindWithSums : innerKind;
}

export function root(): u32 { return load<u32>(superblock(), 12); }
export function height(): u32 { return load<u32>(superblock(), 16); }
export function keyCount(): u64 { return load<u64>(superblock(), 32); }

export function setRoot(page: u32, height: u32): void {
  store<u32>(superblock(), page, 12);
  store<u32>(superblock(), height, 16);
}

export function setKeyCount(count: u64): void {
  store<u64>(superblock(), count, 32);
}

// @ts-ignore: decorator
@inline
function superblock(): usize {
  return heapBase() + indexSuperblockAt;
}

/** Returns the address of one of five pages in the heap; number 3 also serves for page parts. */
// @ts-ignore: decorator
@inline
export function buffer(number: usize): usize {
  return heapBase() + indexPagesAt + number * bufferBytes;
}

/** Reads the superblock of the index in that space; an empty space represents an empty index. */
export function openIndex(which: u32): void {
  space = which & ~sumsFlag;
  isSummed = (which & sumsFlag) != 0;
  if (space == 0) unreachable(); // belongs to the rest of the canister
  const block = superblock();
  const wanted = isSummed ? versionWithSums : version;
  if (spaceSize(space) == 0) {
    memory.fill(block, 0, <usize>superblockBytes);
    store<u64>(block, magic);
    store<u32>(block, wanted, 8);
    store<u32>(block, 1, 20);
    return;
  }
  spaceRead(space, block, 0, superblockBytes);
  if (load<u64>(block) != magic || load<u32>(block, 8) != wanted) unreachable();
}

export function saveIndex(): void {
  spaceWrite(space, 0, superblock(), superblockBytes);
}

export function takePage(): u32 {
  const block = superblock();
  const free = load<u32>(block, 24);
  if (free != 0) {
    spaceRead(space, block + 24, pageOffset(free) + 4, 4);
    store<u32>(block, load<u32>(block, 28) - 1, 28);
    return free;
  }
  const page = load<u32>(block, 20);
  const missing = pageOffset(page + 1) > spaceSize(space) * wasmPageBytes;
  if (missing && spaceGrow(space, growPages) == u64.MAX_VALUE) unreachable();
  store<u32>(block, page + 1, 20);
  return page;
}

export function freePage(page: u32): void {
  const block = superblock();
  const link = buffer(scratchBuffer);
  store<u64>(link, <u64>load<u32>(block, 24) << 32);
  spaceWrite(space, pageOffset(page), link, 8);
  store<u32>(block, page, 24);
  store<u32>(block, load<u32>(block, 28) + 1, 28);
}

// @ts-ignore: decorator
@inline
function pageOffset(page: u32): u64 {
  return <u64>page * <u64>pageBytes;
}

export function readPage(page: u32, into: usize): void {
  const offset = pageOffset(page);
  spaceRead(space, into, offset, pageHead);
  if (used(into) > pageBytes || load<u16>(into) - leafKind > 3) unreachable();
  spaceRead(space, into + pageHead, offset + pageHead, used(into) - pageHead);
}

export function writePage(page: u32, from: usize): void {
  spaceWrite(space, pageOffset(page), from, used(from));
}

/** Writes a part of a page in the heap, such as one value. */
export function writePart(page: u32, from: usize, start: usize, length: usize): void {
  spaceWrite(space, pageOffset(page) + start, from + start, length);
}

/** Writes a count in a page that is no longer in the heap. */
export function writeCount(page: u32, start: usize, count: u32): void {
  const part = buffer(scratchBuffer);
  store<u32>(part, count);
  spaceWrite(space, pageOffset(page) + start, part, 4);
}

/** Writes a sum in a page that is no longer in the heap. */
export function writeSum(page: u32, start: usize, sum: u64): void {
  const part = buffer(scratchBuffer);
  store<u64>(part, sum);
  spaceWrite(space, pageOffset(page) + start, part, 8);
}

export function clearPage(at: usize, kind: u32): void {
  store<u64>(at, 0);
  store<u16>(at, kind);
  store<u16>(at, pageHead, 4);
}

// @ts-ignore: decorator
@inline
export function isLeaf(at: usize): bool {
  const kind = load<u16>(at);
  return kind == leafKind || kind == leafKindWithReferences;
}

/** Bytes of a cell after its key, in that kind of page. */
// @ts-ignore: decorator
@inline
function tailBytes(at: usize): usize { return load<u16>(at) >= innerKindWithSums ? 8 : 0; }

// @ts-ignore: decorator
@inline
export function cells(at: usize): u32 { return load<u16>(at, 2); }

// @ts-ignore: decorator
@inline
export function used(at: usize): usize { return load<u16>(at, 4); }

/** Returns the offset of a cell in its page; after the last one, the end of the page's bytes. */
// @ts-ignore: decorator
@inline
export function cellStart(at: usize, index: u32): usize {
  return index == cells(at) ? used(at) : load<u16>(at + pageHead + <usize>index * slotBytes);
}

// @ts-ignore: decorator
@inline
export function cellAt(at: usize, index: u32): usize {
  return at + load<u16>(at + pageHead + <usize>index * slotBytes);
}

/** Returns the address of the sum of an inner cell, or of the reference of a leaf's cell. */
// @ts-ignore: decorator
@inline
export function sumAt(cell: usize): usize {
  return cell + cellHead + <usize>load<u16>(cell, 8);
}

/** Makes space for a cell, without writing its content, and returns its address. */
export function openCell(at: usize, index: u32, keyLength: usize): usize {
  const size = cellHead + keyLength + tailBytes(at);
  const count = cells(at);
  const start = cellStart(at, index);
  const slot = pageHead + <usize>index * slotBytes;
  memory.copy(at + start + size + slotBytes, at + start, used(at) - start);
  memory.copy(at + slot + slotBytes, at + slot, start - slot);
  store<u16>(at, count + 1, 2);
  store<u16>(at, <u32>(used(at) + size + slotBytes), 4);
  moveSlots(at, 0, index, slotBytes);
  moveSlots(at, index + 1, count + 1, size + slotBytes);
  store<u16>(at + slot, <u32>(start + slotBytes));
  store<u16>(at + start + slotBytes, <u32>keyLength, 8);
  return at + start + slotBytes;
}

export function removeCell(at: usize, index: u32): void {
  const count = cells(at);
  const start = cellStart(at, index);
  const end = cellStart(at, index + 1);
  const size = end - start;
  const slot = pageHead + <usize>index * slotBytes;
  memory.copy(at + slot, at + slot + slotBytes, start - slot - slotBytes);
  memory.copy(at + start - slotBytes, at + end, used(at) - end);
  store<u16>(at, count - 1, 2);
  store<u16>(at, <u32>(used(at) - size - slotBytes), 4);
  moveSlots(at, 0, index, 0 - slotBytes);
  moveSlots(at, index, count - 1, 0 - size - slotBytes);
}

function moveSlots(at: usize, first: u32, end: u32, distance: usize): void {
  for (let index = first; index < end; index++) {
    const slot = at + pageHead + <usize>index * slotBytes;
    store<u16>(slot, load<u16>(slot) + <u32>distance);
  }
}

/** Appends the cells `[first, end)` of another page. */
export function appendCells(at: usize, from: usize, first: u32, end: u32): void {
  const count = cells(at);
  const added = end - first;
  const start = cellStart(from, first);
  const size = cellStart(from, end) - start;
  const slots = pageHead + <usize>count * slotBytes;
  const room = <usize>added * slotBytes;
  memory.copy(at + slots + room, at + slots, used(at) - slots);
  memory.copy(at + used(at) + room, from + start, size);
  memory.copy(at + slots, from + pageHead + <usize>first * slotBytes, room);
  moveSlots(at, 0, count, room);
  moveSlots(at, count, count + added, used(at) + room - start);
  store<u16>(at, count + added, 2);
  store<u16>(at, <u32>(used(at) + size + room), 4);
}

/** Drops the cells from `count` on. */
export function truncateCells(at: usize, count: u32): void {
  const dropped = <usize>(cells(at) - count) * slotBytes;
  const slots = pageHead + <usize>count * slotBytes;
  const start = slots + dropped;
  const end = cellStart(at, count);
  memory.copy(at + slots, at + start, end - start);
  store<u16>(at, count, 2);
  store<u16>(at, <u32>(end - dropped), 4);
  moveSlots(at, 0, count, 0 - dropped);
}
