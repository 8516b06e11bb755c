// The library with a service of version 0.1.0, whose records have fewer fields.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { IDL } from '@dfinity/candid';
import type { Principal } from '@dfinity/principal';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { FileStorage } from '../../packages/client/src/files/file-storage.ts';
import { createHttpStorage } from '../../packages/client/src/http-storage.ts';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import { createStorage, type Storage } from '../../packages/client/src/storage.ts';
import type { RemovedFile } from '../../packages/client/src/types/files.ts';
import { type Replica, startReplica } from '../../packages/replica/src/replica.ts';
import { newIdentity, principalOf } from '../../scripts/local-service.ts';
import { expectSameBytes } from '../support/expect-same.ts';
import { sampleBytes } from '../support/service.ts';
import { projectDir } from '../tidy/source-tree.ts';

let replica: Replica;
let storage: Storage;
let canisterId: string;
let sender: Principal;

beforeAll(async () => {
  const folder = join(projectDir, 'tests', 'releases', '0.1.0');
  const wasm = gunzipSync(await readFile(join(folder, 'file_storage.wasm.gz')));
  const pem = newIdentity();
  replica = await startReplica();
  sender = principalOf(pem);
  canisterId = (await replica.createCanister({ controllers: [sender] })).toText();
  await replica.install(canisterId, new Uint8Array(wasm));
  storage = createStorage({
    host: `http://localhost:${replica.port}`,
    canisterId,
    identity: identityFromPem(pem),
  });
  const argument = IDL.encode([IDL.Text], ['old']);
  await replica.call(canisterId, 'createBucket', argument, { sender });
});
afterAll(() => replica?.stop());

async function newKey(): Promise<string> {
  const texts = IDL.Vec(IDL.Text);
  const names = { name: IDL.Text, buckets: texts, permissions: texts };
  const request = { name: 'k', buckets: ['old'], permissions: ['read', 'write', 'delete'] };
  const type = IDL.Record({ ...names, expiresAt: IDL.Opt(IDL.Int) });
  const argument = IDL.encode([type], [{ ...request, expiresAt: [] }]);
  const reply = await replica.call(canisterId, 'createApiKey', argument, { sender });
  const answer = IDL.Variant({ ok: IDL.Record({ secret: IDL.Text }), err: IDL.Text });
  const [{ ok }] = IDL.decode([answer], reply) as unknown as [{ ok: { secret: string } }];
  return ok.secret;
}

async function storageOver(way: string): Promise<FileStorage> {
  if (way === 'the actor') return storage;
  const options = { url: replica.url, apiKey: await newKey() };
  return way === 'HTTP' ? createHttpStorage(options) : createStorage(options);
}

const ways = ['the actor', 'HTTP', 'both'];

test.each(ways)(
  'createStorage(): upload, uploadAll and removeAll of small files over %s',
  async (way) => {
    const bucket = 'old';
    const chosen = await storageOver(way);
    const bytes = sampleBytes(way, 5_000);
    await chosen.upload(bytes, { bucket, path: 's/one', contentType: 'a/b' });
    const files = ['s/two', 's/three'].map((path) => ({ path, source: bytes, contentType: 'a/b' }));
    const stored: unknown[] = [];
    for await (const { path, error } of chosen.uploadAll(files, { bucket }))
      stored.push(error ?? path);
    expect(stored.toSorted()).toEqual(['s/three', 's/two']);
    expectSameBytes(await (await chosen.download({ bucket, path: 's/two' })).bytes(), bytes);
    const removed: unknown[] = [];
    const note = ({ path, error }: RemovedFile) => removed.push(error?.code ?? path);
    for await (const one of chosen.removeAll({ bucket, paths: ['s/one', 's/none'] })) note(one);
    for await (const one of chosen.removeAll({ bucket, prefix: 's/' })) note(one);
    expect(removed.toSorted()).toEqual(['NoSuchFile', 's/one', 's/three', 's/two']);
  },
);

test.each(ways)('listFolder groups files into folders over %s', async (way) => {
  const bucket = 'old';
  const chosen = await storageOver(way);
  const paths = ['f/a', 'f/b/1', 'f/b/2', 'f/c', 'g'];
  for (const path of paths) await storage.upload(new Uint8Array(3), { bucket, path });
  const pages: unknown[] = [];
  const request = { bucket, prefix: 'f/', delimiter: '/' as const, limit: 2 };
  for (let cursor: string | undefined, isFirst = true; isFirst || cursor; isFirst = false) {
    const page = await chosen.listFolder({ ...request, cursor });
    pages.push([page.items.map(({ path }) => path), page.folders.map(({ path }) => path)]);
    cursor = page.nextCursor;
  }
  expect(pages).toEqual([
    [['f/a'], ['f/b/']],
    [['f/c'], []],
  ]);
  for await (const { error } of storage.removeAll({ bucket, paths })) expect(error).toBe(undefined);
});

