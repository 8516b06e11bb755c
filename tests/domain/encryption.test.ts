// Stored data that was altered, moved, swapped or truncated is refused; other files can still be
// read.

import { beforeEach, describe, expect, test } from 'vitest';
import { getBucket } from '../../src/domain/buckets/buckets.ts';
import { getFile, readFilePart } from '../../src/domain/files/files.ts';
import { withFileKey } from '../../src/domain/keys/file-keys.ts';
import { completeUpload } from '../../src/domain/uploads/upload-end.ts';
import {
  begin,
  callOf,
  createScene,
  expectRefusal,
  putChunks,
  putTestFile,
  testBytes,
} from '../support/domain-fixture.ts';
import {
  checksumOfChunk,
  chunkOf,
  keySlotBytes,
  keySlotsOf,
  readByReference,
  realOffset,
  segmentLength,
  spaceBytes,
  tagBytes,
} from '../support/encryption-reference.ts';
import type { Entry, MemoryStores } from '../support/memory-stores.ts';
import { randomNumbers } from '../support/random-numbers.ts';
import { seedOr } from '../support/seed.ts';

let stores: MemoryStores;
const alice = callOf('alice');
const smallSizes = [1, 63, 300];
const largeBytes = 150_000;
const seed = seedOr(20_261_120);
const random = randomNumbers(seed);

beforeEach(async () => {
  ({ stores } = await createScene());
  for (const size of smallSizes) put(`small-${size}`, testBytes(size, size));
  for (const name of ['large-a', 'large-b']) put(name, testBytes(largeBytes, name.length));
  put('bystander', testBytes(70_000, 99));
});

function put(path: string, bytes: Uint8Array, bucket = 'box') {
  return putTestFile(stores, { bucket, path: `/${path}`, bytes }).file;
}

/** Stores a file in chunks of 100,000 bytes; the last chunk is shorter. */
function putLarge(path: string, bytes: Uint8Array) {
  const { uploadId } = begin(stores, alice, { path: `/${path}`, size: BigInt(bytes.length) });
  const count = Math.ceil(bytes.length / 100_000);
  const chunks = Array.from({ length: count }, (_, index) => {
    return [index, bytes.subarray(index * 100_000, (index + 1) * 100_000)] as const;
  });
  putChunks(stores, alice, { uploadId, chunks });
  completeUpload(stores, alice, { uploadId, apiKey: undefined });
}

function read(path: string, bucket = 'box'): Uint8Array {
  const part = { offset: 0n, length: 1_900_000n };
  return readFilePart(stores, alice, { bucket, path: `/${path}`, apiKey: undefined, ...part });
}

function expectDamaged(path: string, bucket = 'box') {
  expectRefusal(stores, 'IntegrityError', () => read(path, bucket));
}

function expectBystander() {
  expect(Buffer.compare(read('bystander'), testBytes(70_000, 99))).toBe(0);
}

function chunkEntries(path: string): Entry[] {
  const file = getFile(stores, alice, { bucket: 'box', path: `/${path}`, apiKey: undefined });
  return stores.chunks.entries().filter((entry) => chunkOf(entry).contentId === file.contentId);
}

function chunkEntry(path: string, index = 0): Entry {
  return chunkEntries(path)[index] ?? expect.fail(`no chunk ${index} of ${path}`);
}

function storedAt(path: string, segment = 0): { at: number; length: number } {
  const chunk = chunkOf(chunkEntry(path));
  const at = realOffset(stores.system.stable, { space: 1, offset: chunk.slots[segment] ?? -1 });
  return { at, length: segmentLength(chunk, segment) + tagBytes };
}

/** Flips one bit of stable memory, runs the check, and restores the bit. */
function withBitFlipped(at: number, bit: number, check: () => void) {
  const { stable } = stores.system;
  const byte = stable[at] ?? 0;
  stable[at] = byte ^ (1 << bit);
  check();
  stable[at] = byte;
}

/** Stores a record with a valid checksum, as an attacker who knows the layout could. */
function setChunk([key, record]: Entry) {
  const altered = record.slice();
  altered.set(checksumOfChunk(altered), 56);
  stores.chunks.set(key, altered);
}

test('withFileKey(): another implementation decrypts the stored bytes', () => {
  for (const size of smallSizes) {
    expect(
      Buffer.compare(readByReference(stores, 'box', `small-${size}`), read(`small-${size}`)),
    ).toBe(0);
  }
  const bytes = testBytes(250_000, 4);
  putLarge('chunks', bytes);
  expect(Buffer.compare(readByReference(stores, 'box', 'chunks'), bytes)).toBe(0);
  expect(Buffer.compare(read('chunks'), bytes)).toBe(0);
});

