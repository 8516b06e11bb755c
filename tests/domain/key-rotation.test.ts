// Rotation with altered records: no key is removed that readable data still depends on.

import { beforeEach, describe, expect, test } from 'vitest';
import { deleteBucket } from '../../src/domain/administration/bucket-administration.ts';
import { createBucket } from '../../src/domain/administration/bucket-creation.ts';
import {
  continueRotation,
  isRotating,
  rotateBucketKey,
  rotateRootKey,
} from '../../src/domain/administration/key-rotation.ts';
import { findBucket } from '../../src/domain/buckets/buckets.ts';
import { deleteFile, readFilePart } from '../../src/domain/files/files.ts';
import { rootKeyEntries } from '../../src/domain/keys/root-keys.ts';
import { rotatedBucketsPerMessage } from '../../src/limits.ts';
import { RecordWriter } from '../../src/storage/codec.ts';
import { findShared } from '../support/byte-windows.ts';
import {
  callOf,
  createScene,
  expectRefusal,
  putTestFile,
  testBytes,
} from '../support/domain-fixture.ts';
import {
  keySlotBytes,
  keySlotsOf,
  realOffset,
  spaceBytes,
} from '../support/encryption-reference.ts';
import { checkInvariants } from '../support/invariants.ts';
import { giveRootKey, type MemoryStores, upgradeStores } from '../support/memory-stores.ts';

let stores: MemoryStores;
const alice = callOf('alice');
const boss = callOf('controller');
/** Alice, who may create buckets. */
const asBoss = { ...alice, caller: { ...alice.caller, isController: true } };

beforeEach(async () => {
  ({ stores } = await createScene());
  for (const path of ['/a', '/b']) putTestFile(stores, { path, bytes: testBytes(500) });
});

function bucket() {
  return findBucket(stores, 'box') ?? expect.fail('no bucket');
}

function read(path: string) {
  const part = { offset: 0n, length: 1_000n, apiKey: undefined };
  return readFilePart(stores, alice, { bucket: 'box', path, ...part });
}

/** Flips a bit of the sealed key in the slot; a second call restores it. */
function alterSlot(slot: number) {
  const at = realOffset(stores.system.stable, { space: 4, offset: slot * keySlotBytes + 40 });
  stores.system.stable[at] = (stores.system.stable[at] ?? 0) ^ 1;
}

/** Runs a limited number of steps, whether or not the rotation ends. */
function rotateAll() {
  for (let step = 0; step < 20 && isRotating(stores); step++) continueRotation(stores);
}

test('rotateBucketKey() wraps every key again and writes no file byte', () => {
  const [former, segments] = [bucket(), spaceBytes(stores.system.stable, 1)];
  const before = keySlotsOf(stores.system.stable).used;
  rotateBucketKey(stores, alice, 'box');
  expectRefusal(stores, 'SlowDown', () => rotateBucketKey(stores, alice, 'box'));
  expect(read('/a')).toEqual(testBytes(500));
  rotateAll();
  const { used } = keySlotsOf(stores.system.stable);
  const ofFiles = used.filter(({ wrapperId }) => wrapperId > 0);
  expect(ofFiles.map(({ wrapperId }) => wrapperId)).toEqual([bucket().keyId, bucket().keyId]);
  expect(Buffer.compare(spaceBytes(stores.system.stable, 1), segments)).toBe(0);
  const gone = before.filter(({ ownerId, wrapperId }) => {
    return ownerId === former.keyId || wrapperId === former.keyId;
  });
  expect(gone).toHaveLength(3);
  for (const { bytes } of gone) {
    expect(findShared(stores.system.stable, bytes.slice(16, 76), 8)).toBe(-1);
  }
  expect(read('/b')).toEqual(testBytes(500));
  checkInvariants(stores);
});

