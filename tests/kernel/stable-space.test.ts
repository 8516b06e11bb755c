import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  type StableSpace,
  spaceErase,
  spaceGrow,
  spaceRead,
  spaceSize,
  spaceWrite,
  stablePageBytes,
} from '../../src/storage/stable-space.ts';
import { FakeSystem, installNodeKernel, type KernelHost } from '../support/kernel-host.ts';
import {
  bufferAt,
  linearRead,
  linearWrite,
  readSpace,
  upgradeKernel,
} from '../support/space-access.ts';

const extentBytes = 1_048_576;
const reservedPages = 32;
const allSpaces = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] as const;
const rawSpaces = allSpaces.slice(1);
let host: KernelHost;

beforeEach(async () => {
  host = await installNodeKernel();
});

function pattern(length: number, seed: number): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let i = 0; i < length; i++) bytes[i] = i * 13 + (i >> 8) + seed;
  return bytes;
}

describe('spaceGrow(): sizes', () => {
  test('every space starts empty, and reading its size writes nothing', () => {
    for (const space of allSpaces) expect(spaceSize(space)).toBe(0);
    expect(host.exports.stable64_size()).toBe(0n);
    expect(host.system.stable.length).toBe(0);
  });

  test('spaces grow independently, in whole extents of real memory', () => {
    expect(spaceGrow(1, 1)).toBe(0);
    expect(host.system.stable.length).toBe((reservedPages + 16) * stablePageBytes);
    expect(spaceGrow(1, 15)).toBe(1);
    expect(host.system.stable.length).toBe((reservedPages + 16) * stablePageBytes);
    expect(host.exports.stable64_grow(17n)).toBe(0n);
    expect(host.system.stable.length).toBe((reservedPages + 16) * stablePageBytes);
    expect([spaceSize(0), spaceSize(1), spaceSize(2)]).toEqual([17, 16, 0]);
    expect(host.exports.stable64_size()).toBe(17n);
  });

  test('growing by 0 returns the size', () => {
    expect(spaceGrow(2, 0)).toBe(0);
    spaceGrow(2, 5);
    expect(spaceGrow(2, 0)).toBe(5);
  });

  test('growing fails and changes nothing if the system has no more memory', async () => {
    host.system.stablePagesMax = reservedPages + 32;
    expect(spaceGrow(1, 20)).toBe(0);
    const before = host.system.stable.slice();
    expect(spaceGrow(2, 1)).toBe(-1);
    expect(spaceGrow(1, 13)).toBe(-1);
    expect(spaceGrow(1, Number.MAX_SAFE_INTEGER)).toBe(-1);
    expect(host.exports.stable64_grow(0xffff_ffff_ffff_ffffn)).toBe(-1n);
    expect(Buffer.compare(host.system.stable, before)).toBe(0);
    expect([spaceSize(0), spaceSize(1), spaceSize(2)]).toEqual([0, 20, 0]);
    expect(spaceGrow(1, 12)).toBe(20);
    host = await upgradeKernel(host);
    expect([spaceSize(0), spaceSize(1), spaceSize(2)]).toEqual([0, 32, 0]);
  });

  test('growing fails and changes nothing if the heap has no room for an index', async () => {
    // The kernel itself uses the only page; no page is left for an index
    host = await installNodeKernel({ heapPagesMax: 1 });
    expect(spaceGrow(1, 1)).toBe(-1);
    expect(host.system.stable.length).toBe(0);
    expect(spaceSize(1)).toBe(0);
  });
});

