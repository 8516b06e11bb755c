import { beforeEach, expect, test } from 'vitest';
import { installKernelCall } from '../../src/crypto/kernel.ts';
import {
  type StableSpace,
  spaceGrow,
  spaceRead,
  spaceSize,
  spaceWrite,
} from '../../src/storage/stable-space.ts';
import { FakeSystem, type KernelHost, startKernel } from '../support/kernel-host.ts';

const gibibyte = 1_073_741_824;
const pagesPerGibibyte = 16_384;

/** Stable memory of any size that stores only the parts that were accessed. */
class SparseSystem extends FakeSystem {
  readonly #parts = new Map<bigint, Uint8Array>();
  #pages = 0n;

  override pages(): number {
    return Number(this.#pages);
  }

  override grow(pages: bigint): bigint {
    const former = this.#pages;
    this.#pages += pages;
    return former;
  }

  /**
   * Parts of 2 MiB: the kernel's superblock and table fit into the first, and no extent spans two.
   */
  override range(offset: bigint, size: bigint): Uint8Array {
    if (offset < 0n || offset + size > this.#pages * 65_536n) {
      throw new Error('stable memory out of bounds');
    }
    const part = this.#parts.get(offset >> 21n) ?? new Uint8Array(2_097_152);
    this.#parts.set(offset >> 21n, part);
    const start = Number(offset & 0x1f_ffffn);
    return part.subarray(start, start + Number(size));
  }
}

let system: SparseSystem;
let host: KernelHost;

async function start(): Promise<void> {
  host = await startKernel({ system, heapPagesMax: 200 });
  installKernelCall(host.gate);
}

beforeEach(async () => {
  system = new SparseSystem();
  await start();
});

function write(space: StableSpace, offset: number): void {
  spaceWrite(
    { space, offset },
    Uint8Array.from({ length: 100 }, (_, i) => i * space + 1),
  );
}

function expectWritten(space: StableSpace, offset: number): void {
  const found = new Uint8Array(100);
  spaceRead({ space, offset }, found);
  expect(found).toEqual(Uint8Array.from({ length: 100 }, (_, i) => i * space + 1));
}

test('spaceGrow(): every byte keeps its offset when the index outgrows its page', async () => {
  const offsets: number[] = [];
  for (let size = 15; size <= 70; size += 5) {
    for (const space of [1, 2] as const) {
      const former = spaceGrow(space, size * pagesPerGibibyte - spaceSize(space));
      const offset = former * 65_536 + 1_048_576 - 50;
      write(space, offset);
      if (space === 1) offsets.push(offset);
    }
  }
  expect(host.exports.stable64_grow(17n * BigInt(pagesPerGibibyte))).toBe(0n);
  for (const offset of offsets) for (const space of [1, 2] as const) expectWritten(space, offset);
  await start();
  for (const offset of offsets) for (const space of [1, 2] as const) expectWritten(space, offset);
  expect(spaceSize(1)).toBe(70 * pagesPerGibibyte);
});

test('spaceGrow(): 500 GiB fit, and more than the table holds is refused', async () => {
  expect(spaceGrow(1, 500 * pagesPerGibibyte)).toBe(0);
  write(1, 500 * gibibyte - 100);
  expect(spaceGrow(2, 11 * pagesPerGibibyte)).toBe(-1);
  expect(spaceSize(2)).toBe(0);
  expect(system.pages()).toBe(500 * pagesPerGibibyte + 32);
  await start();
  expectWritten(1, 500 * gibibyte - 100);
});

test('spaceGrow(): 511 GiB can be reserved without memory, and more is refused', async () => {
  const pages = BigInt(510 * pagesPerGibibyte);
  expect(host.exports.stable64_grow(pages)).toBe(0n);
  expect(system.pages()).toBe(32);
  expect(spaceGrow(1, pagesPerGibibyte)).toBe(-1);
  expect(spaceGrow(1, pagesPerGibibyte - 32)).toBe(0);
  expect(host.exports.stable64_grow(1n)).toBe(-1n);
  const last = BigInt(510 * gibibyte - 16);
  const full = pagesPerGibibyte;
  host.exports.stable64_write(last, 8_000_000n, 16n);
  expect(system.pages()).toBe(full);
  new Uint8Array(host.memory.buffer)[8_000_000] = 7;
  host.exports.stable64_write(last, 8_000_000n, 16n);
  expect(system.pages()).toBe(full + 16);
  await start();
  host.exports.stable64_read(9_000_000n, last, 16n);
  expect(new Uint8Array(host.memory.buffer)[9_000_000]).toBe(7);
  expect(host.exports.stable64_size()).toBe(pages);
});
