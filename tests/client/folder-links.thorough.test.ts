// Links to folders, ordinary and end-to-end, as owners create them and as anybody opens them.

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { listIdOfSecret, newFolderSecret } from '../../packages/client/src/age/folder-list.ts';
import { createHttpStorage } from '../../packages/client/src/http-storage.ts';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import { createNodeStorage } from '../../packages/client/src/node/storage.ts';
import { openFolderLink } from '../../packages/client/src/open-folder-link.ts';
import { createServiceStorage } from '../../packages/client/src/service-storage.ts';
import type { Storage } from '../../packages/client/src/storage.ts';
import { newIdentity, principalOf } from '../../scripts/local-service.ts';
import { openService, ownerOf, type Service } from '../support/service.ts';

let service: Service;
let owner: Storage;
const kinds = { plain: undefined, safe: {}, sealed: { sealsNames: true } };
const sealing = ['safe', 'sealed'];

beforeAll(async () => {
  service = await openService({ hasFront: true });
  owner = storageOf(service.identityPem);
  for (const [bucket, endToEnd] of Object.entries(kinds)) {
    await ownerOf(service).buckets.create(bucket, { endToEnd });
    for (const path of ['trip/sea.txt', 'trip/day 1/harbour.txt', 'other.txt'])
      await put(bucket, path);
  }
});
afterAll(() => service?.stop());

function storageOf(identityPem: string): Storage {
  const { host, canisterId } = service;
  return createNodeStorage({ host, canisterId, identity: identityFromPem(identityPem) });
}

function put(bucket: string, path: string, text = path) {
  return owner.upload(new Blob([text]), { bucket, path });
}

/** Requests the volume at localhost: names below it may not resolve. */
function localFetch(asked: URL[] = []): typeof fetch {
  return (input, init) => {
    const url = new URL(String(input));
    asked.push(url);
    return fetch(`${service.base}${url.pathname}${url.search}`, init);
  };
}

const open = (url: string, asked?: URL[]) => openFolderLink(url, { fetch: localFetch(asked) });

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

async function listed(url: string) {
  const files = await all((await open(url)).list());
  return files.map(({ path, afterSharing }) => [path, afterSharing]);
}

async function read(url: string, path: string): Promise<string> {
  return Buffer.from(await (await (await open(url)).download(path)).bytes()).toString();
}

/** Paths of the lists of file keys. */
async function lists(bucket: string): Promise<string[]> {
  const found = await all(owner.list({ bucket }));
  return found.map(({ path }) => path).filter((path) => path.includes('.efs-shared/'));
}

async function changed(url: string, change: (fields: URLSearchParams) => void): Promise<string> {
  const fields = new URLSearchParams(new URL(url).hash.slice(1));
  change(fields);
  return `${new URL(url).origin}/#${fields}`;
}

