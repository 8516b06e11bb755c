// Links to folders at a service of version 0.2.0, which signs no list of keys.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { endToEnd } from '../../packages/client/src/end-to-end.ts';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import { openFolderLink } from '../../packages/client/src/open-folder-link.ts';
import { createStorage, type Storage } from '../../packages/client/src/storage.ts';
import { type Replica, startReplica } from '../../packages/replica/src/replica.ts';
import { newIdentity, principalOf } from '../../scripts/local-service.ts';
import { projectDir } from '../tidy/source-tree.ts';

let replica: Replica;
let storage: Storage;

beforeAll(async () => {
  const wasm = join(projectDir, 'tests', 'releases', '0.2.0', 'file_storage.wasm.gz');
  const pem = newIdentity();
  replica = await startReplica();
  const created = await replica.createCanister({ controllers: [principalOf(pem)] });
  const canisterId = created.toText();
  await replica.install(canisterId, new Uint8Array(gunzipSync(await readFile(wasm))));
  const host = `http://localhost:${replica.port}`;
  const identity = identityFromPem(pem);
  storage = createStorage({ host, canisterId, identity, endToEnd: endToEnd() });
});
afterAll(() => replica?.stop());

test.each([
  ['an ordinary bucket', 'plain', undefined],
  ['an end-to-end bucket', 'safe', {}],
])('folderLinks.remove() ends a link to a folder of %s', async (_, bucket, mode) => {
  await storage.buckets.create(bucket, { endToEnd: mode });
  await storage.upload(new Blob(['hello']), { bucket, path: 'trip/a.txt' });
  const { url, id } = await storage.folderLinks.create({ bucket, prefix: 'trip/' });
  const folder = await openFolderLink(`${replica.url}/${new URL(url).hash}`);
  const file = await folder.download('a.txt');
  expect(Buffer.from(await file.bytes()).toString()).toBe('hello');
  await storage.folderLinks.remove(bucket, id);
  const later = await openFolderLink(`${replica.url}/${new URL(url).hash}`);
  await expect(later.download('a.txt')).rejects.toMatchObject({ code: 'InvalidApiKey' });
});
