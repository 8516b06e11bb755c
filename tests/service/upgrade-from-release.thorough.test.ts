// An upgrade of version 0.1.0 under load, with hundreds of files, open uploads, keys and a rotation
// in progress: nothing is lost, certified answers stay certified, and upkeep converts all of it to
// the present version in bounded steps. Files of 0.1.0 are copied, moved, changed and kept as
// versions, before and after their conversion.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { IDL } from '@dfinity/candid';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Replica, startReplica } from '../../packages/replica/src/replica.ts';
import { buildCanister } from '../../scripts/build.ts';
import { newIdentity, principalOf } from '../../scripts/local-service.ts';
import { expectSameBytes } from '../support/expect-same.ts';
import { WorkOnFiles } from '../support/released-files.ts';
import {
  inParallel,
  type OldFile,
  oldFiles,
  ReleasedService,
} from '../support/released-service.ts';
import { projectDir } from '../tidy/source-tree.ts';

const messageInstructionsMax = 2_000_000_000n;
const exposeField = 'access-control-expose-headers';

let replica: Replica;
let service: ReleasedService;
// Upkeep converts these last.
const [early, late] = [new WorkOnFiles('zz early'), new WorkOnFiles('zz late')];
/** Enough files for several steps of upkeep; `EFS_OLD_FILES=100000` takes an hour. */
const files = oldFiles(Number(process.env.EFS_OLD_FILES ?? 150));

beforeAll(async () => {
  const folder = join(projectDir, 'tests', 'releases', '0.1.0');
  const wasm = gunzipSync(await readFile(join(folder, 'file_storage.wasm.gz')));
  const identity = newIdentity();
  replica = await startReplica();
  const canisterId = await replica.createCanister({ controllers: [principalOf(identity)] });
  await replica.install(canisterId, new Uint8Array(wasm));
  service = new ReleasedService(replica, canisterId.toText(), principalOf(identity));
  await service.prepare();
  const all = [...files, ...early.files, ...late.files];
  await inParallel(all, 8, (file) => service.store(file));
});

afterAll(() => replica?.stop());

async function expectFile(file: OldFile): Promise<Headers> {
  const response = await service.get(file);
  expect(response.status, file.path).toBe(200);
  expectSameBytes(new Uint8Array(await response.arrayBuffer()), file.bytes);
  return response.headers;
}

test('nothing is lost, and everything is certified again', async () => {
  const before = await service.get(files[0] as OldFile);
  expect(before.headers.get(exposeField)).not.toContain('ETag');
  const sessions = await service.beginSessions(20);
  const former = await service.keys('demo');
  await service.call('rotateBucketKey', [IDL.Text], ['demo']);
  await service.call('rotateRootKey', [IDL.Opt(IDL.Null)], [[]]);

  // Under load: readers and writers continue, and retry after a refusal.
  const { wasmPath } = await buildCanister({ force: false });
  const first = replica.reports.length;
  const load = service.load();
  await replica.upgrade(service.canisterId, new Uint8Array(await readFile(wasmPath)), undefined, {
    sender: service.owner,
  });
  const working = early.areOld(service).then(async (areOld) => {
    await early.work(service);
    return areOld;
  });
  // Files that are not converted yet are served as before, including OPTIONS.
  const sample = files.filter((_, index) => index % 50 === 0);
  for (const file of sample) {
    await expectFile(file);
    if (file.bucket === 'demo') expect((await service.options(file)).status).toBe(204);
  }
  // A link to a file of the old layout has all its answers at once
  const link = await service.createLink(late.files[0] ?? expect.fail('no file'));
  const expectLink = async () => {
    expect((await fetch(link)).status).toBe(200);
    const preflight = await fetch(link, { method: 'OPTIONS' });
    expect(preflight.headers.get('access-control-allow-headers')).toContain('Prefer');
  };
  await expectLink();
  expect(await working).toBe(true);
  const written = await load.stop();
  expect(written.length).toBeGreaterThan(0);

  await service.untilUpgraded();
  const headers = await inParallel(files, 8, expectFile);
  for (const [index, header] of headers.entries()) {
    if (files[index]?.bucket === 'demo') expect(header.get(exposeField)).toContain('ETag');
  }
  await inParallel(written, 8, expectFile);
  await inParallel(sample, 4, async (file) => {
    if (file.bucket === 'demo') expect((await service.options(file)).status).toBe(204);
  });

  await expectLink();
  await early.check(service);
  expect(await late.areOld(service)).toBe(false);
  await late.work(service);
  await late.check(service);

  // Records are counted by bucket, and listed with the length of their chunks.
  const listed = await service.list('demo');
  expect(listed.every(({ chunkSize }) => chunkSize !== undefined)).toBe(true);
  const bucket = await service.bucket('demo');
  expect(bucket.fileCount).toBe(BigInt(listed.length));

  // Sizes: the index counts old files and those that arrived meanwhile.
  for (const prefix of ['', 'load/', 'open/']) {
    const below = listed.filter(({ path }) => path.startsWith(prefix));
    const bytes = below.reduce((sum, { size }) => sum + size, 0);
    expect(await service.usage('demo', prefix)).toEqual({ prefix, files: below.length, bytes });
  }
  expect(bucket.overheadBytes).toBeGreaterThan(BigInt(1_000 * listed.length));

  // Uploads: open ones are listed, continue where they stopped, and are no longer counted at the
  // end.
  expect(bucket.openUploads).toBe(20n);
  expect(await service.listedUploads('demo')).toHaveLength(20);
  for (const session of sessions) await expectFile(await service.finish(session));
  expect((await service.bucket('demo')).openUploads).toBe(0n);

  // Keys are unchanged, with an unknown creator.
  expect(await service.keys('demo')).toEqual(former);

  // The rotation has ended, and each message took a bounded step.
  expect(await service.isRotating()).toBe(false);
  await inParallel(sample, 4, expectFile);
  const reports = replica.reports.slice(first);
  const steps = reports.filter(({ kind }) => kind !== 'query' && kind !== 'postUpgrade');
  expect(reports.filter(({ error }) => error !== undefined)).toEqual([]);
  for (const { instructions } of steps) expect(instructions).toBeLessThan(messageInstructionsMax);
});

test('GET /.well-known/ic-architecture and webmcp.json have the id of the canister', async () => {
  const read = async (name: string) => {
    const response = await fetch(`${replica.url}/.well-known/${name}`);
    expect(response.headers.get('ic-certificate')).toMatch(/version=2/);
    return response.json();
  };
  const { canisters } = await read('ic-architecture');
  expect(canisters.map(({ id }: { id: string }) => id)).toEqual([service.canisterId]);
  expect((await read('webmcp.json')).canister.id).toBe(service.canisterId);
});

test('a second upgrade finds no record to convert', async () => {
  const { wasmPath } = await buildCanister({ force: false });
  await replica.upgrade(service.canisterId, new Uint8Array(await readFile(wasmPath)), undefined, {
    sender: service.owner,
  });
  await service.get(files[0] as OldFile);
  for (const done of [early, late]) await done.check(service);
  const first = replica.reports.length;
  await replica.tick();
  const timers = replica.reports.slice(first).filter(({ kind }) => kind === 'timer');
  for (const { instructions } of timers) expect(instructions).toBeLessThan(20_000_000n);
});