describe('spaceGrow(): bytes', () => {
  test('written bytes can be read across extents of interleaved spaces', () => {
    for (let i = 0; i < 4; i++) {
      for (const space of rawSpaces) spaceGrow(space, 16);
      host.exports.stable64_grow(16n);
    }
    const long = rawSpaces.map((seed) => pattern(2 * extentBytes + 77, seed));
    const linear = pattern(2 * extentBytes + 99, 9);
    rawSpaces.forEach((space, i) => {
      spaceWrite({ space, offset: extentBytes - 33 }, long[i] ?? new Uint8Array(0));
    });
    linearWrite(host, extentBytes - 55, linear);
    rawSpaces.forEach((space, i) => {
      const found = readSpace(space, extentBytes - 33, 2 * extentBytes + 77);
      expect(Buffer.compare(found, long[i] ?? new Uint8Array(0))).toBe(0);
    });
    expect(Buffer.compare(linearRead(host, extentBytes - 55, linear.length), linear)).toBe(0);
  });

  test("space 0 is the canister's own stable memory, and can only be read here", () => {
    host.exports.stable64_grow(1n);
    linearWrite(host, 100, Uint8Array.of(1, 2, 3));
    expect(readSpace(0, 99, 5)).toEqual(Uint8Array.of(0, 1, 2, 3, 0));
    expect(() => spaceWrite({ space: 0, offset: 0 }, new Uint8Array(1))).toThrow('unreachable');
    expect(() => spaceErase({ space: 0, offset: 0 }, 1)).toThrow('unreachable');
    expect(() => spaceGrow(0, 1)).toThrow('unreachable');
  });

  test('spaceErase() writes zeros in its range and changes nothing else', () => {
    spaceGrow(1, 48);
    const bytes = pattern(2 * extentBytes, 5).map((byte) => byte | 1);
    spaceWrite({ space: 1, offset: 0 }, bytes);
    spaceErase({ space: 1, offset: extentBytes - 5000 }, 12_345);
    bytes.fill(0, extentBytes - 5000, extentBytes - 5000 + 12_345);
    expect(Buffer.compare(readSpace(1, 0, 2 * extentBytes), bytes)).toBe(0);
  });

  test("accesses past the end trap with the system's message, for every space", () => {
    spaceGrow(1, 1);
    host.exports.stable64_grow(1n);
    const end = stablePageBytes;
    const refused = [
      () => spaceRead({ space: 1, offset: end }, new Uint8Array(1)),
      () => spaceRead({ space: 1, offset: end - 1 }, new Uint8Array(2)),
      () => spaceWrite({ space: 1, offset: Number.MAX_SAFE_INTEGER }, new Uint8Array(1)),
      () => spaceWrite({ space: 2, offset: 0 }, new Uint8Array(1)),
      () => spaceErase({ space: 1, offset: 1 }, end),
      () => spaceErase({ space: 1, offset: 1 }, Number.MAX_SAFE_INTEGER),
      () => linearRead(host, end, 1),
      () => linearWrite(host, end - 1, new Uint8Array(2)),
      () => host.exports.stable64_read(bufferAt, 0xffff_ffff_ffff_ffffn, 1n),
      () => host.exports.stable64_write(0xffff_ffff_ffff_fff0n, bufferAt, 15n),
      () => host.exports.stable64_read(bufferAt, 5n, 0xffff_ffff_ffff_fffbn),
      () => host.exports.stable64_read(bufferAt, 5n, 0xffff_ffff_ffff_fffen),
    ];
    for (const access of refused) expect(access).toThrow('stable memory out of bounds');
    expect(readSpace(1, end - 1, 1)).toEqual(Uint8Array.of(0));
    expect(linearRead(host, end - 1, 1)).toEqual(Uint8Array.of(0));
  });

  test('an access of no bytes changes nothing', () => {
    spaceWrite({ space: 3, offset: 0 }, new Uint8Array(0));
    expect(readSpace(3, 10, 0)).toEqual(new Uint8Array(0));
    expect(linearRead(host, 0, 0)).toEqual(new Uint8Array(0));
    spaceErase({ space: 3, offset: 0 }, 0);
    expect(host.system.stable.length).toBe(0);
  });

  test('a space too many, fractions and negative numbers are refused', () => {
    expect(() => spaceSize(16 as StableSpace)).toThrow('unreachable');
    for (const offset of [-1, 0.5, Number.NaN, 2 ** 53]) {
      expect(() => readSpace(1, offset, 1)).toThrow('Cannot reach stable memory');
      expect(() => spaceGrow(1, offset)).toThrow('Cannot reach stable memory');
    }
  });
});

