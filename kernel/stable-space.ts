// Up to eight virtual stable memories ("spaces") on the one that the system gives a canister. Space
// 0 is what the rest of the canister sees as its stable memory; the others hold bulk bytes. Knows
// nothing of what is stored. It formats an empty stable memory and refuses, by a trap, one that it
// did not format.
//
//   real offset 0      superblock: magic u64, version u32, extents u32, bytes of each space 8 x u64
//   real offset 4096   one u32 for each real extent of 1 MiB: space << 29 | index in that space
//   real offset 2 MiB  extent 2, extent 3, ... (extents 0 and 1 are the superblock and the table)

import {
  ensureHeap, heapBase, spaceIndexesAt, spaceSizesAt, superblockAt, tablePartAt, tablePartBytes,
  takePages, zerosAt, zerosBytes,
} from './heap';
import {
  systemStableGrow, systemStableRead, systemStableSize, systemStableWrite, systemTrap,
} from './system';

const magic: u64 = 0x314c425453534645; // "EFSSTBL1" as bytes
const version: u32 = 2;
const spaceCount: u32 = 8;
const spaceShift: u32 = 29;
const sizesBytes: usize = 64;
const pageBits: u64 = 16;
const extentBits: u64 = 20;
const extentBytes: u64 = 1 << extentBits;
const pagesPerExtent: u64 = 16;
const reservedExtents: u32 = 2;
const superblockBytes: u64 = 80;
const tableOffset: u64 = 4096;
/** As many extents as the table has room for: 511 GiB. */
const extentsMax: u32 = 523_264;
/** An index is made of Wasm pages; one has the real extents of 16 GiB of a space. */
const extentsPerIndexPage: u32 = 1 << 14;
const failed: u64 = u64.MAX_VALUE;

let isReady: bool = false;
/** Real extents in use, the reserved ones included; 0 before the stable memory is formatted. */
let extents: u32 = 0;

/** Space 0 in globals, for the fast way: its size and its index. */
let linearBytes: u64 = 0;
let linearIndex: usize = 0;

/** Size of a space in Wasm pages. */
export function spaceSize(space: u32): u64 {
  return bytesOf(space) >> pageBits;
}

/** Former size in pages; u64.MAX, and nothing changed, when there is no room. */
export function spaceGrow(space: u32, pages: u64): u64 {
  const former = spaceSize(space);
  if (pages == 0) return former;
  if (pages > <u64>extentsMax * pagesPerExtent) return failed;
  const had = extentsFor(former);
  const needed = extentsFor(former + pages);
  if (needed > had && !takeExtents(space, had, needed)) return failed;
  store<u64>(sizeSlot(space), former + pages << pageBits);
  updateLinear();
  writeSuperblock();
  return former;
}

export function spaceRead(space: u32, target: u64, offset: u64, size: u64): void {
  transfer(space, offset, target, size, false);
}

export function spaceWrite(space: u32, offset: u64, source: u64, size: u64): void {
  transfer(space, offset, source, size, true);
}

/**
 * `spaceRead` of space 0, quick when the bytes lie in one extent: the canister reads often and
 * little.
 */
export function linearRead(target: u64, offset: u64, size: u64): void {
  if (isQuick(offset, size)) systemStableRead(target, linearReal(offset), size);
  else spaceRead(0, target, offset, size);
}

export function linearWrite(offset: u64, source: u64, size: u64): void {
  if (isQuick(offset, size)) systemStableWrite(linearReal(offset), source, size);
  else spaceWrite(0, offset, source, size);
}

/**
 * Inside one extent and inside the space. A sum can only pass 2^64 for a size that no heap has,
 * which the system refuses, or to 0 exactly, which minus one is above every size.
 */
// @ts-ignore: decorator
@inline
function isQuick(offset: u64, size: u64): bool {
  return ((offset & extentBytes - 1) + size <= extentBytes) & (offset + size - 1 < linearBytes);
}

// @ts-ignore: decorator
@inline
function linearReal(offset: u64): u64 {
  return realOffset(linearIndex, offset);
}

// @ts-ignore: decorator
@inline
function realOffset(index: usize, offset: u64): u64 {
  const extent = load<u32>(index + (<usize>(offset >> extentBits - 2) & ~3));
  return <u64>extent << extentBits | offset & extentBytes - 1;
}

// @ts-ignore: decorator
@inline
function sizeSlot(space: u32): usize {
  return heapBase() + spaceSizesAt + (<usize>space << 3);
}

/** Where a space's index is, u32, and for how many extents it has room, u32. */
// @ts-ignore: decorator
@inline
function indexSlot(space: u32): usize {
  return heapBase() + spaceIndexesAt + (<usize>space << 3);
}

function bytesOf(space: u32): u64 {
  if (space >= spaceCount) unreachable();
  if (!isReady) prepare();
  return load<u64>(sizeSlot(space));
}

function updateLinear(): void {
  linearBytes = load<u64>(sizeSlot(0));
  linearIndex = load<usize>(indexSlot(0));
}

/** Overwrites a range with zeros. */
export function spaceErase(space: u32, offset: u64, size: u64): void {
  checkBounds(space, offset, size);
  const zeros = <u64>(heapBase() + zerosAt);
  while (size > 0) {
    const part = min(size, <u64>zerosBytes);
    spaceWrite(space, offset, zeros, part);
    offset += part;
    size -= part;
  }
}

function checkBounds(space: u32, offset: u64, size: u64): void {
  const end = offset + size;
  if (end < offset || end > bytesOf(space)) outOfBounds();
}

