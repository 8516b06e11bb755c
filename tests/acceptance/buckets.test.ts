// Buckets, members, keys and the status, by agents and by URL.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { overheadBytesOf } from '../../src/domain/buckets/quota.ts';
import { type Client, openClient } from '../support/bucket-actor.ts';
import { plainMetadata } from '../support/domain-fixture.ts';
import { installNodeText } from '../support/memory-stores.ts';
import { openService, type Service } from '../support/service.ts';

installNodeText();

let service: Service;
let owner: Client;
let member: Client;
let nobody: Client;
const run = Date.now().toString(36);
const bucket = `private${run}`;

beforeAll(async () => {
  service = await openService();
  owner = await openClient(service, 'owner');
  member = await openClient(service, 7);
  nobody = await openClient(service, 'nobody');
});

afterAll(() => service?.stop());

function change(fields: object) {
  const nothing = { isPublic: [], quotaBytes: [], addMembers: [], removeMembers: [] };
  return { bucketId: bucket, ...nothing, ...fields };
}

async function newKey(permissions: string[], expiresAt: [] | [bigint] = []) {
  const request = { name: 'test', buckets: [bucket], permissions, expiresAt };
  const { ok, err } = await owner.actor.createApiKey(request);
  return ok ?? expect.fail(err);
}

/** Bytes that a bucket counts for a file `a.txt` with 9 bytes. */
const quota = BigInt(9 + overheadBytesOf({ ...plainMetadata, bucketId: bucket, path: 'a.txt' }));
const bearer = (secret: string) => ({ Authorization: `Bearer ${secret}` });
const url = () => `${service.base}/cloud/${bucket}/a.txt`;

describe('a bucket', () => {
  test('is private when created, can be made public and private, and is listed and described', async () => {
    expect((await owner.actor.createBucket(bucket, [])).ok).toMatchObject({ isPublic: false });
    expect((await owner.actor.updateBucket(change({ isPublic: [true] }))).ok?.isPublic).toBe(true);
    expect((await owner.actor.createBucket(bucket, [])).err).toMatch(/^BucketExists: /);
    expect((await owner.actor.createBucket('a-', [])).err).toMatch(/^InvalidBucketId: /);
    const updated = await owner.actor.updateBucket(
      change({ isPublic: [false], quotaBytes: [quota] }),
    );
    expect(updated.ok).toMatchObject({ isPublic: false, quotaBytes: [quota] });
    expect((await owner.actor.getBucket(bucket, [])).ok?.isPublic).toBe(false);
    const list = await owner.actor.listBuckets([], [50n]);
    expect(list.ok?.items.map(({ id }) => id)).toContain(bucket);
    expect((await nobody.actor.getBucket(bucket, [])).err).toMatch(/^NoSuchBucket: /);
    expect((await nobody.actor.getBucket('none', [])).err).toMatch(/^NoSuchBucket: /);
    expect((await nobody.actor.listBuckets([], [])).ok?.items).toEqual([]);
    expect((await owner.actor.listBuckets([0n], [])).err).toMatch(/^InvalidArgument: /);
  });

  test('that is private serves files only to keys with the read permission', async () => {
    const { secret } = await newKey(['read', 'write', 'delete']);
    const target = `${service.base}/api/v1/bucket/${bucket}/files/a.txt`;
    const headers = { ...bearer(secret), 'Content-Type': 'text/plain' };
    const put = await fetch(target, { method: 'PUT', headers, body: 'secret' });
    expect(put.status).toBe(201);
    const more = await fetch(target, { method: 'PUT', headers, body: 'x'.repeat(10) });
    expect(more.status).toBe(507);
    const read = await fetch(url(), { headers: bearer(secret) });
    expect([read.status, await read.text()]).toEqual([200, 'secret']);
    expect(read.headers.get('cache-control')).toBe('private, no-store');
    expect((await fetch(url())).status).toBe(404);
    const writeOnly = await newKey(['write']);
    expect((await fetch(url(), { headers: bearer(writeOnly.secret) })).status).toBe(403);
    expect((await fetch(url(), { headers: bearer('efs_x') })).status).toBe(401);
    expect((await owner.actor.deleteBucket(bucket, [])).err).toMatch(/^BucketNotEmpty: /);
    expect((await fetch(target, { method: 'DELETE', headers: bearer(secret) })).status).toBe(204);
  });

  test('has members with roles', async () => {
    const { principal } = member;
    expect((await member.actor.updateBucket(change({}))).err).toMatch(/^NoSuchBucket: /);
    const named = change({ addMembers: [[{ principal, role: 'reader' }]] });
    expect((await owner.actor.updateBucket(named)).ok?.members).toHaveLength(1);
    const seen = (await member.actor.getBucket(bucket, [])).ok;
    expect(seen).toMatchObject({ members: [], callerRole: ['reader'] });
    expect((await member.actor.deleteBucket(bucket, [])).err).toMatch(/^AccessDenied: /);
    expect((await member.actor.listApiKeys(bucket)).err).toMatch(/^AccessDenied: /);
    const bad = change({ addMembers: [[{ principal, role: 'king' }]] });
    expect((await owner.actor.updateBucket(bad)).err).toMatch(/^InvalidArgument: /);
    const gone = change({ removeMembers: [[principal]] });
    expect((await owner.actor.updateBucket(gone)).ok?.members).toEqual([]);
    expect((await member.actor.getBucket(bucket, [])).err).toMatch(/^NoSuchBucket: /);
  });
});