describe.each(Object.keys(kinds))('folderLinks in bucket %s', (bucket) => {
  const folder = { bucket, prefix: 'trip/' };

  test('create() returns an address at the front that lists and reads only the folder', async () => {
    const { url, id, keys, expiresAt } = await owner.folderLinks.create(folder);
    expect(url.startsWith(`${service.frontUrl}/#link=folder&key=efs_`)).toBe(true);
    expect(url).toContain(`&volume=${service.canisterId}&`);
    expect(id).toMatch(/^[0-9a-f]{16}$/);
    expect(expiresAt).toBeUndefined();
    const expected = sealing.includes(bucket) ? { fileCount: 2, unreadable: [] } : undefined;
    expect(keys).toEqual(expected);
    const asked: URL[] = [];
    const opened = await open(url, asked);
    expect(asked).toEqual([]);
    expect((await all(opened.list())).map(({ path }) => path)).toEqual([
      ...['day 1/harbour.txt', 'sea.txt'],
    ]);
    expect(new Set(asked.map(({ hostname }) => hostname))).toEqual(
      new Set([`${service.canisterId}.localhost`]),
    );
    expect(await read(url, 'day 1/harbour.txt')).toBe('trip/day 1/harbour.txt');
    const part = await opened.download('sea.txt', { range: { start: 5, end: 8 } });
    expect(Buffer.from(await part.bytes()).toString()).toBe('sea');
    await expect(read(url, '../other.txt')).rejects.toThrow();
    await owner.folderLinks.remove(bucket, id);
    await expect(listed(url)).rejects.toMatchObject({ code: 'InvalidApiKey' });
    expect(await lists(bucket)).toEqual([]);
  });

  test('create() shares a whole bucket, until a time', async () => {
    const expiresAt = new Date(Date.now() + 3_600_000);
    const link = await owner.folderLinks.create({ bucket, prefix: '', expiresAt, name: 'all' });
    expect(link.expiresAt).toBe(expiresAt.toISOString());
    expect(await read(link.url, 'other.txt')).toBe('other.txt');
    const [key] = (await owner.keys.list(bucket)).filter(({ id }) => id === link.id);
    expect(key).toMatchObject({ name: expect.stringMatching(/^all/), permissions: ['read'] });
    await owner.folderLinks.remove(bucket, link.id);
  });

  test('openFolderLink() refuses an address that is cut off or changed', async () => {
    const { url, id } = await owner.folderLinks.create(folder);
    for (let end = url.indexOf('#'); end < url.length; end += 3) {
      await expect(open(url.slice(0, end)), url.slice(0, end)).rejects.toMatchObject({
        code: 'InvalidArgument',
      });
    }
    const unmarked = await changed(url, (fields) => fields.delete('link'));
    await expect(open(unmarked)).rejects.toMatchObject({ code: 'InvalidArgument' });
    for (const change of ['&shared=trip%2F', '&other=1', '%2F..%2F']) {
      await expect(open(url + change)).rejects.toMatchObject({ code: 'InvalidArgument' });
    }
    const wider = await changed(url, (fields) => fields.set('shared', '/'));
    expect(String(await listed(wider).catch(() => []))).not.toContain('other.txt');
    await owner.folderLinks.remove(bucket, id);
  });

  test('create() refuses a prefix that is not a folder, and an invalid date', async () => {
    for (const prefix of ['trip', '/trip/', 'a//b/']) {
      await expect(owner.folderLinks.create({ bucket, prefix })).rejects.toMatchObject({
        code: 'InvalidArgument',
      });
    }
    const expiresAt = new Date(Number.NaN);
    const creating = owner.folderLinks.create({ ...folder, expiresAt });
    await expect(creating).rejects.toMatchObject({ code: 'InvalidArgument' });
    const { id } = await owner.keys.create({
      name: 'w',
      buckets: [bucket],
      permissions: ['write'],
    });
    await expect(owner.folderLinks.remove(bucket, id)).rejects.toThrow(/is not a link to a folder/);
    await owner.keys.revoke(id);
  });
});