describe('withFileKey(): a stored segment', () => {
  test('of a few bytes is refused if any bit is flipped', () => {
    for (const size of smallSizes) {
      const { at, length } = storedAt(`small-${size}`);
      expect(length).toBe(size + 16);
      for (let bit = 0; bit < 8 * length; bit++) {
        withBitFlipped(at + (bit >> 3), bit & 7, () => expectDamaged(`small-${size}`));
      }
      expect(read(`small-${size}`)).toHaveLength(size);
    }
    expectBystander();
  });

  test(`of 64 KiB is refused if a bit is flipped, seed ${seed}`, () => {
    const segments = [0, 1, 2].map((segment) => storedAt('large-a', segment));
    for (const { at, length } of segments) {
      const places = Array.from({ length: 60 }, () => at + random(length));
      for (const place of [at, at + length - 17, at + length - 16, at + length - 1, ...places]) {
        withBitFlipped(place, random(8), () => expectDamaged('large-a'));
      }
    }
    expect(Buffer.compare(read('large-a'), testBytes(largeBytes, 7))).toBe(0);
    expectBystander();
  });

  test('that is altered is refused, while intact segments of the same file are served', () => {
    const { at } = storedAt('large-a', 1);
    const whole = testBytes(largeBytes, 7);
    const range = (offset: number, length: number) => {
      const part = { offset: BigInt(offset), length: BigInt(length), apiKey: undefined };
      return () => readFilePart(stores, alice, { bucket: 'box', path: '/large-a', ...part });
    };
    withBitFlipped(at, 0, () => {
      expect(Buffer.compare(range(0, 65_536)(), whole.subarray(0, 65_536))).toBe(0);
      expectRefusal(stores, 'IntegrityError', range(0, 65_537));
      expectRefusal(stores, 'IntegrityError', range(131_071, 1));
      expect(Buffer.compare(range(131_072, 99_999)(), whole.subarray(131_072))).toBe(0);
    });
  });

  test('is refused in place of another segment of any file or version', () => {
    const moves: [from: string, segment: number, to: string, target: number][] = [
      ['large-a', 0, 'large-a', 1],
      ['large-a', 1, 'large-a', 0],
      ['large-a', 0, 'large-b', 0],
      ['large-a', 2, 'large-b', 2],
    ];
    for (const [from, segment, to, target] of moves) {
      const [source, place] = [storedAt(from, segment), storedAt(to, target)];
      const { stable } = stores.system;
      const former = stable.slice(place.at, place.at + place.length);
      stable.set(stable.slice(source.at, source.at + source.length), place.at);
      expectDamaged(to);
      stable.set(former, place.at);
      expect(read(to)).toHaveLength(largeBytes);
    }
    const older = storedAt('large-a');
    const bytes = stores.system.stable.slice(older.at, older.at + older.length);
    put('large-a', testBytes(largeBytes, 7));
    stores.system.stable.set(bytes, storedAt('large-a').at);
    expectDamaged('large-a');
    expectBystander();
  });
});

describe('withFileKey(): the record of a chunk with the right checksum', () => {
  const altered: [string, (record: Buffer) => Uint8Array][] = [
    ['a digest of other bytes', (record) => record.fill(9, 2, 3)],
    ['a byte less', (record) => setU32(record, 34, largeBytes - 1)],
    ['a byte more', (record) => setU32(record, 34, largeBytes + 1)],
    ['no bytes', (record) => setU32(record, 34, 0)],
    ['one segment cut off', (record) => setU32(record.subarray(0, 80), 34, 131_072)],
    ['two segments cut off', (record) => setU32(record.subarray(0, 72), 34, 65_536)],
    ['only its slots cut off', (record) => record.subarray(0, 80)],
    ['a segment twice', (record) => withSlot(setU32(record, 34, largeBytes + 65_536), 80)],
    ['another counter', (record) => setU32(record, 38, 1)],
    ['another time', (record) => setU32(record, 42, 1)],
    ['segments swapped', (record) => swapSlots(record)],
    ['a slot outside', (record) => setSlot(record, 2 ** 40)],
    ['a slot below 0', (record) => setSlot(record, -1)],
    ['a slot that is no number', (record) => setSlot(record, Number.NaN)],
    ['a slot between two bytes', (record) => setSlot(record, 4_096.5)],
  ];

  function setU32(record: Buffer, at: number, value: number) {
    record.writeUInt32LE(value, at);
    return record;
  }

  function withSlot(record: Buffer, from: number) {
    return Buffer.concat([record, record.subarray(from - 8, from)]);
  }

  function swapSlots(record: Buffer) {
    const first = Buffer.from(record.subarray(64, 72));
    record.copyWithin(64, 72, 80).set(first, 72);
    return record;
  }

  function setSlot(record: Buffer, slot: number) {
    record.writeDoubleLE(slot, 64);
    return record;
  }

  test.each(altered)('and %s is refused', (_, alter) => {
    const [key, record] = chunkEntry('large-a');
    const change = new Uint8Array(alter(Buffer.from(record)));
    expect(Buffer.compare(change, record)).not.toBe(0);
    setChunk([key, change]);
    expectDamaged('large-a');
    expect(read('large-b')).toHaveLength(largeBytes);
    expectBystander();
    setChunk([key, record]);
    expect(read('large-a')).toHaveLength(largeBytes);
  });

  test("is refused in place of another chunk's record of any file, and if it is missing", () => {
    putLarge('chunks', testBytes(300_000, 3));
    const places: [Entry, Entry][] = [
      [chunkEntry('chunks', 0), chunkEntry('chunks', 1)],
      [chunkEntry('chunks', 2), chunkEntry('chunks', 0)],
      [chunkEntry('large-b'), chunkEntry('chunks', 0)],
    ];
    for (const [[, record], [key, former]] of places) {
      setChunk([key, record]);
      expectDamaged('chunks');
      stores.chunks.delete(key);
      expectDamaged('chunks');
      setChunk([key, former]);
      expect(Buffer.compare(read('chunks'), testBytes(300_000, 3))).toBe(0);
    }
  });
});

