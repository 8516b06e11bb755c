import { beforeEach, describe, expect, test } from 'vitest';
import { installKernelCall } from '../../src/crypto/kernel.ts';
import { type Records, withFormerRecords } from '../../src/storage/former-records.ts';
import { openRecordMap, type RecordMap, recordBytesMax } from '../../src/storage/record-map.ts';
import { expectSame, expectSameBytes } from '../support/expect-same.ts';
import { checkIndexStructure } from '../support/index-structure.ts';
import { installNodeKernel, type KernelHost, startKernel } from '../support/kernel-host.ts';
import { createMemoryMap } from '../support/memory-stores.ts';
import { randomNumbers } from '../support/random-numbers.ts';

let host: KernelHost;
let records: RecordMap;

beforeEach(async () => {
  host = await installNodeKernel();
  records = openRecordMap(6);
});

/** The sizes of kernel/record-slots.ts: a search in a list in place of arithmetic. */
const slotSizes: number[] = [];
for (let units = 1; units <= 16; units++) slotSizes.push(32 * units);
for (let shift = 1; slotSizes.length < 80; shift++) {
  for (let units = 9; units <= 16; units++) slotSizes.push((32 * units) << shift);
}

function slotBytes(record: Uint8Array): number {
  return slotSizes.find((size) => size >= record.length + 4) ?? expect.fail('no slot');
}

interface Stored {
  readonly record: Uint8Array;
  readonly weight: number;
}

/** A plain map with the same operations. */
class Reference {
  readonly stored = new Map<string, Stored>();

  rank(key: string): number {
    return [...this.stored.keys()].filter((other) => other < key).length;
  }

  sum(key: string): number {
    const lesser = [...this.stored].filter(([other]) => other < key);
    return lesser.reduce((sum, [, { weight }]) => sum + weight, 0);
  }
}

function randomRecord(random: ReturnType<typeof randomNumbers>): Uint8Array {
  const most = [40, 900, 6_000, recordBytesMax][random(40) === 0 ? 3 : random(3)] ?? 40;
  return new Uint8Array(1 + random(most)).fill(random(256));
}

function expectEqual(found: Uint8Array | undefined, wanted: Uint8Array | undefined): void {
  expectSame(found === undefined, wanted === undefined, 'a record exists');
  if (found !== undefined && wanted !== undefined) expectSameBytes(found, wanted);
}

function change(
  reference: Reference,
  random: ReturnType<typeof randomNumbers>,
  keys: readonly string[],
): void {
  const key = keys[random(keys.length)] ?? '';
  const former = reference.stored.get(key)?.record;
  if (random(3) === 0) {
    expectEqual(records.delete(Buffer.from(key)), former);
    reference.stored.delete(key);
    return;
  }
  const [record, weight] = [randomRecord(random), random(2) * random(2 ** 31)];
  expectEqual(records.set(Buffer.from(key), record, weight), former);
  reference.stored.set(key, { record, weight });
}

function compare({ stored }: Reference, keys: readonly string[]): void {
  const tails = keys.map((key) => Buffer.from(key.slice(1)));
  const seen: (Uint8Array | undefined)[] = [];
  records.each({ head: Buffer.from('k'), tails }, (record) => seen.push(record?.slice()) > 0);
  for (const [at, key] of keys.entries()) {
    const record = stored.get(key)?.record;
    expectEqual(records.get(Buffer.from(key)), record);
    expectSame(records.has(Buffer.from(key)), record !== undefined);
    expectEqual(seen[at], record);
  }
  const used = [...stored.values()].reduce((sum, { record }) => sum + slotBytes(record), 0);
  expectSame(records.bytesInUse(), used);
}

