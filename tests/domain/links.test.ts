// Links: who may create them, which files they open, and when they end.

import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { revokeKey } from '../../src/domain/administration/api-key-administration.ts';
import { updateBucket } from '../../src/domain/administration/bucket-administration.ts';
import { getBucket } from '../../src/domain/buckets/buckets.ts';
import { heldBytes } from '../../src/domain/buckets/quota.ts';
import { copyFile, moveFile } from '../../src/domain/files/copies.ts';
import { readFile } from '../../src/domain/files/file-records.ts';
import { deleteFile } from '../../src/domain/files/files.ts';
import { endLinks } from '../../src/domain/files/link-records.ts';
import {
  createLink,
  deleteLink,
  type LinkRequest,
  listLinks,
  withLinkedFile,
} from '../../src/domain/files/links.ts';
import { findKey } from '../../src/domain/rights/api-keys.ts';
import { filePathBytesMax } from '../../src/limits.ts';
import {
  bucketChange,
  callOf,
  createScene,
  expectRefusal,
  makeKey,
  type Person,
  putTestFile,
  type Scene,
  startNs,
  testBytes,
} from '../support/domain-fixture.ts';
import { checkInvariants } from '../support/invariants.ts';

const alice = callOf('alice');
const bob = callOf('bob');
const bobId = bob.caller.principal;

let scene: Scene;

beforeEach(async () => {
  scene = await createScene();
  updateBucket(scene.stores, alice, bucketChange({ isPublic: false }));
  put('dir/a.txt', 1);
});

function put(path: string, seed: number): void {
  putTestFile(scene.stores, { path: `/${path}`, bytes: testBytes(10, seed) });
}

interface Address {
  readonly id: string;
  readonly name: string;
  readonly secret: string;
}

function make(request: Partial<LinkRequest> = {}, call = alice): Address {
  const order = { bucket: 'box', path: 'dir/a.txt', apiKey: undefined, ...request };
  const { url } = createLink(scene.stores, call, order);
  const [, , id = '', rest = ''] = url.split('/');
  const [name = '', secret = ''] = rest.split('?k=');
  return { id, name: decodeURIComponent(name), secret };
}

function read(address: Address, nowNs = startNs): Buffer {
  const { stores } = scene;
  return withLinkedFile(stores, callOf('anonymous', nowNs), address, (opened) =>
    Buffer.from(readFile(stores, opened, { start: 0, end: opened.file.size })),
  );
}

function expectDead(address: Address, nowNs = startNs): void {
  expectRefusal(scene.stores, 'NoSuchFile', () => read(address, nowNs));
}

function ids(path?: string): string[] {
  const request = { bucket: 'box', apiKey: undefined, path };
  return listLinks(scene.stores, alice, request).items.map(({ id }) => id);
}

