// The main job on a cloud engine through the gateway and the library: uploads, ranges, links, keys,
// end-to-end buckets and a rotation, all with 0 cycles. EFS_SUBNET_TYPE=cloud-engine runs the
// acceptance tests there.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { nodeEndToEnd } from '../../packages/client/src/node/end-to-end.ts';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import { createNodeStorage } from '../../packages/client/src/node/storage.ts';
import type { Storage } from '../../packages/client/src/storage.ts';
import { newIdentity, principalOf } from '../../scripts/local-service.ts';
import { runCommand } from '../client/command-runs.ts';
import { expectSameBytes } from '../support/expect-same.ts';
import { openService, type Service, sampleBytes } from '../support/service.ts';

let service: Service;
let owner: Storage;
const large = sampleBytes('large', 4_000_000);

function storageOf(pem: string): Storage {
  const { host, canisterId } = service;
  const identity = identityFromPem(pem);
  return createNodeStorage({ host, canisterId, identity, endToEnd: nodeEndToEnd({}) });
}

async function bytesOf(storage: Storage, bucket: string, path: string): Promise<Uint8Array> {
  return (await storage.download({ bucket, path })).bytes();
}

beforeAll(async () => {
  service = await openService({ subnetType: 'cloud-engine' });
  owner = storageOf(service.identityPem);
});
afterAll(() => service?.stop());

afterEach(async () => {
  const { cycles, chargesCycles, encryption } = await owner.status();
  expect([cycles, chargesCycles, encryption.rootKey]).toEqual([0, false, 'vetkd']);
  expect(encryption.proxy).toMatch(/-cai$/);
});

describe('PUT, GET and DELETE on a cloud engine', () => {
  test('store, serve and remove a file of several chunks', async () => {
    const { bucket, base, apiKey } = service;
    await owner.upload(large, { bucket, path: 'large.bin' });
    const url = `${base}/cloud/${bucket}/large.bin`;
    const whole = await fetch(url);
    expectSameBytes(new Uint8Array(await whole.arrayBuffer()), large);
    const range = await fetch(url, { headers: { Range: 'bytes=1900000-2000000' } });
    expect(range.status).toBe(206);
    expectSameBytes(
      new Uint8Array(await range.arrayBuffer()),
      large.subarray(1_900_000, 2_000_001),
    );
    const headers = { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'text/plain' };
    const put = `${base}/api/v1/bucket/${bucket}/files/small.txt`;
    expect((await fetch(put, { method: 'PUT', headers, body: 'small' })).status).toBe(201);
    expect((await fetch(put, { method: 'DELETE', headers })).status).toBeLessThan(300);
    expect((await fetch(`${base}/cloud/${bucket}/small.txt`)).status).toBe(404);
  });

  test('serve a private file by a link', async () => {
    await owner.buckets.create('private');
    await owner.upload(large, { bucket: 'private', path: 'hidden.bin' });
    const { url } = await owner.links.create({ bucket: 'private', path: 'hidden.bin' });
    const { pathname, search } = new URL(url, service.base);
    const response = await fetch(`${service.base}${pathname}${search}`);
    expectSameBytes(new Uint8Array(await response.arrayBuffer()), large);
  });
});

describe('getBucketIdentity on a cloud engine', () => {
  test('opens end-to-end files for each member, by way of the proxy', async () => {
    const pem = newIdentity();
    const reader = { principal: principalOf(pem).toText(), role: 'reader' };
    await owner.buckets.create('safe', { endToEnd: { sealsNames: true } });
    await owner.buckets.update('safe', { addMembers: [reader] });
    await owner.upload(large, { bucket: 'safe', path: 'reports/one.bin' });
    expectSameBytes(await bytesOf(storageOf(pem), 'safe', 'reports/one.bin'), large);
    const { endToEnd } = await owner.buckets.get('safe');
    expect(endToEnd?.epochs[0]?.recipient).toMatch(/^age1/);
  });
});

describe('rotateRootKey on a cloud engine', () => {
  test('rotates by way of the proxy while files stay readable', async () => {
    await owner.rotation.root();
    const isRotating = async () => (await owner.status()).encryption.isRotating;
    await vi.waitFor(async () => expect(await isRotating()).toBe(false), 60_000);
    expectSameBytes(await bytesOf(owner, service.bucket, 'large.bin'), large);
  });
});

describe('efs doctor on a cloud engine', () => {
  test('asks nobody for cycles, and names no limit of room', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'engine-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    await writeFile(join(folder, 'owner.pem'), service.identityPem, { mode: 0o600 });
    const environment = {
      ...{ EFS_URL: service.base, EFS_HOST: service.host, EFS_CANISTER_ID: service.canisterId },
      EFS_IDENTITY: 'owner.pem',
    };
    const efs = (...words: string[]) => runCommand(words, { folder, environment });
    const rows = JSON.parse((await efs('doctor', '--json')).output) as { check: string }[];
    expect(rows.find(({ check }) => check === 'cycles')).toMatchObject({
      isGood: true,
      message: 'Not needed: the subnet charges nothing.',
    });
    expect(rows.find(({ check }) => check === 'room')).toMatchObject({
      isGood: true,
      message: expect.stringMatching(/^\S+ MB of stable memory; the limit is the engine's own/),
    });
    const { output, errors } = await efs('status');
    expect(output).toMatch(/chargesCycles\s+(?:false|no)/);
    expect(errors).not.toContain('Top up');
  });
});
