import { beforeEach, describe, expect, test } from 'vitest';
import { installKernelCall } from '../../src/crypto/kernel.ts';
import {
  openOrderedIndex,
  openSummedIndex,
  type SummedIndex,
} from '../../src/storage/ordered-index.ts';
import { expectSame } from '../support/expect-same.ts';
import { IndexReference, indexKeyMakers } from '../support/index-reference.ts';
import { checkIndexStructure } from '../support/index-structure.ts';
import { installNodeKernel, type KernelHost, startKernel } from '../support/kernel-host.ts';
import { randomNumbers } from '../support/random-numbers.ts';

let host: KernelHost;
let index: SummedIndex;

beforeEach(async () => {
  host = await installNodeKernel();
  index = openSummedIndex(2);
});

/** Creates a new instance on the same stable memory. */
async function upgrade(): Promise<void> {
  host = await startKernel({ system: host.system });
  installKernelCall(host.gate);
}

describe('openSummedIndex(): an index with sums', () => {
  test('is empty at first', () => {
    expect(index.sum(Buffer.from('a'))).toBe(0);
    expect(host.system.stable.length).toBe(0);
  });

  test('sums the values of all smaller keys', () => {
    for (const [key, value] of Object.entries({ a: 1n, b: 20n, c: 300n })) {
      index.insert(Buffer.from(key), value);
    }
    const sums = ['', 'a', 'b', 'bb', 'c', 'd'].map((key) => index.sum(Buffer.from(key)));
    expect(sums).toEqual([0, 0, 1, 21, 21, 321]);
    index.insert(Buffer.from('b'), 50n);
    index.remove(Buffer.from('a'));
    expect(index.sum(Buffer.from('d'))).toBe(350);
  });

  test.each(Object.keys(indexKeyMakers))(
    'sums as a sorted array does, with keys %s',
    async (name) => {
      const makeKey = indexKeyMakers[name] ?? expect.fail(name);
      for (const seed of [1, 2]) {
        host = await installNodeKernel();
        const random = randomNumbers(seed);
        const reference = new IndexReference();
        for (let turn = 0; turn < 4_000; turn++) {
          const where = `${name}, seed ${seed}, turn ${turn}`;
          const isShrinking = Math.floor(turn / 1_000) % 2 === 1;
          const known = reference.keys[random(reference.keys.length || 1)];
          const key = known !== undefined && random(2) === 0 ? known : makeKey(random);
          if (random(10) < (isShrinking ? 2 : 7)) {
            const value = BigInt(random(2 ** 31)) << BigInt(random(8));
            expectSame(index.insert(key, value), reference.insert(key, value), where);
          } else {
            expectSame(index.remove(key), reference.remove(key), where);
          }
          if (turn % 13 === 0) {
            expectSame(BigInt(index.sum(key)), reference.sum(key), where);
            expectSame(index.rank(key), reference.rank(key), where);
          }
          if (turn % 500 === 499) {
            await upgrade();
            const { keys, values } = checkIndexStructure(2, true);
            const wanted = reference.keys.map((each) =>
              reference.values.get(each.toString('latin1')),
            );
            expect(values, where).toEqual(wanted);
            expectSame(keys.length, reference.keys.length, where);
          }
        }
        for (const key of [...reference.keys])
          expectSame(index.remove(key), reference.remove(key), name);
        expect(checkIndexStructure(2, true)).toMatchObject({ height: 1, pages: 1, keys: [] });
      }
    },
  );

  test('cannot be opened as an index without sums, nor the other way round', async () => {
    index.insert(Buffer.from('a'), 1n);
    expect(() => openOrderedIndex(2).rank(Buffer.from('a'))).toThrow('unreachable');
    host = await installNodeKernel();
    openOrderedIndex(2).insert(Buffer.from('a'), 1n);
    expect(() => index.sum(Buffer.from('a'))).toThrow('unreachable');
    expect(() => index.insert(Buffer.from('b'), 1n)).toThrow('unreachable');
  });

  test('changes no byte of stable memory when it only reads', () => {
    for (let at = 0; at < 500; at++) index.insert(Buffer.from(`key ${at}`), BigInt(at));
    const before = host.system.stable.slice();
    index.sum(Buffer.from('key 3'));
    expect(Buffer.compare(host.system.stable, before)).toBe(0);
  });
});