describe('createLink(): a link', () => {
  test('opens the file of a private bucket to everybody until it expires', () => {
    const link = make({ expiresAtNs: startNs + 10n });
    expect(link.name).toBe('a.txt');
    expect(link.secret).toMatch(/^[\w-]{22}$/);
    expect(read(link)).toEqual(Buffer.from(testBytes(10, 1)));
    expect(read(link, startNs + 9n)).toHaveLength(10);
    expectDead(link, startNs + 10n);
    expect(endLinks(scene.stores, startNs + 9n)).toBe(false);
    expect(ids()).toEqual([link.id]);
    endLinks(scene.stores, startNs + 10n);
    expect(ids()).toEqual([]);
    expect(getBucket(scene.stores, 'box').linkCount).toBe(0);
    checkInvariants(scene.stores);
  });

  test('opens nothing with another secret, name or id, nor with the stored hash', () => {
    const link = make();
    const hash = createHash('sha256').update(link.secret).digest('base64url');
    expectDead({ ...link, secret: '' });
    expectDead({ ...link, secret: `${link.secret.slice(0, -1)}.` });
    expectDead({ ...link, secret: hash });
    expectDead({ ...link, name: 'b.txt' });
    expectDead({ ...link, id: 'AAAAAAAAAAAAAAAA' });
    const { files, system } = scene.stores;
    for (const bytes of [system.stable, ...files.entries().flat()]) {
      expect(Buffer.from(bytes).includes(link.secret)).toBe(false);
      const raw = Buffer.from(link.secret, 'base64url');
      expect(Buffer.from(bytes).includes(raw)).toBe(false);
    }
  });

  test('follows its file when it is replaced or moved, and ends when it is deleted', () => {
    const { stores } = scene;
    const link = make();
    put('dir/a.txt', 2);
    expect(read(link)).toEqual(Buffer.from(testBytes(10, 2)));
    const name = { bucket: 'box', conditions: {}, apiKey: undefined };
    moveFile(stores, alice, { ...name, from: 'dir/a.txt', to: { path: 'b' } });
    expect(read(link)).toEqual(Buffer.from(testBytes(10, 2)));
    expect(ids('b')).toEqual([link.id]);
    checkInvariants(stores);
    copyFile(stores, alice, { ...name, from: 'b', to: { path: 'c' } });
    expect(ids('c')).toEqual([]);
    deleteFile(stores, alice, { ...name, path: 'b' });
    expectDead(link);
    put('b', 3);
    expectDead(link);
    checkInvariants(stores);
  });

  test('ends when the file is moved to another bucket', () => {
    const { stores } = scene;
    const link = make();
    const to = { bucket: 'other', path: 'x' };
    const order = { bucket: 'box', from: 'dir/a.txt', to, conditions: {}, apiKey: undefined };
    moveFile(stores, alice, order);
    expectDead(link);
    checkInvariants(stores);
  });

  test('of a key with a prefix ends when the file leaves the prefix', () => {
    const { stores } = scene;
    const apiKey = makeKey(stores, { permissions: ['read', 'delete'], prefix: 'dir/' });
    const link = make({ apiKey }, bob);
    const others = make();
    put('outside', 3);
    const far = make({ path: 'outside' });
    const order = { bucket: 'box', path: 'outside', apiKey };
    expectRefusal(stores, 'AccessDenied', () => createLink(stores, bob, order));
    const remove = { bucket: 'box', id: far.id, apiKey };
    expectRefusal(stores, 'NoSuchFile', () => deleteLink(stores, bob, remove));
    const endless = { ...remove, id: 'x'.repeat(4_000) };
    expectRefusal(stores, 'NoSuchFile', () => deleteLink(stores, bob, endless));
    const listed = listLinks(stores, bob, { bucket: 'box', apiKey }).items;
    expect(listed.map(({ id }) => id).sort()).toEqual([link.id, others.id].sort());
    const name = { bucket: 'box', conditions: {}, apiKey: undefined };
    moveFile(stores, alice, { ...name, from: 'dir/a.txt', to: { path: 'dir/b' } });
    expect(read(link)).toHaveLength(10);
    moveFile(stores, alice, { ...name, from: 'dir/b', to: { path: 'c' } });
    expectDead(link);
    expect(read(others)).toHaveLength(10);
    checkInvariants(stores);
  });

  test('ends when the key that created it is revoked', () => {
    const { stores } = scene;
    const apiKey = makeKey(stores, { permissions: ['read'] });
    const links = Array.from({ length: 3 }, () => make({ apiKey }, bob));
    const other = make();
    revokeKey(stores, alice, findKey(stores, apiKey, startNs).id);
    for (const link of links) expectDead(link);
    expect(ids()).toEqual([other.id]);
    while (endLinks(stores, startNs));
    expect(getBucket(stores, 'box').linkCount).toBe(1);
    expect(read(other)).toHaveLength(10);
    checkInvariants(stores);
  });

  test.each([1, 20, 21])(
    'is deleted by one run of upkeep, with %i links of each of three keys',
    (count) => {
      const { stores } = scene;
      for (let path = 0; path < count; path++) put(`f${path}`, 1);
      const keys = [1, 2, 3].map(() => makeKey(stores, { permissions: ['read'] }));
      for (const apiKey of keys) {
        for (let path = 0; path < count; path++) make({ apiKey, path: `f${path}` }, bob);
      }
      for (const apiKey of keys) revokeKey(stores, alice, findKey(stores, apiKey, startNs).id);
      // Upkeep continues at once while a turn returns true, and else after ten minutes.
      let turns = 1;
      while (endLinks(stores, startNs)) turns += 1;
      expect(getBucket(stores, 'box').linkCount).toBe(0);
      expect(turns).toBe(3 * (Math.ceil(count / 20) + 1) + 1);
      const writes = stores.writeCount();
      expect(endLinks(stores, startNs)).toBe(false);
      expect(stores.writeCount()).toBe(writes);
      checkInvariants(stores);
    },
  );

  test('ends when the key that created it expires, or loses its bucket', () => {
    const { stores } = scene;
    const expiresAtNs = startNs + 50n;
    const short = makeKey(stores, { permissions: ['read'], expiresAtNs });
    const link = make({ apiKey: short, expiresAtNs: startNs + 90n }, bob);
    expect(read(link, startNs + 49n)).toHaveLength(10);
    expectDead(link, startNs + 50n);
    // A link without an expiry expires with its key, and lists show that time.
    const order = { bucket: 'box', path: 'dir/a.txt', apiKey: short };
    const { link: endless } = createLink(stores, bob, order);
    expect(endless.expiresAtNs).toBe(expiresAtNs);
    const { link: shorter } = createLink(stores, bob, { ...order, expiresAtNs: startNs + 9n });
    expect(shorter.expiresAtNs).toBe(startNs + 9n);
    const both = makeKey(stores, { permissions: ['read'], buckets: ['box', 'other'] });
    putTestFile(stores, { bucket: 'other', path: '/x' });
    const inBox = make({ apiKey: both }, bob);
    const inOther = make({ apiKey: both, bucket: 'other', path: 'x' }, bob);
    updateBucket(stores, alice, bucketChange({ owner: bobId, addMembers: [], removeMembers: [] }));
    updateBucket(stores, bob, bucketChange({ removeMembers: [alice.caller.principal] }));
    expectDead(inBox);
    expect(read(inOther)).toHaveLength(10);
    while (endLinks(stores, startNs));
    checkInvariants(stores);
  });

  test('ends when its creator is removed from the bucket', () => {
    const { stores } = scene;
    const named = { principal: bobId, role: 'reader' };
    updateBucket(stores, alice, bucketChange({ addMembers: [named] }));
    const link = make({}, bob);
    expect(read(link)).toHaveLength(10);
    updateBucket(stores, alice, bucketChange({ removeMembers: [bobId] }));
    expectDead(link);
  });

  test.each(['reader', 'writer', 'owner'])('of a removed %s never works again', (role) => {
    const { stores } = scene;
    const named = bucketChange({ addMembers: [{ principal: bobId, role }], isPublic: true });
    updateBucket(stores, alice, named);
    const link = make({}, bob);
    expect(read(link)).toHaveLength(10);
    updateBucket(stores, alice, bucketChange({ removeMembers: [bobId] }));
    expectDead(link);
    expect(ids()).toEqual([]);
    updateBucket(stores, alice, named);
    expectDead(link);
    const order = { bucket: 'box', path: 'dir/a.txt', apiKey: undefined };
    expectRefusal(stores, 'SlowDown', () => createLink(stores, bob, order));
    while (endLinks(stores, startNs));
    expect(getBucket(stores, 'box').linkCount).toBe(0);
    expect(read(make({}, bob))).toHaveLength(10);
    expectDead(link);
    checkInvariants(stores);
  });

  test('of a former owner works while its creator may read the bucket, and then ends', () => {
    const { stores } = scene;
    const link = make();
    updateBucket(stores, alice, bucketChange({ owner: bobId }));
    expect(read(link)).toHaveLength(10);
    const aliceId = alice.caller.principal;
    const demoted = { principal: aliceId, role: 'reader' };
    updateBucket(stores, bob, bucketChange({ addMembers: [demoted] }));
    expect(read(link)).toHaveLength(10);
    updateBucket(stores, bob, bucketChange({ removeMembers: [aliceId] }));
    expectDead(link);
    while (endLinks(stores, startNs));
    checkInvariants(stores);
  });

  test('of a controller ends when the principal is no longer a controller', () => {
    const link = make({}, callOf('controller'));
    expect(read(link)).toHaveLength(10);
    Object.assign(scene.stores, { isController: () => false });
    expectDead(link);
    expect(ids()).toEqual([]);
  });

  test('may have a download name, under which the file is saved', () => {
    expect(make({ downloadName: 'Über uns.txt' }).name).toBe('Über uns.txt');
  });
});

