// Stable memory never holds plaintext, an unwrapped key or parts of an erased key, and no two equal
// values that would reveal that two files are equal.

import { chacha20poly1305 } from '@noble/ciphers/chacha.js';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  deleteBucket,
  updateBucket,
} from '../../src/domain/administration/bucket-administration.ts';
import { createBucket } from '../../src/domain/administration/bucket-creation.ts';
import {
  continueRotation,
  isRotating,
  rotateBucketKey,
} from '../../src/domain/administration/key-rotation.ts';
import { copyFile, moveFile } from '../../src/domain/files/copies.ts';
import { findFile } from '../../src/domain/files/file-records.ts';
import { deleteFile } from '../../src/domain/files/files.ts';
import { eraseVersions } from '../../src/domain/files/version-erasure.ts';
import { expireVersions } from '../../src/domain/files/version-records.ts';
import { restoreVersion } from '../../src/domain/files/versions.ts';
import {
  cancelUpload,
  completeUpload,
  expireUploads,
} from '../../src/domain/uploads/upload-end.ts';
import { getSession } from '../../src/domain/uploads/upload-session.ts';
import { dumpOf, findShared } from '../support/byte-windows.ts';
import {
  begin,
  bucketChange,
  callOf,
  createScene,
  hourNs,
  putChunks,
  putTestFile,
  startNs,
  testBytes,
} from '../support/domain-fixture.ts';
import {
  bucketKeysOf,
  chunkOf,
  createReferenceRandom,
  fileHeadOf,
  fileKeyOf,
  keySlotsOf,
  keysThatOpen,
  openByReference,
  openKey,
  readByReference,
  recordsOf,
  segmentData,
  segmentLength,
  segmentNonce,
  spaceBytes,
  tagBytes,
} from '../support/encryption-reference.ts';
import { checkInvariants, checkKeySlots } from '../support/invariants.ts';
import type { MemoryStores } from '../support/memory-stores.ts';

let stores: MemoryStores;
const alice = callOf('alice');

beforeEach(async () => {
  ({ stores } = await createScene());
});

/** The bytes of a slot: nonce, sealed key and tag. */
function wrappedBytes(slot: number): Uint8Array {
  const found = keySlotsOf(stores.system.stable).used.find((used) => used.slot === slot);
  return found?.bytes.slice(16, 76) ?? expect.fail(`no key in slot ${slot}`);
}

function isStored(secret: Uint8Array): boolean {
  return findShared(dumpOf(stores), secret, 8) >= 0;
}

function slotOf(path: string): number {
  return findFile(stores, 'box', path)?.keySlot ?? expect.fail(`no file ${path}`);
}

function upload(size: number) {
  const { uploadId } = begin(stores, alice, { path: '/up', size: BigInt(size) });
  putChunks(stores, alice, { uploadId, chunks: [[0, testBytes(size, 8)]] });
  return uploadId;
}

const ends: [string, () => { wrapped: Uint8Array; end: () => void }][] = [
  [
    'a file that is deleted',
    () => {
      const conditions = { bucket: 'box', path: '/a', apiKey: undefined, conditions: {} };
      return {
        wrapped: wrappedBytes(slotOf('a')),
        end: () => deleteFile(stores, alice, conditions),
      };
    },
  ],
  [
    'a file that is replaced',
    () => ({ wrapped: wrappedBytes(slotOf('a')), end: () => putTestFile(stores) }),
  ],
  [
    'a file that an upload replaces',
    () => {
      const { uploadId } = begin(stores, alice, { path: '/a', size: 5n });
      putChunks(stores, alice, { uploadId, chunks: [[0, testBytes(5)]] });
      const request = { uploadId, apiKey: undefined };
      return {
        wrapped: wrappedBytes(slotOf('a')),
        end: () => completeUpload(stores, alice, request),
      };
    },
  ],
  [
    'an upload that is cancelled',
    () => {
      const uploadId = upload(70_000);
      const wrapped = wrappedBytes(getSession(stores, uploadId).keySlot);
      return { wrapped, end: () => cancelUpload(stores, alice, { uploadId: uploadId }) };
    },
  ],
  [
    'an upload that expires',
    () => {
      const wrapped = wrappedBytes(getSession(stores, upload(70_000)).keySlot);
      const end = () => {
        while (expireUploads(stores, startNs + 25n * hourNs));
      };
      return { wrapped, end };
    },
  ],
  [
    'a bucket that is deleted',
    () => {
      const boss = callOf('controller');
      createBucket(stores, boss, { bucket: 'brief', isPublic: true });
      const { slot } = bucketKeysOf(stores.buckets.get(Buffer.from('brief')) ?? new Uint8Array(32));
      return {
        wrapped: wrappedBytes(slot),
        end: () => deleteBucket(stores, boss, { bucket: 'brief', isForced: false }),
      };
    },
  ],
];

