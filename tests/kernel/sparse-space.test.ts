// Space 0 takes real memory only where something was written, and what release 0.1.0 left has it all.

import { beforeEach, describe, expect, test } from 'vitest';
import { installKernelGate } from '../../src/crypto/kernel.ts';
import {
  type StableSpace,
  spaceGrow,
  spaceRead,
  stablePageBytes,
} from '../../src/storage/stable-space.ts';
import { installNodeKernel, type KernelHost, startKernel } from '../support/kernel-host.ts';

const extentBytes = 1_048_576;
const reservedPages = 32;
/** Where the canister's own reads and writes have their buffer in the host's memory. */
const bufferAt = 8_000_000n;

let host: KernelHost;

beforeEach(async () => {
  host = await installNodeKernel();
});

function read(space: StableSpace, offset: number, length: number): Uint8Array {
  const target = new Uint8Array(length);
  spaceRead({ space, offset }, target);
  return target;
}

function linearWrite(offset: number, bytes: Uint8Array): void {
  new Uint8Array(host.memory.buffer).set(bytes, Number(bufferAt));
  host.exports.stable64_write(BigInt(offset), bufferAt, BigInt(bytes.length));
}

function linearRead(offset: number, length: number): Uint8Array {
  host.exports.stable64_read(bufferAt, BigInt(offset), BigInt(length));
  return new Uint8Array(host.memory.buffer, Number(bufferAt), length).slice();
}

/** A new instance on the same stable memory. */
async function upgrade(): Promise<void> {
  const { system } = host;
  host = await startKernel({ system });
  installKernelGate(host.gate);
}

describe('space 0 has holes', () => {
  const realBytes = () => host.system.stable.length;
  const reservedBytes = reservedPages * stablePageBytes;

  test('until a byte is written there that is not zero; then one extent is taken', async () => {
    host.exports.stable64_grow(800n);
    expect(realBytes()).toBe(reservedBytes);
    linearWrite(extentBytes - 40, new Uint8Array(100));
    linearWrite(5 * extentBytes, new Uint8Array(3 * extentBytes));
    expect(realBytes()).toBe(reservedBytes);
    expect(linearRead(extentBytes - 1, 2)).toEqual(Uint8Array.of(0, 0));
    const across = new Uint8Array(3 * extentBytes);
    across[extentBytes + 15] = 1;
    linearWrite(7 * extentBytes, across);
    expect(realBytes()).toBe(reservedBytes + extentBytes);
    linearWrite(9 * extentBytes - 1, Uint8Array.of(2, 0));
    expect(realBytes()).toBe(reservedBytes + extentBytes);
    await upgrade();
    expect(linearRead(9 * extentBytes - 1, 2)).toEqual(Uint8Array.of(2, 0));
    expect(
      Buffer.compare(
        linearRead(7 * extentBytes, extentBytes + 16),
        across.subarray(0, extentBytes + 16),
      ),
    ).toBe(0);
  });

  test('each byte of a write is looked at, wherever it lies', async () => {
    for (const [index, length] of [
      [0, 1],
      [16, 17],
      [15, 16],
      [30, 33],
    ] as const) {
      host = await installNodeKernel();
      host.exports.stable64_grow(16n);
      const bytes = new Uint8Array(length);
      bytes[index] = 1;
      linearWrite(3, bytes);
      expect(linearRead(3, length)).toEqual(bytes);
    }
  });

  test('a write that the system has no memory for traps with a reason', async () => {
    host.system.stablePagesMax = reservedPages + 16;
    expect(host.exports.stable64_grow(64n)).toBe(0n);
    linearWrite(100, Uint8Array.of(1));
    const before = host.system.stable.slice();
    const noRoom = 'No more stable memory can be had by the canister';
    expect(() => linearWrite(extentBytes, Uint8Array.of(1))).toThrow(noRoom);
    expect(spaceGrow(1, 1)).toBe(-1);
    expect(Buffer.compare(host.system.stable, before)).toBe(0);
    host.system.stablePagesMax += 16;
    linearWrite(extentBytes, Uint8Array.of(7));
    await upgrade();
    expect([...linearRead(100, 1), ...linearRead(extentBytes, 1)]).toEqual([1, 7]);
  });

  test('without memory for the superblock it does not grow', () => {
    host.system.stablePagesMax = reservedPages - 1;
    expect(host.exports.stable64_grow(1n)).toBe(-1n);
    expect(realBytes()).toBe(0);
  });

  test('addresses that the heap does not have are refused', () => {
    host.exports.stable64_grow(16n);
    const { stable64_read, stable64_write } = host.exports;
    for (const address of [2n ** 32n, 2n ** 32n - 1n, -1n]) {
      expect(() => stable64_read(address, 0n, 8n)).toThrow('unreachable');
      expect(() => stable64_write(0n, address, 8n)).toThrow('unreachable');
    }
  });
});

test('what release 0.1.0 left is read as it is, and then grows holes', async () => {
  const { system } = host;
  system.grow(96n);
  system.stable.set(Buffer.from('EFSSTBL1'));
  const fields = new DataView(system.stable.buffer);
  for (const [at, value] of [
    [8, 2],
    [12, 6],
    [16, 0x13_0000],
    [24, 0x11_0000],
  ] as const) {
    fields.setUint32(at, value, true);
  }
  // Space 0 in the extents 3 and 5, space 1 in 4 and 2
  const table = [0x2000_0001, 0, 0x2000_0000, 1];
  for (const [i, entry] of table.entries()) fields.setUint32(4096 + 8 + 4 * i, entry, true);
  for (const extent of [2, 3, 4, 5]) system.stable[extent * extentBytes + 7] = extent;
  const before = system.stable.slice();
  await upgrade();
  const byteAt = (space: StableSpace, offset: number) => read(space, offset + 7, 1)[0];
  expect([byteAt(0, 0), byteAt(0, extentBytes)]).toEqual([3, 5]);
  expect([byteAt(1, 0), byteAt(1, extentBytes)]).toEqual([4, 2]);
  expect(Buffer.compare(system.stable, before)).toBe(0);
  host.exports.stable64_grow(64n);
  expect(system.stable.length).toBe(before.length);
  linearWrite(3 * extentBytes, Uint8Array.of(9));
  expect(system.stable.length).toBe(before.length + extentBytes);
  expect(system.stable[8]).toBe(3);
  await upgrade();
  expect([read(0, 3 * extentBytes, 1)[0], byteAt(0, extentBytes)]).toEqual([9, 5]);
});