test('createLink(): links to the longest path are listed page by page', () => {
  const path = 'p'.repeat(filePathBytesMax);
  put(path, 1);
  const made = [make({ path }), make({ path })].map(({ id }) => id);
  const request = { bucket: 'box', apiKey: undefined, limit: 1 };
  const first = listLinks(scene.stores, alice, request);
  const second = listLinks(scene.stores, alice, {
    ...request,
    cursor: first.nextCursor ?? expect.fail('no cursor'),
  });
  expect([...first.items, ...second.items].map(({ id }) => id)).toEqual(made.sort());
  expect(second.nextCursor).toBeNull();
});

test('createLink(): a key with a prefix lists no links outside of it, even to a path with which the prefix begins', () => {
  const { stores } = scene;
  put('dir/a', 2);
  make({ path: 'dir/a' });
  const link = make();
  const apiKey = makeKey(stores, { permissions: ['read'], prefix: 'dir/a.' });
  const list = (path?: string) => listLinks(stores, bob, { bucket: 'box', path, apiKey }).items;
  expectRefusal(stores, 'AccessDenied', () => list('dir/a'));
  expect(list().map(({ id }) => id)).toEqual([link.id]);
  expect(list('dir/a.txt').map(({ id }) => id)).toEqual([link.id]);
});

