// A bucket of version 0.1.0 becomes a site right after the upgrade, while its files still have the
// layout of 0.1.0, and texts are set at /.well-known/, all through the gateway that verifies.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { IDL } from '@dfinity/candid';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Replica, startReplica } from '../../packages/replica/src/replica.ts';
import { buildCanister } from '../../scripts/build.ts';
import { newIdentity, principalOf } from '../../scripts/local-service.ts';
import { type OldFile, ReleasedService } from '../support/released-service.ts';
import { projectDir } from '../tidy/source-tree.ts';

let replica: Replica;
let service: ReleasedService;
const folders = Array.from({ length: 60 }, (_, index) => `docs/${index}/`);
const pages = ['', ...folders].map((folder) => `${folder}index.html`).concat('404.html');
const pageOf = (path: string): OldFile => ({
  ...{ bucket: 'demo', path, tags: [], contentType: 'text/html', chunkBytes: 0 },
  bytes: Buffer.from(`<p>${path}`),
});

beforeAll(async () => {
  const release = join(projectDir, 'tests', 'releases', '0.1.0', 'file_storage.wasm.gz');
  const identity = newIdentity();
  replica = await startReplica();
  const canisterId = await replica.createCanister({ controllers: [principalOf(identity)] });
  await replica.install(canisterId, new Uint8Array(gunzipSync(await readFile(release))));
  service = new ReleasedService(replica, canisterId.toText(), principalOf(identity));
  await service.prepare();
  for (const path of pages) await service.store(pageOf(path));
});

afterAll(() => replica?.stop());

async function answerAt(path: string) {
  const response = await fetch(`${replica.url}${path}`, { redirect: 'manual' });
  return { status: response.status, text: await response.text(), headers: response.headers };
}

async function upgrade(): Promise<void> {
  const { wasmPath } = await buildCanister({ force: false });
  const wasm = new Uint8Array(await readFile(wasmPath));
  await replica.upgrade(service.canisterId, wasm, undefined, { sender: service.owner });
}

async function expectPages(): Promise<void> {
  for (const folder of ['', ...folders]) {
    const { status, text, headers } = await answerAt(`/cloud/demo/${folder}`);
    expect(`${status} ${text}`).toBe(`200 <p>${folder}index.html`);
    expect(headers.get('content-security-policy')).toContain('allow-scripts');
  }
  expect((await answerAt('/cloud/demo/docs/7')).headers.get('location')).toBe('./7/');
  expect(await answerAt('/cloud/demo/nowhere')).toMatchObject({ status: 404, text: '<p>404.html' });
}

test('a bucket of 0.1.0 can become a site, and stays one', async () => {
  await upgrade();
  expect((await answerAt('/cloud/demo/')).status).toBe(404);
  const Change = IDL.Record({ bucketId: IDL.Text, isSite: IDL.Opt(IDL.Bool) });
  await service.call('updateBucket', [Change], [{ bucketId: 'demo', isSite: [true] }]);
  const Text = IDL.Record({
    name: IDL.Text,
    content: IDL.Opt(IDL.Record({ body: IDL.Text })),
  });
  const content = [{ body: 'files.example.org\n' }];
  await service.call('setWellKnown', [Text], [{ name: 'ic-domains', content }]);
  for (let turn = 0; (await answerAt('/cloud/demo/docs/9/')).status !== 200; turn++) {
    expect(turn).toBeLessThan(1_000);
    await setTimeout(5);
  }
  await expectPages();

  await upgrade();
  await expectPages();
  expect((await answerAt('/.well-known/ic-domains')).text).toBe('files.example.org\n');
  expect(replica.reports.filter(({ error }) => error !== undefined)).toEqual([]);
});
