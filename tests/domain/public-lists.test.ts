// Buckets that everybody may list: who may set it, what ends it, and which requests without a key
// are answered.

import { beforeEach, describe, expect, test } from 'vitest';
import { updateBucket } from '../../src/domain/administration/bucket-administration.ts';
import { createBucket } from '../../src/domain/administration/bucket-creation.ts';
import { findBucket } from '../../src/domain/buckets/buckets.ts';
import { listFolder } from '../../src/domain/listing/folder-listing.ts';
import { listFiles } from '../../src/domain/listing/listing.ts';
import {
  bucketChange,
  callOf,
  createScene,
  expectRefusal,
  putTestFile,
  type Scene,
} from '../support/domain-fixture.ts';
import { bodyText, exchange, send, sendRefused } from '../support/http-fixture.ts';

let scene: Scene;
const alice = callOf('alice');
const anybody = callOf('anonymous');
const nothing = {
  ...{ apiKey: undefined, prefix: undefined, sort: undefined, tag: undefined },
  ...{ page: undefined, pageSize: undefined },
  ...{ delimiter: undefined, cursor: undefined, limit: undefined },
};

beforeEach(async () => {
  scene = await createScene();
  for (const path of ['a/1', 'a/2', 'b']) putTestFile(scene.stores, { path });
});

const set = (change: object) => updateBucket(scene.stores, alice, bucketChange(change));
const box = () => findBucket(scene.stores, 'box') ?? expect.fail('no bucket');
const list = { url: '/api/v1/bucket/box/files' };

describe('isListed', () => {
  test('needs a public bucket without end-to-end encryption', () => {
    const { stores } = scene;
    const controller = callOf('controller');
    const refused = (request: object) =>
      expectRefusal(stores, 'InvalidArgument', () =>
        createBucket(stores, controller, { bucket: 'new', ...request }),
      ).message;
    expect(refused({ isListed: true })).toMatch(/is private.*set isPublic/);
    const hidden = { isPublic: true, isListed: true, endToEnd: {} };
    expect(refused(hidden)).toMatch(/end-to-end encrypted.*Omit isListed/);
    const made = createBucket(stores, controller, {
      bucket: 'new',
      isPublic: true,
      isListed: true,
    });
    expect(made.isListed).toBe(true);
    expectRefusal(stores, 'InvalidArgument', () =>
      updateBucket(stores, controller, bucketChange({ bucket: 'new', endToEnd: {} })),
    );
    set({ isPublic: false });
    expectRefusal(stores, 'InvalidArgument', () => set({ isListed: true }));
    expectRefusal(stores, 'InvalidArgument', () => set({ isListed: true, isPublic: false }));
    expect(set({ isListed: true, isPublic: true })).toMatchObject({ isListed: true });
  });

  test('ends when the bucket becomes private, and stays with any other change', () => {
    set({ isListed: true });
    set({ quotaFiles: 9n });
    putTestFile(scene.stores, { path: 'c' });
    expect(box().isListed).toBe(true);
    set({ isPublic: false });
    expect(box()).toMatchObject({ isPublic: false, isListed: false });
    set({ isPublic: true });
    expect(box()).toMatchObject({ isPublic: true, isListed: false });
  });

  test('is in a byte of the record that release 0.2.0 wrote as zero', () => {
    const bytes = () => [...(scene.stores.buckets.get(Buffer.from('box')) ?? [])].slice(0, 8);
    const before = bytes();
    expect(before.slice(3)).toEqual([0, 0, 0, 0, 0]);
    set({ isListed: true });
    expect(bytes()).toEqual([...before.slice(0, 3), 1, 0, 0, 0, 0]);
  });
});

describe('listFiles and listFolder of a bucket with isListed', () => {
  test('are for everybody in a query', () => {
    const { stores } = scene;
    set({ isListed: true });
    const request = { ...nothing, bucket: 'box', isQuery: true };
    expect(listFiles(stores, anybody, request).total).toBe(3);
    expect(listFolder(stores, anybody, { ...request, delimiter: '/' }).entries).toHaveLength(2);
  });

  test('are refused in an update, to callers without a right', () => {
    const { stores } = scene;
    set({ isListed: true });
    for (const isQuery of [false, undefined]) {
      const request = { ...nothing, bucket: 'box', ...(isQuery === undefined ? {} : { isQuery }) };
      expectRefusal(stores, 'AccessDenied', () => listFiles(stores, anybody, request));
      expectRefusal(stores, 'AccessDenied', () => listFolder(stores, anybody, request));
      expect(listFiles(stores, alice, request).total).toBe(3);
    }
  });
});

describe('GET /api/v1/bucket/{bucket}/files without a key', () => {
  test('lists a bucket with isListed: pages, folders, prefixes and cursors', () => {
    const { stores } = scene;
    set({ isListed: true });
    const json = (query: string) =>
      JSON.parse(bodyText(send(stores, { url: `${list.url}${query}` })));
    expect(json('').items.map(({ path }: { path: string }) => path)).toEqual(['a/1', 'a/2', 'b']);
    const folders = json('?delimiter=/');
    expect(folders).toMatchObject({ items: [{ path: 'b' }], folders: [{ path: 'a/' }] });
    const first = json('?limit=1&prefix=a/');
    expect(json(`?limit=1&prefix=a/&cursor=${first.nextCursor}`)).toMatchObject({
      items: [{ path: 'a/2' }],
    });
    expect(send(stores, { ...list, method: 'HEAD' }).status).toBe(200);
  });

  test('shows what a key with read sees', () => {
    set({ isListed: true });
    const headers = { authorization: `Bearer ${scene.readKey}` };
    const keyed = bodyText(send(scene.stores, { ...list, headers }));
    expect(bodyText(send(scene.stores, list))).toBe(keyed);
  });

  test('is refused alike for a bucket that is private, missing, malformed or not listed', () => {
    const { stores } = scene;
    const refused = { status: 401, code: 'Unauthorized' };
    for (const bucket of ['box', 'none', 'MALFORMED%20', 'x'.repeat(300)]) {
      sendRefused(stores, { url: `/api/v1/bucket/${bucket}/files` }, refused);
    }
    set({ isPublic: false });
    sendRefused(stores, list, refused);
  });

  test('is no update: neither the answer of the query asks for one, nor does an update list', () => {
    const { stores } = scene;
    set({ isListed: true });
    for (const query of ['', '?delimiter=/', '?page=0', '?cursor=x', '?limit=x', '?other=1']) {
      for (const method of ['GET', 'HEAD']) {
        const sent = { method, url: `${list.url}${query}` };
        expect(exchange(stores, sent), query).not.toBe('upgrade');
      }
    }
    sendRefused(stores, { ...list, phase: 'update' }, { status: 401, code: 'Unauthorized' });
  });

  test.each([
    'versions',
    'usage',
    'journal',
    'links',
    'upload',
    'rules',
    'files/b',
    'upload-links',
  ])('is refused at /%s of a bucket with isListed', (tail) => {
    set({ isListed: true });
    const refused = { status: 401, code: 'Unauthorized' };
    sendRefused(scene.stores, { url: `/api/v1/bucket/box/${tail}` }, refused);
  });

  test('with a key that is not valid or may not read is refused', () => {
    set({ isListed: true });
    const headers = { authorization: 'Bearer efs_x' };
    sendRefused(scene.stores, { ...list, headers }, { status: 401, code: 'InvalidApiKey' });
    sendRefused(
      scene.stores,
      { url: `${list.url}?upload=efs_x` },
      { status: 401, code: 'InvalidApiKey' },
    );
  });
});