describe('spaceGrow(): stable memory that an earlier instance left', () => {
  test('a superblock has the expected bytes', () => {
    spaceGrow(1, 17);
    host.exports.stable64_grow(33n);
    linearWrite(host, 2 * extentBytes, Uint8Array.of(1));
    const hex = (start: number, end: number) =>
      Buffer.from(host.system.stable.subarray(start, end)).toString('hex');
    spaceGrow(7, 1);
    expect(hex(0, 16)).toBe(`${Buffer.from('EFSSTBL1').toString('hex')}0400000006000000`);
    expect(hex(16, 48)).toBe(`${'0000210000000000'}${'0000110000000000'}${'0'.repeat(32)}`);
    expect(hex(48, 80)).toBe(`${'0'.repeat(48)}${'0000010000000000'}`);
    expect(hex(4096, 4096 + 24)).toBe(`${'0'.repeat(16)}${'000000200100002002000000000000e0'}`);
  });

  test('memory without the magic traps and is unchanged', async () => {
    const system = new FakeSystem();
    system.grow(1n);
    system.stable.set(Buffer.from('MGR'));
    const before = system.stable.slice();
    host = await installNodeKernel({ system });
    expect(() => spaceSize(1)).toThrow('cannot read the stable memory');
    expect(() => host.exports.stable64_size()).toThrow('cannot read the stable memory');
    expect(() => host.exports.stable64_grow(1n)).toThrow('cannot read the stable memory');
    expect(() => linearWrite(host, 0, Uint8Array.of(1))).toThrow('cannot read the stable memory');
    expect(() => linearRead(host, 0, 1)).toThrow('cannot read the stable memory');
    expect(system.stable).toEqual(before);
  });

  test('memory of release 0.2.0 is readable, and gets a ninth space once it changes', async () => {
    spaceGrow(1, 17);
    spaceGrow(7, 1);
    spaceWrite({ space: 7, offset: 5 }, Uint8Array.of(9));
    const { stable } = host.system;
    stable[8] = 3;
    const before = stable.slice();
    host = await upgradeKernel(host);
    expect([spaceSize(1), spaceSize(7), spaceSize(8), spaceSize(9)]).toEqual([17, 1, 0, 0]);
    expect(host.system.stable).toEqual(before);
    spaceGrow(9, 1);
    spaceWrite({ space: 9, offset: 5 }, Uint8Array.of(8));
    expect(host.system.stable[8]).toBe(4);
    host = await upgradeKernel(host);
    expect([readSpace(7, 5, 1)[0], readSpace(9, 5, 1)[0]]).toEqual([9, 8]);
    expect([spaceSize(7), spaceSize(8), spaceSize(9)]).toEqual([1, 0, 1]);
  });

  test.each([1, 5])('memory of version %i traps with a reason', async (version) => {
    spaceGrow(1, 17);
    host.system.stable[8] = version;
    host = await upgradeKernel(host);
    expect(() => spaceSize(1)).toThrow('cannot read the stable memory: install a version that can');
  });

  test('memory of the former version with a hole traps', async () => {
    host.exports.stable64_grow(1n);
    host.system.stable[8] = 2;
    host = await upgradeKernel(host);
    expect(() => spaceSize(1)).toThrow('unreachable');
  });

  test.each([
    ['fewer extents than the spaces need', 12, 3],
    ['more extents than there is memory', 12, 200],
    ['a size larger than its extents', 26, 0x31],
    ['an entry beyond its space', 4096 + 8, 9],
    ['a duplicate entry', 4096 + 8, 1],
    ['a hole in a space that cannot have holes', 12, 2],
  ])('a table with %s traps', async (_, at, value) => {
    spaceGrow(1, 17);
    host.system.stable[at] = value;
    host = await upgradeKernel(host);
    expect(() => spaceSize(1)).toThrow('unreachable');
  });
});

type Step =
  | { readonly kind: 'grow'; readonly space: StableSpace; readonly pages: number }
  | { readonly kind: 'write'; readonly space: StableSpace; at: number; readonly length: number }
  | { readonly kind: 'read'; readonly space: StableSpace; at: number; readonly length: number }
  | { readonly kind: 'zeros'; readonly space: StableSpace; at: number; readonly length: number }
  | { readonly kind: 'erase'; readonly space: StableSpace; at: number; readonly length: number }
  | { readonly kind: 'upgrade' };

