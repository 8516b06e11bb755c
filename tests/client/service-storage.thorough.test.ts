// The client of a service with three volumes: it finds the volume of each bucket, and no single
// node can add a volume or take a bucket.

import { IDL } from '@dfinity/candid';
import { Principal } from '@dfinity/principal';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import {
  createServiceStorage,
  type ServiceStorage,
} from '../../packages/client/src/service-storage.ts';
import { createStorage } from '../../packages/client/src/storage.ts';
import type { VolumeMemory } from '../../packages/client/src/types/service.ts';
import type { MessageReport } from '../../packages/replica/src/core.ts';
import type { QueryFaults } from '../../packages/replica/src/network/query-faults.ts';
import { newIdentity, principalOf } from '../../scripts/local-service.ts';
import { ResultVolumeProof } from '../../src/actor/candid/service.ts';
import { ResultBucket } from '../../src/actor/candid/types.ts';
import { expectSameBytes } from '../support/expect-same.ts';
import { sampleBytes } from '../support/service.ts';
import { ServiceOfVolumes } from '../support/service-of-volumes.ts';

const service = new ServiceOfVolumes();
const names = ['one', 'two', 'three', 'four', 'five', 'six'];
const retry = { attemptsMax: 2, delayMsMin: 1, delayMsMax: 2 };
/** The methods of all messages that ran. */
const methods: string[] = [];
let storage: ServiceStorage;

beforeAll(async () => {
  const onReport = ({ method }: MessageReport) => void (method && methods.push(method));
  await service.start(3, { isOnline: true, faults: {}, onReport });
  storage = open();
  await vi.waitFor(expectOpen, { timeout: 60_000 });
  for (const name of names) await storage.buckets.create(name);
});
afterEach(() => service.replica.setFaults({}));
afterAll(() => service.stop());

function open(pem = service.controllerPem, volumeMemory?: VolumeMemory): ServiceStorage {
  const identity = identityFromPem(pem);
  const { url: host } = service.replica;
  const front = service.frontId.toText();
  return createServiceStorage({ host, front, identity, retry, volumeMemory });
}

