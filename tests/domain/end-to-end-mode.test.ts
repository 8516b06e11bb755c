// End-to-end mode of a bucket: how owners set it, and when it becomes fixed.

import { beforeEach, describe, expect, test } from 'vitest';
import {
  type BucketChange,
  deleteBucket,
  describeBucket,
  listBuckets,
  updateBucket,
} from '../../src/domain/administration/bucket-administration.ts';
import { createBucket } from '../../src/domain/administration/bucket-creation.ts';
import { findBucket } from '../../src/domain/buckets/buckets.ts';
import { type EndToEndOptions, findEndToEnd } from '../../src/domain/buckets/end-to-end.ts';
import { deleteFile } from '../../src/domain/files/files.ts';
import { KeyUnavailable } from '../../src/domain/keys/root-keys.ts';
import { cancelUpload } from '../../src/domain/uploads/upload-end.ts';
import {
  begin,
  bucketChange,
  callOf,
  createScene,
  expectRefusal,
  putTestFile,
  startNs,
} from '../support/domain-fixture.ts';
import type { MemoryStores } from '../support/memory-stores.ts';

let stores: MemoryStores;
const alice = callOf('alice');
const boss = callOf('controller');
const own = `age1${'q'.repeat(58)}`;
const postQuantum = `age1pq1${'z'.repeat(1_953)}`;

beforeEach(async () => {
  ({ stores } = await createScene());
});

const change = (fields: Partial<BucketChange>) => updateBucket(stores, alice, bucketChange(fields));
const turnOn = (endToEnd: EndToEndOptions = {}) => change({ endToEnd });
const firstEpoch = {
  epoch: 1,
  recipient: undefined,
  openedAtNs: startNs,
  keyName: 'key_1',
  proxy: '',
};

describe('updateBucket(): an end-to-end bucket', () => {
  test('uses vetKeys and does not seal names by default, and its first epoch has no recipient yet', () => {
    const mode = { usesVetKeys: true, sealsNames: false, recipients: [], epochs: [firstEpoch] };
    const made = createBucket(stores, boss, { bucket: 'safe', endToEnd: {} });
    expect(made).toMatchObject({ isEndToEnd: true, isPublic: false, endToEnd: mode });
    expect(describeBucket(stores, boss, { bucket: 'safe', apiKey: undefined }).endToEnd).toEqual(
      made.endToEnd,
    );
    expect(turnOn().endToEnd).toMatchObject(mode);
  });

  test('has the recipients that its owners list, without duplicates, and no epochs without vetKeys', () => {
    const options = { usesVetKeys: false, recipients: [own, postQuantum, own] };
    const { endToEnd } = turnOn(options);
    expect(endToEnd).toEqual({
      usesVetKeys: false,
      sealsNames: false,
      recipients: [own, postQuantum],
      serial: endToEnd?.serial,
      epochs: [],
    });
    expect(findEndToEnd(stores, 'box')).toEqual(endToEnd);
  });

  test('can seal names only with vetKeys, which derive the key for names', () => {
    expectRefusal(stores, 'InvalidArgument', () =>
      turnOn({ usesVetKeys: false, sealsNames: true, recipients: [own] }),
    );
    expect(turnOn({ sealsNames: true }).endToEnd).toMatchObject({ sealsNames: true });
    expectRefusal(stores, 'InvalidArgument', () => turnOn({ usesVetKeys: false }));
  });

  test('has its own serial, and a new one if it becomes end-to-end again', () => {
    const serials = [turnOn().endToEnd?.serial];
    change({ isEndToEnd: false });
    expect(findEndToEnd(stores, 'box')).toBeUndefined();
    serials.push(change({ isEndToEnd: true }).endToEnd?.serial);
    serials.push(turnOn({ sealsNames: true }).endToEnd?.serial);
    serials.push(createBucket(stores, boss, { bucket: 'b', endToEnd: {} }).endToEnd?.serial);
    expect(new Set(serials).size).toBe(serials.length);
    expect(serials).not.toContain(0n);
  });

  test('is not half an end-to-end bucket if no random bytes for its serial are available', () => {
    const { secrets } = stores;
    const random = () => {
      throw new KeyUnavailable();
    };
    Object.assign(stores, { secrets: { ...secrets, random } });
    expectRefusal(stores, 'ServiceUnavailable', () => turnOn());
    expectRefusal(stores, 'ServiceUnavailable', () => change({ isEndToEnd: true }));
    expectRefusal(stores, 'ServiceUnavailable', () =>
      createBucket(stores, boss, { bucket: 'safe', endToEnd: {} }),
    );
    expect(findBucket(stores, 'box')).toMatchObject({ isEndToEnd: false });
    Object.assign(stores, { secrets });
    expect(turnOn().endToEnd).toMatchObject({ epochs: [firstEpoch] });
  });

  test('cannot be a site, in either order', () => {
    const site = { isPublic: true, isSite: true };
    const options = { bucket: 'b', ...site, endToEnd: {} };
    expectRefusal(stores, 'InvalidArgument', () => createBucket(stores, boss, options));
    expectRefusal(stores, 'InvalidArgument', () => change({ isSite: true, endToEnd: {} }));
    turnOn();
    const refusal = expectRefusal(stores, 'InvalidArgument', () => change({ isSite: true }));
    expect(refusal.message).toContain('site and end-to-end');
    change({ isEndToEnd: false });
    change({ isSite: true });
    expectRefusal(stores, 'InvalidArgument', () => turnOn());
  });

  test('leaves nothing behind when it is deleted', () => {
    turnOn({ recipients: [own] });
    deleteBucket(stores, alice, { bucket: 'box', isForced: false });
    expect(findEndToEnd(stores, 'box')).toBeUndefined();
  });
});

