// An end-to-end bucket of the real service, as its users see it: the owner, a reader, the holder of
// an API key, a removed writer, and the holder of a listed recipient's key.

import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Decrypter, generateX25519Identity, identityToRecipient } from 'age-encryption';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createLine } from '../../packages/client/src/connection/transfer-window.ts';
import { createHttpStorage } from '../../packages/client/src/http-storage.ts';
import { nodeEndToEnd, openNodeLink } from '../../packages/client/src/node/end-to-end.ts';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import { fileIdentityStore } from '../../packages/client/src/node/identity-store.ts';
import { createNodeStorage } from '../../packages/client/src/node/storage.ts';
import { createStorage, type Storage } from '../../packages/client/src/storage.ts';
import { newIdentity, principalOf } from '../../scripts/local-service.ts';
import { isSentUpdate } from '../support/method-reports.ts';
import { openService, type Service, sampleBytes } from '../support/service.ts';

let service: Service;
let folder: string;
let owner: Storage;
let reader: Storage;
const pems = { reader: newIdentity(), leaver: newIdentity() };
const bucket = 'safe';
const bytes = sampleBytes('end to end', 300_000);
const file = { bucket, path: 'reports/one.txt' };

function storageOf(pem: string, store?: string): Storage {
  const { host, canisterId } = service;
  const identity = identityFromPem(pem);
  const endToEnd = nodeEndToEnd(store === undefined ? {} : { store: fileIdentityStore(store) });
  return createNodeStorage({ host, canisterId, identity, endToEnd });
}

async function bytesOf(storage: Pick<Storage, 'download'>, path = file.path): Promise<Uint8Array> {
  return (await storage.download({ bucket, path })).bytes();
}

const same = (one: Uint8Array, other: Uint8Array) => Buffer.compare(one, other) === 0;
const role = (pem: string, name: string) => ({ principal: principalOf(pem).toText(), role: name });

