// Checks the structure of an ordered index (kernel/ordered-index-pages.ts): order, counts, sums if
// it has them, levels, and that every page is in the tree or on the free list.

import { expect } from 'vitest';
import { openSpace } from '../../src/storage/space.ts';
import { expectSame, expectSameBytes } from './expect-same.ts';

const pageBytes = 4_096;
const superblockBytes = 48;
const innerKind = 2;
const innerKindWithSums = 3;
const leafKindWithReferences = 4;

type IndexSpace = 1 | 2 | 3 | 6;

interface Page {
  readonly kind: number;
  readonly used: number;
  readonly cells: readonly { readonly start: number; readonly key: Buffer }[];
  readonly bytes: Buffer;
}

export interface IndexShape {
  readonly height: number;
  readonly pages: number;
  readonly freePages: number;
  /** The used share of the tree's pages, 0 to 1. */
  readonly fill: number;
  readonly keys: Buffer[];
  /** The values of an index with sums, in the order of the keys. */
  readonly values: bigint[];
}

function readPage(space: IndexSpace, number: number): Buffer {
  const bytes = Buffer.alloc(pageBytes);
  openSpace(space).read(number * pageBytes, bytes);
  return bytes;
}

function parsePage(bytes: Buffer): Page {
  const tailBytes = bytes.readUInt16LE(0) >= innerKindWithSums ? 8 : 0;
  const [kind, count, used] = [0, 2, 4].map((at) => bytes.readUInt16LE(at));
  let end = 8 + 2 * (count ?? 0);
  const cells = Array.from({ length: count ?? 0 }, (_, index) => {
    const start = bytes.readUInt16LE(8 + 2 * index);
    expectSame(start, end, 'cells follow each other without gaps');
    const keyEnd = start + 10 + bytes.readUInt16LE(start + 8);
    end = keyEnd + tailBytes;
    return { start, key: bytes.subarray(start + 10, keyEnd) };
  });
  expectSame(used, end);
  expectSame(end <= pageBytes, true, `cells end at ${end}`);
  return { kind: kind ?? 0, used: end, cells, bytes };
}

/** Checks the index in that space and returns its shape. */
export function checkIndexStructure(space: IndexSpace, hasSums = false): IndexShape {
  if (openSpace(space).size() === 0) {
    return { height: 0, pages: 0, freePages: 0, fill: 1, keys: [], values: [] };
  }
  const superblock = readPage(space, 0).subarray(0, superblockBytes);
  expect(superblock.subarray(0, 8).toString('latin1')).toBe('\0EFSIDX1');
  const [version, root, height, pagesEnd, freeHead, freeCount] = [8, 12, 16, 20, 24, 28].map((at) =>
    superblock.readUInt32LE(at),
  ) as [number, number, number, number, number, number];
  expect(version).toBe(hasSums ? 3 : 1);
  const owners = new Set<number>([0]);
  const claim = (page: number) => {
    expectSame(owners.has(page), false, `page ${page} occurs twice`);
    expectSame(page < pagesEnd, true, `page ${page} of ${pagesEnd}`);
    owners.add(page);
  };
  const keys: Buffer[] = [];
  const values: bigint[] = [];
  let usedBytes = 0;

  /** Returns the number of keys below the page, and appends their values to `values`. */
  function visit(number: number, level: number, lower: Buffer): number {
    claim(number);
    const page = parsePage(readPage(space, number));
    usedBytes += page.used;
    const leaf = hasSums ? leafKindWithReferences : 1;
    expectSame(page.kind, level === 1 ? leaf : hasSums ? innerKindWithSums : innerKind);
    if (level === 1) {
      keys.push(...page.cells.map(({ key }) => key));
      values.push(...page.cells.map(({ start }) => page.bytes.readBigUInt64LE(start)));
      for (const { key } of page.cells) {
        expectSame(Buffer.compare(lower, key) <= 0, true, 'the key of the page is not greater');
      }
      return page.cells.length;
    }
    const first = page.cells[0]?.key ?? expect.fail('a page without cells');
    expectSameBytes(first, lower, 'the first key is the key of the page');
    let total = 0;
    for (const { start, key } of page.cells) {
      const before = values.length;
      const count = visit(page.bytes.readUInt32LE(start), level - 1, key);
      expectSame(page.bytes.readUInt32LE(start + 4), count);
      if (hasSums) {
        const sum = values.slice(before).reduce((total, value) => total + value, 0n);
        expectSame(page.bytes.readBigUInt64LE(start + 10 + key.length), BigInt.asUintN(64, sum));
      }
      const greatest = count > 0 ? keys.at(-1) : undefined;
      if (greatest) expectSame(Buffer.compare(key, greatest) <= 0, true, 'page key not greater');
      total += count;
    }
    return total;
  }

  const total = height === 0 ? 0 : visit(root, height, Buffer.alloc(0));
  expect(Number(superblock.readBigUInt64LE(32))).toBe(total);
  for (let index = 1; index < keys.length; index++) {
    const [before, key] = [keys[index - 1], keys[index]];
    if (before && key) expectSame(Buffer.compare(before, key), -1, 'keys ascend');
  }
  const treePages = owners.size - 1;
  for (let page = freeHead; page !== 0; page = readPage(space, page).readUInt32LE(4)) claim(page);
  expect(owners.size, 'every page has an owner').toBe(pagesEnd);
  expect(owners.size - 1 - treePages).toBe(freeCount);
  const fill = treePages === 0 ? 1 : usedBytes / (treePages * pageBytes);
  return { height, pages: treePages, freePages: freeCount, fill, keys, values };
}
