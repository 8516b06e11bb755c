// A bucket of version 0.1.0 becomes a site right after the upgrade, while its files still have the
// layout of 0.1.0, and texts are set at /.well-known/. A site of version 0.2.0 gets clean URLs. All
// through the gateway that verifies.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { IDL } from '@dfinity/candid';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Replica, startReplica } from '../../packages/replica/src/replica.ts';
import { buildCanister } from '../../scripts/build.ts';
import { newIdentity, principalOf } from '../../scripts/local-service.ts';
import { type OldFile, ReleasedService } from '../support/released-service.ts';
import { projectDir } from '../tidy/source-tree.ts';

let replica: Replica;
let service: ReleasedService;
const folders = Array.from({ length: 60 }, (_, index) => `docs/${index}/`);
const pages = ['', ...folders].map((folder) => `${folder}index.html`).concat('404.html', 'zz.html');
const pageOf = (path: string): OldFile => ({
  ...{ bucket: 'demo', path, tags: [], contentType: 'text/html', chunkBytes: 0 },
  bytes: Buffer.from(`<p>${path}`),
});

async function install(version: string): Promise<void> {
  const release = join(projectDir, 'tests', 'releases', version, 'file_storage.wasm.gz');
  const identity = newIdentity();
  const canisterId = await replica.createCanister({ controllers: [principalOf(identity)] });
  await replica.install(canisterId, new Uint8Array(gunzipSync(await readFile(release))));
  service = new ReleasedService(replica, canisterId.toText(), principalOf(identity));
  await service.prepare();
  for (const path of pages) await service.store(pageOf(path));
}

beforeEach(async () => {
  replica = await startReplica();
});

afterEach(() => replica?.stop());

async function answerAt(path: string) {
  const response = await fetch(`${replica.url}${path}`, { redirect: 'manual' });
  return { status: response.status, text: await response.text(), headers: response.headers };
}

async function upgrade(): Promise<void> {
  const { wasmPath } = await buildCanister({ force: false });
  const wasm = new Uint8Array(await readFile(wasmPath));
  await replica.upgrade(service.canisterId, wasm, undefined, { sender: service.owner });
}

async function becomeSite(): Promise<void> {
  const Flag = IDL.Opt(IDL.Bool);
  const Change = IDL.Record({ bucketId: IDL.Text, isPublic: Flag, isSite: Flag });
  const change = { bucketId: 'demo', isPublic: [true], isSite: [true] };
  await service.call('updateBucket', [Change], [change]);
}

/** Waits until timers have published the page; until then the answer is a 404 page. */
async function settled(path: string): Promise<void> {
  for (let turn = 0; ; turn++) {
    const { status } = await answerAt(path);
    if (status === 200) return;
    expect(status).toBe(404);
    expect(turn).toBeLessThan(1_000);
    await setTimeout(5);
  }
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
  await install('0.1.0');
  await upgrade();
  expect((await answerAt('/cloud/demo/')).status).toBe(404);
  await becomeSite();
  const Text = IDL.Record({
    name: IDL.Text,
    content: IDL.Opt(IDL.Record({ body: IDL.Text })),
  });
  const content = [{ body: 'files.example.org\n' }];
  await service.call('setWellKnown', [Text], [{ name: 'ic-domains', content }]);
  await settled('/cloud/demo/docs/9/');
  await expectPages();

  await upgrade();
  await expectPages();
  expect((await answerAt('/.well-known/ic-domains')).text).toBe('files.example.org\n');
  expect(replica.reports.filter(({ error }) => error !== undefined)).toEqual([]);
});

test('a site of 0.2.0 gets clean URLs, and stays certified', async () => {
  await install('0.2.0');
  await becomeSite();
  await settled('/cloud/demo/docs/9/');
  expect((await answerAt('/cloud/demo/zz')).status).toBe(404);
  await upgrade();
  await expectPages();
  await settled('/cloud/demo/zz');
  await expectPages();
  expect((await answerAt('/cloud/demo/zz')).text).toBe('<p>zz.html');
  const reports = replica.reports.filter(({ kind }) => kind === 'timer');
  for (const { instructions } of reports) expect(Number(instructions)).toBeLessThan(300_000_000);
  expect(replica.reports.filter(({ error }) => error !== undefined)).toEqual([]);
});
