// Walks the nodes of the label trees of a space (kernel/label-nodes.ts) and checks that every slot
// is in exactly one tree or free list.

import { expect } from 'vitest';
import { openSpace } from '../../src/storage/space.ts';
import type { StableSpace } from '../../src/storage/stable-space.ts';
import { expectSame } from '../support/expect-same.ts';

const slotUnits = [5, 8, 16, 32, 72] as const;

export interface LabelShape {
  readonly nodes: number;
  readonly freeSlots: number;
  /** Size of the slots, in units of 16 bytes. */
  readonly units: number;
}

export function checkLabelStructure(space: StableSpace): LabelShape {
  const memory = openSpace(space);
  const read = (unit: number, length: number): Buffer => {
    const bytes = Buffer.alloc(length);
    memory.read(unit * 16, bytes);
    return bytes;
  };
  const block = read(0, 144);
  expect(block.subarray(0, 8).toString('latin1')).toBe('\0EFSLBL1');
  const owned = new Map<number, number>();
  const claim = (slot: number, units: number) => {
    expectSame(owned.has(slot), false, `slot ${slot} occurs twice`);
    owned.set(slot, units);
  };

  const waiting = [68, 104].map((at) => block.readUInt32LE(at));
  for (let slot = waiting.pop(); slot !== undefined; slot = waiting.pop()) {
    if (slot === 0) continue;
    const head = read(slot, 80);
    const isInner = head.readUInt16LE(0) === 1;
    if (!isInner) expectSame(head.readUInt16LE(0), 2);
    const bytes = isInner ? 76 : 40 + head.readUInt16LE(2);
    claim(slot, slotUnits.find((units) => units * 16 >= bytes) ?? 0);
    waiting.push(head.readUInt32LE(4), isInner ? head.readUInt32LE(40) : 0);
  }
  const nodes = owned.size;
  expect(block.readUInt32LE(16), 'the count of nodes').toBe(nodes);
  for (const [size, units] of slotUnits.entries()) {
    let slot = block.readUInt32LE(24 + 4 * size);
    for (; slot !== 0; slot = read(slot, 8).readUInt32LE(4)) claim(slot, units);
  }
  let end = 16;
  for (const [slot, units] of [...owned].sort(([a], [b]) => a - b)) {
    expectSame(slot, end, 'slots follow each other without gaps');
    end = slot + units;
  }
  expect(block.readUInt32LE(12), 'the end of the slots').toBe(end);
  return { nodes, freeSlots: owned.size - nodes, units: end - 16 };
}
