// Slots of one size in a raw space of stable memory, for data that must leave no trace: erasing a
// slot overwrites it with zeros in place at once. (A stable map moves its entries and leaves old
// bytes behind.) Slots are numbered from 1. It knows nothing of their content.
//
//   0          8         16        24                  slotBytes
//   +----------+---------+---------+---------+- - - - -+--------- - -
//   | magic    | end     | in use  | free    | 0       | slots 1, 2, …, end - 1
//   +----------+---------+---------+---------+- - - - -+--------- - -
//   A free slot contains zeros, except for the number of the next free one, 0 for none, at 8. The
//   first field of a slot in use is never 0. Every field is a float64.

import { assert } from '../lib/assert.ts';
import type { Space } from './space.ts';
import type { StableSpace } from './stable-space.ts';

export interface ErasableSlots {
  /** For operations of the kernel that read slots themselves. */
  readonly space: StableSpace;
  /** Stores `slotBytes` bytes that do not begin with 8 zeros; returns the slot's number. */
  add(bytes: Uint8Array): number;
  /** Returns a copy; `undefined` for a free slot or a number without a slot. */
  read(slot: number): Uint8Array | undefined;
  replace(slot: number, bytes: Uint8Array): void;
  /** Overwrites the slot with zeros and frees it. */
  erase(slot: number): void;
  /** Returns slots `[start, start + count)` together, including free ones; fewer at the end. */
  readMany(start: number, count: number): Uint8Array;
  /** Returns the highest number ever used plus one. */
  end(): number;
  inUse(): number;
}

export const slotBytes = 80;
const magic = 0xef5_e5a5_0001;
const nextAt = 8;

interface Superblock {
  end: number;
  inUse: number;
  free: number;
}

function readNumbers(space: Space, offset: number, count: number): Float64Array {
  const numbers = new Float64Array(count);
  const bytes = new Uint8Array(numbers.buffer);
  space.read(offset, bytes);
  return numbers;
}

function readSuperblock(space: Space): Superblock {
  if (space.size() === 0) {
    return { end: 1, inUse: 0, free: 0 };
  }
  const [first, end = 1, inUse = 0, free = 0] = readNumbers(space, 0, 4);
  assert(first === magic, 'the space of erasable slots starts with its magic number');
  return { end, inUse, free };
}

function saveSuperblock(space: Space, { end, inUse, free }: Superblock): void {
  const bytes = new Uint8Array(Float64Array.of(magic, end, inUse, free).buffer);
  space.write(0, bytes);
}

export function openErasableSlots(space: Space): ErasableSlots {
  let superblock: Superblock | undefined;

  // Stays on the heap: an aborted message rolls heap and stable memory back together.
  function fields(): Superblock {
    superblock ??= readSuperblock(space);
    return superblock;
  }

  function take(block: Superblock): number {
    const slot = block.free;
    if (slot !== 0) {
      block.free = readNumbers(space, slot * slotBytes + nextAt, 1)[0] ?? 0;
      return slot;
    }
    block.end += 1;
    assert(space.growTo(block.end * slotBytes), 'stable memory can grow');
    return block.end - 1;
  }

  function read(slot: number): Uint8Array | undefined {
    if (!(Number.isSafeInteger(slot) && slot > 0 && slot < fields().end)) {
      return undefined;
    }
    const bytes = new Uint8Array(slotBytes);
    space.read(slot * slotBytes, bytes);
    return new Float64Array(bytes.buffer)[0] === 0 ? undefined : bytes;
  }

  return {
    space: space.id,
    add(bytes) {
      const block = fields();
      const slot = take(block);
      block.inUse += 1;
      saveSuperblock(space, block);
      space.write(slot * slotBytes, bytes);
      return slot;
    },
    read,
    replace: (slot, bytes) => space.write(slot * slotBytes, bytes),
    erase(slot) {
      assert(read(slot) !== undefined, 'an erased slot was in use');
      const block = fields();
      const zeros = new Uint8Array(slotBytes);
      zeros.set(new Uint8Array(Float64Array.of(block.free).buffer), nextAt);
      space.write(slot * slotBytes, zeros);
      block.free = slot;
      block.inUse -= 1;
      saveSuperblock(space, block);
    },
    readMany(start, count) {
      const end = Math.min(fields().end, start + count);
      const bytes = new Uint8Array(Math.max(0, end - start) * slotBytes);
      if (bytes.length > 0) space.read(start * slotBytes, bytes);
      return bytes;
    },
    end: () => fields().end,
    inUse: () => fields().inUse,
  };
}