describe.each(sealing)('folderLinks in end-to-end bucket %s', (bucket) => {
  const folder = { bucket, prefix: 'trip/' };

  test('refresh() opens files that were added or replaced after sharing', async () => {
    const { url, id } = await owner.folderLinks.create(folder);
    await put(bucket, 'trip/sea.txt', 'replaced');
    await put(bucket, 'trip/late.txt');
    const later = await listed(url);
    expect(later).toContainEqual(['sea.txt', 'replaced']);
    expect(later.map(([, afterSharing]) => afterSharing).sort()).toEqual([
      ...['added', 'replaced', undefined],
    ]);
    const [added = ''] = later.find(([, afterSharing]) => afterSharing === 'added') ?? [];
    expect(added === 'late.txt').toBe(bucket === 'safe');
    for (const path of [added, 'sea.txt']) {
      await expect(read(url, path)).rejects.toMatchObject({
        code: 'NoIdentity',
        message: expect.stringMatching(/after the folder was shared/),
      });
    }
    expect(await read(url, 'day 1/harbour.txt')).toBe('trip/day 1/harbour.txt');
    const done: number[] = [];
    const onProgress = (count: number) => void done.push(count);
    expect(await owner.folderLinks.refresh(url, { onProgress })).toEqual({
      ...{ fileCount: 3, unreadable: [] },
    });
    expect(done).toEqual([1, 2, 3]);
    expect(await read(url, 'sea.txt')).toBe('replaced');
    expect(await read(url, 'late.txt')).toBe('trip/late.txt');
    await owner.remove({ bucket, path: 'trip/late.txt' });
    expect((await listed(url)).map(([path]) => path)).toEqual(['day 1/harbour.txt', 'sea.txt']);
    await owner.folderLinks.remove(bucket, id);
    await expect(owner.folderLinks.refresh(url)).rejects.toMatchObject({ code: 'NoSuchFile' });
    expect(await lists(bucket)).toEqual([]);
  });

  test('openFolderLink() refuses a wrong secret, a changed list, and bytes of another file', async () => {
    const { url, id } = await owner.folderLinks.create(folder);
    const other = await owner.folderLinks.create(folder);
    const secretOf = (address: string) =>
      new URLSearchParams(new URL(address).hash.slice(1)).get('secret') ?? '';
    const wrong = await changed(url, (fields) => fields.set('secret', secretOf(other.url)));
    await expect(listed(wrong)).rejects.toMatchObject({ code: 'IntegrityError' });
    await expect(owner.folderLinks.refresh(wrong)).rejects.toMatchObject({ code: 'NoSuchFile' });
    const [first = '', second = ''] = await lists(bucket);
    await owner.copy({ bucket, path: first }, { path: second });
    const results = await Promise.allSettled([listed(url), listed(other.url)]);
    const failed = results.filter(({ status }) => status === 'rejected');
    expect(failed).toMatchObject([{ reason: { code: 'IntegrityError' } }]);
    await owner.folderLinks.remove(bucket, other.id);
    await owner.folderLinks.remove(bucket, id);
    const third = await owner.folderLinks.create(folder);
    const swapped: typeof fetch = (input, init) =>
      localFetch()(
        String(input).replace(/(cloud\/\w+\/.*)/, (path) => swap(path)),
        init,
      );
    const stored = await storedPaths(bucket, third.url);
    const swap = (path: string) => path.replace(stored.sea, stored.harbour);
    const opened = await openFolderLink(third.url, { fetch: swapped });
    // By its entity tag
    await expect(opened.download('sea.txt').then((file) => file.bytes())).rejects.toMatchObject({
      code: 'NoIdentity',
    });
    await owner.folderLinks.remove(bucket, third.id);
  });

  test('refresh() refuses an address whose key, folder and list do not belong together', async () => {
    const one = await owner.folderLinks.create(folder);
    const two = await owner.folderLinks.create({ bucket, prefix: 'trip/day 1/' });
    const fieldsOf = (address: string) => new URLSearchParams(new URL(address).hash.slice(1));
    for (const field of ['key', 'secret', 'list', 'shared']) {
      const mixed = await changed(one.url, (fields) =>
        fields.set(field, fieldsOf(two.url).get(field) ?? ''),
      );
      await expect(owner.folderLinks.refresh(mixed), field).rejects.toThrow();
    }
    const whole = await changed(one.url, (fields) => {
      for (const field of ['secret', 'list', 'name']) fields.delete(field);
    });
    await expect(owner.folderLinks.refresh(whole)).rejects.toThrow(/the address has no secret/);
    await expect(owner.folderLinks.refresh('https://example.com/')).rejects.toMatchObject({
      code: 'InvalidArgument',
    });
    for (const { id } of [one, two]) await owner.folderLinks.remove(bucket, id);
    expect(await lists(bucket)).toEqual([]);
  });

  test('refresh() encrypts to no secret but that of the key, also if its list is there', async () => {
    const { url, id } = await owner.folderLinks.create(folder);
    const secret = newFolderSecret();
    const listId = await listIdOfSecret(secret);
    const forged = await changed(url, (fields) => fields.set('secret', secret));
    // As a node would answer that has seen the link's key
    await put(bucket, `trip/.efs-shared/${listId}.age`, 'a list for another secret');
    await expect(owner.folderLinks.refresh(forged)).rejects.toMatchObject({ code: 'NoSuchFile' });
    expect(await read(url, 'sea.txt')).toBe('replaced');
    await owner.folderLinks.remove(bucket, id);
    await owner.remove({ bucket, path: `trip/.efs-shared/${listId}.age` });
  });

  test('refresh() stores a list that was deleted again', async () => {
    const { url, id } = await owner.folderLinks.create(folder);
    const [path = ''] = await lists(bucket);
    await owner.remove({ bucket, path });
    await expect(listed(url)).rejects.toThrow(/moved or deleted/);
    await owner.folderLinks.refresh(url);
    expect(await read(url, 'sea.txt')).toBe('replaced');
    await owner.folderLinks.remove(bucket, id);
  });

  test('list() shows a folder that has the name of a folder above it', async () => {
    await put(bucket, 'day/trip/day/x.txt');
    await put(bucket, 'day/trip/trip.txt');
    const { url, id } = await owner.folderLinks.create({ bucket, prefix: 'day/trip/' });
    expect((await listed(url)).map(([path]) => path).sort()).toEqual(['day/x.txt', 'trip.txt']);
    expect(await read(url, 'day/x.txt')).toBe('day/trip/day/x.txt');
    await owner.folderLinks.remove(bucket, id);
  });

  test('list() shows no list of file keys in a bucket that was empty', async () => {
    const endToEnd = kinds[bucket as 'safe' | 'sealed'];
    const empty = `empty-${bucket}`;
    await ownerOf(service).buckets.create(empty, { endToEnd });
    const { url } = await owner.folderLinks.create({ bucket: empty, prefix: '' });
    expect(await listed(url)).toEqual([]);
    await put(empty, 'added.txt');
    expect((await listed(url)).map(([, afterSharing]) => afterSharing)).toEqual(['added']);
  });

  test('remove() ends the link although its list is held', async () => {
    const { url, id } = await owner.folderLinks.create(folder);
    const [path = ''] = await lists(bucket);
    await owner.retention.hold({ bucket, path });
    await owner.folderLinks.remove(bucket, id);
    await expect(listed(url)).rejects.toMatchObject({ code: 'InvalidApiKey' });
    await owner.retention.release({ bucket, path });
    await owner.remove({ bucket, path });
  });

  test('create() that fails half-way leaves no key, and its list is deleted later', async () => {
    const keys = (await owner.keys.list(bucket)).length;
    const failing = storageOf(service.identityPem);
    const stranger = newIdentity();
    await owner.buckets.update(bucket, {
      addMembers: [{ principal: principalOf(stranger).toText(), role: 'writer' }],
    });
    // A writer stores the list, but may not create the key.
    const creating = storageOf(stranger).folderLinks.create(folder);
    await expect(creating).rejects.toMatchObject({ code: 'AccessDenied' });
    expect([await lists(bucket), (await owner.keys.list(bucket)).length]).toEqual([[], keys]);
    await put(bucket, 'trip/.efs-shared/AAAAAAAAAAAAAAAA.age', 'left over');
    const { id } = await failing.folderLinks.create(folder);
    expect(await lists(bucket)).toHaveLength(2);
    const { parse } = Date;
    const older = vi.spyOn(Date, 'parse').mockImplementation((time) => parse(time) - 4_000_000);
    try {
      await failing.folderLinks.remove(bucket, id);
    } finally {
      older.mockRestore();
    }
    expect(await lists(bucket)).toEqual([]);
  });
});

