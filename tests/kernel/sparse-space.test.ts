// Space 0 uses real memory only where data was written; in memory of release 0.1.0 it uses all of
// its size.

import { beforeEach, describe, expect, test } from 'vitest';
import { type StableSpace, spaceGrow, stablePageBytes } from '../../src/storage/stable-space.ts';
import { installNodeKernel, type KernelHost } from '../support/kernel-host.ts';
import { linearRead, linearWrite, readSpace, upgradeKernel } from '../support/space-access.ts';

const extentBytes = 1_048_576;
const reservedPages = 32;
let host: KernelHost;

beforeEach(async () => {
  host = await installNodeKernel();
});

describe('spaceGrow(): space 0 has holes', () => {
  const realBytes = () => host.system.stable.length;
  const reservedBytes = reservedPages * stablePageBytes;

  test('until a non-zero byte is written there, which allocates one extent', async () => {
    host.exports.stable64_grow(800n);
    expect(realBytes()).toBe(reservedBytes);
    linearWrite(host, extentBytes - 40, new Uint8Array(100));
    linearWrite(host, 5 * extentBytes, new Uint8Array(3 * extentBytes));
    expect(realBytes()).toBe(reservedBytes);
    expect(linearRead(host, extentBytes - 1, 2)).toEqual(Uint8Array.of(0, 0));
    const across = new Uint8Array(3 * extentBytes);
    across[extentBytes + 15] = 1;
    linearWrite(host, 7 * extentBytes, across);
    expect(realBytes()).toBe(reservedBytes + extentBytes);
    linearWrite(host, 9 * extentBytes - 1, Uint8Array.of(2, 0));
    expect(realBytes()).toBe(reservedBytes + extentBytes);
    host = await upgradeKernel(host);
    expect(linearRead(host, 9 * extentBytes - 1, 2)).toEqual(Uint8Array.of(2, 0));
    expect(
      Buffer.compare(
        linearRead(host, 7 * extentBytes, extentBytes + 16),
        across.subarray(0, extentBytes + 16),
      ),
    ).toBe(0);
  });

  test('each byte of a write is examined, whatever its alignment', async () => {
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
      linearWrite(host, 3, bytes);
      expect(linearRead(host, 3, length)).toEqual(bytes);
    }
  });

  test('a write for which the system has no memory traps with a reason', async () => {
    host.system.stablePagesMax = reservedPages + 16;
    expect(host.exports.stable64_grow(64n)).toBe(0n);
    linearWrite(host, 100, Uint8Array.of(1));
    const before = host.system.stable.slice();
    const noRoom = 'The canister cannot get more stable memory';
    expect(() => linearWrite(host, extentBytes, Uint8Array.of(1))).toThrow(noRoom);
    expect(spaceGrow(1, 1)).toBe(-1);
    expect(Buffer.compare(host.system.stable, before)).toBe(0);
    host.system.stablePagesMax += 16;
    linearWrite(host, extentBytes, Uint8Array.of(7));
    host = await upgradeKernel(host);
    expect([...linearRead(host, 100, 1), ...linearRead(host, extentBytes, 1)]).toEqual([1, 7]);
  });

  test('space 0 does not grow without memory for the superblock', () => {
    host.system.stablePagesMax = reservedPages - 1;
    expect(host.exports.stable64_grow(1n)).toBe(-1n);
    expect(realBytes()).toBe(0);
  });

  test('addresses outside the heap are refused', () => {
    host.exports.stable64_grow(16n);
    const { stable64_read, stable64_write } = host.exports;
    for (const address of [2n ** 32n, 2n ** 32n - 1n, -1n]) {
      expect(() => stable64_read(address, 0n, 8n)).toThrow('unreachable');
      expect(() => stable64_write(0n, address, 8n)).toThrow('unreachable');
    }
  });
});

test('spaceGrow(): memory of release 0.1.0 is readable, and has holes once it grows', async () => {
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
  // Space 0 is in the extents 3 and 5, space 1 in 4 and 2
  const table = [0x2000_0001, 0, 0x2000_0000, 1];
  for (const [i, entry] of table.entries()) fields.setUint32(4096 + 8 + 4 * i, entry, true);
  for (const extent of [2, 3, 4, 5]) system.stable[extent * extentBytes + 7] = extent;
  const before = system.stable.slice();
  host = await upgradeKernel(host);
  const byteAt = (space: StableSpace, offset: number) => readSpace(space, offset + 7, 1)[0];
  expect([byteAt(0, 0), byteAt(0, extentBytes)]).toEqual([3, 5]);
  expect([byteAt(1, 0), byteAt(1, extentBytes)]).toEqual([4, 2]);
  expect(Buffer.compare(system.stable, before)).toBe(0);
  host.exports.stable64_grow(64n);
  expect(system.stable.length).toBe(before.length);
  linearWrite(host, 3 * extentBytes, Uint8Array.of(9));
  expect(system.stable.length).toBe(before.length + extentBytes);
  expect(system.stable[8]).toBe(4);
  host = await upgradeKernel(host);
  expect([readSpace(0, 3 * extentBytes, 1)[0], byteAt(0, extentBytes)]).toEqual([9, 5]);
});
