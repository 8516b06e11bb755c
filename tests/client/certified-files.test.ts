// A node that returns another file: `certified` compares with a record that the network signs.

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createHttpStorage } from '../../packages/client/src/http-storage.ts';
import { nodeEndToEnd } from '../../packages/client/src/node/end-to-end.ts';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import { createStorage, type Storage } from '../../packages/client/src/storage.ts';
import type { Download } from '../../packages/client/src/types/transfers.ts';
import { openService, type Service, sampleBytes } from '../support/service.ts';
import { swappedFiles } from '../support/swapped-files.ts';

const path = 'contract.txt';
const other = 'draft.txt';
const certified = true;
const bytes = sampleBytes('contract', 3_000);
const otherBytes = sampleBytes('draft', 3_000);
const buckets = ['private', 'public', 'sealed'];

let service: Service;
let owner: Storage;
let apiKey: string;

beforeAll(async () => {
  service = await openService({ faults: {} });
  const { host, canisterId, identityPem } = service;
  const identity = identityFromPem(identityPem);
  owner = createStorage({ host, canisterId, identity, endToEnd: nodeEndToEnd({}) });
  await owner.buckets.create('private', { keepVersionsDays: 7 });
  await owner.buckets.create('public', { isPublic: true, keepVersionsDays: 7 });
  await owner.buckets.create('sealed', { endToEnd: {}, keepVersionsDays: 7 });
  for (const bucket of buckets) {
    await owner.upload(bytes, { bucket, path, contentType: 'a/b' });
    await owner.upload(otherBytes, { bucket, path: other, contentType: 'a/b' });
  }
  const request = { name: 'reader', buckets, permissions: ['read'] as const };
  apiKey = (await owner.keys.create(request)).secret;
});
afterEach(() => service.replica?.setFaults({}));
afterAll(() => service?.stop());

/** Lets the node learn the other file, as it answers for it. */
async function swap(storage: Storage, bucket: string): Promise<void> {
  service.replica?.setFaults({ forge: swappedFiles({ path, other }) });
  await (await storage.download({ bucket, path: other })).bytes();
}

async function expectBytes(download: Download | Promise<Download>, expected: Uint8Array) {
  expect(Buffer.compare(await (await download).bytes(), expected)).toBe(0);
}

const untrusted = { code: 'Untrusted', isRetryable: true };

describe.each(buckets)('bucket %s', (bucket) => {
  const file = { bucket, path };

  test('download() and stat() return the other file of a lying node', async () => {
    await swap(owner, bucket);
    await expectBytes(owner.download(file), otherBytes);
    expect((await owner.stat(file)).etag).toBe((await owner.stat({ bucket, path: other })).etag);
  });

  test('download() with certified refuses it', async () => {
    await swap(owner, bucket);
    await expect(owner.download(file, { certified })).rejects.toMatchObject(untrusted);
    service.replica?.setFaults({});
    await expectBytes(owner.download(file, { certified }), bytes);
  });

  test('stat() with certified returns the true record', async () => {
    const record = await owner.stat(file);
    await swap(owner, bucket);
    expect(await owner.stat(file, { certified })).toEqual(record);
  });

  test('versions.download() with certified reads a former version', async () => {
    const changed = { bucket, path: 'changed.txt' };
    const { version } = await owner.upload(bytes, { ...changed, contentType: 'a/b' });
    await owner.upload(otherBytes, { ...changed, contentType: 'a/b' });
    const former = await owner.versions.download({ ...changed, version }, { certified });
    await expectBytes(former, bytes);
    const record = await owner.stat(changed, { version, certified });
    expect(record).toMatchObject({ version, etag: former.etag });
  });
});

describe('download() and stat() with certified', () => {
  const file = { bucket: 'private', path };

  test.each(['host', 'url', 'transport'])('work for a key by %s', async (way) => {
    const { host, canisterId, base: url } = service;
    const storage = createStorage(
      way === 'host'
        ? { host, canisterId, apiKey }
        : { url, apiKey, transport: way === 'transport' ? 'http' : undefined },
    );
    const record = await owner.stat(file);
    expect(await storage.stat(file, { certified })).toEqual(record);
    await expectBytes(storage.download(file, { certified }), bytes);
  });

  test('are refused by createHttpStorage, which cannot verify signatures', async () => {
    const storage = createHttpStorage({ url: service.base, apiKey });
    const unsupported = { code: 'Unsupported' };
    await expect(storage.stat(file, { certified })).rejects.toMatchObject(unsupported);
    await expect(storage.download(file, { certified })).rejects.toMatchObject(unsupported);
  });

  test.each([{ range: { start: 0, end: 4 } }, { verify: false }])(
    'are refused with %o, whose bytes are not compared',
    async (options) => {
      await expect(owner.download(file, { ...options, certified })).rejects.toMatchObject({
        code: 'InvalidArgument',
      });
    },
  );

  test('report a missing file and a missing version as NoSuchFile', async () => {
    const missing = { code: 'NoSuchFile' };
    const nowhere = { ...file, path: 'nowhere' };
    await expect(owner.stat(nowhere, { certified })).rejects.toMatchObject(missing);
    await expect(owner.download(nowhere, { certified })).rejects.toMatchObject(missing);
    await expect(owner.stat(file, { version: 1_000, certified })).rejects.toMatchObject(missing);
  });
});
