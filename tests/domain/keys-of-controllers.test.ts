// A key that a controller created for the bucket of somebody else, after the network has removed
// the controller, which no message reports: the key, its uploads and its links give no right.

import { beforeEach, describe, expect, test } from 'vitest';
import { createKey } from '../../src/domain/administration/api-key-administration.ts';
import { updateBucket } from '../../src/domain/administration/bucket-administration.ts';
import { getBucket } from '../../src/domain/buckets/buckets.ts';
import { getFile } from '../../src/domain/files/files.ts';
import { endLinks } from '../../src/domain/files/link-records.ts';
import {
  createLink,
  endLinksOfFormerControllers,
  listLinks,
  opensLink,
} from '../../src/domain/files/links.ts';
import { findKey, saveKey } from '../../src/domain/rights/api-keys.ts';
import { authorizeMonitoring } from '../../src/domain/rights/rights.ts';
import { putChunk } from '../../src/domain/uploads/upload-chunks.ts';
import { goodKey } from '../../src/http/bearer-key.ts';
import { emptyBytes } from '../../src/lib/bytes.ts';
import {
  begin,
  bucketChange,
  callOf,
  createScene,
  expectRefusal,
  putTestFile,
  startNs,
  testBytes,
} from '../support/domain-fixture.ts';
import { checkInvariants } from '../support/invariants.ts';
import type { MemoryStores } from '../support/memory-stores.ts';

const anonymous = callOf('anonymous');
const alice = callOf('alice');
const controller = callOf('controller');
const path = '/a';

let stores: MemoryStores;
/** The same stores after the removal of the controller. */
let later: MemoryStores;
let apiKey: string;

beforeEach(async () => {
  ({ stores } = await createScene());
  later = { ...stores, isController: () => false };
  updateBucket(stores, alice, bucketChange({ isPublic: false }));
  putTestFile(stores, { path });
  const permissions = ['read', 'write', 'delete'];
  const request = { name: '', buckets: ['box'], permissions, expiresAtNs: undefined };
  apiKey = createKey(stores, controller, request).secret;
});

const read = (now: MemoryStores) => getFile(now, anonymous, { bucket: 'box', path, apiKey }).size;

describe('isStillGranted(): a key', () => {
  test('gives no right while its creator is no controller', () => {
    expect(read(stores)).toBe(10);
    expectRefusal(later, 'InvalidApiKey', () => read(later));
    expectRefusal(later, 'InvalidApiKey', () => begin(later, anonymous, { apiKey }));
    expect(read(stores)).toBe(10);
  });

  test('does not lift the budget of requests without a key', () => {
    const headers = [['Authorization', `Bearer ${apiKey}`]] as const;
    const request = { method: 'GET', url: '/', headers, body: emptyBytes };
    const find = (now: MemoryStores) => goodKey({ stores: now, call: anonymous, request }, 'box');
    expect(find(stores)).toBeDefined();
    expect(find(later)).toBeUndefined();
  });

  test('is valid if its creator is an owner of the bucket', () => {
    const { principal } = controller.caller;
    updateBucket(stores, alice, bucketChange({ addMembers: [{ principal, role: 'owner' }] }));
    expect(read(later)).toBe(10);
    updateBucket(stores, alice, bucketChange({ addMembers: [{ principal, role: 'writer' }] }));
    expectRefusal(later, 'InvalidApiKey', () => read(later));
  });

  test('is valid if it is of version 0.1.0, which did not record creators', () => {
    saveKey(stores, { ...findKey(stores, apiKey, startNs), creator: emptyBytes });
    expect(read(later)).toBe(10);
  });

  test('reads no metrics of a bucket that its creator does not own', () => {
    const request = { name: '', permissions: ['monitor'], expiresAtNs: undefined };
    const secret = createKey(stores, controller, { ...request, buckets: ['box', 'other'] }).secret;
    const ids = (now: MemoryStores) =>
      authorizeMonitoring(now, anonymous, secret).buckets.map(({ id }) => id);
    expect(ids(stores)).toEqual(['box', 'other']);
    expectRefusal(later, 'InvalidApiKey', () => ids(later));
    const { principal } = controller.caller;
    updateBucket(stores, alice, bucketChange({ addMembers: [{ principal, role: 'owner' }] }));
    expect(ids(later)).toEqual(['box']);
  });

  test('ends its uploads', () => {
    const { uploadId } = begin(stores, anonymous, { apiKey });
    const chunk = { uploadId, chunkIndex: 0n, bytes: testBytes(250) };
    expectRefusal(later, 'InvalidApiKey', () => putChunk(later, anonymous, chunk));
    putChunk(stores, anonymous, chunk);
  });

  test('ends its links', () => {
    const { link, url } = createLink(stores, anonymous, { bucket: 'box', path, apiKey });
    const address = { id: link.id, name: link.name, secret: url.split('?k=')[1] ?? '' };
    const request = { bucket: 'box', path, apiKey: undefined };
    const links = (now: MemoryStores) => listLinks(now, alice, request).items.length;
    expect([opensLink(stores, anonymous, address), links(stores)]).toEqual([true, 1]);
    expect([opensLink(later, anonymous, address), links(later)]).toEqual([false, 0]);
  });

  test('frees the room of its links by upkeep', () => {
    const order = { bucket: 'box', path, apiKey: undefined };
    for (let count = 0; count < 12; count++) createLink(stores, anonymous, { ...order, apiKey });
    for (let count = 0; count < 3; count++) createLink(stores, controller, order);
    const { link } = createLink(stores, alice, order);
    const upkeep = (now: MemoryStores) => {
      endLinksOfFormerControllers(now);
      while (endLinks(now, startNs));
    };
    upkeep(stores);
    expect(getBucket(stores, 'box').linkCount).toBe(16);
    expectRefusal(later, 'QuotaExceeded', () => createLink(later, alice, order));
    upkeep(later);
    expect(getBucket(stores, 'box').linkCount).toBe(1);
    createLink(later, alice, order);
    expect(listLinks(later, alice, order).items.map(({ id }) => id)).toContain(link.id);
    checkInvariants(later);
  });

  test('frees that room although the record of a link is damaged', () => {
    const order = { bucket: 'box', path, apiKey: undefined };
    const before = fileKeys();
    createLink(stores, alice, order);
    const [damaged] = fileKeys().filter((key) => !before.includes(key));
    createLink(stores, anonymous, { ...order, apiKey });
    createLink(stores, controller, order);
    stores.files.set(Buffer.from(damaged ?? '', 'hex'), Uint8Array.of(255));
    endLinksOfFormerControllers(later);
    while (endLinks(later, startNs));
    expect(getBucket(stores, 'box').linkCount).toBe(1);
  });
});

function fileKeys(): string[] {
  return stores.files.keys(0, 1_000).map((key) => Buffer.from(key).toString('hex'));
}
