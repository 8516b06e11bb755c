// A service of version 0.1.0, whose records say less.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { IDL } from '@dfinity/candid';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import { createStorage, type Storage } from '../../packages/client/src/storage.ts';
import { type Replica, startReplica } from '../../packages/replica/src/replica.ts';
import { newIdentity, principalOf } from '../../scripts/local-service.ts';
import { projectDir } from '../tidy/source-tree.ts';

let replica: Replica;
let storage: Storage;

beforeAll(async () => {
  const folder = join(projectDir, 'tests', 'releases', '0.1.0');
  const wasm = gunzipSync(await readFile(join(folder, 'file_storage.wasm.gz')));
  const pem = newIdentity();
  replica = await startReplica();
  const canisterId = await replica.createCanister({ controllers: [principalOf(pem)] });
  await replica.install(canisterId, new Uint8Array(wasm));
  storage = createStorage({
    host: `http://localhost:${replica.port}`,
    canisterId: canisterId.toText(),
    identity: identityFromPem(pem),
  });
  const argument = IDL.encode([IDL.Text], ['old']);
  await replica.call(canisterId.toText(), 'createBucket', argument, { sender: principalOf(pem) });
});
afterAll(() => replica?.stop());

test('former versions are not read: what the service has no method for is said', async () => {
  const file = { bucket: 'old', path: 'a' };
  const unknown = { code: 'Unsupported', message: expect.stringContaining('getVersion') };
  await expect(storage.stat(file, { version: 1 })).rejects.toMatchObject(unknown);
  await expect(storage.download(file, { version: 1 })).rejects.toMatchObject(unknown);
});

test('buckets are shown, and keep no former versions', async () => {
  const kept = { keepVersionsDays: 0, versionCount: 0, versionBytes: 0, overheadBytes: 0 };
  expect(await storage.buckets.get('old')).toMatchObject({ id: 'old', ...kept });
  const listed: string[] = [];
  for await (const { id } of storage.buckets.list()) listed.push(id);
  expect(listed).toEqual(['old']);
});
