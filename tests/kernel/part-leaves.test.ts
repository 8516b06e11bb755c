import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { labeled, leaf } from '../../packages/replica/src/state/hash-tree.ts';
import { type PartLeavesInput, partLeaves } from '../../src/storage/part-leaves.ts';
import { installNodeKernel } from '../support/kernel-host.ts';

beforeEach(async () => {
  await installNodeKernel();
});

function sha256(...parts: readonly (Uint8Array | string)[]): Buffer {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
}

type Header = readonly [name: string, value: string];

/** IC spec, representation-independent hash: pairs of hashes in order. */
function representationHash(headers: readonly Header[]): Buffer {
  const pairs = headers.map(([name, value]) => Buffer.concat([sha256(name), sha256(value)]));
  return sha256(...pairs.sort(Buffer.compare));
}

interface Delivery {
  readonly headers: readonly Header[];
  readonly partSize: number;
  readonly totalSize: number;
}

const digestOf = (part: number) => sha256(`part ${part}`);

/** Computes leaf by leaf, as the specification defines it. */
function slowLeaves({ headers, partSize, totalSize }: Delivery): Buffer {
  const rows: Buffer[] = [];
  for (let start = 0; start < totalSize; start += partSize) {
    const last = Math.min(start + partSize, totalSize) - 1;
    const request: Header[] = [
      [':ic-cert-method', 'GET'],
      ['range', `bytes=${start}-`],
    ];
    const response: Header[] = [
      ...headers,
      ['content-range', `bytes ${start}-${last}/${totalSize}`],
    ];
    const digest = digestOf(start / partSize);
    const responseHash = sha256(representationHash(response), digest);
    rows.push(sha256(representationHash(request), sha256('')));
    rows.push(Buffer.from(labeled(responseHash, leaf(new Uint8Array(0))).hash));
  }
  return Buffer.concat(rows);
}

function inputOf({ headers, partSize, totalSize }: Delivery): PartLeavesInput {
  const parts = Math.ceil(totalSize / partSize);
  return {
    pairs: Buffer.concat(headers.flatMap(([name, value]) => [sha256(name), sha256(value)])),
    contentRangeName: sha256('content-range'),
    requestPairs: Buffer.concat([sha256(':ic-cert-method'), sha256('GET'), sha256('range')]),
    digests: Buffer.concat(Array.from({ length: parts }, (_, part) => digestOf(part))),
    partSize,
    totalSize,
  };
}

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

describe('partLeaves(): the leaves of parts', () => {
  test.each([
    [0, 1_000, 2_500],
    [1, 1, 12],
    [12, 1_900_000, 1_900_000],
    [12, 1_900_000, 1_900_001],
    [30, 1_048_576, 1_048_576_000],
    [500, 999_999_999, 90_000_000_001],
  ])('with %i headers, parts of %i bytes and %i bytes in all', (count, partSize, totalSize) => {
    for (let round = 0; round < 2; round++) {
      const headers = Array.from(
        { length: count },
        (_, at): Header => [`x-header-${round}-${at}`, `value ${at}`],
      );
      const delivery = { headers, partSize, totalSize };
      expect(hex(partLeaves(inputOf(delivery)))).toBe(hex(slowLeaves(delivery)));
    }
  });

  test('are the same for any order of the headers, also with several values of one name', () => {
    const headers: Header[] = ['a', 'b', 'c', 'd'].map((value) => ['set-cookie', value]);
    const delivery = { headers, partSize: 10, totalSize: 95 };
    const expected = hex(slowLeaves(delivery));
    expect(hex(partLeaves(inputOf(delivery)))).toBe(expected);
    expect(hex(partLeaves(inputOf({ ...delivery, headers: headers.reverse() })))).toBe(expected);
  });

  test('are refused if digests or pairs do not have the expected length', () => {
    const input = inputOf({ headers: [], partSize: 10, totalSize: 95 });
    expect(() => partLeaves({ ...input, totalSize: 101 })).toThrow('the digests has 320 bytes');
    expect(() => partLeaves({ ...input, pairs: new Uint8Array(63) })).toThrow('the header pairs');
    expect(() => partLeaves({ ...input, requestPairs: new Uint8Array(64) })).toThrow('request');
  });
});
