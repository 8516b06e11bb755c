// Slots for file bytes in a raw space of stable memory. A slot has one of eight sizes; a free one
// is the head or a link of its size's list; new ones are cut from the end of the space. So
// allocation and release cost the same at any fill, nothing fragments, and a reader opens single
// segments. Knows nothing of files. Why not a stable map: inserting a blob there rewrites its whole
// node, about 120 instructions a byte against 2 here.
//
//   0          8         16        24                       80
//   +----------+---------+---------+------------------------+- - -+--------- - -
//   | magic    | end     | in use  | free head × 8          | 0   | slots from 4,096 on
//   +----------+---------+---------+------------------------+- - -+--------- - -
//   A free slot starts with the offset of the next free one of its size, 0 for none. Every field is
//   a float64: an exact integer to 2^53, read natively through a typed array.

import { assert, present } from '../lib/assert.ts';
import { segmentBytesMax } from '../limits.ts';
import type { Space } from './space.ts';

export interface Blobs {
  /** One slot for each size, in order; sizes are bytes up to `slotBytesMax`. */
  allocate(sizes: readonly number[]): Float64Array<ArrayBuffer>;
  free(offsets: Float64Array, sizes: readonly number[]): void;
  read(offset: number, target: Uint8Array): void;
  write(offset: number, source: Uint8Array): void;
  /** Whether so many bytes from the offset on lie inside the slots that were ever cut. */
  isSlot(offset: number, bytes: number): boolean;
  /** Bytes of the slots in use. */
  bytesInUse(): number;
}

/** Room for an authentication tag behind the bytes of a segment. */
const tagBytes = 16;
const slotSizes = [512, 1_024, 2_048, 4_096, 8_192, 16_384, 32_768, segmentBytesMax].map(
  (size) => size + tagBytes,
);
export const slotBytesMax = segmentBytesMax + tagBytes;
const magic = 0xef5_b10b_0001;
const slotsStart = 4_096;

const fieldMagic = 0;
const fieldEnd = 1;
const fieldInUse = 2;
const fieldHeads = 3;
const fieldCount = fieldHeads + slotSizes.length;

export function openBlobs(space: Space): Blobs {
  let fields: Float64Array<ArrayBuffer> | undefined;

  // Kept on the heap between messages: heap and stable memory are rolled back together.
  function superblock(): Float64Array<ArrayBuffer> {
    if (fields === undefined) {
      fields = new Float64Array(fieldCount);
      if (space.size() > 0) {
        space.read(0, new Uint8Array(fields.buffer));
        assert(fields[fieldMagic] === magic, 'the blob space starts with its magic number');
      } else {
        fields[fieldMagic] = magic;
        fields[fieldEnd] = slotsStart;
      }
    }
    return fields;
  }

  function take(block: Float64Array<ArrayBuffer>, sizeIndex: number): number {
    const head = field(block, fieldHeads + sizeIndex);
    if (head !== 0) {
      const next = new Float64Array(1);
      space.read(head, new Uint8Array(next.buffer));
      block[fieldHeads + sizeIndex] = field(next, 0);
      return head;
    }
    const offset = field(block, fieldEnd);
    block[fieldEnd] = offset + slotSize(sizeIndex);
    return offset;
  }

  return {
    allocate(sizes) {
      const block = superblock();
      const offsets = new Float64Array(sizes.length);
      let position = 0;
      for (const size of sizes) {
        const sizeIndex = slotSizeIndex(size);
        offsets[position++] = take(block, sizeIndex);
        block[fieldInUse] = field(block, fieldInUse) + slotSize(sizeIndex);
      }
      assert(space.growTo(field(block, fieldEnd)), 'stable memory can grow');
      space.write(0, new Uint8Array(block.buffer));
      return offsets;
    },
    free(offsets, sizes) {
      const block = superblock();
      let position = 0;
      for (const size of sizes) {
        const offset = field(offsets, position++);
        const sizeIndex = slotSizeIndex(size);
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
    isSlot: (offset, bytes) =>
      Number.isSafeInteger(offset) &&
      offset >= slotsStart &&
      offset + bytes <= field(superblock(), fieldEnd),
    bytesInUse: () => field(superblock(), fieldInUse),
  };
}

function field(values: Float64Array, index: number): number {
  return present(values[index], 'field of the blob space');
}

function slotSize(sizeIndex: number): number {
  return present(slotSizes[sizeIndex], 'slot size');
}

function slotSizeIndex(bytes: number): number {
  const index = slotSizes.findIndex((size) => bytes <= size);
  assert(index !== -1, `a slot holds at most ${slotBytesMax} bytes`);
  return index;
}
