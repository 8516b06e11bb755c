// Up to eight virtual stable memories ("spaces") on the one that the system gives a canister. Space
// 0 is what the rest of the canister sees as its stable memory; the others hold bulk bytes. Knows
// nothing of what is stored. Where a space lies in real memory, and why it may have holes:
// stable-extents.ts.

import { heapBase, zerosAt, zerosBytes } from './heap';
import {
  extentAt, extentBytes, fillHole, growSpace, indexOf, openExtents, pageBits, pagesMax, realOffset,
  sizeSlot, spaceCount,
} from './stable-extents';
import { systemStableRead, systemStableWrite } from './system';

const failed: u64 = u64.MAX_VALUE;

let isReady: bool = false;

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
  if (pages > pagesMax || !growSpace(space, former, pages)) return failed;
  updateLinear();
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
  if (isQuick(offset, size)) {
    const extent = extentAt(linearIndex, offset);
    if (extent != 0) {
      systemStableRead(target, realOffset(extent, offset), size);
      return;
    }
  }
  spaceRead(0, target, offset, size);
}

export function linearWrite(offset: u64, source: u64, size: u64): void {
  if (isQuick(offset, size)) {
    const extent = extentAt(linearIndex, offset);
    if (extent != 0) {
      systemStableWrite(realOffset(extent, offset), source, size);
      return;
    }
  }
  spaceWrite(0, offset, source, size);
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

function bytesOf(space: u32): u64 {
  if (space >= spaceCount) unreachable();
  if (!isReady) {
    openExtents();
    updateLinear();
    isReady = true;
  }
  return load<u64>(sizeSlot(space));
}

function updateLinear(): void {
  linearBytes = load<u64>(sizeSlot(0));
  linearIndex = indexOf(0);
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
  while (true) {
    const part = min(size, extentBytes - (offset & extentBytes - 1));
    let extent = extentAt(indexOf(space), offset);
    if (isWrite) {
      if (extent == 0 && !isZero(pointer, part)) extent = fillHole(space, offset);
      if (extent != 0) systemStableWrite(realOffset(extent, offset), pointer, part);
    } else if (extent != 0) systemStableRead(pointer, realOffset(extent, offset), part);
    else readHole(pointer, part);
    if (part == size) return;
    size -= part;
    offset += part;
    pointer += part;
  }
}

// @ts-ignore: decorator
@inline
function checkHeap(pointer: u64, size: u64): void {
  const end = <u64>memory.size() << pageBits;
  if (pointer > end || size > end - pointer) unreachable();
}

function isZero(pointer: u64, size: u64): bool {
  checkHeap(pointer, size);
  let at = <usize>pointer;
  const end = at + <usize>size;
  for (; at + 16 <= end; at += 16) if (v128.any_true(v128.load(at))) return false;
  for (; at < end; at++) if (load<u8>(at) != 0) return false;
  return true;
}

function readHole(pointer: u64, size: u64): void {
  checkHeap(pointer, size);
  memory.fill(<usize>pointer, 0, <usize>size);
}

/** Lets the system trap with its own words. */
function outOfBounds(): void {
  systemStableRead(0, u64.MAX_VALUE, 1);
  unreachable();
}