test('listLinks shows makers to owners and to keys with every permission only', () => {
  const { stores } = scene;
  const named = { principal: bobId, role: 'reader' };
  updateBucket(stores, alice, bucketChange({ addMembers: [named] }));
  make({}, bob);
  const list = (call: typeof alice, permissions?: string[]) => {
    const apiKey = permissions && makeKey(stores, { permissions });
    return listLinks(stores, call, { bucket: 'box', apiKey }).areMakersShown;
  };
  expect([list(alice), list(bob)]).toEqual([true, false]);
  expect(list(bob, ['read', 'write'])).toBe(false);
  expect(list(bob, ['read', 'write', 'delete'])).toBe(true);
});

describe('createLink()', () => {
  const order = { bucket: 'box', path: 'dir/a.txt', apiKey: undefined };

  test.each<[Parameters<typeof expectRefusal>[1], Partial<LinkRequest>, Person]>([
    ['NoSuchFile', { path: 'none' }, 'alice'],
    ['InvalidPath', { path: 'x//y' }, 'alice'],
    ['InvalidArgument', { expiresAtNs: startNs }, 'alice'],
    ['InvalidArgument', { expiresAtNs: 2n ** 64n }, 'alice'],
    ['InvalidArgument', { downloadName: 'a/b' }, 'alice'],
    ['InvalidPath', { downloadName: '..' }, 'alice'],
    ['NoSuchBucket', {}, 'bob'],
    ['NoSuchBucket', {}, 'anonymous'],
  ])('refuses with %s: %o by %s', (code, change, person) => {
    const call = callOf(person);
    expectRefusal(scene.stores, code, () =>
      createLink(scene.stores, call, { ...order, ...change }),
    );
  });

  test('requires a right to read', () => {
    const { stores } = scene;
    const apiKey = makeKey(stores, { permissions: ['write', 'delete'] });
    expectRefusal(stores, 'AccessDenied', () => createLink(stores, bob, { ...order, apiKey }));
  });

  test('allows twelve links of a file to keys and members, so that four remain for owners', () => {
    const { stores } = scene;
    const apiKey = makeKey(stores, { permissions: ['read'] });
    const named = { principal: bobId, role: 'writer' };
    updateBucket(stores, alice, bucketChange({ addMembers: [named] }));
    for (let count = 0; count < 6; count++) make({ apiKey }, bob);
    for (let count = 0; count < 6; count++) make({}, bob);
    expectRefusal(stores, 'QuotaExceeded', () => createLink(stores, bob, { ...order, apiKey }));
    expectRefusal(stores, 'QuotaExceeded', () => createLink(stores, bob, order));
    for (let count = 0; count < 4; count++) make();
    expectRefusal(stores, 'QuotaExceeded', () => createLink(stores, alice, order));
    checkInvariants(stores);
  });

  test('counts a link towards the quota of the bucket, until it is removed', () => {
    const { stores } = scene;
    const before = heldBytes(getBucket(stores, 'box'));
    const { id } = make();
    const taken = heldBytes(getBucket(stores, 'box')) - before;
    expect(taken).toBeGreaterThan(500);
    const quotaBytes = BigInt(before + 2 * taken - 1);
    updateBucket(stores, alice, bucketChange({ quotaBytes }));
    expectRefusal(stores, 'QuotaExceeded', () => createLink(stores, alice, order));
    deleteLink(stores, alice, { bucket: 'box', id, apiKey: undefined });
    expect(heldBytes(getBucket(stores, 'box'))).toBe(before);
    make();
    checkInvariants(stores);
  });

  test('allows sixteen unexpired links of a file', () => {
    const { stores } = scene;
    for (let count = 0; count < 15; count++) make();
    make({ expiresAtNs: startNs + 1n });
    expectRefusal(stores, 'QuotaExceeded', () => createLink(stores, alice, order));
    make({}, callOf('alice', startNs + 1n));
    checkInvariants(stores);
  });
});