test('an API key is listed without its secret, and is invalid once it is revoked', async () => {
  const key = await newKey(['read']);
  const listed = (await owner.actor.listApiKeys(bucket)).ok ?? [];
  expect(JSON.stringify(listed)).not.toContain(key.secret.slice(0, 12));
  expect(listed.find(({ id }) => id === key.id)).toMatchObject({ hint: key.hint, name: 'test' });
  expect((await member.actor.revokeApiKey(key.id)).err).toMatch(/^AccessDenied: /);
  expect((await owner.actor.revokeApiKey('00')).err).toMatch(/^AccessDenied: /);
  expect(await owner.actor.revokeApiKey(key.id)).toEqual({ ok: null });
  expect(await owner.actor.revokeApiKey(key.id)).toEqual({ ok: null });
  expect((await fetch(url(), { headers: bearer(key.secret) })).status).toBe(401);
  expect((await owner.actor.getBucket(bucket, [key.secret])).err).toMatch(/^InvalidApiKey: /);
  expect((await owner.actor.listApiKeys(bucket)).ok?.map(({ id }) => id)).not.toContain(key.id);
});

test('a principal can create buckets only while a controller allows it', async () => {
  const { principal, actor } = member;
  expect((await actor.createBucket(`m${run}`, [])).err).toMatch(/^AccessDenied: /);
  expect((await actor.updateAccess({ allow: [[principal]], disallow: [] })).err).toMatch(
    /^AccessDenied: /,
  );
  await owner.actor.updateAccess({ allow: [[principal]], disallow: [] });
  expect((await actor.createBucket(`m${run}`, [])).ok?.owner.toText()).toBe(principal.toText());
  await owner.actor.updateAccess({ allow: [], disallow: [[principal]] });
  expect((await actor.createBucket(`n${run}`, [])).err).toMatch(/^AccessDenied: /);
  expect(await actor.deleteBucket(`m${run}`, [])).toEqual({ ok: null });
});

test('getStatus and GET /status return the same figures, and the cycles only to controllers', async () => {
  const response = await fetch(`${service.base}/api/v1/status`);
  expect(response.status).toBe(200);
  const status = await response.json();
  expect(Object.keys(status).sort()).toEqual(
    ['anonymousUpdates', 'buckets', 'bytesStored', 'certified', 'derivations'].concat([
      'encryption',
      'files',
      'heapBytes',
      'linkUpdates',
      'refusals',
      'role',
      'stableBytes',
      'version',
    ]),
  );
  const encryption = { rootKey: expect.stringMatching(/^(vetkd|stored)$/), isKeyPresent: true };
  expect(status).toMatchObject({ encryption });
  expect(status.heapBytes).toBeGreaterThan(1_000_000);
  expect(status.stableBytes).toBeGreaterThan(1_000_000);
  const seen = (await owner.actor.getStatus()).ok;
  // A cloud engine charges nothing, and its canisters hold no cycles
  const isCharged = service.replica?.subnetType !== 'cloud-engine';
  expect((seen?.cycles[0] ?? -1n) > 0n).toBe(isCharged);
  const called = (await nobody.actor.getStatus()).ok;
  expect(called?.cycles).toEqual([]);
  expect(called).toMatchObject({ version: status.version, buckets: BigInt(status.buckets) });
});

test('deleteBucket makes the keys of the bucket invalid', async () => {
  const { secret } = await newKey(['read']);
  expect(await owner.actor.deleteBucket(bucket, [])).toEqual({ ok: null });
  expect((await owner.actor.getBucket(bucket, [secret])).err).toMatch(/^InvalidApiKey: /);
});
