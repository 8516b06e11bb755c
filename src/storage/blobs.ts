// Slots for file bytes in a raw space of stable memory. A slot has one of 64 sizes, most of which
// are at most an eighth larger than the previous one. Free slots form one list per size, and new
// slots are taken from the end of the space. So allocation and release cost the same at any fill
// level, nothing fragments, and single segments can be read. It knows nothing of files. A stable
// map would rewrite a whole node for each inserted blob: 120 instructions per byte, not 2.
//
//   0          8         16        24           32              544
//   +----------+---------+---------+------------+----------------+- - -+--------- - -
//   | magic    | end     | in use  | former end | free head × 64 | 0   | slots from 4,096 on
//   +----------+---------+---------+------------+----------------+- - -+--------- - -
//   A free slot begins with the offset of the next free one of its size, 0 for none. Every field is
//   a float64: an exact integer up to 2^53, read natively through a typed array.
//
// Versions up to 0.1 had eight of these sizes, powers of two, with list heads at 24. The first
// change of such a space writes this superblock with the present end as the former end. A slot
// below it has the smallest of the eight sizes for its bytes, a slot above it the smallest of the
// 64.

import { assert } from '../lib/assert.ts';
import { segmentBytesMax } from '../limits.ts';
import type { Space } from './space.ts';
import type { StableSpace } from './stable-space.ts';

export interface Blobs {
  /** Returns a slot for each size, in order; sizes are bytes up to `slotBytesMax`. */
  allocate(sizes: readonly number[]): Float64Array<ArrayBuffer>;
  free(offsets: Float64Array, sizes: readonly number[]): void;
  read(offset: number, target: Uint8Array): void;
  write(offset: number, source: Uint8Array): void;
  /** Passes the space to a function that writes slots by an operation of the kernel. */
  fill(by: (space: StableSpace) => void): void;
  /** Whether that many bytes from the offset on lie within allocated slots, in use or free. */
  isSlot(offset: number, bytes: number): boolean;
  bytesInUse(): number;
}

/** Space for an authentication tag after the bytes of a segment. */
const tagBytes = 16;
export const slotBytesMax = segmentBytesMax + tagBytes;
const tooLarge = `a slot holds at most ${slotBytesMax} bytes`;
const magic = 0xef5_b10b_0002;
const formerMagic = 0xef5_b10b_0001;
const slotsStart = 4_096;

/** A size is a multiple of 2^6 bytes, plus the tag. */
const unitBits = 6;
/** From eight units on, each doubling has 2^3 sizes. */
const stepBits = 3;
const sizeCount = 64;
const formerSizeCount = 8;

const fieldMagic = 0;
const fieldEnd = 1;
const fieldInUse = 2;
const formerFieldHeads = 3;
const fieldFormerEnd = 3;
const fieldHeads = 4;
const fieldCount = fieldHeads + sizeCount;

export function openBlobs(space: Space): Blobs {
  let fields: Float64Array<ArrayBuffer> | undefined;

  // Stays on the heap: an aborted message rolls heap and stable memory back together.
  function superblock(): Float64Array<ArrayBuffer> {
    fields ??= readSuperblock(space);
    return fields;
  }

  function take(block: Float64Array<ArrayBuffer>, bytes: number): number {
    const sizeIndex = slotSizeIndex(bytes);
    const head = field(block, fieldHeads + sizeIndex);
    if (head !== 0) return unlink(space, block, sizeIndex);
    // A slot of the former version counts with one of the former sizes
    const formerEnd = field(block, fieldFormerEnd);
    if (formerEnd > slotsStart) {
      const formerIndex = formerSizeIndex(bytes);
      const former = field(block, fieldHeads + formerIndex);
      if (former !== 0 && former < formerEnd) return unlink(space, block, formerIndex);
    }
    const offset = field(block, fieldEnd);
    const size = slotSize(sizeIndex);
    block[fieldEnd] = offset + size;
    block[fieldInUse] = field(block, fieldInUse) + size;
    return offset;
  }

  return {
    allocate(sizes) {
      const block = superblock();
      const offsets = new Float64Array(sizes.length);
      let position = 0;
      for (const size of sizes) {
        offsets[position++] = take(block, size);
      }
      assert(space.growTo(field(block, fieldEnd)), 'stable memory can grow');
      space.write(0, new Uint8Array(block.buffer));
      return offsets;
    },
    free(offsets, sizes) {
      const block = superblock();
      const formerEnd = field(block, fieldFormerEnd);
      let position = 0;
      for (const size of sizes) {
        const offset = field(offsets, position++);
        const sizeIndex = offset < formerEnd ? formerSizeIndex(size) : slotSizeIndex(size);
        space.write(
          offset,
          new Uint8Array(Float64Array.of(field(block, fieldHeads + sizeIndex)).buffer),
        );
        block[fieldHeads + sizeIndex] = offset;
        block[fieldInUse] = field(block, fieldInUse) - slotSize(sizeIndex);
      }
      space.write(0, new Uint8Array(block.buffer));
    },
    read: (offset, target) => space.read(offset, target),
    write: (offset, source) => space.write(offset, source),
    fill: (by) => by(space.id),
    isSlot: (offset, bytes) =>
      Number.isSafeInteger(offset) &&
      offset >= slotsStart &&
      offset + bytes <= field(superblock(), fieldEnd),
    bytesInUse: () => field(superblock(), fieldInUse),
  };
}

