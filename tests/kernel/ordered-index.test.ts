import { beforeEach, describe, expect, test } from 'vitest';
import { installKernelCall } from '../../src/crypto/kernel.ts';
import {
  indexKeyBytesMax,
  type OrderedIndex,
  openOrderedIndex,
} from '../../src/storage/ordered-index.ts';
import { expectSame } from '../support/expect-same.ts';
import { IndexReference, indexKeyMakers } from '../support/index-reference.ts';
import { checkIndexStructure } from '../support/index-structure.ts';
import { installNodeKernel, type KernelHost, startKernel } from '../support/kernel-host.ts';
import { randomNumbers } from '../support/random-numbers.ts';

let host: KernelHost;
let index: OrderedIndex;

beforeEach(async () => {
  host = await installNodeKernel();
  index = openOrderedIndex(2);
});

/** Creates a new instance on the same stable memory. */
async function upgrade(): Promise<void> {
  host = await startKernel({ system: host.system });
  installKernelCall(host.gate);
}

function readPlain(rank: number, limit: number) {
  return index.read(rank, limit).map(({ key, value }) => {
    return { key: Buffer.from(key).toString('latin1'), value };
  });
}

function expectSameKeys(found: readonly Buffer[], wanted: readonly Buffer[], where: string) {
  const texts = (keys: readonly Buffer[]) => keys.map((key) => key.toString('latin1'));
  expect(texts(found), where).toEqual(texts(wanted));
}

