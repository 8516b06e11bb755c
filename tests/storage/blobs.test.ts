import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { type Blobs, openBlobs, slotBytesMax } from '../../src/storage/blobs.ts';
import { openSpace } from '../../src/storage/space.ts';
import { testBytes } from '../support/domain-fixture.ts';
import { FakeSystem, installNodeKernel } from '../support/kernel-host.ts';

const formerSizes = [528, 1_040, 2_064, 4_112, 8_208, 16_400, 32_784, 65_552];
/** Multiples of 64 up to 1,024, then eight sizes per doubling; 16 bytes are added to each. */
const slotSizes = [1, 2, 4, 8, 16, 32, 64].flatMap((factor) =>
  Array.from({ length: 8 }, (_, i) => (factor === 1 ? 64 * (i + 1) : 32 * factor * (i + 9)) + 16),
);
slotSizes.push(...Array.from({ length: 8 }, (_, i) => 4_096 * (i + 9) + 16));
const slotsStart = 4_096;

function smallest(sizes: readonly number[], bytes: number): number {
  return sizes.find((size) => bytes <= size) ?? Number.NaN;
}

/** The reference model: live slots by offset, free slots by size, last freed last. */
class PlainBlobs {
  readonly live = new Map<number, { readonly size: number; readonly bytes: Uint8Array }>();
  readonly free = new Map<number, number[]>();
  end = slotsStart;
  /** Slots below this offset have the former eight sizes; if it is infinite, all slots do. */
  formerEnd = slotsStart;

  sizeAt(offset: number, bytes: number): number {
    return smallest(offset < this.formerEnd ? formerSizes : slotSizes, bytes);
  }

  expectedOffset(bytes: number): number {
    const cut = this.sizeAt(this.end, bytes);
    const reused = this.free.get(cut)?.pop();
    if (reused !== undefined) return reused;
    const former = this.free.get(smallest(formerSizes, bytes)) ?? [];
    if ((former.at(-1) ?? this.formerEnd) < this.formerEnd) return former.pop() ?? Number.NaN;
    this.end += cut;
    return this.end - cut;
  }

  release(offset: number, bytes: number): void {
    this.live.delete(offset);
    const size = this.sizeAt(offset, bytes);
    this.free.set(size, [...(this.free.get(size) ?? []), offset]);
  }

  bytesInUse(): number {
    return [...this.live].reduce((sum, [offset, { size }]) => sum + this.sizeAt(offset, size), 0);
  }
}

type Step =
  | { readonly kind: 'allocate'; readonly sizes: readonly number[] }
  | { readonly kind: 'free'; readonly pick: number; readonly count: number }
  | { readonly kind: 'reopen' };

const size = fc.oneof(
  fc.integer({ min: 1, max: 3_000 }),
  fc.integer({ min: 1, max: slotBytesMax }),
  fc.constantFrom(...slotSizes, ...slotSizes.slice(0, -1).map((bytes) => bytes + 1)),
  fc.constantFrom(...formerSizes, 1_016, 10_016, 34_480),
);
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fc.array(size, { maxLength: 4 }).map(allocateStep) },
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('free' as const),
        pick: fc.nat(),
        count: fc.integer({ min: 1, max: 4 }),
      }),
    },
    { weight: 1, arbitrary: fc.constant({ kind: 'reopen' as const }) },
  ),
  { maxLength: 30 },
);

function allocateStep(sizes: number[]): Step {
  return { kind: 'allocate', sizes };
}

function allocate(blobs: Blobs, plain: PlainBlobs, sizes: readonly number[]): void {
  const expected = sizes.map((bytes) => plain.expectedOffset(bytes));
  expect([...blobs.allocate(sizes)]).toEqual(expected);
  expected.forEach((offset, index) => {
    const bytes = testBytes(sizes[index] ?? 0, offset);
    blobs.write(offset, bytes);
    plain.live.set(offset, { size: bytes.length, bytes });
  });
}

