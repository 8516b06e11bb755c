import { beforeEach, describe, expect, test } from 'vitest';
import { findBucket, getBucket } from '../../src/domain/buckets/buckets.ts';
import { discardContent, reclaimContents, writeChunk } from '../../src/domain/contents/contents.ts';
import {
  commitFile,
  entityTag,
  findFile,
  readFileParts,
} from '../../src/domain/files/file-records.ts';
import { fileJson } from '../../src/domain/files/file-view.ts';
import { createContent } from '../../src/domain/keys/file-keys.ts';
import {
  callOf,
  createScene,
  expectRefusal,
  plainMetadata,
  putTestFile,
  startNs,
  testBytes,
} from '../support/domain-fixture.ts';
import { fileKeyOf, sealOfRecord } from '../support/encryption-reference.ts';
import { checkInvariants } from '../support/invariants.ts';
import type { MemoryStores } from '../support/memory-stores.ts';
import { getPublicFile, openFile, readFilesJson, readStored } from '../support/read-files.ts';

let stores: MemoryStores;

beforeEach(async () => {
  ({ stores } = await createScene());
});

/** Writes content of `chunkCount` chunks of `chunkSize` bytes; the last chunk has half as many. */
function writeContent(chunkCount: number, chunkSize: number) {
  const { content, key } = createContent(stores, getBucket(stores, 'box'));
  const { contentId } = content;
  let size = 0;
  for (let index = 0; index < chunkCount; index++) {
    const length = index === chunkCount - 1 ? Math.ceil(chunkSize / 2) : chunkSize;
    const digest = new Uint8Array(32).fill(index);
    const bytes = testBytes(length, contentId + index);
    const nonce = { counter: 2 * index, timeNs: startNs };
    writeChunk(stores, { contentId, index }, { bytes, digest, nonce, key });
    size += length;
  }
  return { ...content, key, chunkCount, chunkSize, size };
}

function commit(path: string, content: ReturnType<typeof writeContent>, nowNs = startNs) {
  const digest = new Uint8Array(32).fill(7);
  const layout = { digest, chunkDigests: new Uint8Array(0) };
  const file = { ...plainMetadata, ...content, ...layout, bucketId: 'box', path };
  const bucket = findBucket(stores, 'box') ?? expect.fail('no bucket');
  const old = findFile(stores, 'box', path);
  const newFile = { ...file, sealNumber: content.contentId };
  return commitFile(stores, newFile, { nowNs, bucket, old });
}

describe('encodeFile(): a file record', () => {
  test('has the documented layout', () => {
    const metadata = {
      contentType: 'a/b',
      tags: ['x', 'y'],
      headers: ['c', '', 'gzip', 'de'],
      metadata: [['by', '"ü"']] as const,
    };
    const { file } = putTestFile(stores, { path: '/p', metadata, bytes: Buffer.from('abc') });
    const record = stores.files.get(Buffer.from('box\0p')) ?? [];
    const json = Buffer.from(fileJson(file));
    const [one, three, time] = ['000000000000f03f', '0000000000000840', 'f2670d45f2ca8618'];
    // Small fields, longs, numbers, tag, digest, JSON, texts
    const expected = Buffer.from(
      `06200202${json.length.toString(16).replace(/^(.)(..)$/, '$20$1')}0000` +
        `${'0300000000000000'}${time}${time}${time}` +
        `${three}${three}${three}${three}${one}${one}${three}${'00'.repeat(16)}` +
        'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad' +
        json.toString('hex') +
        Buffer.from('a/b\0c\0\0gzip\0de\0x\0y\0by\0"ü"').toString('hex'),
      'hex',
    );
    const mapKey = Buffer.from('box\0p');
    const key = fileKeyOf(stores, { bucket: 'box', keySlot: 3 });
    expected.set(sealOfRecord(expected, { key, mapKey }), 96);
    expect(Buffer.from(record).toString('hex')).toBe(expected.toString('hex'));
    expect(findFile(stores, 'box', 'p')).toEqual(file);
    expect(openFile(stores, 'box', 'p')).toEqual(file);
    const shown = readFilesJson(stores, 'box', [Buffer.from('p')]);
    expect(shown.map((bytes) => Buffer.from(bytes))).toEqual([json]);
    const parts = readFileParts(stores, 'box', [Uint8Array.of(0x70)]);
    expect(parts.map(({ tags }) => tags.map(String))).toEqual([['120', '121']]);
  });

  test('without tags is read without tags', () => {
    putTestFile(stores, { path: '/p' });
    expect(findFile(stores, 'box', 'p')?.tags).toEqual([]);
  });
});

