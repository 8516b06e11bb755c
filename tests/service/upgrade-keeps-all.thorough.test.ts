// An upgrade of each release since 0.2.0: a service and its front with everything that users can
// store or set show the same records and the same certified answers afterwards, and open uploads,
// rotations and end-to-end buckets continue. Version 0.1.0 has tests of its own.

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { IDL } from '@dfinity/candid';
import type { Principal } from '@dfinity/principal';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { endToEnd } from '../../packages/client/src/end-to-end.ts';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import { createStorage, type Storage } from '../../packages/client/src/storage.ts';
import type { UploadSession } from '../../packages/client/src/types/transfers.ts';
import { type Replica, startReplica } from '../../packages/replica/src/replica.ts';
import { buildCanister } from '../../scripts/build.ts';
import { newIdentity, principalOf } from '../../scripts/local-service.ts';
import { askedCanister } from '../support/certification/asked-canister.ts';
import { roleArgument } from '../support/certification/opened-front.ts';
import { expectSameBytes } from '../support/expect-same.ts';
import { exchangeWith } from '../support/raw-exchange.ts';
import { sampleBytes } from '../support/service.ts';
import { projectDir } from '../tidy/source-tree.ts';

const releasesDir = join(projectDir, 'tests', 'releases');
const releases = (await readdir(releasesDir)).filter((version) => version !== '0.1.0');
const chunkBytes = 65_536;
const large = sampleBytes('large', 2 * chunkBytes + 999);
const days = 86_400_000;
const [ownerPem, memberPem] = [newIdentity(), newIdentity()];
const owner = principalOf(ownerPem);

test('at least one release is tested', () => {
  expect(releases).toContain('0.2.0');
});

