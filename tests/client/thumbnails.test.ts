// Thumbnails by the client library, over each transport.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { FileStorage } from '../../packages/client/src/files/file-storage.ts';
import { createHttpStorage } from '../../packages/client/src/http-storage.ts';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import { createNodeStorage } from '../../packages/client/src/node/storage.ts';
import type { Storage } from '../../packages/client/src/storage.ts';
import { testPicture } from '../support/domain-fixture.ts';
import { openService, type Service, sampleBytes } from '../support/service.ts';

const bucket = 'album';
let service: Service;
let owner: Storage;
let storages: Record<'actor' | 'http' | 'both', FileStorage>;

beforeAll(async () => {
  service = await openService();
  const { host, canisterId, identityPem, base } = service;
  const identity = identityFromPem(identityPem);
  owner = createNodeStorage({ host, canisterId, identity });
  await owner.buckets.create(bucket);
  const permissions = ['read', 'write', 'delete'] as const;
  const { secret: apiKey } = await owner.keys.create({ name: 'k', buckets: [bucket], permissions });
  storages = {
    actor: createNodeStorage({ host, canisterId, apiKey }),
    http: createHttpStorage({ url: base, apiKey }),
    both: createNodeStorage({ url: base, apiKey }),
  };
});
afterAll(() => service?.stop());

async function put(storage: FileStorage, path: string, seed = 1) {
  const { etag } = await storage.upload(sampleBytes(path, 100), { bucket, path });
  const picture = testPicture(9_000, seed);
  await storage.thumbnails.put({ bucket, path, etag }, picture);
  return { etag, bytes: new Uint8Array(picture), contentType: 'image/webp' };
}

describe.each(['actor', 'http', 'both'] as const)('thumbnails over %s', (name) => {
  test('put() and read() store and return a picture', async () => {
    const storage = storages[name];
    const path = `${name}/ä photo.jpg`;
    const expected = await put(storage, path);
    await storage.upload(sampleBytes('plain', 10), { bucket, path: `${name}/plain` });
    const found = await storage.thumbnails.read({
      bucket,
      paths: [path, `${name}/plain`, `${name}/none`],
    });
    expect([...found]).toEqual([[path, expected]]);
  });

  test('put() refuses a picture of another version', async () => {
    const storage = storages[name];
    const path = `${name}/changed`;
    const { etag } = await put(storage, path);
    await storage.upload(sampleBytes('other', 100), { bucket, path });
    const picture = new Blob([testPicture(10) as BlobPart]);
    const late = storage.thumbnails.put({ bucket, path, etag }, picture);
    await expect(late).rejects.toMatchObject({ code: 'PreconditionFailed' });
    expect((await storage.thumbnails.read({ bucket, paths: [path] })).size).toBe(0);
  });
});

test('read() asks again for the thumbnails that do not fit into one answer', async () => {
  const paths = Array.from({ length: 210 }, (_, index) => `many/${index}`);
  const storage = storages.actor;
  const files = paths.map((path) => ({ path, source: sampleBytes(path, 20) }));
  const etags = new Map<string, string>();
  for await (const { path, file: record, error } of storage.uploadAll(files, { bucket })) {
    if (record === undefined) throw error;
    etags.set(path, record.etag);
  }
  await Promise.all(
    paths.map((path, seed) => {
      const picture = testPicture(20_000, seed);
      return storage.thumbnails.put({ bucket, path, etag: etags.get(path) ?? '' }, picture);
    }),
  );
  const found = await storage.thumbnails.read({ bucket, paths });
  expect(found.size).toBe(210);
  const [, last] = [...found].at(-1) ?? [];
  expect(Buffer.compare(last?.bytes ?? Buffer.from(''), testPicture(20_000, 209))).toBe(0);
}, 60_000);

test('put() leaves an entry in the journal, which is no change of the file', async () => {
  const path = 'noted.jpg';
  const { etag } = await put(storages.actor, path);
  const { entries } = await owner.journal.list(bucket, { limit: 1 });
  expect(entries).toMatchObject([{ kind: 'thumbnail.changed', path }]);
  expect(await owner.stat({ bucket, path })).toMatchObject({ etag, version: 1 });
});
