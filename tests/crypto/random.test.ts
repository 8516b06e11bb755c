import { beforeAll, expect, test } from 'vitest';
import { createRandomSource, staleAfterNs } from '../../src/crypto/random.ts';
import { installNodeKernel } from '../support/kernel-host.ts';

const seed = new Uint8Array(32).fill(9);
const startNs = 1_800_000_000_000_000_000n;

beforeAll(() => installNodeKernel());

function seeded() {
  const source = createRandomSource();
  source.seed(seed.slice(), startNs);
  return source;
}

test('createRandomSource(): a source without a seed is not fresh', () => {
  expect(createRandomSource().isFresh(startNs)).toBe(false);
  expect(() => createRandomSource().next(32, startNs)).toThrow('seeded');
});

test('createRandomSource(): a source is stale after over an hour without use, and if the clock was set back', () => {
  const source = seeded();
  expect(source.isFresh(startNs)).toBe(true);
  expect(source.isFresh(startNs + staleAfterNs)).toBe(true);
  expect(source.isFresh(startNs + staleAfterNs + 1n)).toBe(false);
  expect(source.isFresh(startNs - 1n)).toBe(false);
  source.next(32, startNs + staleAfterNs);
  expect(source.isFresh(startNs + 2n * staleAfterNs)).toBe(true);
  expect(source.isFresh(startNs + staleAfterNs - 1n)).toBe(false);
});

test('createRandomSource(): a new seed makes a source fresh again and changes its output', () => {
  const [one, other] = [seeded(), seeded()];
  const later = startNs + 5n * staleAfterNs;
  expect(one.next(32, startNs)).toEqual(other.next(32, startNs));
  other.seed(new Uint8Array(32).fill(8), later);
  expect(other.isFresh(later)).toBe(true);
  expect(one.next(32, later)).not.toEqual(other.next(32, later));
});

test('createRandomSource(): the output depends on the time', () => {
  expect(seeded().next(32, startNs)).not.toEqual(seeded().next(32, startNs + 1n));
});
