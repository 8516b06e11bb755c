// Slots for records in a space of stable memory. A slot has one of 80 sizes, most of which are at
// most an eighth larger than the previous one. Free slots form one list per size, and new slots are
// taken from the end of the space.
//
//   0          8       16       24              664     4,096
//   +----------+-------+--------+---------------+- - - -+------------ - -
//   | magic    | end   | in use | free head × 80| 0     | slots
//   +----------+-------+--------+---------------+- - - -+------------ - -
//   A slot begins with the length of its record, u32; a free one with the offset of the next free
//   one of its size, u64, 0 for none. All fields of the superblock are u64.

import { heapBase, recordFieldsAt } from './heap';
import { spaceGrow, spaceRead, spaceSize, spaceWrite } from './stable-space';

const magic: u64 = 0x31434552_53464500; // "\0EFSREC1" as bytes
const headBytes: u64 = 24;
const slotsStart: u64 = 4096;
const wasmPageBits: u64 = 16;
/** The space grows in steps of one extent. */
const growPages: u64 = 16;

/** A size is a multiple of 2^5 bytes. */
const unitBits: u32 = 5;
/** From eight units on, each doubling has 2^3 sizes. */
const stepBits: u32 = 3;
const sizeCount: u32 = 80;
const lengthBytes: usize = 4;
/** 120 KiB: the greatest size is 15 units, doubled 8 times. */
const recordBytesMax: usize = (15 << 13) - 4;

// @ts-ignore: decorator
@inline
function fields(): usize {
  return heapBase() + recordFieldsAt;
}

function openSlots(space: u32): void {
  const at = fields();
  if (spaceSize(space) == 0) {
    store<u64>(at, magic);
    store<u64>(at, slotsStart, 8);
    store<u64>(at, 0, 16);
    return;
  }
  spaceRead(space, at, 0, headBytes);
  if (load<u64>(at) != magic) unreachable();
}

/** Returns the index of the smallest size for a record of that many bytes. */
export function sizeOfRecord(length: usize): u32 {
  const last = <u32>((length + lengthBytes - 1) >> unitBits);
  if (last < 16) return last;
  const shift = 31 - stepBits - <u32>clz<u32>(last);
  return (shift << stepBits) + (last >> shift);
}

function bytesOfSize(size: u32): u64 {
  const shift = size < 16 ? 0 : (size >> stepBits) - 1;
  return <u64>(size - (shift << stepBits) + 1) << (shift + unitBits);
}

// @ts-ignore: decorator
@inline
function headOffset(size: u32): u64 {
  return headBytes + (<u64>size << 3);
}

/** Returns the offset of a slot for a record of that many bytes. */
export function takeSlot(space: u32, length: usize): u64 {
  if (length > recordBytesMax) unreachable();
  openSlots(space);
  const at = fields();
  const size = sizeOfRecord(length);
  const bytes = bytesOfSize(size);
  if (spaceSize(space) > 0) {
    const head = at + <usize>headBytes;
    spaceRead(space, head, headOffset(size), 8);
    const free = load<u64>(head);
    if (free != 0) {
      spaceRead(space, head, free, 8);
      spaceWrite(space, headOffset(size), head, 8);
      return saveSlots(space, bytes, free);
    }
  }
  const offset = load<u64>(at, 8);
  const end = offset + bytes;
  while (end > spaceSize(space) << wasmPageBits) {
    if (spaceGrow(space, growPages) == u64.MAX_VALUE) unreachable();
  }
  store<u64>(at, end, 8);
  return saveSlots(space, bytes, offset);
}

function saveSlots(space: u32, change: u64, offset: u64): u64 {
  const at = fields();
  store<u64>(at, load<u64>(at, 16) + change, 16);
  spaceWrite(space, 0, at, headBytes);
  return offset;
}

/** Frees the slot of a record of that many bytes. */
export function freeSlot(space: u32, offset: u64, length: usize): void {
  openSlots(space);
  const size = sizeOfRecord(length);
  const head = fields() + <usize>headBytes;
  spaceRead(space, head, headOffset(size), 8);
  spaceWrite(space, offset, head, 8);
  store<u64>(head, offset);
  spaceWrite(space, headOffset(size), head, 8);
  saveSlots(space, 0 - bytesOfSize(size), offset);
}

/** Returns the number of bytes of the record in that slot. */
export function recordLength(space: u32, offset: u64): usize {
  const at = fields();
  spaceRead(space, at, offset, lengthBytes);
  return load<u32>(at);
}

export function readRecord(space: u32, offset: u64, target: usize, length: usize): void {
  spaceRead(space, target, offset + lengthBytes, length);
}

export function writeRecord(space: u32, offset: u64, source: usize, length: usize): void {
  const at = fields();
  store<u32>(at, <u32>length);
  spaceWrite(space, offset, at, lengthBytes);
  spaceWrite(space, offset + lengthBytes, source, length);
}

/** Returns the bytes of all slots in use. */
export function recordBytesInUse(space: u32): u64 {
  openSlots(space);
  return load<u64>(fields(), 16);
}
