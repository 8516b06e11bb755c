import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { type Blobs, openBlobs, slotBytesMax } from '../../src/storage/blobs.ts';
import { openSpace } from '../../src/storage/space.ts';
import { testBytes } from '../support/domain-fixture.ts';
import { FakeSystem, installNodeKernel } from '../support/kernel-host.ts';

const slotSizes = [528, 1_040, 2_064, 4_112, 8_208, 16_400, 32_784, 65_552];
const slotsStart = 4_096;

function slotSizeOf(bytes: number): number {
  return slotSizes.find((size) => bytes <= size) ?? Number.NaN;
}

/** What the store must be equal to: live slots by offset, free ones by size, last freed first. */
class PlainBlobs {
  readonly live = new Map<number, { readonly size: number; readonly bytes: Uint8Array }>();
  readonly free = new Map<number, number[]>();
  end = slotsStart;

  expectedOffset(size: number): number {
    const slotSize = slotSizeOf(size);
    const reused = this.free.get(slotSize)?.pop();
    if (reused !== undefined) return reused;
    this.end += slotSize;
    return this.end - slotSize;
  }

  bytesInUse(): number {
    return [...this.live.values()].reduce((sum, { size }) => sum + slotSizeOf(size), 0);
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
  for (const [offset, { size: bytes }] of chosen) {
    plain.live.delete(offset);
    const slotSize = slotSizeOf(bytes);
    plain.free.set(slotSize, [...(plain.free.get(slotSize) ?? []), offset]);
  }
}

function checkLive(blobs: Blobs, plain: PlainBlobs): void {
  expect(blobs.bytesInUse()).toBe(plain.bytesInUse());
  let end = slotsStart;
  for (const [offset, { size: bytes, bytes: written }] of [...plain.live].sort(
    ([a], [b]) => a - b,
  )) {
    expect(offset).toBeGreaterThanOrEqual(end);
    end = offset + slotSizeOf(bytes);
    const read = new Uint8Array(bytes);
    blobs.read(offset, read);
    expect(Buffer.compare(read, written)).toBe(0);
  }
}

describe('openBlobs()', () => {
  let system: FakeSystem;

  beforeEach(async () => {
    system = new FakeSystem();
    await installNodeKernel({ system });
  });

  test('agrees with a plain twin under random operations', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (sequence) => {
        system = new FakeSystem();
        await installNodeKernel({ system });
        const plain = new PlainBlobs();
        let blobs = openBlobs(openSpace(1));
        for (const step of sequence) {
          if (step.kind === 'allocate') allocate(blobs, plain, step.sizes);
          if (step.kind === 'free') free(blobs, plain, step);
          if (step.kind === 'reopen') {
            await installNodeKernel({ system });
            blobs = openBlobs(openSpace(1));
          }
        }
        checkLive(blobs, plain);
      }),
      { numRuns: 40 },
    );
  });

  test('uses freed slots again instead of growing', () => {
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

  test('begins at byte 4,096 and keeps its fields where the diagram says', () => {
    const space = openSpace(1);
    const blobs = openBlobs(space);
    expect([...blobs.allocate([1, 65_536, 512])]).toEqual([4_096, 4_624, 70_176]);
    blobs.free(Float64Array.of(4_624), [65_536]);
    const fields = new Float64Array(11);
    space.read(0, new Uint8Array(fields.buffer));
    const heads = [0, 0, 0, 0, 0, 0, 0, 4_624];
    expect([...fields]).toEqual([0xef5_b10b_0001, 70_704, 1_056, ...heads]);
  });

  test('fails on a space that holds something else', () => {
    const space = openSpace(1);
    space.growTo(1);
    expect(() => openBlobs(space).bytesInUse()).toThrow('magic number');
  });

  test('fails on more bytes than a slot has', () => {
    expect(() => openBlobs(openSpace(1)).allocate([slotBytesMax + 1])).toThrow('at most 65552');
  });

  test('fails when stable memory cannot grow', () => {
    system.stablePagesMax = 48;
    const sizes = Array.from({ length: 200 }, () => slotBytesMax);
    expect(() => openBlobs(openSpace(1)).allocate(sizes)).toThrow('stable memory can grow');
  });
});