describe('eraseWrappedKey() leaves no stored byte of the wrapped key', () => {
  test.each(ends)('of %s', (_, prepare) => {
    putTestFile(stores, { path: '/a', bytes: testBytes(70_000, 3) });
    putTestFile(stores, { path: '/b', bytes: testBytes(70_000, 3) });
    const { wrapped, end } = prepare();
    const kept = wrappedBytes(slotOf('b'));
    expect(isStored(wrapped)).toBe(true);
    end();
    expect(isStored(wrapped)).toBe(false);
    expect(isStored(kept)).toBe(true);
    checkKeySlots(stores);
    expect(Buffer.compare(readByReference(stores, 'box', 'b'), testBytes(70_000, 3))).toBe(0);
  });
});

test('deleteFile(): no remaining key decrypts the ciphertext of a deleted file', () => {
  putTestFile(stores, { path: '/a', bytes: testBytes(500, 3) });
  const key = fileKeyOf(stores, { bucket: 'box', keySlot: slotOf('a') });
  const conditions = { bucket: 'box', path: '/a', apiKey: undefined, conditions: {} };
  deleteFile(stores, alice, conditions);
  putTestFile(stores, { path: '/b', bytes: testBytes(500, 4) });
  const { keyId } = bucketKeysOf(stores.buckets.get(Buffer.from('box')) ?? new Uint8Array(32));
  const { used } = keySlotsOf(stores.system.stable);
  const root = new Uint8Array(32).fill(1);
  const ofBucket = used.find(({ ownerId }) => ownerId === keyId) ?? expect.fail('no key');
  const bucketKey = openKey(ofBucket.bytes, root, 'box');
  const left = used.filter(({ wrapperId }) => wrapperId === keyId);
  expect(left).toHaveLength(1);
  for (const { bytes } of left) {
    expect(Buffer.compare(openKey(bytes, bucketKey), key)).not.toBe(0);
  }
});