test('rotateBucketKey(): a file with an altered key stays refused and does not stop the rotation', () => {
  const { keySlot } = putTestFile(stores, { path: '/c', bytes: testBytes(9) }).file;
  alterSlot(keySlot);
  rotateBucketKey(stores, alice, 'box');
  rotateAll();
  expect(isRotating(stores)).toBe(false);
  expectRefusal(stores, 'IntegrityError', () => read('/c'));
  expect(read('/a')).toEqual(testBytes(500));
  deleteFile(stores, alice, { bucket: 'box', path: '/c', apiKey: undefined, conditions: {} });
  checkInvariants(stores);
});

test('rotateBucketKey(): if the new bucket key cannot be unwrapped, no file is lost', () => {
  rotateBucketKey(stores, alice, 'box');
  alterSlot(bucket().keySlot);
  rotateAll();
  expect(read('/a')).toEqual(testBytes(500));
  alterSlot(bucket().keySlot);
  putTestFile(stores, { path: '/c', bytes: testBytes(9) });
  rotateAll();
  expect([read('/a'), read('/c')]).toEqual([testBytes(500), testBytes(9)]);
});

test('rotateBucketKey(): an altered bucket key does not stop the rotation of the root key for others', () => {
  rotateBucketKey(stores, alice, 'box');
  alterSlot(bucket().keySlot);
  rotateRootKey(stores, boss, undefined);
  giveRootKey(stores);
  rotateAll();
  const former = keySlotsOf(stores.system.stable).used.find(
    ({ slot }) => slot === bucket().formerKeySlot,
  );
  expect(former?.wrapperId ?? -2, 'wrapper of the former key').toBe(-2);
  expect(read('/a')).toEqual(testBytes(500));
});

test('rotateBucketKey(): work continues while a new root key is fetched, which then becomes the only one', () => {
  rotateRootKey(stores, boss, { kind: 'stored' });
  expect(continueRotation(stores)).toBe(false);
  putTestFile(stores, { path: '/c', bytes: testBytes(9) });
  expect(rootKeyEntries(stores)).toHaveLength(2);
  giveRootKey(stores);
  expectRefusal(stores, 'SlowDown', () => rotateRootKey(stores, boss, undefined));
  rotateAll();
  expect(rootKeyEntries(stores)).toMatchObject([{ version: 2, kind: 'stored' }]);
  const stored = new Uint8Array(32).fill(2);
  expect(Buffer.from(stores.system.stable).includes(Buffer.from(stored))).toBe(true);
  rotateRootKey(stores, boss, { kind: 'vetkd', keyName: 'key_1' });
  giveRootKey(stores);
  rotateAll();
  expect(rootKeyEntries(stores)).toMatchObject([{ version: 3, kind: 'vetkd' }]);
  expect(Buffer.from(stores.system.stable).includes(Buffer.from(stored))).toBe(false);
  expect(read('/c')).toEqual(testBytes(9));
  checkInvariants(stores);
});

/** Creates buckets whose ids precede `box` until there are `count` in total. */
function createUpTo(count: number) {
  const present = stores.buckets.entries().length;
  for (let index = 0; index < count - present; index++) create(`a${index}`);
}

function create(id: string) {
  createBucket(stores, asBoss, { bucket: id });
}

function remove(id: string) {
  deleteBucket(stores, alice, { bucket: id, isForced: false });
}

function expectRotated() {
  rotateAll();
  expect(isRotating(stores)).toBe(false);
  expect(rootKeyEntries(stores)).toMatchObject([{ version: 2 }]);
  expect(read('/a')).toEqual(testBytes(500));
  const wrappers = keySlotsOf(stores.system.stable).used.map(({ wrapperId }) => wrapperId);
  expect(new Set(wrappers.filter((id) => id < 0))).toEqual(new Set([-2]));
  checkInvariants(stores);
}