async function expectOpen(): Promise<void> {
  const states = (await storage.volumes.list()).map(({ state }) => state);
  expect(states).toEqual(['open', 'open', 'open']);
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

describe('createServiceStorage', () => {
  test('creates buckets at all volumes, and lists them as one service', async () => {
    const places = await Promise.all(names.map((name) => storage.volumeOf(name)));
    expect(new Set(places)).toEqual(new Set(service.volumes.map(String)));
    const listed = await all(storage.buckets.list());
    expect(listed.map(({ id }) => id).sort()).toEqual([...names].sort());
    expect(await storage.status()).toMatchObject({ buckets: 6, files: 0 });
  });

  test.each(names)('stores, lists, changes and removes files in %s', async (bucket) => {
    const bytes = sampleBytes(bucket, 2_000);
    const file = { bucket, path: 'a/b.txt' };
    const [upload] = await all(storage.uploadAll([{ path: file.path, source: bytes }], { bucket }));
    expect(upload?.error).toBeUndefined();
    expectSameBytes(await (await storage.download(file)).bytes(), bytes);
    expect(await storage.change(file, { tags: ['x'] })).toMatchObject({ tags: ['x'] });
    const link = await storage.links.create(file);
    expect(link.url).toContain(await storage.volumeOf(bucket));
    expect((await all(storage.links.list({ bucket }))).map(({ id }) => id)).toEqual([link.id]);
    await storage.copy(file, { path: 'copy.txt' });
    expect((await all(storage.list({ bucket }))).map(({ path }) => path)).toEqual([
      'a/b.txt',
      'copy.txt',
    ]);
    await storage.remove(file);
    expect(await storage.usage({ bucket })).toMatchObject({ files: 1 });
  });

  test.each(names)('versions: lists, reads, restores and erases those of %s', async (bucket) => {
    await storage.buckets.update(bucket, { keepVersionsDays: 1 });
    const place = { bucket, path: 'v.txt' };
    for (const text of ['former', 'later']) await storage.upload(new Blob([text]), place);
    const [former = expect.fail()] = await all(storage.versions.list({ bucket }));
    const download = await storage.versions.download({ ...place, version: former.version });
    expect(new TextDecoder().decode(await download.bytes())).toBe('former');
    await storage.versions.restore({ ...place, version: former.version });
    expect(new TextDecoder().decode(await (await storage.download(place)).bytes())).toBe('former');
    await storage.remove(place);
    expect((await storage.versions.erase({ bucket, prefix: '' })).erased).toBeGreaterThan(1);
    await storage.buckets.update(bucket, { keepVersionsDays: 0 });
  });

  test('journal: lists and verifies the entries of the volume of a bucket', async () => {
    for (const bucket of names) {
      const { entries } = await storage.journal.list(bucket, { after: 0, limit: 1 });
      expect(entries).toMatchObject([{ kind: 'bucket.created', subject: bucket }]);
      const { tip, entries: count } = await storage.journal.verify({ bucket });
      expect(tip.canisterId).toBe(await storage.volumeOf(bucket));
      expect(await all(storage.journal.entries(bucket))).toHaveLength(count ?? 0);
    }
    await expect(storage.journal.verify()).rejects.toMatchObject({ code: 'InvalidArgument' });
  });

  test('makes a key for buckets of one volume only', async () => {
    const places = await Promise.all(names.map((name) => storage.volumeOf(name)));
    const shared = names.filter((_, index) => places[index] === places[0]);
    const request = { name: 'k', permissions: ['read'] as const };
    const made = await storage.keys.create({ ...request, buckets: shared });
    expect(made.buckets).toEqual(shared);
    const mixed = storage.keys.create({ ...request, buckets: names });
    await expect(mixed).rejects.toMatchObject({ code: 'InvalidArgument' });
    await storage.keys.revoke(made.id);
    expect(await storage.keys.list(shared[0] ?? '')).toEqual([]);
  });

  test('reports a bucket that no volume has, or that the caller may not see', async () => {
    await expect(storage.stat({ bucket: 'none', path: 'a' })).rejects.toMatchObject({
      code: 'NoSuchBucket',
      message: expect.stringContaining('at any of the 3 volumes'),
    });
    const stranger = open(newIdentity());
    await expect(stranger.usage({ bucket: 'one' })).rejects.toMatchObject({ code: 'NoSuchBucket' });
  });

  test('finds a bucket again that was deleted and created at another volume', async () => {
    const other = open();
    await other.buckets.create('moved');
    expect(await storage.usage({ bucket: 'moved' })).toMatchObject({ files: 0 });
    const before = await storage.volumeOf('moved');
    await other.buckets.remove('moved');
    const target = service.volumes.find((id) => id.toText() !== before) as Principal;
    await service.createAt(target, 'moved');
    expect(await storage.usage({ bucket: 'moved' })).toMatchObject({ files: 0 });
    expect(await storage.volumeOf('moved')).toBe(target.toText());
  });

  /** Recreates the bucket at another volume without the knowledge of `storage`. */
  async function moveBucket(bucket: string): Promise<void> {
    const before = await storage.volumeOf(bucket);
    await open().buckets.remove(bucket);
    const target = service.volumes.find((id) => id.toText() !== before) as Principal;
    expect(await service.createAt(target, bucket)).toHaveProperty('ok');
  }

  test('lists, and says to repeat what it cannot repeat, after a bucket has left', async () => {
    await storage.buckets.create('leaving');
    const bytes = sampleBytes('leaving', 200);
    const file = { bucket: 'leaving', path: 'a' };
    await moveBucket('leaving');
    expect(await all(storage.list({ bucket: 'leaving' }))).toEqual([]);
    await moveBucket('leaving');
    const uploadAll = () => all(storage.uploadAll([{ path: 'a', source: bytes }], file));
    const moved = { code: 'ServiceUnavailable', isRetryable: true };
    expect(await uploadAll()).toMatchObject([{ path: 'a', error: moved }]);
    expect(await uploadAll()).toMatchObject([{ path: 'a', file: { size: 200 } }]);
    await storage.remove(file);
    await moveBucket('leaving');
    await expect(storage.upload(bytes, file)).rejects.toMatchObject(moved);
    expect(await storage.upload(bytes, file)).toMatchObject({ size: 200 });
    await storage.remove(file);
    await storage.buckets.remove('leaving');
    await expect(storage.upload(bytes, file)).rejects.toMatchObject({ code: 'NoSuchBucket' });
  });

  test('copies and moves files between volumes with type, tags, metadata and ETag', async () => {
    const [one = '', other = ''] = await bucketsApart();
    const bytes = sampleBytes('between', 3_000_000);
    const from = { bucket: one, path: 'big.bin' };
    const described = { contentType: 'a/b', tags: ['x', 'y'], metadata: { by: 'Ada' } };
    const { etag } = await storage.upload(bytes, { ...from, ...described, chunkBytes: 1_000_000 });
    expect(etag).toMatch(/-3$/);
    const to = { bucket: other, path: 'copy.bin' };
    expect(await storage.copy(from, to)).toMatchObject({ ...described, bucketId: other, etag });
    expectSameBytes(await (await storage.download(to)).bytes(), bytes);
    const refused = { code: 'PreconditionFailed' };
    await expect(storage.copy(from, to, { ifNoneMatch: '*' })).rejects.toMatchObject(refused);
    const ifSourceMatch = '"other"';
    await expect(storage.copy(from, to, { ifSourceMatch })).rejects.toMatchObject(refused);
    await storage.copy(from, to, { tags: ['z'], ifSourceMatch: `"${etag}"`, ifMatch: `"${etag}"` });
    expect(await storage.stat(to)).toMatchObject({ ...described, tags: ['z'], etag });
    const moved = { bucket: other, path: 'moved.bin' };
    expect(await storage.move(from, moved)).toMatchObject({ ...described, etag });
    await expect(storage.stat(from)).rejects.toMatchObject({ code: 'NoSuchFile' });
    expectSameBytes(await (await storage.download(moved)).bytes(), bytes);
    await expect(storage.copy(moved, { bucket: 'none', path: 'x' })).rejects.toMatchObject({
      code: 'NoSuchBucket',
    });
  });

  /** Returns buckets of two volumes. */
  async function bucketsApart(): Promise<string[]> {
    const byVolume = new Map<string, string>();
    for (const name of names) byVolume.set(await storage.volumeOf(name), name);
    return [...byVolume.values()];
  }

  test('volumes: closes, opens, adds and removes a volume', async () => {
    const [first] = service.volumes as [Principal];
    const id = first.toText();
    const stateOf = async () =>
      (await storage.volumes.list()).find(({ canisterId }) => canisterId === id)?.state;
    await storage.volumes.change(id, { isClosed: true });
    expect(await stateOf()).toBe('closed');
    await storage.volumes.change(id, { isClosed: false, limitBytes: 1_000 });
    expect(await stateOf()).toBe('full');
    await storage.volumes.change(id, { limitBytes: 429_496_729_600 });
    await expect(storage.volumes.remove(id)).rejects.toMatchObject({ code: 'BucketNotEmpty' });
    const added = await service.install({ volume: { front: [] } });
    const creator = principalOf(newIdentity()).toText();
    await storage.volume(added.toText()).access.update({ allow: [creator] });
    await storage.volumes.add(added.toText());
    expect(await storage.access.list()).toEqual([creator]);
    await storage.access.update({ disallow: [creator] });
    await vi.waitFor(async () => {
      expect((await storage.volumes.list()).map(({ state }) => state)).toEqual(
        Array.from({ length: 4 }, () => 'open'),
      );
    });
    await storage.volumes.remove(added.toText());
    expect(await storage.volumes.list()).toHaveLength(3);
    await expect(storage.volumes.add('nonsense')).rejects.toMatchObject({
      code: 'InvalidArgument',
    });
    const stranger = open(newIdentity()).volumes.change(id, { isClosed: true });
    await expect(stranger).rejects.toMatchObject({ code: 'AccessDenied' });
  });

  test('reads the list of volumes once for many searches, and again for an unknown bucket', async () => {
    const reader = open();
    methods.length = 0;
    for (const name of names) await reader.buckets.get(name);
    const lists = () => methods.filter((method) => method === 'getVolumeProof').length;
    expect(lists()).toBe(1);
    const added = await service.install({ volume: { front: [] } });
    await service.create('elsewhere', { at: added });
    await storage.volumes.add(added.toText());
    expect((await reader.buckets.get('elsewhere')).id).toBe('elsewhere');
    await service.remove('elsewhere', added);
    await storage.volumes.remove(added.toText());
  });

  test('access: names creators at the front, and sets budgets at every volume', async () => {
    const person = principalOf(newIdentity()).toText();
    const refusals = { burst: 900, perMinute: 9 };
    expect(await storage.access.update({ allow: [person], refusals })).toEqual([person]);
    const { url: host } = service.replica;
    const identity = identityFromPem(service.controllerPem);
    for (const id of service.volumes) {
      const volume = createStorage({ host, canisterId: id.toText(), identity });
      expect(await volume.access.list()).toEqual([]);
      expect((await volume.status()).refusals).toMatchObject(refusals);
    }
    expect(await storage.access.update({ disallow: [person] })).toEqual([]);
  });

  test('names a volume that does not answer, and shows the buckets of the others', async () => {
    const [first] = service.volumes as [Principal];
    await service.setFrozen(first, true);
    const listed: string[] = [];
    const listing = (async () => {
      for await (const { id } of open().buckets.list()) listed.push(id);
    })();
    await expect(listing).rejects.toThrow(`The volume ${first.toText()}: `);
    expect(listed.length).toBeGreaterThan(3);
    await service.setFrozen(first, false);
  });
});

describe('createServiceStorage with a lying node', () => {
  type Forge = NonNullable<QueryFaults['forge']>;
  const forge = (change: Forge) => service.replica.setFaults({ forge: change });

  interface Proof {
    readonly certificate: Uint8Array;
    readonly tree: Uint8Array;
  }

  const changedProof = (change: (proof: Proof) => Proof): Forge => {
    return ({ method }, reply) => {
      if (method !== 'getVolumeProof') return undefined;
      const [{ ok }] = IDL.decode([ResultVolumeProof], reply) as unknown as [{ ok: Proof }];
      return new Uint8Array(IDL.encode([ResultVolumeProof], [{ ok: change(ok) }]));
    };
  };

  const flipped = (bytes: Uint8Array, from: number) => {
    const copy = Uint8Array.from(bytes);
    copy[from] = (copy[from] ?? 0) ^ 1;
    return copy;
  };

  test('cannot change the list of volumes', async () => {
    forge(
      changedProof(({ certificate, tree }) => {
        const place = Buffer.from(tree).indexOf('"canisterId"', 200);
        expect(place).toBeGreaterThan(0);
        return { certificate, tree: flipped(tree, place + 20) };
      }),
    );
    await expect(open().volumes.list()).rejects.toMatchObject({ code: 'Untrusted' });
  });

  test('cannot sign a list of its own', async () => {
    forge(
      changedProof(({ certificate, tree }) => ({ certificate: flipped(certificate, 300), tree })),
    );
    await expect(open().volumes.list()).rejects.toMatchObject({ code: 'Untrusted' });
  });

  /** Claims to have the bucket wherever it is not. */
  const claiming: Forge = ({ method }, reply) => {
    if (method !== 'getBucket') return undefined;
    const [answer] = IDL.decode([ResultBucket], reply) as unknown as [{ err?: string }];
    if (answer.err === undefined) return undefined;
    const record = {
      ...{ id: 'one', owner: principalOf(newIdentity()), isPublic: false, members: [] },
      ...{ fileCount: 0n, byteCount: 0n, overheadBytes: 0n, keepVersionsDays: 0n },
      ...{ versionCount: 0n, versionBytes: 0n, openUploads: 0n, createdAt: 0n, updatedAt: 0n },
      ...{
        quotaBytes: [],
        quotaFiles: [],
        endToEnd: [],
        callerRole: [],
        isSite: false,
        isListed: false,
      },
      retention: [],
    };
    return new Uint8Array(IDL.encode([ResultBucket], [{ ok: record }]));
  };

  test('cannot take a bucket of another volume by claiming it', async () => {
    const place = await storage.volumeOf('one');
    forge(claiming);
    expect(await open().volumeOf('one')).toBe(place);
  });

  test("cannot make a client remember a claim while the bucket's volume does not answer", async () => {
    const place = Principal.fromText(await storage.volumeOf('one'));
    const others = service.volumes.filter((id) => id.toText() !== place.toText());
    const remembered = new Map<string, string>();
    const client = open(service.controllerPem, {
      get: async (bucket) => remembered.get(bucket),
      set: async (bucket, volume) => void remembered.set(bucket, volume),
      delete: async (bucket) => void remembered.delete(bucket),
    });
    await client.volumes.list();
    await service.setFrozen(place, true);
    forge((query, reply) => {
      const isLying = query.canisterId.toText() === others[0]?.toText();
      return isLying ? claiming(query, reply) : undefined;
    });
    try {
      expect(await client.volumeOf('one')).toBe(others[0]?.toText());
      expect(remembered.size).toBe(0);
    } finally {
      await service.setFrozen(place, false);
    }
    service.replica.setFaults({});
    await expect(client.upload(sampleBytes('x', 9), { bucket: 'one', path: 'x' })).rejects.toThrow(
      'is now at the volume',
    );
    expect(remembered.get('one')).toBe(place.toText());
  });
});