describe('deleteFile(): the content of one or more records', () => {
  const none = { bucket: 'box', apiKey: undefined };
  const bytes = testBytes(70_000, 3);

  /** Copies the file's key and its first sealed segment while the file exists. */
  function dumped(path: string) {
    const { contentId, keySlot } = findFile(stores, 'box', path) ?? expect.fail(`no file ${path}`);
    const entry = stores.chunks.entries().find((one) => chunkOf(one).contentId === contentId);
    const chunk = chunkOf(entry ?? expect.fail('no chunk'));
    const sealed = new Uint8Array(segmentLength(chunk, 0) + tagBytes);
    stores.blobs.read(chunk.slots[0] ?? 0, sealed);
    const key = Buffer.from(fileKeyOf(stores, { bucket: 'box', keySlot })).toString('hex');
    return { contentId, key, chunk, sealed };
  }

  type Dumped = ReturnType<typeof dumped>;

  /**
   * Expects that each record with the content can be read in full from the present stable memory.
   */
  function expectReadable({ contentId, key }: Dumped, records: number): void {
    const own = recordsOf(stores).filter((one) => fileHeadOf(one.bytes).contentId === contentId);
    expect(own).toHaveLength(records);
    for (const record of own)
      expect(Buffer.compare(openByReference(stores, record), bytes)).toBe(0);
    expect(keysThatOpen(stores, ['box', 'other']).has(key)).toBe(true);
    const owners = keySlotsOf(stores.system.stable).used.filter((one) => one.ownerId === contentId);
    expect(owners).toHaveLength(records);
  }

  /** Expects that no stored key decrypts the first segment, whose sealed bytes are in the dump. */
  function expectGone({ contentId, key, chunk, sealed }: Dumped): void {
    const keys = keysThatOpen(stores, ['box', 'other']);
    expect(keys.size).toBeGreaterThan(0);
    expect(keys.has(key)).toBe(false);
    const [nonce, data] = [segmentNonce(chunk, 0), segmentData(chunk, 0)];
    for (const left of keys.values()) {
      expect(() => chacha20poly1305(left, nonce, data).decrypt(sealed)).toThrow();
    }
    const own = Buffer.from(key, 'hex');
    expect(chacha20poly1305(own, nonce, data).decrypt(sealed)).toHaveLength(65_536);
    expect(keySlotsOf(stores.system.stable).used.some((one) => one.ownerId === contentId)).toBe(
      false,
    );
    checkInvariants(stores);
  }

  function remove(bucket: string, path: string): void {
    deleteFile(stores, alice, { ...none, bucket, path, conditions: {} });
  }

  function keepVersions(days: bigint): void {
    updateBucket(stores, alice, bucketChange({ keepVersionsDays: days }));
  }

  beforeEach(() => {
    putTestFile(stores, { path: '/a', bytes });
    putTestFile(stores, { path: '/stays', bytes });
  });

  test('is readable until the last of its copies is deleted', () => {
    const copy = { ...none, from: 'a', conditions: {} };
    copyFile(stores, alice, { ...copy, to: { path: 'b' } });
    copyFile(stores, alice, { ...copy, to: { bucket: 'other', path: 'c' } });
    const dump = dumped('a');
    const slots = keySlotsOf(stores.system.stable).used.filter((one) => {
      return one.ownerId === dump.contentId;
    });
    const wrapped = slots.map(({ bytes: slot }) => slot.slice(16, 76));
    expectReadable(dump, 3);
    remove('box', 'a');
    expectReadable(dump, 2);
    moveFile(stores, alice, { ...copy, from: 'b', to: { bucket: 'other', path: 'd' } });
    expectReadable(dump, 2);
    remove('other', 'c');
    expectReadable(dump, 1);
    remove('other', 'd');
    expectGone(dump);
    for (const own of wrapped) expect(isStored(own)).toBe(false);
  });

  test('is readable after its file was deleted, until the version is erased', () => {
    keepVersions(1n);
    const dump = dumped('a');
    const wrapped = wrappedBytes(slotOf('a'));
    remove('box', 'a');
    expectReadable(dump, 1);
    expect(isStored(wrapped)).toBe(true);
    eraseVersions(stores, alice, { ...none, path: 'a', version: 1 });
    expectGone(dump);
    expect(isStored(wrapped)).toBe(false);
  });

  test('is readable after its file was replaced, until the version expires', () => {
    keepVersions(1n);
    const dump = dumped('a');
    const wrapped = wrappedBytes(slotOf('a'));
    putTestFile(stores, { path: '/a' });
    keepVersions(0n);
    expireVersions(stores, startNs + 24n * hourNs - 1n);
    expectReadable(dump, 1);
    expireVersions(stores, startNs + 24n * hourNs);
    expectGone(dump);
    expect(isStored(wrapped)).toBe(false);
  });

  test('shared by a former version and a copy is erased with the last of them', () => {
    keepVersions(1n);
    const to = { bucket: 'other', path: 'c' };
    copyFile(stores, alice, { ...none, from: 'a', to, conditions: {} });
    const dump = dumped('a');
    remove('box', 'a');
    expectReadable(dump, 2);
    restoreVersion(stores, alice, { ...none, path: 'a', version: 1, conditions: {} });
    rotateBucketKey(stores, alice, 'box');
    rotateBucketKey(stores, alice, 'other');
    while (isRotating(stores)) continueRotation(stores);
    expectReadable(dump, 2);
    remove('box', 'a');
    eraseVersions(stores, alice, { ...none, prefix: '' });
    expectReadable(dump, 1);
    remove('other', 'c');
    expectGone(dump);
  });
});