describe('rotateRootKey() keeps the former root key until the next one wraps the key of', () => {
  // One step of the rotation handles these many buckets; `box` and `other` come last.
  const step = rotatedBucketsPerMessage;

  test('a bucket that moves up in the order during the rotation', () => {
    createUpTo(step + 2);
    rotateRootKey(stores, boss, undefined);
    giveRootKey(stores);
    expect(continueRotation(stores)).toBe(true);
    remove('a0');
    expectRotated();
  });

  test('a bucket that moves up in the order again and again', () => {
    createUpTo(step + 2);
    rotateRootKey(stores, boss, undefined);
    giveRootKey(stores);
    for (let pass = 0; pass < 3; pass++) {
      continueRotation(stores);
      remove('a0');
      continueRotation(stores);
      create('a0');
    }
    expectRotated();
  });

  test.each([
    [step, 0],
    [2 * step, 0],
    [step + 1, 1],
  ])('each of %i buckets, %i of them deleted, if it arrives late', (count, removed) => {
    createUpTo(count);
    rotateRootKey(stores, boss, undefined);
    for (let turn = 1; turn <= count / step; turn++) continueRotation(stores);
    for (let index = 0; index < removed; index++) remove(`a${index}`);
    giveRootKey(stores);
    expectRotated();
  });

  test.each([
    ['before the next root key arrives', step, false],
    ['after the first step', 2 * step, true],
  ])('each bucket if an upgrade comes %s', async (_, count, isKeyPresent) => {
    createUpTo(count);
    rotateRootKey(stores, boss, undefined);
    if (isKeyPresent) giveRootKey(stores);
    expect(continueRotation(stores)).toBe(isKeyPresent);
    stores = await upgradeStores(stores, 8);
    expectRotated();
  });

  test('each bucket if version 1 of the progress says that all were visited', () => {
    createUpTo(step);
    rotateRootKey(stores, boss, undefined);
    const record = new RecordWriter(1).u64(1).u64(1).u32(step).u32(0).finish([]);
    stores.meta.set(Buffer.from('keyRotation'), record);
    giveRootKey(stores);
    expectRotated();
  });

  test('buckets whose own keys are rotated in the meantime', () => {
    createUpTo(2 * step);
    rotateRootKey(stores, boss, undefined);
    rotateBucketKey(stores, alice, 'box');
    giveRootKey(stores);
    // The first step wraps the keys of files, the second one the keys of the first buckets.
    expect([continueRotation(stores), continueRotation(stores)]).toEqual([true, true]);
    for (const id of ['a0', 'box', 'other']) rotateBucketKey(stores, alice, id);
    remove('a1');
    expectRotated();
  });

  test('buckets whose own keys were being rotated in version 1 of the progress', () => {
    createUpTo(step);
    rotateBucketKey(stores, alice, 'box');
    rotateRootKey(stores, boss, undefined);
    const slotEnd = stores.keySlots.end();
    const record = new RecordWriter(1).u64(1).u64(slotEnd).u32(step).u32(0).finish(['box']);
    stores.meta.set(Buffer.from('keyRotation'), record);
    giveRootKey(stores);
    expectRotated();
    expect(bucket()).toMatchObject({ formerKeyId: 0, formerKeySlot: 0 });
  });
});

test('rotateBucketKey(): a bucket can be deleted and created again during its rotation', () => {
  createBucket(stores, asBoss, { bucket: 'brief', isPublic: true });
  rotateBucketKey(stores, alice, 'brief');
  deleteBucket(stores, alice, { bucket: 'brief', isForced: false });
  createBucket(stores, asBoss, { bucket: 'brief', isPublic: true });
  putTestFile(stores, { bucket: 'brief', bytes: testBytes(9) });
  rotateAll();
  expect(isRotating(stores)).toBe(false);
  rotateBucketKey(stores, alice, 'brief');
  rotateAll();
  expect(read('/a')).toEqual(testBytes(500));
  checkInvariants(stores);
});

test('rotateBucketKey() requires an owner of the bucket or a controller', () => {
  expectRefusal(stores, 'AccessDenied', () => rotateBucketKey(stores, callOf('bob'), 'box'));
  expectRefusal(stores, 'NoSuchBucket', () => rotateBucketKey(stores, alice, 'none'));
  expectRefusal(stores, 'AccessDenied', () => rotateRootKey(stores, alice, undefined));
});