const spaces = fc.constantFrom<StableSpace[]>(0, 1, 2, 7);
const place = {
  space: spaces,
  // A fraction of the space's size up to 1; above, an extent: 100 bytes before it
  at: fc.oneof(fc.double({ min: 0, max: 1, noNaN: true }), fc.integer({ min: 2, max: 5 })),
  length: fc.oneof(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: 2_500_000 })),
};
const steps = fc.array(
  fc.oneof(
    fc.record({
      kind: fc.constant('grow' as const),
      space: spaces,
      pages: fc.integer({ min: 0, max: 40 }),
    }),
    fc.record({ kind: fc.constant('write' as const), ...place }),
    fc.record({ kind: fc.constant('zeros' as const), ...place }),
    fc.record({ kind: fc.constant('read' as const), ...place }),
    fc.record({ kind: fc.constant('erase' as const), ...place }),
    fc.record({ kind: fc.constant('upgrade' as const) }),
  ),
  { minLength: 5, maxLength: 25 },
);

test('spaceGrow(): spaces behave as plain arrays under random histories with upgrades', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (history) => {
      host = await installNodeKernel();
      const references = allSpaces.map(() => new Uint8Array(0));
      const written = new Set<number>();
      for (const [index, step] of history.entries())
        await runStep({ step, index, references, written });
      // Extents in use: the reserved ones, the written ones of space 0, all of other spaces
      const sizes = references.slice(1).map(({ length }) => Math.ceil(length / extentBytes));
      const extents = sizes.reduce((sum, size) => sum + size, written.size);
      const isEmpty = references.every(({ length }) => length === 0);
      expect(host.system.stable.length).toBe(isEmpty ? 0 : (2 + extents) * extentBytes);
      host = await upgradeKernel(host);
      for (const space of allSpaces) {
        const reference = references[space] ?? new Uint8Array(0);
        expect(spaceSize(space) * stablePageBytes).toBe(reference.length);
        for (let start = 0; start < reference.length; start += 3_000_000) {
          const part = reference.subarray(start, start + 3_000_000);
          expect(Buffer.compare(readSpace(space, start, part.length), part)).toBe(0);
        }
      }
    }),
    { numRuns: 25 },
  );
});

interface StepRun {
  readonly step: Step;
  readonly index: number;
  readonly references: Uint8Array[];
  /** Extents of space 0 with data other than zeros. */
  readonly written: Set<number>;
}

function noteExtents(bytes: Uint8Array, offset: number, written: Set<number>): void {
  for (let i = 0; i < bytes.length; i++) if (bytes[i] !== 0) written.add((offset + i) >> 20);
}

async function runStep({ step, index, references, written }: StepRun): Promise<void> {
  if (step.kind === 'upgrade') {
    host = await upgradeKernel(host);
    return;
  }
  const { space } = step;
  const reference = references[space] ?? new Uint8Array(0);
  if (step.kind === 'grow') {
    const former =
      space === 0
        ? Number(host.exports.stable64_grow(BigInt(step.pages)))
        : spaceGrow(space, step.pages);
    expect(former * stablePageBytes).toBe(reference.length);
    const grown = new Uint8Array(reference.length + step.pages * stablePageBytes);
    grown.set(reference);
    references[space] = grown;
    return;
  }
  const offset = Math.min(
    step.at > 1 ? (step.at - 1) * extentBytes - 100 : Math.floor(step.at * reference.length),
    reference.length,
  );
  const length = Math.min(step.length, reference.length - offset);
  if (step.kind === 'read') {
    const found = space === 0 ? linearRead(host, offset, length) : readSpace(space, offset, length);
    expect(Buffer.compare(found, reference.subarray(offset, offset + length))).toBe(0);
  } else if (step.kind !== 'erase') {
    const bytes = step.kind === 'write' ? pattern(length, index) : new Uint8Array(length);
    if (space === 0) linearWrite(host, offset, bytes);
    else spaceWrite({ space, offset }, bytes);
    reference.set(bytes, offset);
    if (space === 0) noteExtents(bytes, offset, written);
  } else if (space !== 0) {
    spaceErase({ space, offset }, length);
    reference.fill(0, offset, offset + length);
  }
}
