import { beforeEach, describe, expect, test } from 'vitest';
import {
  type ErasableSlots,
  openErasableSlots,
  slotBytes,
} from '../../src/storage/erasable-slots.ts';
import { openSpace } from '../../src/storage/space.ts';
import { testBytes } from '../support/domain-fixture.ts';
import { spaceBytes } from '../support/encryption-reference.ts';
import { FakeSystem, installNodeKernel } from '../support/kernel-host.ts';
import { randomNumbers } from '../support/random-numbers.ts';

let system: FakeSystem;
let slots: ErasableSlots;

async function reopen() {
  await installNodeKernel({ system });
  slots = openErasableSlots(openSpace(4));
}

beforeEach(async () => {
  system = new FakeSystem();
  await reopen();
});

/** Returns bytes of a slot that do not begin with 8 zeros. */
function bytesOf(seed: number): Uint8Array {
  return testBytes(slotBytes, seed).with(0, 1);
}

function stored(): Uint8Array {
  return spaceBytes(system.stable, 4);
}

describe('openErasableSlots(): the space of erasable slots', () => {
  test('has the documented layout', () => {
    const [a, b, c] = [1, 2, 3].map(bytesOf) as [Uint8Array, Uint8Array, Uint8Array];
    expect([a, b, c].map(slots.add)).toEqual([1, 2, 3]);
    slots.erase(1);
    slots.erase(2);
    const expected = Buffer.alloc(4 * slotBytes);
    // Magic number, end 4, one slot in use, free slot 2, which links to slot 1.
    for (const [index, number] of [0xef5_e5a5_0001, 4, 1, 2].entries()) {
      expected.writeDoubleLE(number, 8 * index);
    }
    expected.writeDoubleLE(1, 2 * slotBytes + 8);
    expected.set(c, 3 * slotBytes);
    expect(Buffer.from(stored().subarray(0, 4 * slotBytes)).toString('hex')).toBe(
      expected.toString('hex'),
    );
    expect(
      stored()
        .subarray(4 * slotBytes)
        .every((byte) => byte === 0),
    ).toBe(true);
  });

  test('can be read again after reopening', async () => {
    slots.add(bytesOf(1));
    slots.add(bytesOf(2));
    slots.erase(1);
    await reopen();
    expect([slots.end(), slots.inUse()]).toEqual([3, 1]);
    expect(slots.read(1)).toBeUndefined();
    expect(slots.read(2)).toEqual(bytesOf(2));
    expect(slots.add(bytesOf(3))).toBe(1);
  });

  test('of another format is refused', () => {
    slots.add(bytesOf(1));
    const space = openSpace(4);
    space.write(0, Uint8Array.of(1));
    expect(() => openErasableSlots(space).end()).toThrow('magic number');
  });
});

describe('read()', () => {
  test('returns undefined for a number that is not a slot', () => {
    slots.add(bytesOf(1));
    for (const none of [0, 2, -1, 0.5, 2 ** 40, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(slots.read(none), `slot ${none}`).toBeUndefined();
    }
  });

  test('returns a copy', () => {
    slots.add(bytesOf(1));
    slots.read(1)?.fill(9);
    expect(slots.read(1)).toEqual(bytesOf(1));
  });
});

describe('erase()', () => {
  test('refuses a free or invalid slot, and changes nothing', () => {
    slots.add(bytesOf(1));
    slots.add(bytesOf(2));
    slots.erase(1);
    const before = stored();
    for (const none of [0, 1, 3, -1]) expect(() => slots.erase(none)).toThrow('in use');
    expect(Buffer.compare(stored(), before)).toBe(0);
  });
});

test('readMany() returns consecutive slots, fewer at the end', () => {
  for (const seed of [1, 2, 3]) slots.add(bytesOf(seed));
  slots.erase(2);
  const free = new Uint8Array(slotBytes);
  expect(Buffer.from(slots.readMany(1, 9))).toEqual(Buffer.concat([bytesOf(1), free, bytesOf(3)]));
  expect(slots.readMany(3, 1)).toEqual(bytesOf(3));
  expect(slots.readMany(4, 1)).toHaveLength(0);
});

test('openErasableSlots(): 2,000 random changes agree with a reference model, and no erased bytes remain', async () => {
  const random = randomNumbers(42);
  const reference = new Map<number, Uint8Array>();
  const erased: Uint8Array[] = [];
  let end = 1;
  for (let turn = 0; turn < 2_000; turn++) {
    const used = [...reference.keys()];
    const slot = used[random(Math.max(1, used.length))] ?? 0;
    const kind = random(5);
    if (kind < 2 || used.length === 0) {
      const isReused = used.length < end - 1;
      const added = slots.add(bytesOf(turn));
      expect(reference.has(added)).toBe(false);
      expect(isReused ? added < end : added === end).toBe(true);
      end = Math.max(end, added + 1);
      reference.set(added, bytesOf(turn));
    } else if (kind === 2) {
      erased.push(reference.get(slot) ?? bytesOf(0));
      slots.replace(slot, bytesOf(turn));
      reference.set(slot, bytesOf(turn));
    } else {
      erased.push(reference.get(slot) ?? bytesOf(0));
      slots.erase(slot);
      reference.delete(slot);
    }
    if (random(400) === 0) await reopen();
  }
  expect([slots.end(), slots.inUse()]).toEqual([end, reference.size]);
  for (let slot = 1; slot < end; slot++) expect(slots.read(slot)).toEqual(reference.get(slot));
  const stable = Buffer.from(system.stable);
  for (const bytes of erased.slice(-50))
    expect(stable.includes(Buffer.from(bytes.subarray(1, 17)))).toBe(false);
});