function free(blobs: Blobs, plain: PlainBlobs, step: { pick: number; count: number }): void {
  const entries = [...plain.live];
  if (entries.length === 0) return;
  const start = step.pick % entries.length;
  const chosen = entries.slice(start, start + step.count);
  blobs.free(
    Float64Array.from(chosen, ([offset]) => offset),
    chosen.map(([, { size: bytes }]) => bytes),
  );
  for (const [offset, { size: bytes }] of chosen) plain.release(offset, bytes);
}

function checkLive(blobs: Blobs, plain: PlainBlobs): void {
  expect(blobs.bytesInUse()).toBe(plain.bytesInUse());
  let end = slotsStart;
  for (const [offset, { size: bytes, bytes: written }] of [...plain.live].sort(
    ([a], [b]) => a - b,
  )) {
    expect(offset).toBeGreaterThanOrEqual(end);
    end = offset + plain.sizeAt(offset, bytes);
    const read = new Uint8Array(bytes);
    blobs.read(offset, read);
    expect(Buffer.compare(read, written)).toBe(0);
  }
}

/** Writes a space as versions up to 0.1 did, with its contents. */
function writeFormerSpace(sequence: readonly Step[]): PlainBlobs {
  const plain = new PlainBlobs();
  plain.formerEnd = Number.POSITIVE_INFINITY;
  const space = openSpace(1);
  for (const step of sequence) {
    if (step.kind === 'allocate') {
      for (const bytes of step.sizes) {
        const offset = plain.expectedOffset(bytes);
        plain.live.set(offset, { size: bytes, bytes: testBytes(bytes, offset) });
      }
    }
    if (step.kind === 'free') {
      const entries = [...plain.live].slice(0, step.count);
      for (const [offset, { size: bytes }] of entries) plain.release(offset, bytes);
    }
  }
  space.growTo(plain.end);
  for (const [offset, { bytes }] of plain.live) space.write(offset, bytes);
  const heads = formerSizes.map((slotSize) => {
    const offsets = plain.free.get(slotSize) ?? [];
    offsets.forEach((offset, index) => {
      writeNumbers(offset, [offsets[index - 1] ?? 0]);
    });
    return offsets.at(-1) ?? 0;
  });
  writeNumbers(0, [0xef5_b10b_0001, plain.end, plain.bytesInUse(), ...heads]);
  plain.formerEnd = plain.end;
  return plain;
}

function writeNumbers(offset: number, values: readonly number[]): void {
  openSpace(1).write(offset, new Uint8Array(Float64Array.from(values).buffer));
}

function readNumbers(offset: number, count: number): number[] {
  const values = new Float64Array(count);
  openSpace(1).read(offset, new Uint8Array(values.buffer));
  return [...values];
}

