// `efs service`: the canisters of a service of four volumes are upgraded one after another, and the
// first failure ends it and restores the failed one.

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import { createServiceStorage } from '../../packages/client/src/service-storage.ts';
import { type Replica, startReplica } from '../../packages/replica/src/replica.ts';
import { buildCanister } from '../../scripts/build.ts';
import {
  deployLocally,
  newIdentity,
  type ServiceDescription,
} from '../../scripts/local-service.ts';
import { readSections, withCustomSection, writeSections } from '../../scripts/wasm-sections.ts';
import { expectSameBytes } from '../support/expect-same.ts';
import { copyPreparedState } from '../support/prepared-state.ts';
import { bytesOf, SteadyClients } from '../support/steady-clients.ts';
import { type Ended, runCommand, startCommand } from './command-runs.ts';

interface Row {
  readonly canisterId: string;
  readonly role: string;
  readonly version: string;
  readonly moduleHash: string;
  readonly state: string;
  readonly result?: string;
}

let folder: string;
let replica: Replica;
let service: ServiceDescription;
let wasm: Uint8Array;
let proxy: Server;
/** The canister whose HTTP answers the proxy replaces by 503. */
let broken: string | undefined;
let flags: string[];
/** The modules of this test in their order: each has another text in its metadata. */
const modules = ['one', 'two', 'three'];
const version = '0.3.0';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'upgrade-'));
  const stateDir = join(folder, '.replica');
  await copyPreparedState(stateDir);
  replica = await startReplica({ stateDir, sync: false, port: 0 });
  wasm = new Uint8Array(await readFile((await buildCanister({ force: false })).wasmPath));
  service = await deployLocally({ replica, stateDir, wasm, hasFront: true, volumeCount: 4 });
  for (const name of modules) await writeModule(name, version);
  await startProxy();
  const { port } = proxy.address() as AddressInfo;
  const host = `http://localhost:${port}`;
  await writeFile(join(folder, 'me.pem'), service.identityPem);
  flags = ['--host', host, '--front', service.front?.canisterId ?? '', '--identity', 'me.pem'];
  await writeFile(join(folder, 'note.txt'), 'hello');
  await vi.waitFor(
    async () => expect((await efs('bucket', 'create', 'kept')).code).toBe(0),
    20_000,
  );
  expect((await efs('put', 'note.txt', 'kept/')).code).toBe(0);
});
afterAll(async () => {
  proxy?.close();
  await replica?.stop();
  await rm(folder, { recursive: true, force: true });
});

async function writeModule(name: string, itsVersion: string): Promise<void> {
  const texts = { 'efs:version': itsVersion, 'efs:test': name };
  const sections = Object.entries(texts).reduce(
    (before, [label, text]) =>
      withCustomSection(before, { name: `icp:public ${label}`, content: Buffer.from(text) }),
    readSections(gunzipSync(wasm)),
  );
  await writeFile(join(folder, `${name}.wasm.gz`), gzipSync(writeSections(sections)));
}

