import { beforeEach, expect, test } from 'vitest';
import { kernelCall } from '../../src/crypto/kernel.ts';
import { type OrderedIndex, openOrderedIndex } from '../../src/storage/ordered-index.ts';
import { spaceSize } from '../../src/storage/stable-space.ts';
import { checkIndexStructure } from '../support/index-structure.ts';
import { installNodeKernel } from '../support/kernel-host.ts';

let index: OrderedIndex;

beforeEach(async () => {
  await installNodeKernel();
  index = openOrderedIndex(2);
});

test('openOrderedIndex(): a read entry is a copy that later changes do not affect', () => {
  const key = Buffer.from('ab');
  index.insert(key, 1n);
  key.fill(0);
  const [entry] = index.read(0, 1);
  index.remove(Buffer.from('ab'));
  index.insert(Buffer.from('cd'), 2n);
  expect(entry).toEqual({ key: Uint8Array.from(Buffer.from('ab')), value: 1n });
});

test('openOrderedIndex(): keys may be views into larger arrays', () => {
  const whole = Buffer.from('xxabyy');
  index.insert(whole.subarray(2, 4), 7n);
  expect(index.find(Buffer.from('ab'))).toBe(7n);
  expect(index.rank(whole.subarray(3, 4))).toBe(1);
});

test('openOrderedIndex(): a key that is not a Uint8Array is refused and leaves no pending operation', () => {
  expect(() => index.insert('ab' as unknown as Uint8Array, 1n)).toThrow('not a Uint8Array');
  index.insert(Buffer.from('a'), 1n);
  expect(index.count()).toBe(1);
  expect(() => kernelCall(new Uint8Array(1))).not.toThrow();
});

test('openOrderedIndex(): indexes in two spaces are independent', () => {
  const other = openOrderedIndex(3);
  index.insert(Buffer.from('a'), 1n);
  other.insert(Buffer.from('b'), 2n);
  expect([index.count(), other.count()]).toEqual([1, 1]);
  expect(index.find(Buffer.from('b'))).toBeUndefined();
  expect(checkIndexStructure(3).keys).toEqual([Buffer.from('b')]);
});

test('openOrderedIndex(): space grows in steps of one mebibyte, and is reused', () => {
  const key = (at: number) => Buffer.from(`${at}`.padStart(60, '0'));
  for (let at = 0; at < 5_000; at++) index.insert(key(at), 1n);
  const pages = spaceSize(2);
  expect(pages % 16).toBe(0);
  for (let turn = 0; turn < 3; turn++) {
    for (let at = 0; at < 5_000; at++) index.remove(key(at));
    for (let at = 0; at < 5_000; at++) index.insert(key(at), 1n);
  }
  expect(spaceSize(2)).toBe(pages);
});

test('openOrderedIndex(): reading changes no byte of stable memory', async () => {
  const host = await installNodeKernel();
  for (let at = 0; at < 500; at++) index.insert(Buffer.from(`key ${at}`), BigInt(at));
  const before = host.system.stable.slice();
  index.rank(Buffer.from('key 3'));
  index.find(Buffer.from('key 3'));
  index.read(17, 60);
  index.countBlocks({ key: Buffer.from('key 1234'), at: 4, blocks: 3 });
  index.remove(Buffer.from('no key'));
  expect(Buffer.compare(host.system.stable, before)).toBe(0);
});