beforeAll(async () => {
  service = await openService();
  folder = await mkdtemp(join(tmpdir(), 'efs-safe-'));
  owner = storageOf(service.identityPem, join(folder, 'owner'));
  reader = storageOf(pems.reader);
  await owner.buckets.create(bucket, { endToEnd: {} });
  const addMembers = [role(pems.reader, 'reader'), role(pems.leaver, 'writer')];
  await owner.buckets.update(bucket, { addMembers });
});
afterAll(async () => {
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

test('nodeEndToEnd(): the owner’s first upload publishes the recipient, and a reader opens the file', async () => {
  const before = await owner.buckets.get(bucket);
  expect(before.endToEnd?.epochs).toMatchObject([{ epoch: 1, recipient: undefined }]);
  await owner.upload(bytes, file);
  const { endToEnd } = await owner.buckets.get(bucket);
  expect(endToEnd?.epochs[0]?.recipient).toMatch(/^age1[a-z0-9]{58}$/);
  expect(same(await bytesOf(reader), bytes)).toBe(true);
  const { body, contentType } = await reader.download(file, { range: { start: 100, end: 200 } });
  expect(contentType).toBe('text/plain');
  const part = new Uint8Array(await new Response(body as BodyInit).arrayBuffer());
  expect(same(part, bytes.subarray(100, 200))).toBe(true);
});

test("nodeEndToEnd(): the owner's identity is cached in a private file, and decrypts the file", async () => {
  const [name = ''] = await readdir(join(folder, 'owner'));
  const { mode, size } = await stat(join(folder, 'owner', name));
  expect([mode & 0o777, size]).toEqual([0o600, 48]);
  expect((await readFile(join(folder, 'owner', name))).length).toBe(48);
  // Another program of the same person does not ask the network again.
  const again = storageOf(service.identityPem, join(folder, 'owner'));
  const reports = service.replica?.reports ?? [];
  const updates = reports.filter(isSentUpdate).length;
  expect(same(await bytesOf(again), bytes)).toBe(true);
  expect(reports.filter(isSentUpdate).length).toBe(updates);
});

test('nodeEndToEnd(): an API key uploads without an identity, and decrypts nothing', async () => {
  const { secret } = await owner.keys.create({
    name: 'drop',
    buckets: [bucket],
    permissions: ['read', 'write'],
  });
  const options = { url: service.base, apiKey: secret };
  const dropping = createStorage({ ...options, endToEnd: nodeEndToEnd() });
  await dropping.upload(bytes, { bucket, path: 'dropped.txt' });
  expect(same(await bytesOf(reader, 'dropped.txt'), bytes)).toBe(true);
  await expect(bytesOf(dropping, 'dropped.txt')).rejects.toMatchObject({ code: 'NoIdentity' });
  const careless = createHttpStorage(options);
  const refused = careless.upload(bytes, { bucket, path: 'plain.txt', contentType: 'text/plain' });
  await expect(refused).rejects.toMatchObject({ code: 'NotEncrypted', status: 400 });
});

test('nodeEndToEnd(): listed recipients decrypt files too, with and without vetKeys', async () => {
  const identity = await generateX25519Identity();
  const recipients = [await identityToRecipient(identity)];
  await owner.buckets.create('own', { endToEnd: { usesVetKeys: false, recipients } });
  const own = { bucket: 'own', path: 'a.txt' };
  await owner.upload(bytes, own);
  await expect(owner.download(own)).rejects.toMatchObject({ code: 'NoIdentity' });
  await owner.buckets.update(bucket, { endToEnd: { recipients } });
  await storageOf(service.identityPem, join(folder, 'owner')).upload(bytes, {
    bucket,
    path: 'recoverable.txt',
  });
  const { secret } = await owner.keys.create({
    name: 'recovery',
    buckets: [bucket, 'own'],
    permissions: ['read'],
  });
  const endToEnd = nodeEndToEnd({ identities: [identity] });
  const recovery = createHttpStorage({ url: service.base, apiKey: secret, endToEnd });
  expect(same(await (await recovery.download(own)).bytes(), bytes)).toBe(true);
  expect(same(await bytesOf(recovery, 'recoverable.txt'), bytes)).toBe(true);
  const stored = createHttpStorage({ url: service.base, apiKey: secret });
  const decrypter = new Decrypter();
  decrypter.addIdentity(identity);
  const whole = await (await stored.download(own)).bytes();
  expect(same(await decrypter.decrypt(whole), bytes)).toBe(true);
});

test('nodeEndToEnd(): a link decrypts its file for whoever has the whole address', async () => {
  const { url } = await reader.links.create(file);
  const address = new URL(url);
  // Node does not resolve names below localhost.
  const reached = service.base + address.pathname + address.search;
  const linked = await openNodeLink(reached + address.hash);
  expect(same(await linked.bytes(), bytes)).toBe(true);
  const bare = await (await openNodeLink(reached)).bytes();
  expect(Buffer.from(bare.subarray(0, 21)).toString()).toBe('age-encryption.org/v1');
});

test('nodeEndToEnd(): a removed member decrypts nothing that was stored after a rotation', async () => {
  const leaver = storageOf(pems.leaver);
  expect(same(await bytesOf(leaver), bytes)).toBe(true);
  const removeMembers = [principalOf(pems.leaver).toText()];
  await owner.buckets.update(bucket, { removeMembers });
  await owner.buckets.rotateIdentity(bucket);
  const rotated = storageOf(service.identityPem, join(folder, 'owner'));
  await rotated.upload(bytes, { bucket, path: 'after.txt' });
  await expect(bytesOf(storageOf(pems.leaver), 'after.txt')).rejects.toMatchObject({
    code: 'NoSuchBucket',
  });
  const { endToEnd } = await owner.buckets.get(bucket);
  expect(endToEnd?.epochs.map(({ epoch }) => epoch)).toEqual([1, 2]);
  const fresh = storageOf(pems.reader);
  expect(same(await bytesOf(fresh, 'after.txt'), bytes)).toBe(true);
  expect(same(await bytesOf(fresh), bytes)).toBe(true);
});

test("nodeEndToEnd(): a replaced recipient in the bucket's record is detected", async () => {
  await owner.buckets.rotateIdentity(bucket);
  const swapped = await identityToRecipient(await generateX25519Identity());
  const { host, canisterId, identityPem } = service;
  const { openActorTransport } = await import('../../packages/client/src/actor/transport.ts');
  const transport = await openActorTransport({
    ...{ host, canisterId, apiKey: undefined, fetchRootKey: undefined, timeoutMs: 60_000 },
    identity: identityFromPem(identityPem),
    fetch: globalThis.fetch,
    line: createLine(),
    retryPolicy: { attemptsMax: 1, delayMsMin: 1, delayMsMax: 1, stoppedMsMax: 0 },
  });
  await transport.administration?.setBucketRecipient(
    { bucket, epoch: 3, recipient: swapped },
    undefined,
  );
  await expect(bytesOf(storageOf(pems.reader))).rejects.toMatchObject({
    code: 'Untrusted',
    message: expect.stringContaining('was replaced'),
  });
});

test('nodeEndToEnd(): an invalid recipient is refused by the call that sets it', async () => {
  const wrong = { endToEnd: { recipients: ['age1wrong'] } };
  await expect(owner.buckets.create('wrong', wrong)).rejects.toMatchObject({
    code: 'InvalidArgument',
  });
});