describe('openRecordMap()', () => {
  test('is empty at first, and takes no memory', () => {
    expect(records.get(Buffer.from('a'))).toBeUndefined();
    expect(records.delete(Buffer.from('a'))).toBeUndefined();
    expect([records.rank(Buffer.from('z')), records.sum(Buffer.from('z'))]).toEqual([0, 0]);
    expect(records.bytesInUse()).toBe(0);
    expect(host.system.stable.length).toBe(0);
  });

  test.each([1, 2, 3])('does what a plain map does, across upgrades (seed %i)', async (seed) => {
    const random = randomNumbers(seed);
    const reference = new Reference();
    const keys = Array.from({ length: 300 }, (_, at) => `k${at % 7}/${'x'.repeat(at % 90)}${at}`);
    for (let turn = 0; turn < 2_000; turn++) {
      change(reference, random, keys);
      if (turn % 500 === 499) {
        host = await startKernel({ system: host.system });
        installKernelCall(host.gate);
        records = openRecordMap(6);
        compare(reference, keys);
        checkIndexStructure(6, true);
        for (const key of keys) {
          expectSame(records.rank(Buffer.from(key)), reference.rank(key));
          expectSame(records.sum(Buffer.from(key)), reference.sum(key));
        }
      }
    }
  });

  test('reuses slots: replacing and deleting take no further memory', () => {
    const write = (length: number) => {
      for (let at = 0; at < 500; at++) records.set(Buffer.from(`f${at}`), new Uint8Array(length));
    };
    write(500);
    write(1_000);
    const { length } = host.system.stable;
    for (let turn = 0; turn < 5; turn++) {
      write(500);
      for (let at = 0; at < 500; at++) records.delete(Buffer.from(`f${at}`));
      write(1_000);
    }
    expect(host.system.stable.length).toBe(length);
  });

  test('stores a record of the greatest length, and refuses a longer one', () => {
    const [key, most] = [Buffer.from('long'), new Uint8Array(recordBytesMax).fill(7)];
    records.set(key, most);
    expectEqual(records.get(key), most);
    expect(() => records.set(key, new Uint8Array(recordBytesMax + 1))).toThrow('122877 bytes');
    expectEqual(records.set(key, Uint8Array.of(1)), most);
    expectEqual(records.delete(key), Uint8Array.of(1));
  });

  test('each() visits no record after its visitor has returned false', () => {
    for (const name of 'abc') records.set(Buffer.from(name), Buffer.from(name));
    const seen: string[] = [];
    const tails = [...'abc'].map((name) => Buffer.from(name));
    records.each({ head: new Uint8Array(0), tails }, (_, tail) => seen.push(`${tail}`) < 2);
    expect(seen).toEqual(['a', 'b']);
  });
});

/** Returns the bytes as text. */
function text(bytes: Uint8Array | undefined): string {
  return bytes === undefined ? 'none' : Buffer.from(bytes).toString();
}

describe('withFormerRecords()', () => {
  const former = { files: createMemoryMap(), chunks: createMemoryMap() };
  const chunk = (name: string) => Buffer.concat([Uint8Array.of(2), Buffer.from(name)]);
  let both: Records;

  beforeEach(() => {
    both = withFormerRecords(records);
    for (const map of Object.values(former)) {
      for (const key of map.keys(0, 100)) map.delete(key);
    }
    for (const name of ['a', 'b', 'c']) {
      former.files.set(Buffer.from(name), Buffer.from(`file ${name}`));
      former.chunks.set(Buffer.from(name), Buffer.from(`chunk ${name}`));
    }
    both.attachFormer(former);
  });

  test('reads, replaces and deletes records where they are', () => {
    expect(text(both.get(Buffer.from('a')))).toBe('file a');
    expect(text(both.get(chunk('a')))).toBe('chunk a');
    expect(text(both.set(Buffer.from('a'), Buffer.from('new'), 5))).toBe('file a');
    expect(text(both.delete(chunk('b')))).toBe('chunk b');
    expect([both.has(chunk('b')), both.has(Buffer.from('b'))]).toEqual([false, true]);
    expect(former.files.has(Buffer.from('a'))).toBe(false);
    const seen: string[] = [];
    const tails = ['a', 'b', 'd'].map((name) => Buffer.from(name));
    both.each({ head: new Uint8Array(0), tails }, (record) => seen.push(text(record)) > 0);
    expect(seen).toEqual(['new', 'file b', 'none']);
  });

  test('moves the others, a bounded number at a time, with their weights', () => {
    const weigh = (_: Uint8Array, record: Uint8Array) => record.length;
    both.set(Buffer.from('b'), Buffer.from('new'), 100);
    expect(both.moveFormer(2, weigh)).toBe(true);
    expect(both.moveFormer(2, weigh)).toBe(true);
    expect(both.moveFormer(2, weigh)).toBe(false);
    expect(former.files.entries().concat(former.chunks.entries())).toEqual([]);
    expect(text(records.get(Buffer.from('b')))).toBe('new');
    expect(text(records.get(chunk('c')))).toBe('chunk c');
    expect(records.sum(Buffer.from('d'))).toBe(6 + 100 + 6);
    expect(both.moveFormer(2, weigh)).toBe(false);
  });
});