async function startProxy(): Promise<void> {
  const { port } = new URL(service.url);
  proxy = createServer((asked, answer) => {
    if (broken !== undefined && asked.url?.startsWith(`/?canisterId=${broken}`)) {
      answer.writeHead(503).end('broken');
      return;
    }
    const { method, url: path, headers } = asked;
    const forwarded = request({ host: '127.0.0.1', port, method, path, headers }, (reply) => {
      answer.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(answer);
    });
    forwarded.on('error', () => answer.destroy());
    asked.pipe(forwarded);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
}

const efs = (...words: string[]): Promise<Ended> => runCommand([...flags, ...words], { folder });

async function rowsOf(run: Promise<Ended>, code = 0): Promise<Row[]> {
  const ended = await run;
  expect(ended.code, ended.errors).toBe(code);
  return JSON.parse(ended.output) as Row[];
}

const status = () => rowsOf(efs('service', 'status', '--json'));
const upgrade = (name: string, ...more: string[]) =>
  efs('service', 'upgrade', `${name}.wasm.gz`, '--wait', '5', '--json', ...more);
const hashesOf = (rows: readonly Row[]) => rows.map(({ moduleHash }) => moduleHash);
const resultsOf = (rows: readonly Row[]) => rows.map(({ result }) => result);

describe('efs service', () => {
  test('status lists the volumes and the front, with certified versions', async () => {
    const rows = await status();
    expect(rows.map(({ role }) => role)).toEqual([...Array(4).fill('volume'), 'front']);
    expect(rows.every((row) => row.version === version && row.state === 'running')).toBe(true);
    expect(new Set(hashesOf(rows)).size).toBe(1);
    expect((await efs('service', 'status')).output).toMatch(/^CANISTER +ROLE +VERSION/);
  });

  test('upgrade replaces the code of all, keeps files, and does nothing the second time', async () => {
    const [before] = hashesOf(await status());
    const rows = await rowsOf(upgrade('one'));
    expect(resultsOf(rows)).toEqual(Array(5).fill('upgraded'));
    expect(new Set(hashesOf(rows)).size).toBe(1);
    expect(hashesOf(rows)).not.toContain(before);
    expect((await efs('cat', 'kept/note.txt')).output).toBe('hello');
    expect(resultsOf(await rowsOf(upgrade('one')))).toEqual(Array(5).fill('unchanged'));
  });

  test('upgrade is not noticed by clients that write meanwhile', async () => {
    const { url: host, identityPem } = service;
    const front = service.front?.canisterId ?? '';
    const storage = createServiceStorage({ host, front, identity: identityFromPem(identityPem) });
    const buckets = ['b1', 'b2', 'b3', 'b4'];
    for (const bucket of buckets) await storage.buckets.create(bucket);
    expect(new Set(await Promise.all(buckets.map((one) => storage.volumeOf(one)))).size).toBe(4);
    const clients = new SteadyClients(
      buckets.map((bucket) => ({ name: `writer of ${bucket}`, storage, bucket })),
    );
    const moreWrites = async () => {
      const before = new Map(clients.writes);
      await expect
        .poll(() => [...clients.writes].every(([name, count]) => count > (before.get(name) ?? 0)), {
          timeout: 60_000,
        })
        .toBe(true);
    };
    await moreWrites();
    expect(resultsOf(await rowsOf(upgrade('three')))).toEqual(Array(5).fill('upgraded'));
    await moreWrites();
    await clients.stop();
    for (const bucket of buckets) {
      for (const [path, bytes] of clients.filesOf(bucket)) {
        expectSameBytes(await bytesOf(storage, bucket, path), bytes, `${bucket}/${path}`);
      }
    }
    expect(resultsOf(await rowsOf(upgrade('one')))).toEqual(Array(5).fill('upgraded'));
  });

  test('upgrade ends at the first failure, restores that volume and reports each one', async () => {
    const [before] = hashesOf(await status());
    broken = (await status())[2]?.canisterId;
    const ended = await upgrade('two');
    expect(ended.code).not.toBe(0);
    expect(ended.errors).toMatch(/GET http:\S+ was answered with status 503/);
    const rows = JSON.parse(ended.output) as Row[];
    const left = ['restored', 'not upgraded', 'not upgraded'];
    expect(resultsOf(rows)).toEqual(['upgraded', 'upgraded', ...left]);
    expect(hashesOf(rows).slice(2)).toEqual([before, before, before]);
    broken = undefined;
    const after = await status();
    expect(hashesOf(after)).toEqual(hashesOf(rows));
    expect(after.every(({ state }) => state === 'running')).toBe(true);
    expect((await efs('cat', 'kept/note.txt')).output).toBe('hello');
  });

  test('rollback restores a volume that was left as it failed, with its snapshot', async () => {
    const before = await status();
    broken = before[3]?.canisterId;
    const ended = await upgrade('two', '--keep-failed');
    const rows = JSON.parse(ended.output) as Row[];
    expect(resultsOf(rows)).toEqual([
      'unchanged',
      'unchanged',
      'upgraded',
      'failed',
      'not upgraded',
    ]);
    expect((await upgrade('two')).errors).toContain('efs service rollback');
    broken = undefined;
    expect((await efs('service', 'rollback')).output).toContain(`${before[3]?.canisterId} runs`);
    expect(hashesOf(await status())[3]).toBe(before[3]?.moduleHash);
    expect((await efs('service', 'rollback')).output).toContain('nothing to restore');
    expect(resultsOf(await rowsOf(upgrade('two')))[4]).toBe('upgraded');
  });

  test('rollback restores the service after a kill in the middle', async () => {
    const words = [...flags, 'service', 'upgrade', 'three.wasm.gz'];
    const run = startCommand(words, { folder });
    await expect
      .poll(async () => hashesOf(await status())[1], { timeout: 60_000 })
      .not.toBe(hashesOf(await status())[4]);
    run.process.kill('SIGKILL');
    await run.ended;
    const { code, errors } = await efs('service', 'rollback');
    expect(code, errors).toBe(0);
    const after = await status();
    expect(after.every(({ state }) => state === 'running')).toBe(true);
    expect(resultsOf(await rowsOf(upgrade('three'))).at(-1)).toBe('upgraded');
    expect((await efs('cat', 'kept/note.txt')).output).toBe('hello');
  });

  test('upgrade refuses older modules, other files and strangers, and changes nothing', async () => {
    const before = await status();
    await writeModule('old', '0.2.9');
    expect((await upgrade('old')).errors).toMatch(/has version 0\.2\.9, and \S+ runs 0\.3\.0/);
    await writeFile(join(folder, 'other.wasm.gz'), gzipSync('nothing'));
    expect((await upgrade('other')).errors).toContain('is not a module of this service');
    await writeFile(join(folder, 'stranger.pem'), newIdentity());
    const stranger = [...flags.slice(0, 4), '--identity', 'stranger.pem'];
    const words = [...stranger, 'service', 'upgrade', 'one.wasm.gz'];
    const ended = await runCommand(words, { folder });
    expect(ended.errors).toMatch(/is not a controller of/);
    expect(await status()).toEqual(
      before.map((row) => expect.objectContaining({ ...row, cycles: expect.any(Number) })),
    );
  });
});
