// Writes of commit number n, and the check that a memory is exactly as commit n left it.

import { expect } from 'vitest';
import type { StableMemory } from '../../../packages/replica/src/core.ts';

export const canisterIds = ['rrkah-fqaaa-aaaaa-aaaaq-cai', 'ryjl3-tyaaa-aaaaa-aaaba-cai'];
export const pagesInWasm = 40;
const slots = 4;
const slotBytes = 500_000;
const stampOffsets = [3, 8_190, 123_456, 600_001];
const bulkStart = 620_003;

export function recordOf(generation: number): Uint8Array {
  return new TextEncoder().encode(`generation ${generation}`);
}

export function writeGeneration(memory: StableMemory, generation: number): void {
  for (const offset of stampOffsets) memory.write(offset, recordOf(generation));
  memory.write(bulkStart + (generation % slots) * slotBytes, bulk(generation));
}

/** Fails unless the memory has the stamps of `generation` and the last bulk of every slot. */
export function expectGeneration(memory: StableMemory, generation: number): void {
  for (const offset of stampOffsets) {
    const stamp = new Uint8Array(recordOf(generation).length);
    memory.read(offset, stamp);
    expect(new TextDecoder().decode(stamp)).toBe(`generation ${generation}`);
  }
  for (let older = generation; older > generation - slots && older > 0; older -= 1) {
    const expected = bulk(older);
    const found = new Uint8Array(expected.length);
    memory.read(bulkStart + (older % slots) * slotBytes, found);
    expect(Buffer.compare(found, expected), `bulk of ${older} at ${generation}`).toBe(0);
  }
}

/** Returns 100 to 400 kB that differ in each generation. */
function bulk(generation: number): Uint8Array {
  const bytes = new Uint8Array(100_000 + ((generation * 7_919) % 300_000));
  bytes.fill(generation % 251);
  new DataView(bytes.buffer).setUint32(0, generation);
  new DataView(bytes.buffer).setUint32(bytes.length - 4, generation);
  return bytes;
}
