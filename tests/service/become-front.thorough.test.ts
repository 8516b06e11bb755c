// A service of one canister with version 0.2.0 becomes a front with three volumes while clients
// write to the former address: they repeat nothing themselves, and nothing of theirs is lost.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Principal } from '@dfinity/principal';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { FileStorage } from '../../packages/client/src/files/file-storage.ts';
import { createHttpStorage } from '../../packages/client/src/http-storage.ts';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import {
  createServiceStorage,
  type ServiceStorage,
} from '../../packages/client/src/service-storage.ts';
import { createStorage, type Storage } from '../../packages/client/src/storage.ts';
import { type Replica, startReplica } from '../../packages/replica/src/replica.ts';
import { buildCanister } from '../../scripts/build.ts';
import { newIdentity, principalOf } from '../../scripts/local-service.ts';
import { roleArgument } from '../support/certification/opened-front.ts';
import { expectSameBytes } from '../support/expect-same.ts';
import { sampleBytes } from '../support/service.ts';
import { bytesOf, SteadyClients } from '../support/steady-clients.ts';
import { projectDir } from '../tidy/source-tree.ts';

const [ownerPem, memberPem] = [newIdentity(), newIdentity()];
const owner = principalOf(ownerPem);
const oldBuckets = ['albums', 'letters', 'notes'];
const newBuckets = Array.from({ length: 9 }, (_, number) => `new-${number}`);
/** Writes of each client between two steps of the conversion. */
const writesPerStep = 6;

let replica: Replica;
let wasm: Uint8Array;
let oldId: Principal;
let frontId: Principal;
let apiKey: string;
let clients: SteadyClients;
let service: ServiceStorage;
let linkPath: string;
const retries = new Map<string, number>();

function onRetry({ error }: { readonly error: { readonly code: string } }): void {
  retries.set(error.code, (retries.get(error.code) ?? 0) + 1);
}

/** The way to the service before it had a front: the canister's id. */
function byOldId(pem = ownerPem): Storage {
  const canisterId = oldId.toText();
  return createStorage({ host: replica.url, canisterId, identity: identityFromPem(pem), onRetry });
}

/** Another one: the canister's address at the gateway, with the API key. */
const byOldUrl = () => createStorage({ url: replica.url, apiKey, onRetry });
const byHttp = () => createHttpStorage({ url: replica.url, apiKey, onRetry });

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

async function install(code: Uint8Array, role?: object): Promise<Principal> {
  const id = await replica.createCanister({ controllers: [owner] });
  await replica.install(id, code, role && roleArgument(role));
  return id;
}

async function installReleased(): Promise<void> {
  const path = join(projectDir, 'tests', 'releases', '0.2.0', 'file_storage.wasm.gz');
  oldId = await install(new Uint8Array(gunzipSync(await readFile(path))));
  replica.serveAtPlainAddress(oldId);
  const storage = byOldId();
  for (const bucket of oldBuckets) {
    await storage.buckets.create(bucket, { isPublic: bucket === 'albums' });
  }
  const member = { principal: principalOf(memberPem).toText(), role: 'writer', name: 'Ada' };
  await storage.buckets.update('letters', { addMembers: [member] });
  const permissions = ['read', 'write', 'delete'] as const;
  const request = { name: 'a camera', buckets: oldBuckets, permissions: [...permissions] };
  apiKey = (await storage.keys.create(request)).secret;
}

function startClients(): SteadyClients {
  const kinds: readonly (readonly [string, () => FileStorage])[] = [
    ['owner', byOldId],
    ['member', () => byOldId(memberPem)],
    ['key by the actor', byOldUrl],
    ['key over HTTP', byHttp],
  ];
  return new SteadyClients(
    [
      ...kinds.map(([name, open]) => ({ name, storage: open(), bucket: 'letters' })),
      { name: 'owner', storage: byOldId(), bucket: 'albums' },
      ...['one', 'two'].map((name) => ({ name, storage: byHttp(), bucket: 'notes' })),
    ].map((client, number) => ({ ...client, name: `${number} ${client.name}` })),
  );
}

/** Waits until each client has completed more writes, so that each works in every state. */
async function moreWrites(): Promise<void> {
  const before = new Map(clients.writes);
  await vi.waitFor(
    () => {
      clients.expectNoFailure();
      for (const [name, count] of clients.writes) {
        expect(count, name).toBeGreaterThanOrEqual((before.get(name) ?? 0) + writesPerStep);
      }
    },
    { timeout: 120_000, interval: 20 },
  );
}

async function expectOpen(count: number): Promise<void> {
  await vi.waitFor(
    async () => {
      clients.expectNoFailure();
      const states = (await service.volumes.list()).map(({ state }) => state);
      expect(states).toEqual(Array.from({ length: count }, () => 'open'));
    },
    { timeout: 120_000 },
  );
}

/** Replaces the code in one step, as `icp canister install` does; no client meets it stopped. */
function upgradeOld(): Promise<void> {
  return replica.upgrade(oldId.toText(), wasm, undefined, { sender: owner });
}

