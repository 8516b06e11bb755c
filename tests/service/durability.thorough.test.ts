// Acknowledged data survives restarts of the replica, upgrades of the canister, and restarts of the
// process during an upload.

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { IDL } from '@dfinity/candid';
import type { Principal } from '@dfinity/principal';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Replica, startReplica } from '../../packages/replica/src/replica.ts';
import { buildCanister } from '../../scripts/build.ts';
import {
  createDemoKey,
  deployLocally,
  principalOf,
  type ServiceDescription,
} from '../../scripts/local-service.ts';
import { manage } from '../replica/conformance/management-client.ts';
import { expectSameBytes } from '../support/expect-same.ts';
import { settings } from '../support/key-network.ts';
import { copyPreparedState } from '../support/prepared-state.ts';
import { sampleBytes } from '../support/service.ts';

const TextResult = IDL.Variant({ ok: IDL.Text, err: IDL.Text });
const NatResult = IDL.Variant({ ok: IDL.Nat, err: IDL.Text });

let folder: string;
let wasm: Uint8Array;
let replica: Replica;
let service: ServiceDescription;

async function start(): Promise<void> {
  const stateDir = join(folder, 'state');
  replica = await startReplica({ stateDir, sync: false });
  service = await deployLocally({ replica, stateDir, wasm });
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'durability-'));
  wasm = new Uint8Array(await readFile((await buildCanister({ force: false })).wasmPath));
  await copyPreparedState(join(folder, 'state'));
  await start();
});

afterAll(async () => {
  await replica?.stop();
  await rm(folder, { recursive: true, force: true });
});

interface Method {
  readonly method: string;
  readonly types: IDL.Type[];
  readonly result: IDL.Type;
}

async function call<T>(
  { method, types, result }: Method,
  values: unknown[],
  canisterId = service.canisterId,
) {
  const sender = principalOf(service.identityPem);
  const argument = IDL.encode(types, values);
  const reply = await replica.call(canisterId, method, argument, { sender });
  const [value] = IDL.decode([result], reply);
  return value as { ok?: T; err?: string };
}

const begin: Method = {
  method: 'beginFileUpload',
  types: [IDL.Text, IDL.Text, IDL.Text, IDL.Nat, IDL.Opt(IDL.Text)],
  result: TextResult,
};
const put: Method = {
  method: 'uploadFileChunkIndexed',
  types: [IDL.Text, IDL.Nat, IDL.Vec(IDL.Nat8)],
  result: NatResult,
};
const end: Method = {
  method: 'completeFileUpload',
  types: [IDL.Text, IDL.Opt(IDL.Text)],
  result: TextResult,
};

async function beginUpload(path: string, size: number, canisterId?: string): Promise<string> {
  const begun = await call<string>(
    begin,
    ['demo', path, 'text/plain', BigInt(size), []],
    canisterId,
  );
  return begun.ok ?? expect.fail(begun.err);
}

function putChunk(uploadId: string, index: number, bytes: Uint8Array) {
  return call<bigint>(put, [uploadId, index, bytes]);
}

function complete(uploadId: string) {
  return call<string>(end, [uploadId, []]);
}

async function fetchBytes(path: string): Promise<Uint8Array> {
  const response = await fetch(`${service.url}/cloud/demo/${path}`);
  expect(response.status).toBe(200);
  return new Uint8Array(await response.arrayBuffer());
}

test('files, keys and sessions survive a restart of the replica', async () => {
  const bytes = sampleBytes('durable', 150_000);
  const uploadId = await beginUpload('/later.bin', bytes.length);
  await putChunk(uploadId, 1, bytes.subarray(100_000));
  const headers = { Authorization: `Bearer ${service.apiKey}`, 'Content-Type': 'text/plain' };
  const url = `${service.url}/api/v1/bucket/demo/files/now.txt`;
  expect((await fetch(url, { method: 'PUT', body: 'now', headers })).status).toBe(201);

  const { apiKey, canisterId } = service;
  await replica.stop();
  await start();

  expect(service).toMatchObject({ apiKey, canisterId });
  expect(Buffer.from(await fetchBytes('now.txt')).toString()).toBe('now');
  expect(await putChunk(uploadId, 0, bytes.subarray(0, 100_000))).toEqual({ ok: 150_000n });
  expect(await complete(uploadId)).toHaveProperty('ok');
  expectSameBytes(await fetchBytes('later.bin'), bytes);
  const again = `${service.url}/api/v1/bucket/demo/files/again.txt`;
  expect((await fetch(again, { method: 'PUT', body: 'x', headers })).status).toBe(201);
});

test('files and sessions survive an upgrade of the canister', async () => {
  const bytes = sampleBytes('upgraded', 70_000);
  const uploadId = await beginUpload('/up.bin', bytes.length);
  await putChunk(uploadId, 0, bytes.subarray(0, 40_000));
  await replica.upgrade(service.canisterId, wasm);
  await putChunk(uploadId, 1, bytes.subarray(40_000));
  await replica.upgrade(service.canisterId, wasm);
  expect(await complete(uploadId)).toHaveProperty('ok');
  await replica.upgrade(service.canisterId, wasm);
  expectSameBytes(await fetchBytes('up.bin'), bytes);
});