// @ts-ignore: decorator
@inline
function transfer(space: u32, offset: u64, pointer: u64, size: u64, isWrite: bool): void {
  if (size == 0) return;
  checkBounds(space, offset, size);
  const index = load<usize>(indexSlot(space));
  while (true) {
    const real = realOffset(index, offset);
    const part = min(size, extentBytes - (offset & extentBytes - 1));
    if (isWrite) systemStableWrite(real, pointer, part);
    else systemStableRead(pointer, real, part);
    if (part == size) return;
    size -= part;
    offset += part;
    pointer += part;
  }
}

/** Lets the system trap with its own words. */
function outOfBounds(): void {
  systemStableRead(0, u64.MAX_VALUE, 1);
  unreachable();
}

// @ts-ignore: decorator
@inline
function extentsFor(pages: u64): u32 {
  return <u32>((pages + pagesPerExtent - 1) / pagesPerExtent);
}

/** Heap first, then stable memory, then the table: a refusal leaves no trace that matters. */
function takeExtents(space: u32, had: u32, needed: u32): bool {
  const first = max(extents, reservedExtents);
  const after = <u64>first + (needed - had);
  if (after > extentsMax || !reserveIndex(space, needed)) return false;
  const real = systemStableSize();
  const wanted = after * pagesPerExtent;
  if (wanted > real && systemStableGrow(wanted - real) == failed) return false;
  extents = <u32>after;
  let extent = first;
  while (had < needed) {
    const count = min(needed - had, <u32>tablePartBytes >> 2);
    const part = heapBase() + tablePartAt;
    for (let i: u32 = 0; i < count; i++) {
      store<u32>(part + (i << 2), space << spaceShift | had + i);
      setIndex(space, had + i, extent + i);
    }
    systemStableWrite(tableOffset + (<u64>extent << 2), part, <u64>count << 2);
    had += count;
    extent += count;
  }
  return true;
}

/**
 * A larger index takes new pages, twice as many, and leaves the old ones: no more than half is
 * lost.
 */
function reserveIndex(space: u32, needed: u32): bool {
  const slot = indexSlot(space);
  const room = load<u32>(slot, 4);
  if (needed <= room) return true;
  const least = (needed + extentsPerIndexPage - 1) / extentsPerIndexPage;
  const pages = max(least, room / extentsPerIndexPage * 2);
  const index = takePages(pages);
  if (index == 0) return false;
  memory.copy(index, load<usize>(slot), <usize>room << 2);
  store<usize>(slot, index);
  store<u32>(slot, pages * extentsPerIndexPage, 4);
  return true;
}

// @ts-ignore: decorator
@inline
function setIndex(space: u32, virtual: u32, extent: u32): void {
  store<u32>(load<usize>(indexSlot(space)) + (virtual << 2), extent);
}

function writeSuperblock(): void {
  const block = heapBase() + superblockAt;
  store<u64>(block, magic);
  store<u32>(block + 8, version);
  store<u32>(block + 12, extents);
  memory.copy(block + 16, heapBase() + spaceSizesAt, sizesBytes);
  systemStableWrite(0, block, superblockBytes);
}

/** First use in this instance: reads what an earlier one left. */
function prepare(): void {
  ensureHeap();
  const real = systemStableSize();
  if (real != 0) readSuperblock(real);
  isReady = true;
}

/** Its words are put together here, because the kernel has no static data. */
function refuseMemory(): void {
  const text = heapBase() + tablePartAt;
  store<u64>(text, 0x6261747320656854); // "The stab"
  store<u64>(text, 0x726f6d656d20656c, 8); // "le memor"
  store<u64>(text, 0x746f6e2073692079, 16); // "y is not"
  store<u64>(text, 0x7369687420666f20, 24); // " of this"
  store<u64>(text, 0x6e6f697372657620, 32); // " version"
  store<u64>(text, 0x6c6174736e69203a, 40); // ": instal"
  store<u64>(text, 0x687420656e6f206c, 48); // "l one th"
  store<u64>(text, 0x2073746966207461, 56); // "at fits "
  store<u64>(text, 0x7220726f202c7469, 64); // "it, or r"
  store<u64>(text, 0x6c6c6174736e6965, 72); // "einstall"
  systemTrap(text, 80);
  unreachable();
}

function readSuperblock(real: u64): void {
  const block = heapBase() + superblockAt;
  systemStableRead(block, 0, superblockBytes);
  if (load<u64>(block) != magic || load<u32>(block + 8) != version) refuseMemory();
  extents = load<u32>(block + 12);
  if (extents < reservedExtents || extents > extentsMax) unreachable();
  if (<u64>extents * pagesPerExtent > real) unreachable();
  memory.copy(heapBase() + spaceSizesAt, block + 16, sizesBytes);
  let mapped: u64 = reservedExtents;
  for (let space: u32 = 0; space < spaceCount; space++) {
    const pages = load<u64>(sizeSlot(space)) >> pageBits;
    if (pages > <u64>extentsMax * pagesPerExtent) unreachable();
    mapped += extentsFor(pages);
    if (pages != 0 && !reserveIndex(space, extentsFor(pages))) unreachable();
  }
  if (mapped != extents) unreachable();
  readTable();
  updateLinear();
}

function readTable(): void {
  const part = heapBase() + tablePartAt;
  let extent = reservedExtents;
  while (extent < extents) {
    const count = min(extents - extent, <u32>tablePartBytes >> 2);
    systemStableRead(part, tableOffset + (<u64>extent << 2), <u64>count << 2);
    for (let i: u32 = 0; i < count; i++) {
      const entry = load<u32>(part + (i << 2));
      const space = entry >> spaceShift;
      const virtual = entry & (1 << spaceShift) - 1;
      if (virtual >= extentsFor(load<u64>(sizeSlot(space)) >> pageBits)) unreachable();
      setIndex(space, virtual, extent + i);
    }
    extent += count;
  }
}