describe('updateBucket(): the mode is fixed', () => {
  test('while the bucket holds files, former versions or open uploads', () => {
    const isFixed = () => {
      expectRefusal(stores, 'BucketNotEmpty', () => turnOn());
      expectRefusal(stores, 'BucketNotEmpty', () => change({ isEndToEnd: true }));
    };
    const { uploadId } = begin(stores, alice);
    isFixed();
    cancelUpload(stores, alice, { uploadId });
    change({ keepVersionsDays: 1n });
    putTestFile(stores);
    isFixed();
    deleteFile(stores, alice, { bucket: 'box', path: '/a', apiKey: undefined, conditions: {} });
    expect(findBucket(stores, 'box')).toMatchObject({ versionCount: 1, fileCount: 0 });
    isFixed();
    // Setting the mode that the bucket already has is accepted.
    expect(change({ isEndToEnd: false }).endToEnd).toBeUndefined();
  });

  test('except for the recipients, which can be replaced at any time without a new serial', () => {
    const { endToEnd } = turnOn({ recipients: [own] });
    begin(stores, alice);
    const replaced = turnOn({ recipients: [postQuantum], usesVetKeys: true });
    expect(replaced.endToEnd).toEqual({ ...endToEnd, recipients: [postQuantum] });
    expect(turnOn({}).endToEnd).toEqual(replaced.endToEnd);
    expectRefusal(stores, 'BucketNotEmpty', () => turnOn({ sealsNames: true }));
    expectRefusal(stores, 'BucketNotEmpty', () => turnOn({ usesVetKeys: false }));
    expectRefusal(stores, 'BucketNotEmpty', () => change({ isEndToEnd: false }));
  });

  test('and one call cannot turn it both on and off', () => {
    const both = { isEndToEnd: false, endToEnd: {} };
    expectRefusal(stores, 'InvalidArgument', () => change(both));
  });
});

describe('updateBucket(): recipients', () => {
  test.each([
    ['nine recipients', Array.from({ length: 9 }, (_, index) => own.replace('qqq', `qq${index}`))],
    ['one in capitals', [own.toUpperCase()]],
    ['one of SSH', [`ssh-ed25519 ${'A'.repeat(68)}`]],
    ['one that is too long', [`age1${'q'.repeat(2_045)}`]],
    ['an empty one', ['']],
    ['one with a line break', [`${own}\n`]],
  ])('are refused: %s', (_, recipients) => {
    expectRefusal(stores, 'InvalidArgument', () => turnOn({ recipients }));
  });

  test('that are secret keys are refused with an error that does not repeat them', () => {
    const secret = `AGE-SECRET-KEY-1${'Q'.repeat(58)}`;
    const refusal = expectRefusal(stores, 'InvalidArgument', () =>
      turnOn({ recipients: [secret] }),
    );
    expect(refusal.message).toContain('which is secret');
    expect(refusal.message).not.toContain('QQQ');
  });
});

test('listBuckets() shows which buckets are end-to-end', () => {
  turnOn({ recipients: [own] });
  const { items } = listBuckets(stores, alice, { page: undefined, pageSize: undefined });
  expect(items.map(({ id, endToEnd }) => [id, endToEnd?.epochs, endToEnd?.recipients])).toEqual([
    ['box', [firstEpoch], [own]],
    ['other', undefined, undefined],
  ]);
});