test('copies, changes and former versions survive upgrades and restarts', async () => {
  const send = (method: string, path: string, body: BodyInit) =>
    fetch(`${service.url}/api/v1/bucket/demo/${path}`, {
      ...{ method, body },
      headers: { Authorization: `Bearer ${service.apiKey}`, 'Content-Type': 'text/plain' },
    });
  const Change = IDL.Record({ bucketId: IDL.Text, keepVersionsDays: IDL.Opt(IDL.Nat) });
  const result = IDL.Variant({ ok: IDL.Reserved, err: IDL.Text });
  const update: Method = { method: 'updateBucket', types: [Change], result };
  await call(update, [{ bucketId: 'demo', keepVersionsDays: [1n] }]);
  await send('PUT', 'files/kept/a', 'one');
  const copy = { from: 'kept/a', to: { path: 'kept/b' } };
  expect((await send('POST', 'copy', JSON.stringify(copy))).status).toBe(201);
  await send('PUT', 'files/kept/a', 'two');
  await replica.upgrade(service.canisterId, wasm);
  const tags = JSON.stringify({ tags: ['x'] });
  expect((await send('PATCH', 'files/kept/b', tags)).status).toBe(200);
  const move = { from: 'kept/b', to: { path: 'kept/c' } };
  expect((await send('POST', 'move', JSON.stringify(move))).status).toBe(201);
  await replica.stop();
  await start();

  expect(Buffer.from(await fetchBytes('kept/a')).toString()).toBe('two');
  expect(Buffer.from(await fetchBytes('kept/c')).toString()).toBe('one');
  const former = JSON.stringify({ path: 'kept/a', version: 1 });
  expect((await send('POST', 'restore', former)).status).toBe(200);
  expect(Buffer.from(await fetchBytes('kept/a')).toString()).toBe('one');
  await call(update, [{ bucketId: 'demo', keepVersionsDays: [0n] }]);
});

test("a key's secret is not in stable memory", async () => {
  const { bytes, read } = replica.stableMemory(service.canisterId);
  const memory = Buffer.from(read(0, bytes));
  expect(memory.includes(service.apiKey.slice(0, 8))).toBe(true);
  expect(memory.includes(service.apiKey.slice(8, 40))).toBe(false);
});

test('malformed Candid is rejected with a reason and changes nothing', async () => {
  const before = replica.stableMemory(service.canisterId);
  const image = Buffer.from(before.read(0, before.bytes));
  for (const method of ['createBucket', 'beginFileUpload', 'uploadFileChunkIndexed']) {
    for (const argument of [new Uint8Array(0), Buffer.from('DIDL\0\x05'), sampleBytes('x', 99)]) {
      await expect(replica.call(service.canisterId, method, argument)).rejects.toThrow(/Candid/);
    }
  }
  const after = replica.stableMemory(service.canisterId);
  expect(image.equals(after.read(0, after.bytes))).toBe(true);
});

test('a Wasm without the kernel refuses to install and explains how to build it', async () => {
  const unlinked = new Uint8Array(await readFile('.azle/file_storage/file_storage.wasm'));
  const canisterId = await replica.createCanister();
  await expect(replica.install(canisterId, unlinked)).rejects.toThrow(/npm run build/);
});

test('two installs generate different keys and upload ids', async () => {
  const { identityPem } = service;
  const first = [service.apiKey, await beginUpload('/a', 1)];
  const created = await replica.createCanister({ controllers: [principalOf(identityPem)] });
  const canisterId = created.toText();
  await replica.install(canisterId, wasm, settings({ stored: null }));
  const apiKey = await createDemoKey(replica, canisterId, identityPem);
  const second = [apiKey, await beginUpload('/a', 1, canisterId)];
  expect(new Set([...first, ...second]).size).toBe(4);
});

/** Sets the freezing threshold so that `cycles` of the balance are above the reserve. */
async function leaveLiquid(id: Principal, cycles: bigint): Promise<void> {
  const asked = { canister_id: id, sender: principalOf(service.identityPem) };
  const status = await manage(replica, 'canister_status', asked);
  const perDay: bigint = status.idle_cycles_burned_per_day;
  const freezingThreshold = ((status.cycles - cycles) * 86_400n) / perDay;
  await manage(replica, 'update_settings', {
    ...asked,
    settings: { freezing_threshold: freezingThreshold },
  });
}

test('a canister that is low on cycles refuses uploads with a reason, and still serves and deletes', async () => {
  const identityPem = service.identityPem;
  const controllers = [principalOf(identityPem)];
  const created = await replica.createCanister({ controllers, cycles: 400_000_000_000n });
  const poor = created.toText();
  // This canister could not pay for a vetKD key.
  await replica.install(poor, wasm, settings({ stored: null }));
  const apiKey = await createDemoKey(replica, poor, identityPem);
  const headers = { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'a/b' };
  const send = (name: string, body: Uint8Array) =>
    fetch(`${service.url}/api/v1/bucket/demo/files/${name}?canisterId=${poor}`, {
      method: 'PUT',
      body: body as BodyInit,
      headers,
    });
  let refused = await send('first', sampleBytes('first', 2_000_000));
  expect(refused.status).toBe(201);
  // The long threshold makes memory expensive, so that some upload exceeds the balance.
  await leaveLiquid(created, 150_000_000_000n);
  for (let turn = 0; turn < 60 && refused.status !== 503; turn++) {
    refused = await send(`more${turn}`, sampleBytes('more', 2_000_000));
  }
  expect(refused.status).toBe(503);
  expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
  expect(await refused.json()).toMatchObject({ error: { code: 'ServiceUnavailable' } });
  expect((await fetch(`${service.url}/cloud/demo/first?canisterId=${poor}`)).status).toBe(200);
  const url = `${service.url}/api/v1/bucket/demo/files/first?canisterId=${poor}`;
  expect((await fetch(url, { method: 'DELETE', headers })).status).toBe(204);
});
