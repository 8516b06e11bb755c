import { chacha20poly1305 } from '@noble/ciphers/chacha.js';
import { beforeEach, describe, expect, test } from 'vitest';
import { findChunk } from '../../src/domain/contents/chunk-records.ts';
import {
  discardContent,
  readContent,
  reclaimContents,
  writeChunk,
} from '../../src/domain/contents/contents.ts';
import { createScene, expectRefusal, startNs, testBytes } from '../support/domain-fixture.ts';
import { checksumOfChunk, realOffset, spaceBytes } from '../support/encryption-reference.ts';
import { type MemoryStores, moveToFormerMaps } from '../support/memory-stores.ts';

let stores: MemoryStores;

beforeEach(async () => {
  ({ stores } = await createScene());
});

const digest = new Uint8Array(32).fill(0xd1);
const key = new Uint8Array(32).fill(0xc2);
const timeNs = startNs;

function write(address: { contentId: number; index: number }, bytes: Uint8Array, counter = 0) {
  writeChunk(stores, address, { bytes, digest, key, nonce: { counter, timeNs } });
}

describe('readContent(): the record of a chunk', () => {
  const address = { contentId: 0x0102, index: 3 };

  test('has the documented layout', () => {
    write(address, testBytes(65_537), 5);
    const [[name, record] = []] = stores.chunks.entries();
    expect(Buffer.from(name ?? []).toString('hex')).toBe('00000000000001020000000000000003');
    // The slots are at 4,096 (0x40B0… as a float64) and, 65,552 bytes further, at 69,648
    const expected = Buffer.from(
      `0220${'d1'.repeat(32)}0100010005000000f2670d45f2ca8618${'00'.repeat(6 + 8)}` +
        '000000000000b040000000000001f140',
      'hex',
    );
    expected.set(checksumOfChunk(expected), 56);
    expect(Buffer.from(record ?? []).toString('hex')).toBe(expected.toString('hex'));
    expect(findChunk(stores, address)).toEqual({
      length: 65_537,
      digest,
      nonce: { counter: 5, timeNs },
      slots: Float64Array.of(4_096, 69_648),
    });
  });

  test('is refused if any byte was altered', () => {
    write(address, testBytes(10));
    const [[name, record] = []] = stores.chunks.entries();
    if (name === undefined || record === undefined) return expect.fail('no chunk');
    for (let at = 0; at < record.length; at++) {
      const altered = record.with(at, (record[at] ?? 0) ^ 1);
      stores.chunks.set(name, altered);
      expectRefusal(stores, 'IntegrityError', () => findChunk(stores, address));
    }
  });
});

describe('readContent(): a stored segment', () => {
  test('has the documented layout', () => {
    const bytes = testBytes(65_537);
    write({ contentId: 0x0102, index: 3 }, bytes, 5);
    const blobs = spaceBytes(stores.system.stable, 1);
    const data = (segment: string, isLast: string) =>
      Buffer.from(
        `000000000020704003000000${segment}00000001000100${isLast}000000${'d1'.repeat(32)}`,
        'hex',
      );
    const nonce = (counter: string) => Buffer.from(`${counter}000000f2670d45f2ca8618`, 'hex');
    const first = chacha20poly1305(key, nonce('05'), data('00', '00'));
    const second = chacha20poly1305(key, nonce('06'), data('01', '01'));
    const sealed = [bytes.slice(0, 65_536), bytes.slice(65_536)] as const;
    expect(Buffer.from(first.encrypt(sealed[0])).equals(blobs.subarray(4_096, 69_648))).toBe(true);
    expect(Buffer.from(second.encrypt(sealed[1])).equals(blobs.subarray(69_648, 69_665))).toBe(
      true,
    );
  });
});

describe('readContent(): the record of a discarded content', () => {
  test('has the documented layout', () => {
    discardContent(stores, { contentId: 0x0405, chunkCount: 1_000 });
    const [[name, record] = []] = stores.reclaims.entries();
    expect(Buffer.from(name ?? []).toString('hex')).toBe('0000000000000405');
    expect(Buffer.from(record ?? []).toString('hex')).toBe('012000000000000000e803000000000000');
  });

  test('is processed from its recorded progress', () => {
    for (const index of [4, 5]) {
      write({ contentId: 9, index }, testBytes(10));
    }
    const note = Buffer.from('0105000000000000000600000000000000', 'hex');
    stores.reclaims.set(Buffer.from('0000000000000009', 'hex'), new Uint8Array(note));
    expect(reclaimContents(stores)).toBe(false);
    expect(findChunk(stores, { contentId: 9, index: 4 })).toBeDefined();
    expect(findChunk(stores, { contentId: 9, index: 5 })).toBeUndefined();
  });
});

describe('discardContent()', () => {
  test('takes constant work for any number of chunks', () => {
    const writes = [100, 1_000].map((chunkCount, contentId) => {
      for (let index = 0; index < chunkCount; index++) {
        write({ contentId, index }, testBytes(1));
      }
      const before = stores.writeCount();
      discardContent(stores, { contentId, chunkCount });
      return stores.writeCount() - before;
    });
    expect(writes[0]).toBe(writes[1]);
    expect(writes[0]).toBe(32 * 2 + 1);
    while (reclaimContents(stores));
    expect([stores.chunks.entries(), stores.blobs.bytesInUse()]).toEqual([[], 0]);
  });
});

test('readContent() returns what writeChunk() stored, also after a replacement', () => {
  const content = { contentId: 1, chunkSize: 70_000, size: 70_000 };
  for (const seed of [1, 2]) {
    const bytes = testBytes(70_000, seed);
    write({ contentId: 1, index: 0 }, bytes, 2 * seed);
    const read = readContent(stores, content, { start: 0, end: 70_000, key });
    expect(Buffer.compare(read, bytes)).toBe(0);
  }
});

describe('readContent(): by the kernel and, for records that an upgrade has not moved, by segments', () => {
  const bytes = testBytes(200_001);
  const content = { contentId: 3, chunkSize: 140_000, size: bytes.length };
  const ranges = [0, 1, 65_535, 65_536, 131_072, 139_999, 140_000, 200_000, 200_001];

  beforeEach(() => {
    write({ contentId: 3, index: 0 }, bytes.slice(0, 140_000), 2);
    write({ contentId: 3, index: 1 }, bytes.slice(140_000), 7);
  });

  test.each(['the kernel', 'segments'])('%s: every range is the same bytes', (way) => {
    if (way === 'segments') moveToFormerMaps(stores);
    for (const start of ranges) {
      for (const end of ranges.filter((each) => each >= start)) {
        const read = readContent(stores, content, { start, end, key });
        expect(Buffer.compare(read, bytes.slice(start, end)), `${start} to ${end}`).toBe(0);
      }
    }
  });

  test.each(['the kernel', 'segments'])(
    '%s: a wrong key or an altered segment is refused',
    (way) => {
      if (way === 'segments') moveToFormerMaps(stores);
      const part = { start: 0, end: 10, key };
      const wrong = { ...part, key: new Uint8Array(32) };
      expectRefusal(stores, 'IntegrityError', () => readContent(stores, content, wrong));
      // The first byte of the first slot
      const at = realOffset(stores.system.stable, { space: 1, offset: 4_096 });
      stores.system.stable[at] = (stores.system.stable[at] ?? 0) ^ 1;
      expectRefusal(stores, 'IntegrityError', () => readContent(stores, content, part));
      expect(readContent(stores, content, { start: 140_000, end: 140_001, key })).toHaveLength(1);
    },
  );
});