/** Every step of the conversion, while the clients write. */
async function convert(): Promise<void> {
  await moreWrites();
  await upgradeOld();
  await moreWrites();
  frontId = await install(wasm, { front: null });
  const others = [await install(wasm), await install(wasm)];
  const identity = identityFromPem(ownerPem);
  service = createServiceStorage({ host: replica.url, front: frontId.toText(), identity, onRetry });
  for (const [index, id] of [oldId, ...others].entries()) {
    await service.volumes.add(id.toText());
    await moreWrites();
    await expectOpen(index + 1);
  }
  for (const bucket of newBuckets) {
    await service.buckets.create(bucket);
    const bytes = sampleBytes(bucket, 3_000);
    await service.upload(bytes, { bucket, path: 'first.bin' });
    clients.filesOf(bucket).set('first.bin', bytes);
  }
  await moreWrites();
  // Another upgrade, now as a volume
  await upgradeOld();
  await replica.upgrade(frontId.toText(), wasm, undefined, { sender: owner });
  await moreWrites();
}

beforeAll(async () => {
  const { wasmPath } = await buildCanister({ force: false });
  wasm = new Uint8Array(await readFile(wasmPath));
  replica = await startReplica();
  await installReleased();
  const { url } = await byOldId().links.create(await firstLetter());
  linkPath = url.slice(new URL(url).origin.length);
  clients = startClients();
  try {
    await convert();
  } finally {
    await clients.stop();
    console.log(JSON.stringify({ ...clients.counts, retries: Object.fromEntries(retries) }));
  }
  clients.filesOf('letters').set('linked.bin', sampleBytes('linked', 500));
});
afterAll(() => replica?.stop());

async function firstLetter(): Promise<{ readonly bucket: string; readonly path: string }> {
  const place = { bucket: 'letters', path: 'linked.bin' };
  await byOldId().upload(sampleBytes('linked', 500), place);
  return place;
}

async function expectEveryFile(storage: FileStorage, buckets: readonly string[]): Promise<void> {
  for (const bucket of buckets) {
    const expected = clients.filesOf(bucket);
    const listed = (await all(storage.list({ bucket }))).map(({ path }) => path);
    expect(listed.sort()).toEqual([...expected.keys()].sort());
    for (const [path, bytes] of expected) {
      expectSameBytes(await bytesOf(storage, bucket, path), bytes, `${bucket}/${path}`);
    }
  }
}

describe('setFront of a service of version 0.2.0 while clients write', () => {
  test('was accompanied by writes of every kind', () => {
    for (const [name, count] of Object.entries(clients.counts)) {
      expect(count, name).toBeGreaterThan(0);
    }
  });

  test.each([
    ['the canister id', () => byOldId()],
    ['the canister id, as a member', () => byOldId(memberPem), ['letters']],
    ['the address and the key', byOldUrl],
    ['HTTP and the key', byHttp],
    ['the front', () => service, [...oldBuckets, ...newBuckets]],
  ] as const)(
    'leaves every acknowledged write readable by %s',
    async (_, open, of = oldBuckets) => {
      await expectEveryFile(open(), of);
    },
  );

  test('keeps links', async () => {
    const response = await fetch(replica.url + linkPath);
    expect(response.status).toBe(200);
    expectSameBytes(new Uint8Array(await response.arrayBuffer()), sampleBytes('linked', 500));
  });

  test('lists every bucket once, at the front and at the former canister', async () => {
    const names = (await all(service.buckets.list())).map(({ id }) => id);
    expect(names.sort()).toEqual([...oldBuckets, ...newBuckets].sort());
    const own: string[] = [];
    for (const bucket of names) {
      if ((await service.volumeOf(bucket)) === oldId.toText()) own.push(bucket);
    }
    expect((await all(byOldId().buckets.list())).map(({ id }) => id).sort()).toEqual(own.sort());
    expect(own).toEqual(expect.arrayContaining(oldBuckets));
    expect(own.length).toBeLessThan(names.length);
  });

  test('keeps names unique', async () => {
    // For the owner of a bucket, a repeated request succeeds or says that it exists
    await service.access.update({ allow: [principalOf(memberPem).toText()] });
    const identity = identityFromPem(memberPem);
    const front = frontId.toText();
    const another = createServiceStorage({ host: replica.url, front, identity });
    for (const bucket of [...oldBuckets, ...newBuckets]) {
      const refused = another.buckets.create(bucket);
      await expect(refused, bucket).rejects.toMatchObject({ code: 'BucketExists' });
    }
  });

  test('counts the files and bytes of the model', async () => {
    const files = [...clients.files.values()].flatMap((own) => [...own.values()]);
    const bytes = files.reduce((sum, { length }) => sum + length, 0);
    expect(await service.status()).toMatchObject({
      buckets: oldBuckets.length + newBuckets.length,
      files: files.length,
      bytesStored: bytes,
    });
    for (const [bucket, own] of clients.files) {
      const sum = [...own.values()].reduce((total, { length }) => total + length, 0);
      expect(await service.usage({ bucket }), bucket).toMatchObject({
        files: own.size,
        bytes: sum,
      });
    }
  });
});