describe('openOrderedIndex(): an ordered index', () => {
  test('is empty at first, and reading writes nothing', () => {
    expect(index.count()).toBe(0);
    expect(index.find(Buffer.from('a'))).toBeUndefined();
    expect(index.remove(Buffer.from('a'))).toBeUndefined();
    expect(index.rank(Buffer.from('a'))).toBe(0);
    expect(index.read(0, 10)).toEqual([]);
    expect(host.system.stable.length).toBe(0);
  });

  test('stores values of 64 bits and returns the value that it replaces', () => {
    const key = Buffer.from('a');
    expect(index.insert(key, 2n ** 64n - 1n)).toBeUndefined();
    expect(index.insert(key, 0n)).toBe(2n ** 64n - 1n);
    expect(index.find(key)).toBe(0n);
    expect(index.remove(key)).toBe(0n);
    expect(index.count()).toBe(0);
  });

  test('accepts the empty key and keys of 1,300 bytes, and refuses longer ones', () => {
    index.insert(new Uint8Array(0), 1n);
    index.insert(new Uint8Array(indexKeyBytesMax).fill(255), 2n);
    expect(readPlain(0, 9).map(({ value }) => value)).toEqual([1n, 2n]);
    expect(() => index.insert(new Uint8Array(indexKeyBytesMax + 1), 1n)).toThrow(
      'the key has 1301',
    );
    expect(index.count()).toBe(2);
  });

  test.each(Object.keys(indexKeyMakers))('behaves as a sorted array with keys %s', async (name) => {
    const makeKey = indexKeyMakers[name] ?? expect.fail(name);
    for (const seed of [1, 2]) {
      host = await installNodeKernel();
      const random = randomNumbers(seed);
      const reference = new IndexReference();
      const where = (turn: number) => `${name}, seed ${seed}, turn ${turn}`;
      for (let turn = 0; turn < 4_000; turn++) {
        const isShrinking = Math.floor(turn / 1_000) % 2 === 1;
        const known = reference.keys[random(reference.keys.length || 1)];
        const key = known !== undefined && random(3) === 0 ? known : makeKey(random);
        if (random(10) < (isShrinking ? 2 : 7)) {
          const value = BigInt(random(2 ** 31)) << BigInt(random(33));
          expectSame(index.insert(key, value), reference.insert(key, value), where(turn));
        } else {
          const victim = known !== undefined && random(5) > 0 ? known : key;
          expectSame(index.remove(victim), reference.remove(victim), where(turn));
        }
        if (turn % 7 === 0) {
          expectSame(index.rank(key), reference.rank(key), where(turn));
          expectSame(index.find(key), reference.values.get(key.toString('latin1')), where(turn));
        }
        if (turn % 101 === 0) {
          const [rank, limit] = [random(reference.keys.length + 2), random(70)];
          expect(readPlain(rank, limit), where(turn)).toEqual(reference.read(rank, limit));
        }
        if (turn % 500 === 499) {
          await upgrade();
          expectSameKeys(checkIndexStructure(2).keys, reference.keys, where(turn));
        }
      }
      expect(index.count()).toBe(reference.keys.length);
      for (const key of [...reference.keys]) {
        index.remove(key);
        reference.remove(key);
      }
      expect(checkIndexStructure(2)).toMatchObject({ height: 1, pages: 1, keys: [] });
    }
  });

  const orders: Readonly<Record<string, (at: number) => number>> = {
    ascending: (at) => at,
    descending: (at) => 9_999 - at,
    'inside out': (at) => 5_000 + (at % 2 === 0 ? at / 2 : -(at + 1) / 2),
    scattered: (at) => (at * 7_919) % 10_000,
  };
  test.each(Object.entries(orders))(
    'stays balanced when keys are inserted and removed %s',
    (_, order) => {
      const key = (at: number) => Buffer.from(`some/folder/${String(order(at)).padStart(8, '0')}`);
      for (let at = 0; at < 10_000; at++) index.insert(key(at), BigInt(at));
      const full = checkIndexStructure(2);
      expect(full.keys).toHaveLength(10_000);
      expect(full.height).toBeLessThanOrEqual(4);
      expect(full.fill).toBeGreaterThan(0.45);
      for (let at = 0; at < 9_000; at++) expectSame(index.remove(key(at)), BigInt(at));
      const rest = checkIndexStructure(2);
      expect(rest.keys).toHaveLength(1_000);
      expect(rest.fill).toBeGreaterThan(0.25);
      for (let at = 0; at < 9_000; at++) index.insert(key(at), BigInt(at));
      const again = checkIndexStructure(2);
      expect(again.pages + again.freePages, 'pages are used again').toBeLessThanOrEqual(
        (full.pages + full.freePages) * 1.1,
      );
    },
  );

  test('counts keys in blocks', () => {
    const key = (block: number, tail: string) => {
      const head = Buffer.from([1, 0, 0, 0, 0]);
      head.writeUInt32BE(block, 1);
      return Buffer.concat([head, Buffer.from(tail)]);
    };
    for (let block = 250; block < 270; block++) {
      for (let at = 0; at < block - 240; at++) {
        index.insert(key(block, `a${String(at)}`), 1n);
        index.insert(key(block, `b/${'x'.repeat(at * 30)}`), 1n);
      }
    }
    const count = (tail: string) => [
      ...index.countBlocks({ key: key(254, tail), at: 1, blocks: 5 }),
    ];
    expect(count('')).toEqual([28, 30, 32, 34, 36]);
    expect(count('a')).toEqual([14, 15, 16, 17, 18]);
    expect(count('b/xx')).toEqual([13, 14, 15, 16, 17]);
    expect(count('c')).toEqual([0, 0, 0, 0, 0]);
    expect(index.countBlocks({ key: key(0, ''), at: 1, blocks: 0 })).toHaveLength(0);
  });

  test('continues in another call if the keys do not fit into one', () => {
    for (let at = 0; at < 60; at++) {
      index.insert(Buffer.from(`${at}`.padStart(4, '0').padEnd(1_200, 'x')), BigInt(at));
    }
    expect(readPlain(3, 50).map(({ value }) => Number(value))).toEqual(
      Array.from({ length: 50 }, (_, at) => at + 3),
    );
  });

  test('refuses space 0, which belongs to the canister', () => {
    expect(() => openOrderedIndex(0 as 1).insert(Buffer.from('a'), 1n)).toThrow('unreachable');
  });

  test('refuses a space that it did not format', async () => {
    index.insert(Buffer.from('a'), 1n);
    const at = host.system.stable.indexOf(Buffer.from('EFSIDX1')[0] ?? 0, 4_200);
    host.system.stable[at] = 1;
    expect(() => index.count()).toThrow('unreachable');
  });

  test('traps when stable memory cannot grow', () => {
    host.system.stablePagesMax = 33;
    expect(() => index.insert(Buffer.from('a'), 1n)).toThrow('unreachable');
  });
});
