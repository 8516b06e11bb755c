import { beforeAll, describe, expect, test } from 'vitest';
import { findAll, jsonShape } from '../../src/crypto/byte-search.ts';
import { installNodeKernel } from '../support/kernel-host.ts';
import { randomNumbers } from '../support/random-numbers.ts';

beforeAll(async () => {
  await installNodeKernel({ misalignment: 3 });
});

const seed = 20_261_122;
const text = (value: string) => new Uint8Array(Buffer.from(value, 'latin1'));

/** A slow reference implementation. */
function places(bytes: Uint8Array, needle: Uint8Array, limit: number): number[] {
  const found: number[] = [];
  const haystack = Buffer.from(bytes);
  for (let at = 0; found.length < limit; at += needle.length) {
    at = haystack.indexOf(needle, at);
    if (at < 0) break;
    found.push(at);
  }
  return found;
}

function find(bytes: Uint8Array, needle: Uint8Array, limit = 1_000): number[] {
  return [...(findAll(bytes, needle, limit) ?? expect.fail('too close'))];
}

describe('findAll()', () => {
  test.each([
    ['', 'a', []],
    ['a', 'a', [0]],
    ['aaaa', 'aa', [0, 2]],
    ['abababab', 'abab', [0, 4]],
    ['aabaaab', 'aaab', [3]],
    ['\r\r\n--\r\n--b', '\r\n--b', [5]],
    ['abc', 'abcd', []],
  ])('finds in %j each %j', (bytes, needle, expected) => {
    expect(find(text(bytes), text(needle))).toEqual(expected);
  });

  test(`agrees with the reference model, seed ${seed}`, () => {
    const random = randomNumbers(seed);
    const letters = (length: number, kinds: number) =>
      Uint8Array.from({ length }, () => 97 + random(kinds));
    for (let turn = 0; turn < 3_000; turn++) {
      const bytes = letters(random(200), 1 + random(3));
      const start = random(bytes.length + 1);
      const isPart = random(2) === 0 && bytes.length > start;
      const needle = isPart
        ? bytes.slice(start, start + 1 + random(128))
        : letters(1 + random(128), 1 + random(3));
      const limit = random(5);
      expect(find(bytes, needle, limit)).toEqual(places(bytes, needle, limit));
    }
  });

  test('stops when the output is full', () => {
    expect(find(text('aaaaa'), text('a'), 2)).toEqual([0, 1]);
  });

  test('gives up only if almost every position almost matches the needle', () => {
    const letters = text('a'.repeat(2_000_000));
    const almost = `${'a'.repeat(100)}b${'a'.repeat(27)}`;
    expect(findAll(letters, text(almost), 1_000)).toBeUndefined();
    expect(findAll(letters, text(`${'a'.repeat(127)}b`), 1_000)).toHaveLength(0);
    const lines = text('\r\n--'.repeat(500_000));
    expect(findAll(lines, text('\r\n--boundary'), 1_000)).toHaveLength(0);
  });

  test('refuses an empty needle, and one that is too long', () => {
    expect(() => find(text('a'), new Uint8Array(0))).toThrow('0 bytes');
    expect(() => find(text('a'), new Uint8Array(129))).toThrow('129 bytes');
  });
});

describe('jsonShape()', () => {
  test.each([
    ['', 0, 0],
    ['{}', 1, 0],
    ['{"a":[1,{}],"b":[]}', 4, 2],
    ['["[{,", "\\",[", "\\\\", []]', 2, 3],
    ['"[[,', 0, 0],
    ['[[[,,', 3, 2],
    ['"\\', 0, 0],
  ])('counts in %s', (json, containers, commas) => {
    expect(jsonShape(text(json))).toEqual({ containers, commas });
  });
});
