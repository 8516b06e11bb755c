import { beforeEach, describe, expect, test } from 'vitest';
import {
  discardContent,
  findChunk,
  readContent,
  reclaimContents,
  writeChunk,
} from '../../src/domain/contents.ts';
import { createScene, testBytes } from '../support/domain-fixture.ts';
import type { MemoryStores } from '../support/memory-stores.ts';

let stores: MemoryStores;

beforeEach(async () => {
  ({ stores } = await createScene());
});

const digest = new Uint8Array(32).fill(0xd1);

describe('the record of a chunk', () => {
  test('has the bytes of its diagram', () => {
    writeChunk(stores, { contentId: 0x0102, index: 3 }, { bytes: testBytes(65_537), digest });
    const [[key, record] = []] = stores.chunks.entries();
    expect(Buffer.from(key ?? []).toString('hex')).toBe('00000000000001020000000000000003');
    // Slots at 4,096 (0x40B0… as a float64) and behind that slot of 65,552 bytes, at 69,648
    expect(Buffer.from(record ?? []).toString('hex')).toBe(
      `0120${'d1'.repeat(32)}010001000000000000000000b040000000000001f140`,
    );
  });

  test('of version 1 decodes', () => {
    const key = Buffer.from('00000000000000070000000000000000', 'hex');
    const record = Buffer.from(`0120${'aa'.repeat(32)}050000000000000000000000b040`, 'hex');
    stores.chunks.set(key, new Uint8Array(record));
    expect(findChunk(stores, { contentId: 7, index: 0 })).toEqual({
      length: 5,
      digest: new Uint8Array(32).fill(0xaa),
      slots: Float64Array.of(4_096),
    });
  });
});

describe('the note of a discarded content', () => {
  test('has the bytes of its diagram', () => {
    discardContent(stores, { contentId: 0x0405, chunkCount: 1_000 });
    const [[key, record] = []] = stores.reclaims.entries();
    expect(Buffer.from(key ?? []).toString('hex')).toBe('0000000000000405');
    expect(Buffer.from(record ?? []).toString('hex')).toBe('012000000000000000e803000000000000');
  });

  test('of version 1 is worked off from where it stands', () => {
    for (const index of [4, 5]) {
      writeChunk(stores, { contentId: 9, index }, { bytes: testBytes(10), digest });
    }
    const note = Buffer.from('0105000000000000000600000000000000', 'hex');
    stores.reclaims.set(Buffer.from('0000000000000009', 'hex'), new Uint8Array(note));
    expect(reclaimContents(stores)).toBe(false);
    expect(findChunk(stores, { contentId: 9, index: 4 })).toBeDefined();
    expect(findChunk(stores, { contentId: 9, index: 5 })).toBeUndefined();
  });
});

describe('discardContent()', () => {
  test('does the same work however many chunks there are', () => {
    const writes = [100, 1_000].map((chunkCount, contentId) => {
      for (let index = 0; index < chunkCount; index++) {
        writeChunk(stores, { contentId, index }, { bytes: testBytes(1), digest });
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

test('readContent() gives what writeChunk() took, also after a replacement', () => {
  const content = { contentId: 1, chunkSize: 70_000, size: 70_000 };
  for (const seed of [1, 2]) {
    const bytes = testBytes(70_000, seed);
    writeChunk(stores, { contentId: 1, index: 0 }, { bytes, digest });
    const read = readContent(stores, content, { start: 0, end: 70_000 });
    expect(Buffer.compare(read, bytes)).toBe(0);
  }
});