describe('uploadSingle() and completeUpload(): a dump of stable memory', () => {
  test('contains no 16 bytes of a plaintext of 1 MB, uploaded at once or in chunks', () => {
    const plaintext = testBytes(1_000_000, 5);
    putTestFile(stores, { path: '/a', bytes: plaintext });
    const { uploadId } = begin(stores, alice, { path: '/b', size: 1_000_000n });
    const chunks = [0, 1].map(
      (index) => [index, plaintext.subarray(index * 500_000, (index + 1) * 500_000)] as const,
    );
    putChunks(stores, alice, { uploadId, chunks });
    completeUpload(stores, alice, { uploadId, apiKey: undefined });
    const dump = dumpOf(stores);
    expect(findShared(dump, plaintext, 16)).toBe(-1);
    // Check of the search itself: it finds bytes that are present.
    dump.set(plaintext.subarray(77_777, 77_793), dump.length - 1_001);
    expect(findShared(dump, plaintext, 16)).toBe(dump.length - 1_001);
    expect(Buffer.compare(readByReference(stores, 'box', 'a'), plaintext)).toBe(0);
    expect(Buffer.compare(readByReference(stores, 'box', 'b'), plaintext)).toBe(0);
  });

  test('contains no 8 bytes of any key in use', () => {
    // A distinctive root key: that of the scene is one byte repeated.
    const rootKey = testBytes(32, 77);
    stores.secrets.rootKeys.set(1, rootKey);
    createBucket(
      stores,
      { ...alice, caller: { ...alice.caller, isController: true } },
      { bucket: 'secret', isPublic: true },
    );
    const { file } = putTestFile(stores, { bucket: 'secret', path: '/a' }, startNs);
    const rootKeyOf = () => rootKey;
    const { slot } = bucketKeysOf(stores.buckets.get(Buffer.from('secret')) ?? new Uint8Array(32));
    const { used } = keySlotsOf(stores.system.stable);
    const ofBucket = used.find((candidate) => candidate.slot === slot) ?? expect.fail('no key');
    const bucketKey = openKey(ofBucket.bytes, rootKey, 'secret');
    const fileKey = fileKeyOf(stores, { bucket: 'secret', keySlot: file.keySlot }, rootKeyOf);
    expect(fileKey).not.toEqual(bucketKey);
    for (const key of [rootKey, bucketKey, fileKey]) expect(isStored(key)).toBe(false);
  });
});

test("createBucketKey(): keys and nonces are the random source's output, in order", () => {
  const random = createReferenceRandom(7);
  const draws = [32, 12, 32, 12].map(random);
  const { used } = keySlotsOf(stores.system.stable);
  const keys = used.map(({ bytes }, index) => {
    expect(Buffer.compare(bytes.slice(16, 28), draws[2 * index + 1] ?? bytes)).toBe(0);
    return openKey(bytes, new Uint8Array(32).fill(1), ['box', 'other'][index]);
  });
  expect(keys).toEqual([draws[0], draws[2]]);
});

test('uploadSingle(): two uploads of the same bytes share no 16 stored bytes', () => {
  const bytes = new Uint8Array(200_000).fill(0x61);
  const stored = ['/a', '/b', '/a'].map((path) => {
    const { contentId } = putTestFile(stores, { path, bytes }).file;
    const chunk = stores.chunks
      .entries()
      .map(chunkOf)
      .find((one) => one.contentId === contentId);
    const blobs = spaceBytes(stores.system.stable, 1);
    if (chunk === undefined) return expect.fail('no chunk');
    return Buffer.concat(
      [...chunk.slots].map((at, segment) => {
        return blobs.subarray(at, at + segmentLength(chunk, segment) + tagBytes);
      }),
    );
  });
  const [first, second, third] = stored;
  if (first === undefined || second === undefined || third === undefined) return expect.fail();
  expect(first).toHaveLength(200_000 + 4 * 16);
  expect(findShared(first, second, 16)).toBe(-1);
  expect(findShared(first, third, 16)).toBe(-1);
  expect(findShared(second, third, 16)).toBe(-1);
  // Nor do two halves of one file, although its plaintext is one byte repeated.
  expect(findShared(first.subarray(0, 100_000), first.subarray(100_000), 16)).toBe(-1);
});