/** The stored paths of two files, as the service sees them. */
async function storedPaths(bucket: string, url: string) {
  const fields = new URLSearchParams(new URL(url).hash.slice(1));
  const keyed = createHttpStorage({ url: service.base, apiKey: fields.get('key') ?? '' });
  const prefix = fields.get('shared') ?? '';
  const stored = (await all(keyed.list({ bucket, prefix }))).map(({ path }) => path);
  const depth = prefix.split('/').length;
  const list = fields.get('list') ?? '';
  const own = stored.filter((path) => !path.endsWith(list));
  const sea = own.find((path) => path.split('/').length === depth) ?? '';
  const harbour = own.find((path) => path.split('/').length > depth) ?? '';
  return { sea, harbour };
}

test('folderLinks.create() of a service begins at the front that the caller named', async () => {
  const [front = ''] = new URL(service.frontUrl ?? '').hostname.split('.');
  const identity = identityFromPem(service.identityPem);
  const storage = createServiceStorage({ host: service.host, front, identity });
  const { url, id } = await storage.folderLinks.create({ bucket: 'safe', prefix: 'trip/' });
  expect(url.startsWith(`http://${front}.localhost:`)).toBe(true);
  expect(await read(url, 'sea.txt')).toBe('replaced');
  expect(await storage.folderLinks.refresh(url)).toMatchObject({ fileCount: 2 });
  await storage.folderLinks.remove('safe', id);
});