test.each(['no key', 'a key'])(
  'createStorage(): download over the actor with %s finds the chunk size',
  async (by) => {
    const bytes = sampleBytes('unusual', 2_500_000);
    const file = { bucket: 'old', path: 'unusual chunks' };
    await storage.upload(bytes, { ...file, chunkBytes: 900_123 });
    const isPublic = by === 'no key';
    await storage.buckets.update('old', { isPublic });
    const options = { host: `http://localhost:${replica.port}`, canisterId };
    const reader = isPublic ? storage : createStorage({ ...options, apiKey: await newKey() });
    expectSameBytes(await (await reader.download(file)).bytes(), bytes);
    await storage.remove(file);
  },
);

test.each(ways)('createStorage(): upload and download of several chunks over %s', async (way) => {
  const bytes = sampleBytes(way, 2_500_000);
  const file = { bucket: 'old', path: `chunks over ${way}` };
  const chosen = await storageOver(way);
  await chosen.upload(bytes, { ...file, contentType: 'a/b' });
  expectSameBytes(await (await chosen.download(file)).bytes(), bytes);
  await chosen.remove(file);
});

test('createStorage(): requests for former versions name the method that the service lacks', async () => {
  const file = { bucket: 'old', path: 'a' };
  const unknown = { code: 'Unsupported', message: expect.stringContaining('getVersion') };
  await expect(storage.stat(file, { version: 1 })).rejects.toMatchObject(unknown);
  await expect(storage.download(file, { version: 1 })).rejects.toMatchObject(unknown);
});

test('createStorage(): records of buckets are read, with zeros for former versions', async () => {
  const kept = { keepVersionsDays: 0, versionCount: 0, versionBytes: 0, overheadBytes: 0 };
  expect(await storage.buckets.get('old')).toMatchObject({ id: 'old', ...kept });
  const listed: string[] = [];
  for await (const { id } of storage.buckets.list()) listed.push(id);
  expect(listed).toEqual(['old']);
});

test('createStorage(): status, files and uploads are read, although their records have fewer fields', async () => {
  const { cycles, anonymousUpdates, version } = await storage.status();
  expect([version, typeof cycles, anonymousUpdates]).toEqual(['0.1.0', 'number', undefined]);
  const bytes = new Uint8Array(1_000).fill(7);
  const file = { bucket: 'old', path: 'long' };
  const some = IDL.Opt(IDL.Text);
  const upload = IDL.Record({
    ...{ bucketId: IDL.Text, path: IDL.Text, contentType: IDL.Text, bytes: IDL.Vec(IDL.Nat8) },
    ...{ tags: IDL.Opt(IDL.Vec(IDL.Text)), sha256: some, ifMatch: some, ifNoneMatch: some },
    apiKey: some,
  });
  const none = { tags: [], sha256: [], ifMatch: [], ifNoneMatch: [], apiKey: [] };
  const stored = { bucketId: 'old', path: 'long', contentType: 'a/b', bytes, ...none };
  await replica.call(canisterId, 'uploadFile', IDL.encode([upload], [stored]), { sender });
  expect(await storage.stat(file)).toMatchObject({ size: 1_000, chunkSize: undefined });
  const downloaded = await storage.download(file);
  expectSameBytes(await downloaded.bytes(), bytes);
  const listed: string[] = [];
  for await (const { path } of storage.list({ bucket: 'old' })) listed.push(path);
  expect(listed).toEqual(['long']);
  const types = [IDL.Text, IDL.Text, IDL.Text, IDL.Nat, IDL.Opt(IDL.Text)];
  const argument = IDL.encode(types, ['old', 'b', 'a/b', 9n, []]);
  const reply = await replica.call(canisterId, 'beginFileUpload', argument, { sender });
  const [begun] = IDL.decode([IDL.Variant({ ok: IDL.Text, err: IDL.Text })], reply);
  const { ok: uploadId } = begun as unknown as { ok: string };
  // The library's method names of release 0.1.0 still work.
  expect(await storage.getUpload({ ...file, uploadId })).toMatchObject({ isSizeKnown: true });
  await storage.cancelUpload({ ...file, uploadId });
  await storage.remove(file);
});
