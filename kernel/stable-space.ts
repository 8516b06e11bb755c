// Up to 16 virtual stable memories ("spaces") on the canister's single one. Space 0 is the
// stable memory of the rest of the canister; the others contain file bytes and indexes.
// stable-extents.ts explains the position of spaces in real memory and their holes.

import { heapBase, zerosAt, zerosBytes } from './heap';
import {
  extentAt, extentBytes, fillHole, growSpace, indexOf, openExtents, pageBits, pagesMax, realOffset,
  sizeSlot, spaceCount,
} from './stable-extents';
import { systemStableRead, systemStableWrite } from './system';

const failed: u64 = u64.MAX_VALUE;

let isReady: bool = false;

/** Size and index of space 0 in globals, for the fast path. */
let linearBytes: u64 = 0;
let linearIndex: usize = 0;

/** Returns the size of a space in Wasm pages. */
export function spaceSize(space: u32): u64 {
  return bytesOf(space) >> pageBits;
}

/** Returns the former size in pages; u64.MAX, without a change, if there is no memory. */
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

/** `spaceRead` of space 0, fast within one extent: the canister has many short reads. */
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
 * Whether the range is inside one extent and inside the space. The sum overflows only for a size
 * that no heap has, which the system refuses. For an empty range at 0 it wraps to 2^64 - 1: not
 * inside.
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

/** Makes the system trap with its own message. */
function outOfBounds(): void {
  systemStableRead(0, u64.MAX_VALUE, 1);
  unreachable();
}