describe('openBlobs()', () => {
  let system: FakeSystem;

  async function follow(plain: PlainBlobs, sequence: readonly Step[]): Promise<void> {
    let blobs = openBlobs(openSpace(1));
    for (const step of sequence) {
      if (step.kind === 'allocate') allocate(blobs, plain, step.sizes);
      if (step.kind === 'free') free(blobs, plain, step);
      if (step.kind === 'reopen') {
        await installNodeKernel({ system });
        blobs = openBlobs(openSpace(1));
      }
      expect(blobs.bytesInUse()).toBe(plain.bytesInUse());
    }
    checkLive(blobs, plain);
  }

  beforeEach(async () => {
    system = new FakeSystem();
    await installNodeKernel({ system });
  });

  test('agrees with a reference model under random operations', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (sequence) => {
        system = new FakeSystem();
        await installNodeKernel({ system });
        await follow(new PlainBlobs(), sequence);
      }),
      { numRuns: 40 },
    );
  });

  test('agrees with a reference model on a space of a former version', async () => {
    await fc.assert(
      fc.asyncProperty(steps, steps, async (before, after) => {
        system = new FakeSystem();
        await installNodeKernel({ system });
        await follow(writeFormerSpace(before), after);
      }),
      { numRuns: 60 },
    );
  });

  test('converts a former superblock with the first change, not before', () => {
    const plain = writeFormerSpace([
      allocateStep([10_016, 10_016, 500, 65_552]),
      { kind: 'free', pick: 0, count: 1 },
    ]);
    const former = readNumbers(0, 68);
    const blobs = openBlobs(openSpace(1));
    expect(blobs.bytesInUse()).toBe(plain.bytesInUse());
    expect(blobs.isSlot(plain.end - 65_552, 65_552)).toBe(true);
    expect(readNumbers(0, 68)).toEqual(former);
    // The first reuses a larger slot of the former version; the second gets a new slot
    expect([...blobs.allocate([9_000, 9_000])]).toEqual([4_096, plain.end]);
    const heads = Array.from({ length: 64 }, () => 0);
    const inUse = plain.bytesInUse() + 16_400 + 9_232;
    const end = plain.end + 9_232;
    expect(readNumbers(0, 68)).toEqual([0xef5_b10b_0002, end, inUse, plain.end, ...heads]);
    blobs.free(Float64Array.of(4_096, plain.end), [9_000, 9_000]);
    expect(blobs.bytesInUse()).toBe(plain.bytesInUse());
    expect(readNumbers(8 * (4 + 47), 1)).toEqual([4_096]);
    expect(readNumbers(8 * (4 + 40), 1)).toEqual([plain.end]);
  });

  test('takes little more than the given bytes', () => {
    const blobs = openBlobs(openSpace(1));
    blobs.allocate([1_016]);
    expect(blobs.bytesInUse()).toBe(1_040);
    blobs.allocate([10_016]);
    expect(blobs.bytesInUse()).toBe(1_040 + 10_256);
    blobs.allocate([65_552, 34_480]);
    expect(blobs.bytesInUse()).toBe(1_040 + 10_256 + 65_552 + 36_880);
  });

  test('allocates the smallest sufficient slot for any number of bytes', () => {
    expect(slotSizes).toHaveLength(64);
    const blobs = openBlobs(openSpace(1));
    for (let bytes = 1; bytes <= slotBytesMax; bytes += bytes < 3_000 ? 1 : 61) {
      const before = blobs.bytesInUse();
      const offsets = blobs.allocate([bytes]);
      expect(blobs.bytesInUse() - before, `${bytes}`).toBe(smallest(slotSizes, bytes));
      blobs.free(offsets, [bytes]);
    }
  });

  test('reuses freed slots instead of growing', () => {
    const blobs = openBlobs(openSpace(1));
    const sizes = Array.from({ length: 40 }, () => slotBytesMax);
    const offsets = blobs.allocate(sizes);
    const grown = system.stable.length;
    for (let round = 0; round < 5; round++) {
      blobs.free(offsets, sizes);
      expect(blobs.bytesInUse()).toBe(0);
      const again = blobs.allocate(sizes);
      expect([...again].sort()).toEqual([...offsets].sort());
    }
    expect(system.stable.length).toBe(grown);
  });

  test('begins at byte 4,096 and has the documented layout', () => {
    const space = openSpace(1);
    const blobs = openBlobs(space);
    expect([...blobs.allocate([1, 65_536, 512])]).toEqual([4_096, 4_176, 69_728]);
    blobs.free(Float64Array.of(4_176), [65_536]);
    const heads = [...Array.from({ length: 63 }, () => 0), 4_176];
    expect(readNumbers(0, 68)).toEqual([0xef5_b10b_0002, 70_256, 608, slotsStart, ...heads]);
  });

  test('fails on a space of another kind', () => {
    const space = openSpace(1);
    space.growTo(1);
    expect(() => openBlobs(space).bytesInUse()).toThrow('magic number');
  });

  test('fails on more bytes than the largest slot has', () => {
    expect(() => openBlobs(openSpace(1)).allocate([slotBytesMax + 1])).toThrow('at most 65552');
  });

  test('fails when stable memory cannot grow', () => {
    system.stablePagesMax = 48;
    const sizes = Array.from({ length: 200 }, () => slotBytesMax);
    expect(() => openBlobs(openSpace(1)).allocate(sizes)).toThrow('stable memory can grow');
  });
});
