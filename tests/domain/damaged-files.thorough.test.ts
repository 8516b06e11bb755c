// A file whose stored data was altered can be replaced and deleted, and other files stay listed and
// readable.

import { beforeEach, describe, expect, test } from 'vitest';
import { findBucket } from '../../src/domain/buckets/buckets.ts';
import { reclaimContents } from '../../src/domain/contents/contents.ts';
import { readFileParts } from '../../src/domain/files/file-records.ts';
import { deleteFile, readFilePart } from '../../src/domain/files/files.ts';
import { listFiles } from '../../src/domain/listing/listing.ts';
import {
  callOf,
  createScene,
  expectRefusal,
  plainMetadata,
  putTestFile,
  testBytes,
} from '../support/domain-fixture.ts';
import { chunkOf, fileHeadOf, keySlotBytes, realOffset } from '../support/encryption-reference.ts';
import { sendRefused } from '../support/http-fixture.ts';
import { checkInvariants } from '../support/invariants.ts';
import { type MemoryState, type MemoryStores, rewind, stateOf } from '../support/memory-stores.ts';
import { readFilesJson } from '../support/read-files.ts';

const alice = callOf('alice');
const metadata = { ...plainMetadata, tags: ['red', 'blue'] };
const victim = Buffer.from('box\0v');
const others = ['u', 'w'];

let stores: MemoryStores;
let intact: MemoryState;

beforeEach(async () => {
  ({ stores } = await createScene());
  for (const path of ['u', 'v', 'w']) {
    putTestFile(stores, {
      path: `/${path}`,
      bytes: testBytes(70_000, path.charCodeAt(0)),
      metadata,
    });
  }
  intact = stateOf(stores);
});

function name(path: string) {
  return { bucket: 'box', path: `/${path}`, apiKey: undefined };
}

function read(path: string): Uint8Array {
  return readFilePart(stores, alice, { ...name(path), offset: 0n, length: 100_000n });
}

function remove(path: string) {
  deleteFile(stores, alice, { ...name(path), conditions: {} });
}

function expectOthers() {
  for (const path of others) {
    const isWhole = Buffer.compare(read(path), testBytes(70_000, path.charCodeAt(0))) === 0;
    expect(isWhole, `file ${path}`).toBe(true);
  }
}

function listedPaths(tag?: string): string[] {
  const request = { bucket: 'box', page: 1, pageSize: 50, prefix: '', sort: undefined };
  const { paths } = listFiles(stores, alice, { ...request, tag, apiKey: undefined });
  return paths.map((path) => Buffer.from(path).toString());
}

function record(): Uint8Array {
  return stores.files.get(victim) ?? expect.fail('no record');
}

/** Fails if reclaiming does not end within 100 steps. */
function reclaimAll() {
  for (let step = 0; reclaimContents(stores); step++) expect(step).toBeLessThan(100);
}

/** Flips one bit in a space. */
function alterSpace(space: number, offset: number) {
  const at = realOffset(stores.system.stable, { space, offset });
  stores.system.stable[at] = (stores.system.stable[at] ?? 0) ^ 4;
}

function chunkRecord() {
  const { contentId } = fileHeadOf(record());
  const entry = stores.chunks.entries().find((one) => chunkOf(one).contentId === contentId);
  return entry ?? expect.fail('no chunk');
}

const damages: [string, () => void][] = [
  ['a segment', () => alterSpace(1, (chunkOf(chunkRecord()).slots[1] ?? 0) + 5)],
  ['its wrapped key', () => alterSpace(4, fileHeadOf(record()).keySlot * keySlotBytes + 40)],
  ['the owner of its key', () => alterSpace(4, fileHeadOf(record()).keySlot * keySlotBytes + 14)],
  [
    'the record of its chunk',
    () => {
      const [key, bytes] = chunkRecord();
      stores.chunks.set(key, bytes.with(70, 1 ^ (bytes[70] ?? 0)));
    },
  ],
  ['the record of its chunk, removed', () => stores.chunks.delete(chunkRecord()[0])],
  [
    'the tag of its record',
    () => stores.files.set(victim, record().with(100, ~(record()[100] ?? 0))),
  ],
];

