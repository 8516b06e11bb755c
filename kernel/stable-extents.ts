// The extents of real stable memory that form the spaces: their owners, in the heap and in a table
// that outlives the instance. This module formats an empty stable memory, and traps if it finds one
// that it did not format. It moves no bytes of a space.
//
//   real offset 0      superblock: magic u64, version u32, extents u32, bytes of 16 spaces, u64
//   real offset 4096   one u32 for each real extent of 1 MiB: the lowest three bits of its space in
//                      bits 29 to 31, the fourth in bit 28, and its index in that space below
//   real offset 2 MiB  extent 2, extent 3, ... (extents 0 and 1 are the superblock and the table)
//
// Space 0 is sparse: the first write that is not all zeros allocates an extent, and until then it
// has a hole that reads as zeros. Azle's maps take 8 MiB each and fill a few kilobytes, and the
// system charges for every page. The growth of space 0 is therefore a promise: the table has space
// for everything that was promised, but the system may refuse memory at the write, which then traps
// with a reason and reverts the whole message. The other spaces are filled as soon as they grow, so
// they get their extents at once, and growing reports a refusal.
//
// Version 3, of release 0.2.0, has only the spaces 0 to 7, and zeros beyond its superblock. Version
// 2, of release 0.1.0, has no holes either. Both are read unchanged and become version 4 at the
// next change. A message that traps reverts the globals of the instance together with both
// memories, so these and the superblock never differ.

import {
  ensureHeap, heapBase, spaceIndexesAt, spaceSizesAt, superblockAt, tablePartAt, tablePartBytes,
  takePages,
} from './heap';
import {
  systemStableGrow, systemStableRead, systemStableSize, systemStableWrite, systemTrap,
} from './system';

const magic: u64 = 0x314c425453534645; // "EFSSTBL1" as bytes
const version: u32 = 4;
/** With eight spaces, without holes. */
const fullVersion: u32 = 2;
/** The space that can have holes. */
const sparseSpace: u32 = 0;
export const spaceCount: u32 = 16;
const spaceShift: u32 = 29;
const highSpaceShift: u32 = 28;
const sizesBytes: usize = 128;
export const pageBits: u64 = 16;
const extentBits: u64 = 20;
export const extentBytes: u64 = 1 << extentBits;
const pagesPerExtent: u64 = 16;
const reservedExtents: u32 = 2;
const superblockBytes: u64 = 144;
const tableOffset: u64 = 4096;
/** The number of extents in the table: 511 GiB. */
const extentsMax: u32 = 523_264;
/** More pages than any space can have. */
export const pagesMax: u64 = <u64>extentsMax * pagesPerExtent;
/** An index consists of Wasm pages; each covers 16 GiB of a space. */
const extentsPerIndexPage: u32 = 1 << 14;
const failed: u64 = u64.MAX_VALUE;

/** Real extents in use, including the reserved ones; 0 before the stable memory is formatted. */
let extents: u32 = 0;
/** Extents for the sizes of all spaces, including holes. */
let promised: u32 = 0;

// @ts-ignore: decorator
@inline
export function sizeSlot(space: u32): usize {
  return heapBase() + spaceSizesAt + (<usize>space << 3);
}

/** Address of a space's index, u32, and the number of extents that fit into it, u32. */
// @ts-ignore: decorator
@inline
function indexSlot(space: u32): usize {
  return heapBase() + spaceIndexesAt + (<usize>space << 3);
}

/** Returns the address of the real extents of a space in order, u32 each. */
// @ts-ignore: decorator
@inline
export function indexOf(space: u32): usize {
  return load<usize>(indexSlot(space));
}

/** Returns the real extent of an offset inside a space; in a hole 0, which is the superblock's. */
// @ts-ignore: decorator
@inline
export function extentAt(index: usize, offset: u64): u32 {
  return load<u32>(index + (<usize>(offset >> extentBits - 2) & ~3));
}

// @ts-ignore: decorator
@inline
export function realOffset(extent: u32, offset: u64): u64 {
  return <u64>extent << extentBits | offset & extentBytes - 1;
}

// @ts-ignore: decorator
@inline
function extentsFor(pages: u64): u32 {
  return <u32>((pages + pagesPerExtent - 1) / pagesPerExtent);
}

/** Returns false, without a change, if there is no memory. At most `pagesMax` pages. */
export function growSpace(space: u32, former: u64, pages: u64): bool {
  const had = extentsFor(former);
  const needed = extentsFor(former + pages);
  if (needed > had && !promiseExtents(space, had, needed)) return false;
  store<u64>(sizeSlot(space), former + pages << pageBits);
  writeSuperblock();
  return true;
}

/** Allocates heap, then stable memory, then the table: a refusal leaves no inconsistency. */
function promiseExtents(space: u32, had: u32, needed: u32): bool {
  const after = promised + (needed - had);
  if (after > extentsMax - reservedExtents || !reserveIndex(space, needed)) return false;
  if (space == sparseSpace) {
    if (!growReal(max(extents, reservedExtents))) return false;
  } else if (!takeExtents(space, had, needed)) return false;
  promised = after;
  return true;
}

/** Allocates and returns the real extent for a hole at that offset. */
export function fillHole(space: u32, offset: u64): u32 {
  const virtual = <u32>(offset >> extentBits);
  if (!takeExtents(space, virtual, virtual + 1)) refuseGrowth();
  writeSuperblock();
  return extents - 1;
}