/** Removes the first free slot of a size from its list. */
function unlink(space: Space, block: Float64Array<ArrayBuffer>, sizeIndex: number): number {
  const head = field(block, fieldHeads + sizeIndex);
  const next = new Float64Array(1);
  space.read(head, new Uint8Array(next.buffer));
  block[fieldHeads + sizeIndex] = field(next, 0);
  block[fieldInUse] = field(block, fieldInUse) + slotSize(sizeIndex);
  return head;
}

function field(values: Float64Array, index: number): number {
  return values[index] ?? 0;
}

function readSuperblock(space: Space): Float64Array<ArrayBuffer> {
  const fields = new Float64Array(fieldCount);
  if (space.size() === 0) {
    fields[fieldMagic] = magic;
    fields[fieldEnd] = slotsStart;
    fields[fieldFormerEnd] = slotsStart;
    return fields;
  }
  space.read(0, new Uint8Array(fields.buffer));
  if (fields[fieldMagic] === formerMagic) return convert(fields);
  assert(fields[fieldMagic] === magic, 'the blob space starts with its magic number');
  return fields;
}

/** Converts a superblock of a former version to this version's form. */
function convert(former: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer> {
  const fields = new Float64Array(fieldCount);
  fields[fieldMagic] = magic;
  fields[fieldEnd] = field(former, fieldEnd);
  fields[fieldInUse] = field(former, fieldInUse);
  fields[fieldFormerEnd] = field(former, fieldEnd);
  for (let index = 0; index < formerSizeCount; index++) {
    fields[fieldHeads + doublingIndex(index)] = field(former, formerFieldHeads + index);
  }
  return fields;
}

// Computes sizes by arithmetic: searching a list costs 3,000 instructions per entry.

/** Sizes up to 16 units are consecutive; larger ones have four significant bits, then zeros. */
function slotSizeIndex(bytes: number): number {
  const last = lastUnit(bytes);
  if (last < 16) return last;
  const shift = 31 - stepBits - Math.clz32(last);
  return (shift << stepBits) + (last >> shift);
}

function slotSize(sizeIndex: number): number {
  const shift = sizeIndex < 16 ? 0 : (sizeIndex >> stepBits) - 1;
  return ((sizeIndex - (shift << stepBits) + 1) << (shift + unitBits)) + tagBytes;
}

/** Returns the index of the smallest size that fits, of eight units and its doublings. */
function formerSizeIndex(bytes: number): number {
  const last = lastUnit(bytes);
  return doublingIndex(last < 8 ? 0 : 32 - stepBits - Math.clz32(last));
}

/** Index of the size class of eight units, doubled `doublings` times. */
function doublingIndex(doublings: number): number {
  return ((doublings + 1) << stepBits) - 1;
}

function lastUnit(bytes: number): number {
  assert(bytes <= slotBytesMax, tooLarge);
  return bytes > tagBytes ? (bytes - tagBytes - 1) >> unitBits : 0;
}