describe('withFileKey(): a wrapped key', () => {
  function slotAt(slot: number): number {
    return realOffset(stores.system.stable, { space: 4, offset: slot * keySlotBytes });
  }

  function keySlotOf(path: string): number {
    return getFile(stores, alice, { bucket: 'box', path: `/${path}`, apiKey: undefined }).keySlot;
  }

  test('of a file is refused if any of its bits is flipped', () => {
    const at = slotAt(keySlotOf('large-a'));
    for (let bit = 0; bit < 8 * 76; bit++) {
      withBitFlipped(at + (bit >> 3), bit & 7, () => expectDamaged('large-a'));
    }
    expect(read('large-a')).toHaveLength(largeBytes);
    expectBystander();
  });

  test('of a bucket is refused if any of its bits is flipped', () => {
    put('elsewhere', testBytes(5), 'other');
    const { used } = keySlotsOf(stores.system.stable);
    const ofBox = used.find(({ ownerId }) => ownerId === 1) ?? expect.fail('no key of the bucket');
    const at = slotAt(ofBox.slot);
    for (let bit = 0; bit < 8 * 76; bit++) {
      withBitFlipped(at + (bit >> 3), bit & 7, () => expectDamaged('small-63'));
    }
    withBitFlipped(at + 40, 0, () => expect(read('elsewhere', 'other')).toEqual(testBytes(5)));
    expectBystander();
  });

  test("of one file is refused in place of another file's, also with that file's number as its owner", () => {
    const space = spaceBytes(stores.system.stable, 4);
    const [slotA, slotB] = [keySlotOf('large-a'), keySlotOf('large-b')];
    const [a, b] = [slotA, slotB].map((slot) => {
      return space.slice(slot * keySlotBytes, (slot + 1) * keySlotBytes);
    });
    if (a === undefined || b === undefined) return expect.fail('no slots');
    const { stable } = stores.system;
    stable.set(b, slotAt(slotA));
    stable.set(a, slotAt(slotB));
    expectDamaged('large-a');
    expectDamaged('large-b');
    stable.set(a.subarray(8, 16), slotAt(slotA) + 8);
    stable.set(b.subarray(8, 16), slotAt(slotB) + 8);
    expectDamaged('large-a');
    expectDamaged('large-b');
    expectBystander();
  });
});

describe('withFileKey(): the record of a file', () => {
  const key = Buffer.from('box\0small-63');

  test('is refused if any byte is altered', () => {
    const record = stores.files.get(key) ?? expect.fail('no record');
    for (let at = 0; at < record.length; at++) {
      stores.files.set(key, record.with(at, (record[at] ?? 0) ^ (1 << (at & 7))));
      expectDamaged('small-63');
    }
    for (const length of [0, 1, 36, 37, record.length - 1]) {
      stores.files.set(key, record.slice(0, length));
      expectDamaged('small-63');
    }
    stores.files.set(key, Buffer.concat([record, new Uint8Array(1)]));
    expectDamaged('small-63');
    expectBystander();
    stores.files.set(key, record);
    expect(read('small-63')).toEqual(testBytes(63, 63));
  });

  test('is refused under another path and in another bucket', () => {
    const record = stores.files.get(key) ?? expect.fail('no record');
    put('small-63', testBytes(63, 63), 'other');
    for (const [bucket, path] of [
      ['box', 'small-300'],
      ['box', 'new'],
      ['other', 'small-63'],
    ] as const) {
      stores.files.set(Buffer.from(`${bucket}\0${path}`), record);
      expectDamaged(path, bucket);
    }
    expect(read('small-63')).toEqual(testBytes(63, 63));
  });

  test('of an older version is refused', () => {
    const older = stores.files.get(key) ?? expect.fail('no record');
    put('small-63', testBytes(63, 63));
    stores.files.set(key, older);
    expectDamaged('small-63');
  });
});

test('withFileKey(): keys are wiped after use, also after an error', () => {
  const file = getFile(stores, alice, { bucket: 'box', path: '/large-a', apiKey: undefined });
  const seen: Uint8Array[] = [];
  const note = (key: Uint8Array) => {
    expect(key.some((byte) => byte !== 0)).toBe(true);
    seen.push(key);
  };
  const bucket = getBucket(stores, 'box');
  withFileKey(stores, { ...file, bucket }, note);
  const fail = (key: Uint8Array) => {
    note(key);
    throw new Error('damaged');
  };
  expect(() => withFileKey(stores, { ...file, bucket }, fail)).toThrow('damaged');
  expect(seen).toEqual([new Uint8Array(32), new Uint8Array(32)]);
});