// @ts-ignore: decorator
@inline
function ownerBits(space: u32): u32 {
  return (space & 7) << spaceShift | space >> 3 << highSpaceShift;
}

function takeExtents(space: u32, had: u32, needed: u32): bool {
  let extent = max(extents, reservedExtents);
  if (!growReal(extent + (needed - had))) return false;
  while (had < needed) {
    const count = min(needed - had, <u32>tablePartBytes >> 2);
    const part = heapBase() + tablePartAt;
    for (let i: u32 = 0; i < count; i++) {
      store<u32>(part + (i << 2), ownerBits(space) | had + i);
      store<u32>(indexOf(space) + (had + i << 2), extent + i);
    }
    systemStableWrite(tableOffset + (<u64>extent << 2), part, <u64>count << 2);
    had += count;
    extent += count;
  }
  return true;
}

function growReal(count: u32): bool {
  const real = systemStableSize();
  const wanted = <u64>count * pagesPerExtent;
  if (wanted > real && systemStableGrow(wanted - real) == failed) return false;
  extents = count;
  return true;
}

/** A larger index takes twice as many new pages and leaves the old ones: at most half is lost. */
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

function writeSuperblock(): void {
  const block = heapBase() + superblockAt;
  store<u64>(block, magic);
  store<u32>(block + 8, version);
  store<u32>(block + 12, extents);
  memory.copy(block + 16, heapBase() + spaceSizesAt, sizesBytes);
  systemStableWrite(0, block, superblockBytes);
}

/** Reads the state of an earlier instance at first use. */
export function openExtents(): void {
  ensureHeap();
  const real = systemStableSize();
  if (real != 0) readSuperblock(real);
}

/** Builds the text of the trap here, because the kernel has no static data. */
function refuseMemory(): void {
  const text = heapBase() + tablePartAt;
  store<u64>(text, 0x7265762073696854); // "This ver"
  store<u64>(text, 0x6e6163206e6f6973, 8); // "sion can"
  store<u64>(text, 0x6461657220746f6e, 16); // "not read"
  store<u64>(text, 0x6174732065687420, 24); // " the sta"
  store<u64>(text, 0x6f6d656d20656c62, 32); // "ble memo"
  store<u64>(text, 0x74736e69203a7972, 40); // "ry: inst"
  store<u64>(text, 0x65762061206c6c61, 48); // "all a ve"
  store<u64>(text, 0x6874206e6f697372, 56); // "rsion th"
  store<u64>(text, 0x202c6e6163207461, 64); // "at can, "
  store<u64>(text, 0x736e69657220726f, 72); // "or reins"
  store<u64>(text, 0x000000006c6c6174, 80); // "tall"
  systemTrap(text, 84);
  unreachable();
}

function refuseGrowth(): void {
  const text = heapBase() + tablePartAt;
  store<u64>(text, 0x696e616320656854); // "The cani"
  store<u64>(text, 0x6e61632072657473, 8); // "ster can"
  store<u64>(text, 0x2074656720746f6e, 16); // "not get "
  store<u64>(text, 0x6174732065726f6d, 24); // "more sta"
  store<u64>(text, 0x6f6d656d20656c62, 32); // "ble memo"
  store<u64>(text, 0x0000000000007972, 40); // "ry"
  systemTrap(text, 42);
  unreachable();
}

function readSuperblock(real: u64): void {
  const block = heapBase() + superblockAt;
  systemStableRead(block, 0, superblockBytes);
  const found = load<u32>(block + 8);
  if (load<u64>(block) != magic || found > version || found < fullVersion) refuseMemory();
  extents = load<u32>(block + 12);
  if (extents < reservedExtents || extents > extentsMax) unreachable();
  if (<u64>extents * pagesPerExtent > real) unreachable();
  memory.copy(heapBase() + spaceSizesAt, block + 16, sizesBytes);
  let all: u64 = 0;
  let sparse: u64 = 0;
  for (let space: u32 = 0; space < spaceCount; space++) {
    const pages = load<u64>(sizeSlot(space)) >> pageBits;
    if (pages > pagesMax) unreachable();
    all += extentsFor(pages);
    if (space == sparseSpace) sparse = all;
    if (pages != 0 && !reserveIndex(space, extentsFor(pages))) unreachable();
  }
  if (all > extentsMax - reservedExtents) unreachable();
  promised = <u32>all;
  const holes = sparse - readTable();
  if (reservedExtents + all - holes != extents) unreachable();
  if (found == fullVersion && holes != 0) unreachable();
}

/** Reads the table; returns the number of extents of the sparse space. */
function readTable(): u32 {
  const part = heapBase() + tablePartAt;
  let extent = reservedExtents;
  let sparse: u32 = 0;
  while (extent < extents) {
    const count = min(extents - extent, <u32>tablePartBytes >> 2);
    systemStableRead(part, tableOffset + (<u64>extent << 2), <u64>count << 2);
    for (let i: u32 = 0; i < count; i++) {
      const entry = load<u32>(part + (i << 2));
      const space = entry >> spaceShift | (entry >> highSpaceShift & 1) << 3;
      const virtual = entry & (1 << highSpaceShift) - 1;
      if (virtual >= extentsFor(load<u64>(sizeSlot(space)) >> pageBits)) unreachable();
      const slot = indexOf(space) + (virtual << 2);
      if (load<u32>(slot) != 0) unreachable(); // the extent occurs twice
      store<u32>(slot, extent + i);
      if (space == sparseSpace) sparse++;
    }
    extent += count;
  }
  return sparse;
}