describe.each(releases)('an upgrade of %s', (version) => {
  let replica: Replica;
  let volumeId: Principal;
  let frontId: Principal;
  let storage: Storage;
  let sessions: readonly UploadSession[];
  /** Paths and queries whose answers are certified, below the service's address. */
  const addresses: string[] = [];
  let before: unknown;

  const urlOf = (id: Principal) => `http://${id}.localhost:${replica.port}`;

  function open(): Storage {
    const identity = identityFromPem(ownerPem);
    const canisterId = volumeId.toText();
    return createStorage({ host: replica.url, canisterId, identity, endToEnd: endToEnd() });
  }

  beforeAll(async () => {
    const wasm = await readFile(join(releasesDir, version, 'file_storage.wasm.gz'));
    const released = new Uint8Array(gunzipSync(wasm));
    replica = await startReplica();
    volumeId = await replica.createCanister({ controllers: [owner] });
    await replica.install(volumeId, released);
    frontId = await replica.createCanister({ controllers: [owner] });
    await replica.install(frontId, released, roleArgument({ front: null }));
    storage = open();
    await joinFront();
    await fillBuckets();
    await makeLinksAndKeys();
    sessions = await beginUploads();
    // The volume reports its public buckets on a timer
    await vi.waitFor(expectAtFront, { timeout: 60_000 });
    before = await everythingShown();
    // Both are in progress during the upgrade
    await storage.rotation.bucket('files');
    await storage.rotation.root();
    await upgrade();
  });
  afterAll(() => replica?.stop());

  async function upgrade(): Promise<void> {
    const { wasmPath } = await buildCanister({ force: false });
    const wasm = new Uint8Array(await readFile(wasmPath));
    for (const id of [volumeId, frontId]) {
      await replica.upgrade(id.toText(), wasm, undefined, { sender: owner });
    }
  }

  async function joinFront(): Promise<void> {
    const front = askedCanister(replica, { canisterId: frontId, controller: owner });
    await front.call('addVolume', [IDL.Principal], [volumeId]);
    const volume = askedCanister(replica, { canisterId: volumeId, controller: owner });
    const Front = IDL.Record({ front: IDL.Principal, url: IDL.Opt(IDL.Text) });
    const settled = [{ front: frontId, url: [urlOf(frontId)] }];
    await volume.call('setFront', [IDL.Opt(Front)], [settled]);
  }

  async function fillBuckets(): Promise<void> {
    const { buckets } = storage;
    const quotas = { quotaBytes: 50_000_000, quotaFiles: 1_000 };
    await buckets.create('files', { isPublic: true, keepVersionsDays: 30, ...quotas });
    await buckets.create('pages', { isPublic: true, isSite: true });
    await buckets.create('hidden', { isPublic: false });
    const member = { principal: principalOf(memberPem).toText(), role: 'reader', name: 'Ada' };
    await buckets.update('hidden', { addMembers: [member] });
    const recipients = [await identityToRecipient(await generateX25519Identity())];
    await buckets.create('safe', { endToEnd: { usesVetKeys: true, sealsNames: true, recipients } });

    await put('files', 'empty.bin', new Uint8Array(0));
    await put('files', 'a folder/é.txt', sampleBytes('small', 300));
    await put('files', 'large.bin', large);
    for (const turn of [1, 2, 3]) await put('files', 'changed.txt', sampleBytes(`${turn}`, 100));
    await put('files', 'removed.txt', sampleBytes('removed', 100));
    await storage.remove({ bucket: 'files', path: 'removed.txt' });
    await storage.copy({ bucket: 'files', path: 'large.bin' }, { bucket: 'hidden', path: 'copy' });
    await storage.copy({ bucket: 'files', path: 'large.bin' }, { path: 'moved.bin' });
    await storage.move({ bucket: 'files', path: 'moved.bin' }, { path: 'b/moved.bin' });
    for (const path of ['index.html', 'docs/index.html', '404.html']) {
      await storage.upload(new Blob([`<p>${path}`]), { bucket: 'pages', path });
    }
    for (let number = 0; number < 60; number++) await put('hidden', `many/${number}`);
    await storage.upload(large, { bucket: 'safe', path: 'letters/large.bin' });
    addresses.push('/cloud/files/none', '/cloud/pages/', '/cloud/pages/docs', '/cloud/pages/none');
  }

  async function put(bucket: string, path: string, bytes = sampleBytes(path, 50)): Promise<void> {
    await storage.upload(bytes, {
      ...{ bucket, path, chunkBytes, contentType: 'text/plain', tags: ['old', path.slice(0, 3)] },
      headers: { 'Cache-Control': 'max-age=60', 'Content-Language': 'en' },
      metadata: { camera: 'M3', place: 'Lüneburg' },
    });
    if (bucket === 'files') addresses.push(`/cloud/files/${encodeURI(path)}`);
  }

  async function makeLinksAndKeys(): Promise<void> {
    const files = ['empty.bin', 'large.bin'].map((path) => ({ bucket: 'files', path }));
    for (const file of [...files, { bucket: 'hidden', path: 'many/7' }]) {
      const expiresAt = new Date(Date.now() + 30 * days);
      for (const options of [{}, { expiresAt, downloadName: 'a name.bin' }]) {
        const { url } = await storage.links.create({ ...file, ...options });
        addresses.push(url.slice(new URL(url).origin.length).replace(/#.*/, ''));
      }
    }
    const [name, expiresAt] = ['of a camera', new Date(Date.now() + 30 * days)];
    const limits = { updatesPerHour: 500, bytesPerHour: 90_000_000 };
    const request = { name, buckets: ['files', 'hidden'], expiresAt, ...limits };
    await storage.keys.create({ ...request, permissions: ['write'], prefix: 'camera/' });
    await storage.keys.create({ name: 'all', buckets: ['files'], permissions: ['read', 'delete'] });
    await storage.access.update({ allow: [principalOf(memberPem).toText()] });
    await storage.wellKnown.set('security.txt', 'Contact: mailto:security@example.org\n');
    addresses.push('/.well-known/security.txt');
  }

  async function beginUploads(): Promise<readonly UploadSession[]> {
    const begun: UploadSession[] = [];
    for (const size of [large.length, undefined]) {
      const path = `open/${size}`;
      const session = await storage.uploads.begin({ bucket: 'files', path, size, chunkBytes });
      const source = large.subarray(0, chunkBytes);
      const { uploadId } = session;
      await storage.uploads.write({ bucket: 'files', path, uploadId, offset: 0, source });
      begun.push(session);
    }
    return begun;
  }

  async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
    const found: T[] = [];
    for await (const item of items) found.push(item);
    return found;
  }

  async function expectAtFront(): Promise<void> {
    await replica.tick();
    const sent = { method: 'GET', path: '/b/files' };
    expect((await exchangeWith(replica.url, `${frontId}.localhost`, sent)).status).toBe(307);
  }

  /** Everything that the service shows to its owner and to visitors. */
  async function everythingShown(): Promise<unknown> {
    const buckets = await all(storage.buckets.list());
    const contents = await Promise.all(
      buckets.map(async ({ id: bucket }) => ({
        ...{ bucket, files: await all(storage.list({ bucket })) },
        versions: await all(storage.versions.list({ bucket })),
        links: await all(storage.links.list({ bucket })),
        keys: await storage.keys.list(bucket),
        uploads: await storage.uploads.list({ bucket }),
        usage: await storage.usage({ bucket }),
        recipients: await storage.buckets.recipientsDigest(bucket),
      })),
    );
    return {
      ...{ buckets, contents, creators: await storage.access.list() },
      wellKnown: await storage.wellKnown.list(),
      answers: await Promise.all(addresses.map((address) => answersAt(address))),
      atFront: await answersAt('/b/files', frontId),
    };
  }

  /** The answers to GET, HEAD and a conditional request; the gateway verifies them. */
  async function answersAt(address: string, id = volumeId): Promise<unknown> {
    const answer = async (method: string, headers: Record<string, string> = {}) => {
      const sent = { method, path: address, headers };
      const { body, ...shown } = await exchangeWith(replica.url, `${id}.localhost`, sent);
      const fields = Object.entries(shown.headers);
      const lasting = fields.filter(([name]) => !/^(date|ic-|x-ic-|x-request-id)/.test(name));
      const { status } = shown;
      return { address, method, status, headers: lasting, body: body.toString('base64') };
    };
    const got = await answer('GET');
    const etag = new Map(got.headers).get('etag') ?? '"none"';
    return [got, await answer('HEAD'), await answer('GET', { 'If-None-Match': etag })];
  }

  test('keeps every record and every certified answer', async () => {
    expect(await everythingShown()).toEqual(before);
  });

  test('lets open uploads continue', async () => {
    for (const { uploadId, path } of sessions) {
      const place = { bucket: 'files', path, uploadId };
      const source = large.subarray(chunkBytes);
      await storage.uploads.write({ ...place, offset: chunkBytes, source });
      const file = await storage.uploads.complete(place);
      expect(file.size).toBe(large.length);
      const stored = await storage.download({ bucket: 'files', path });
      expectSameBytes(await stored.bytes(), large);
    }
  });

  test('keeps private files, former versions and end-to-end files readable', async () => {
    // A new client, which knows no key yet
    const fresh = open();
    const places = [
      { bucket: 'hidden', path: 'copy' },
      { bucket: 'safe', path: 'letters/large.bin' },
    ];
    for (const place of places) {
      expectSameBytes(await (await fresh.download(place)).bytes(), large, place.bucket);
    }
    expect((await all(fresh.list({ bucket: 'safe' }))).map(({ path }) => path)).toEqual([
      'letters/large.bin',
    ]);
    for (const [path, bytes] of [
      ['changed.txt', sampleBytes('1', 100)],
      ['removed.txt', sampleBytes('removed', 100)],
    ] as const) {
      const [former] = await all(fresh.versions.list({ bucket: 'files', path }));
      await fresh.versions.restore({ bucket: 'files', path, version: former?.version ?? 0 });
      expectSameBytes(await (await fresh.download({ bucket: 'files', path })).bytes(), bytes, path);
    }
  });

  test('lets rotations end, and files be written as before', async () => {
    await expect
      .poll(async () => {
        await replica.tick();
        return (await storage.status()).encryption.isRotating;
      })
      .toBe(false);
    for (const turn of [1, 2]) await put('files', 'new.txt', sampleBytes(`new ${turn}`, 900));
    const download = await storage.download({ bucket: 'files', path: 'large.bin' });
    expectSameBytes(await download.bytes(), large);
    const removed = await all(storage.removeAll({ bucket: 'hidden', prefix: 'many/' }));
    expect(removed).toHaveLength(60);
    expect((await all(storage.list({ bucket: 'hidden' }))).map(({ path }) => path)).toEqual([
      'copy',
    ]);
  });
});