describe('createLink(): a file that takes the place of another one', () => {
  const order = { bucket: 'box', from: 'dir/a.txt', conditions: {}, apiKey: undefined };

  test('gets the links of both', () => {
    put('b', 2);
    const links = [make(), make({ path: 'b' })];
    moveFile(scene.stores, alice, { ...order, to: { path: 'b' } });
    for (const link of links) expect(read(link)).toEqual(Buffer.from(testBytes(10, 1)));
    expect(ids('b').sort()).toEqual(links.map(({ id }) => id).sort());
    deleteFile(scene.stores, alice, { ...order, path: 'b' });
    for (const link of links) expectDead(link);
    checkInvariants(scene.stores);
  });

  test('is not moved if both together have more than sixteen unexpired links', () => {
    const { stores } = scene;
    put('b', 2);
    for (let count = 0; count < 16; count++) make({ path: 'b' });
    const move = (nowNs = startNs) =>
      moveFile(stores, callOf('alice', nowNs), { ...order, to: { path: 'b' } });
    const { id } = make({ expiresAtNs: startNs + 1n });
    expectRefusal(stores, 'QuotaExceeded', move);
    move(startNs + 1n);
    expect(getBucket(stores, 'box').linkCount).toBe(17);
    deleteLink(stores, alice, { bucket: 'box', id, apiKey: undefined });
    checkInvariants(stores);
  });

  test('has at most as many expired links as one call can delete', () => {
    const { stores } = scene;
    for (let round = 0n; round < 2n; round++) {
      const call = callOf('alice', startNs + round);
      for (let count = 0; count < 16; count++) {
        make({ expiresAtNs: startNs + round + 1n }, call);
      }
    }
    const later = callOf('alice', startNs + 2n);
    const request = { bucket: 'box', path: 'dir/a.txt', apiKey: undefined };
    expectRefusal(stores, 'QuotaExceeded', () => createLink(stores, later, request));
    deleteFile(stores, later, { ...request, conditions: {} });
    expect(getBucket(stores, 'box').linkCount).toBe(0);
    checkInvariants(stores);
  });
});

describe('createLink(): deletion of a link', () => {
  test('is allowed for its creator, for owners, and for keys that may delete', () => {
    const { stores } = scene;
    const reads = makeKey(stores, { permissions: ['read'] });
    const deletes = makeKey(stores, { permissions: ['read', 'delete'] });
    const own = make({ apiKey: reads }, bob);
    const others = make();
    const remove = ({ id }: Address, apiKey: string | undefined, call = bob) =>
      deleteLink(stores, call, { bucket: 'box', id, apiKey });
    expectRefusal(stores, 'AccessDenied', () => remove(others, reads));
    remove(own, reads);
    expectDead(own);
    remove(others, deletes);
    expectDead(others);
    expectRefusal(stores, 'NoSuchFile', () => remove(others, deletes));
    remove(make({ apiKey: reads }, bob), undefined, alice);
    expect(getBucket(stores, 'box').linkCount).toBe(0);
    checkInvariants(stores);
  });
});