describe('commitFile()', () => {
  test('counts versions and keeps the id and the time of creation', () => {
    const first = putTestFile(stores);
    const second = putTestFile(stores, { bytes: testBytes(20) }, startNs + 5n);
    expect([first.isNew, second.isNew]).toEqual([true, false]);
    expect(second.file.id).toBe(first.file.id);
    expect(second.file).toMatchObject({
      version: 2,
      createdAtNs: startNs,
      updatedAtNs: startNs + 5n,
      size: 20,
    });
    checkInvariants(stores);
  });

  test('keeps the counts of the bucket exact', () => {
    putTestFile(stores, { path: '/a', bytes: testBytes(100) });
    putTestFile(stores, { path: '/b', bytes: testBytes(1) });
    putTestFile(stores, { path: '/a', bytes: testBytes(30) });
    putTestFile(stores, { path: '/c', bytes: testBytes(0) });
    expect(findBucket(stores, 'box')).toMatchObject({ fileCount: 3, byteCount: 31 });
    expect(findBucket(stores, 'other')).toMatchObject({ fileCount: 0, byteCount: 0 });
    checkInvariants(stores);
  });

  test('releases the space of the old content', () => {
    putTestFile(stores, { bytes: testBytes(200_000) });
    const inUse = stores.blobs.bytesInUse();
    for (let round = 0; round < 5; round++) {
      putTestFile(stores, { bytes: testBytes(200_000, round) });
      expect(stores.blobs.bytesInUse()).toBe(inUse);
    }
    putTestFile(stores, { bytes: testBytes(0) });
    expect(stores.blobs.bytesInUse()).toBe(0);
    checkInvariants(stores);
  });

  test('releases many chunks in bounded steps', () => {
    commit('big', writeContent(100, 10));
    expect(stores.chunks.entries()).toHaveLength(100);
    putTestFile(stores, { path: '/big', bytes: testBytes(0) });
    expect(stores.chunks.entries()).toHaveLength(68);
    checkInvariants(stores);
    expect(reclaimContents(stores)).toBe(true);
    expect(stores.chunks.entries()).toHaveLength(36);
    expect(reclaimContents(stores)).toBe(true);
    expect(reclaimContents(stores)).toBe(false);
    expect(stores.chunks.entries()).toHaveLength(0);
    expect(stores.blobs.bytesInUse()).toBe(0);
    checkInvariants(stores);
  });

  test('releases the contents of several replaced files one after the other', () => {
    for (const path of ['a', 'b', 'c']) {
      commit(path, writeContent(100, 10));
      commit(path, writeContent(1, 10));
    }
    checkInvariants(stores);
    let steps = 1;
    while (reclaimContents(stores)) steps += 1;
    expect(steps).toBe(9);
    expect(stores.chunks.entries()).toHaveLength(3);
    checkInvariants(stores);
  });
});

describe('reclaimContents()', () => {
  test('does and writes nothing if nothing was discarded', () => {
    const before = stores.writeCount();
    expect(reclaimContents(stores)).toBe(false);
    expect(stores.writeCount()).toBe(before);
  });

  test('skips chunks that never arrived', () => {
    discardContent(stores, { contentId: 99, chunkCount: 32 });
    expect(stores.reclaims.entries()).toEqual([]);
    discardContent(stores, { contentId: 99, chunkCount: 33 });
    expect(stores.reclaims.entries()).toHaveLength(1);
    expect(reclaimContents(stores)).toBe(false);
    expect(stores.reclaims.entries()).toEqual([]);
  });
});

describe('readFile()', () => {
  test('returns any range of a file of several chunks and segments', () => {
    const content = writeContent(4, 70_001);
    const { file } = commit('big', content);
    const whole = Buffer.concat(
      [0, 1, 2, 3].map((index) =>
        testBytes(index === 3 ? 35_001 : 70_001, content.contentId + index),
      ),
    );
    const edges = [0, 1, 65_535, 65_536, 65_537, 70_000, 70_001, 70_002, 135_537, 140_002, 245_003];
    const places = [...edges, file.size];
    for (const start of places) {
      for (const end of places.filter((place) => place >= start)) {
        const bytes = readStored(stores, file, { start, end });
        expect(Buffer.compare(bytes, whole.subarray(start, end)), `[${start}, ${end})`).toBe(0);
      }
    }
    expect(() => readStored(stores, file, { start: 0, end: file.size + 1 })).toThrow('Assertion');
  });
});

describe('entityTag()', () => {
  test('is the digest, followed by the number of chunks if there are several', () => {
    const digest = '07'.repeat(32);
    expect(entityTag(commit('one', writeContent(1, 10)).file)).toBe(`"${digest}"`);
    expect(entityTag(commit('two', writeContent(2, 10)).file)).toBe(`"${digest}-2"`);
  });
});

describe('withPublicFile()', () => {
  test('finds existing files and refuses missing ones', () => {
    putTestFile(stores, { path: '/x/y' });
    expect(getPublicFile(stores, 'box', '/x/y').path).toBe('x/y');
    expectRefusal(stores, 'NoSuchFile', () => getPublicFile(stores, 'box', '/x'));
    expectRefusal(stores, 'NoSuchFile', () => getPublicFile(stores, 'other', '/x/y'));
    expectRefusal(stores, 'NoSuchFile', () => getPublicFile(stores, 'none', '/x/y'));
    expectRefusal(stores, 'InvalidPath', () => getPublicFile(stores, 'box', '/x//y'));
    expectRefusal(stores, 'InvalidBucketId', () => getPublicFile(stores, 'b.x', '/x/y'));
  });

  test('refuses files of a private bucket', () => {
    putTestFile(stores);
    const [key, record] =
      stores.buckets.entries().find(([id]) => String(Buffer.from(id)) === 'box') ?? [];
    if (key === undefined || record === undefined) return expect.fail('no bucket');
    // The second small field has the flags
    record[1] = 0;
    stores.buckets.set(key, record);
    expect(findBucket(stores, 'box')).toMatchObject({ isPublic: false, fileCount: 1 });
    expectRefusal(stores, 'NoSuchFile', () => getPublicFile(stores, 'box', '/a'));
    expect(callOf('alice').caller.isController).toBe(false);
  });
});