describe('readFileParts(): a file with altered stored bytes', () => {
  test.each(damages)('is refused, but listed, replaced and deleted: %s', async (_, damage) => {
    damage();
    const damaged = stateOf(stores);
    expectRefusal(stores, 'IntegrityError', () => read('v'));
    sendRefused(stores, { url: '/cloud/box/v' }, { status: 500, code: 'IntegrityError' });
    expectOthers();
    expect(listedPaths()).toEqual(['u', 'v', 'w']);

    putTestFile(stores, { path: '/v', bytes: testBytes(10, 1), metadata });
    expect(read('v')).toEqual(testBytes(10, 1));
    reclaimAll();
    expectOthers();
    expect(findBucket(stores, 'box')).toMatchObject({ fileCount: 3, byteCount: 140_010 });

    stores = await rewind(stores, damaged);
    remove('v');
    reclaimAll();
    expectRefusal(stores, 'NoSuchFile', () => read('v'));
    expectOthers();
    expect(listedPaths()).toEqual(['u', 'w']);
    expect(findBucket(stores, 'box')).toMatchObject({ fileCount: 2, byteCount: 140_000 });
    // Slots allocated from here on belong to no other file.
    for (let index = 0; index < 4; index++) {
      putTestFile(stores, { path: `/n${index}`, bytes: testBytes(70_000, index) });
    }
    expectOthers();
  });
});

test('readFileParts(): a record with any byte altered can be replaced and deleted, and others are unaffected', async () => {
  const whole = record();
  const room = 1_000_000n;
  for (let at = 0; at < whole.length; at++) {
    stores = await rewind(stores, intact);
    stores.files.set(victim, whole.with(at, (whole[at] ?? 0) ^ (1 << (at & 7))));
    if (at % 2 === 0) {
      putTestFile(stores, { path: '/v', bytes: testBytes(10, 1), metadata });
      expect(read('v'), `byte ${at}`).toEqual(testBytes(10, 1));
    } else {
      remove('v');
      expectRefusal(stores, 'NoSuchFile', () => read('v'));
    }
    for (let step = 0; reclaimContents(stores); step++) expect(step).toBeLessThan(100);
    const { byteCount = -1 } = findBucket(stores, 'box') ?? {};
    expect(byteCount >= 0 && BigInt(byteCount) < 2_000_000_000n + room, `byte ${at}`).toBe(true);
    if (at % 8 < 2) expectOthers();
  }
  expectOthers();
});

test('readFileParts(): a truncated record can be replaced and deleted', async () => {
  const whole = record();
  for (const length of [0, 1, 20, 37, 100, whole.length - 1]) {
    stores = await rewind(stores, intact);
    stores.files.set(victim, whole.slice(0, length));
    const cut = stateOf(stores);
    putTestFile(stores, { path: '/v', bytes: testBytes(10, 1) });
    expect(read('v')).toEqual(testBytes(10, 1));
    stores = await rewind(stores, cut);
    remove('v');
    expectRefusal(stores, 'NoSuchFile', () => read('v'));
    expectOthers();
  }
});

test('readFileParts(): lists show the other files despite a damaged record', () => {
  const whole = record();
  const paths = ['u', 'v', 'w'].map((path) => Buffer.from(path));
  const shown = () => {
    const json = readFilesJson(stores, 'box', paths);
    const parts = readFileParts(stores, 'box', paths);
    return [json.at(0), json.at(-1), parts.at(0), parts.at(-1)];
  };
  const before = shown();
  for (let at = 0; at < whole.length; at++) {
    stores.files.set(victim, whole.with(at, (whole[at] ?? 0) ^ (1 << (at & 7))));
    expect(shown(), `byte ${at}`).toEqual(before);
  }
});

test('readFileParts(): a list is readable despite an altered tag', () => {
  const whole = record();
  stores.files.set(victim, whole.with(whole.length - 1, 0x78));
  remove('v');
  for (const tag of ['red', 'blue', undefined]) {
    const paths = listedPaths(tag).map((path) => Buffer.from(path));
    expect(readFilesJson(stores, 'box', paths)).toHaveLength(2);
    expect(readFileParts(stores, 'box', paths)).toHaveLength(2);
  }
});

test('readFileParts(): deleting an undamaged file releases its space', () => {
  remove('v');
  reclaimAll();
  checkInvariants(stores);
});
