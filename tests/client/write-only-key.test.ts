// A key that only writes, as drop boxes use, by the actor and over HTTP: an upload that the service
// has stored succeeds, although its sender may not read the record.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import { createStorage, type Storage } from '../../packages/client/src/storage.ts';
import { openService, type Service, sampleBytes } from '../support/service.ts';

let service: Service;
let owner: Storage;
let apiKey: string;

beforeAll(async () => {
  service = await openService();
  const { host, canisterId, identityPem } = service;
  owner = createStorage({ host, canisterId, identity: identityFromPem(identityPem) });
  const request = { buckets: ['demo'], permissions: ['write'], prefix: 'inbox/' } as const;
  apiKey = (await owner.keys.create({ name: 'drop box', ...request })).secret;
});
afterAll(() => service?.stop());

describe.each(['the actor', 'HTTP', 'both'])('Storage.upload(): by %s', (way) => {
  const open = (): Storage => {
    const { host, canisterId, base } = service;
    if (way === 'the actor') return createStorage({ host, canisterId, apiKey });
    return createStorage({ url: base, apiKey, ...(way === 'HTTP' && { transport: 'http' }) });
  };

  test.each([
    ['a small file', 20, {}],
    ['a small file with metadata', 20, { metadata: { from: 'a friend' } }],
    ['a small file with headers', 20, { headers: { 'Cache-Control': 'no-cache' } }],
    ['a file of several chunks', 4_000_000, {}],
    ['a file of several chunks with metadata', 4_000_000, { metadata: { from: 'a friend' } }],
  ] as const)('returns the path and version of %s', async (name, size, options) => {
    const bytes = sampleBytes(name, size);
    const file = { bucket: 'demo', path: `inbox/${way}/${name}` };
    const record = await open().upload(bytes, { ...file, contentType: 'a/b', ...options });
    expect(record).toMatchObject({ path: file.path, version: 1 });
    const stored = await owner.download(file);
    expect(Buffer.compare(await stored.bytes(), bytes)).toBe(0);
  });
});
