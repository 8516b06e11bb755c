// Buckets that are sites: who may change the mode, how the bucket's record stores it, and how the
// header fields of its files change in bounded steps.

import { beforeEach, describe, expect, test } from 'vitest';
import {
  deleteBucket,
  updateBucket,
} from '../../src/domain/administration/bucket-administration.ts';
import { createBucket } from '../../src/domain/administration/bucket-creation.ts';
import { findBucket } from '../../src/domain/buckets/buckets.ts';
import { type FileRecord, findFile } from '../../src/domain/files/file-records.ts';
import { deleteFile } from '../../src/domain/files/files.ts';
import { renewSites } from '../../src/domain/files/site-renewal.ts';
import { upgradedFilesPerMessage } from '../../src/limits.ts';
import {
  bucketChange,
  callOf,
  createScene,
  expectRefusal,
  hourNs,
  putTestFile,
  startNs,
} from '../support/domain-fixture.ts';
import { nonceOfRecord } from '../support/encryption-reference.ts';
import { type MemoryStores, upgradeStores } from '../support/memory-stores.ts';
import { getPublicFile } from '../support/read-files.ts';

let stores: MemoryStores;
const alice = callOf('alice');
const controller = callOf('controller');
const [plain, ofSite] = [2, 4];
const renewalNs = startNs + hourNs;

beforeEach(async () => {
  ({ stores } = await createScene());
});

const setSite = (isSite: boolean, change = {}) =>
  updateBucket(stores, alice, bucketChange({ isSite, ...change }));
const file = (path: string): FileRecord =>
  findFile(stores, 'box', path) ?? expect.fail(`no file ${path}`);
const box = () => findBucket(stores, 'box') ?? expect.fail('no bucket');

/** Renews all files, and returns the number of steps. */
function renewAll(): number {
  let steps = 0;
  while (renewSites(stores, renewalNs)) expect(steps++).toBeLessThan(20);
  return steps;
}

function putMany(count: number): string[] {
  const paths = Array.from({ length: count }, (_, index) => `file ${index}`);
  for (const path of paths) putTestFile(stores, { path: `/${path}` });
  return paths;
}

describe('renewSites(): a private bucket', () => {
  test('cannot become a site unless it becomes public too', () => {
    const request = { bucket: 'shown', isSite: true };
    expectRefusal(stores, 'InvalidArgument', () => createBucket(stores, controller, request));
    expect(createBucket(stores, controller, { ...request, isPublic: true }).isSite).toBe(true);
    updateBucket(stores, alice, bucketChange({ isPublic: false }));
    expectRefusal(stores, 'InvalidArgument', () => setSite(true));
    expectRefusal(stores, 'InvalidArgument', () => setSite(true, { isPublic: false }));
    expect(setSite(true, { isPublic: true })).toMatchObject({ isSite: true, isPublic: true });
  });

  test('that was a site is one again when it is public again', () => {
    setSite(true);
    updateBucket(stores, alice, bucketChange({ isPublic: false }));
    expect(box()).toMatchObject({ isPublic: false, isSite: true });
    updateBucket(stores, alice, bucketChange({ isPublic: true }));
    expect(box()).toMatchObject({ isPublic: true, isSite: true });
    updateBucket(stores, alice, bucketChange({ isPublic: false }));
    expect(setSite(false)).toMatchObject({ isPublic: false, isSite: false });
  });
});

test('renewSites(): the record has flags while a bucket is a site or is being converted', () => {
  const flags = () => stores.buckets.get(Buffer.from('box'))?.[1];
  expect(flags()).toBe(1);
  setSite(true);
  expect(flags()).toBe(1 | 8 | 16);
  renewAll();
  expect(flags()).toBe(1 | 8);
  setSite(false);
  expect(flags()).toBe(1 | 16);
  renewAll();
  expect(flags()).toBe(1);
});

test('renewSites(): existing files are renewed in bounded steps, also across an upgrade; new files follow at once', async () => {
  const paths = putMany(50);
  const before = paths.map(file);
  setSite(true);
  putTestFile(stores, { path: '/new' });
  expect(file('new').leavesVersion).toBe(ofSite);
  expect(renewSites(stores, renewalNs)).toBe(true);
  const renewed = () => paths.filter((path) => file(path).leavesVersion === ofSite).length;
  expect(renewed()).toBe(upgradedFilesPerMessage);
  stores = await upgradeStores(stores, 2);
  expect(renewAll()).toBe(3);
  expect(renewed()).toBe(50);
  // The fields that users see are unchanged, and each file can be read
  const { leavesVersion: _, ...shown } = getPublicFile(stores, 'box', '/file 7');
  expect(shown).toEqual({ ...before[7], leavesVersion: undefined });
  expect(renewSites(stores, renewalNs)).toBe(false);
});

test('renewSites(): a record is sealed again with the time of the message', () => {
  // Without it, its nonce could repeat that of another state, which a snapshot undid
  putTestFile(stores, { path: '/a' });
  setSite(true);
  renewAll();
  const nonce = nonceOfRecord(stores.files.get(Buffer.from('box\0a')) ?? expect.fail('no record'));
  expect(Buffer.from(nonce).readBigUInt64LE(4)).toBe(renewalNs);
  expect(file('a').updatedAtNs).toBe(startNs);
});

test('renewSites(): changing the flag back begins again from the first file', () => {
  const paths = putMany(30);
  setSite(true);
  renewSites(stores, renewalNs);
  setSite(false);
  setSite(true);
  setSite(false);
  renewAll();
  expect(paths.every((path) => file(path).leavesVersion === plain)).toBe(true);
  setSite(false);
  expect(renewSites(stores, renewalNs), 'nothing has changed').toBe(false);
});

test('renewSites(): a damaged file stays as it is and does not stop the others', () => {
  putMany(3);
  const key = Buffer.from('box\0file 1');
  const record = stores.files.get(key)?.slice() ?? expect.fail('no record');
  // A byte of the tag
  record[100] = (record[100] ?? 0) ^ 1;
  stores.files.set(key, record);
  setSite(true);
  renewAll();
  expect(['file 0', 'file 2'].map((path) => file(path).leavesVersion)).toEqual([ofSite, ofSite]);
  expect(file('file 1').leavesVersion).toBe(plain);
  putTestFile(stores, { path: '/file 1' });
  expect(file('file 1').leavesVersion).toBe(ofSite);
});

test('renewSites(): a bucket that is deleted meanwhile leaves no work', () => {
  putMany(1);
  setSite(true);
  const request = { bucket: 'box', path: '/file 0', apiKey: undefined, conditions: {} };
  deleteFile(stores, alice, request);
  deleteBucket(stores, alice, { bucket: 'box', isForced: false });
  expect(renewSites(stores, renewalNs)).toBe(false);
  createBucket(stores, controller, { bucket: 'box', isPublic: true });
  expect(box()).toMatchObject({ isSite: false, isRenewing: false });
});
