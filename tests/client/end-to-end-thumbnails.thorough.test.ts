// Thumbnails of an end-to-end bucket of the real service. The library of age's author opens the
// stored bytes too.

import { Decrypter, generateX25519Identity, identityToRecipient } from 'age-encryption';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  headerEnd,
  openerByKey,
  openHeader,
  requireFileKey,
} from '../../packages/client/src/age/header.ts';
import { memoryIdentityStore } from '../../packages/client/src/age/identity-store.ts';
import { openWhole } from '../../packages/client/src/age/opened-file.ts';
import { createHttpStorage } from '../../packages/client/src/http-storage.ts';
import { nodeEndToEnd, openNodeLink } from '../../packages/client/src/node/end-to-end.ts';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import { nodeSegmentCipher } from '../../packages/client/src/node/segment-cipher.ts';
import { createNodeStorage } from '../../packages/client/src/node/storage.ts';
import { createStorage, type Storage } from '../../packages/client/src/storage.ts';
import { newIdentity, principalOf } from '../../scripts/local-service.ts';
import { testPicture } from '../support/domain-fixture.ts';
import { personOf } from '../support/people.ts';
import { openService, type Service, sampleBytes } from '../support/service.ts';

const bucket = 'safe';
const picture = testPicture(9_000);
const member = newIdentity();
/** Saves derivations, which are limited. */
const store = memoryIdentityStore();
let service: Service;
let owner: Storage;
let machine: string;
/** Sees the stored bytes. */
let stored: ReturnType<typeof createHttpStorage>;
let apiKey: string;

function storageOf(pem: string): Storage {
  const { host, canisterId } = service;
  const identity = identityFromPem(pem);
  return createNodeStorage({ host, canisterId, identity, endToEnd: nodeEndToEnd({ store }) });
}

beforeAll(async () => {
  service = await openService();
  owner = storageOf(service.identityPem);
  machine = await generateX25519Identity();
  const recipients = [await identityToRecipient(machine)];
  for (const [id, sealsNames] of [['safe', false] as const, ['sealed', true] as const]) {
    await owner.buckets.create(id, { endToEnd: { recipients, sealsNames }, keepVersionsDays: 9 });
    const role = { principal: principalOf(member).toText(), role: 'writer' } as const;
    await owner.buckets.update(id, { addMembers: [role] });
  }
  const permissions = ['read', 'write'] as const;
  const made = await owner.keys.create({ name: 'k', buckets: ['safe', 'sealed'], permissions });
  apiKey = made.secret;
  stored = createHttpStorage({ url: service.base, apiKey });
});
afterAll(() => service?.stop());

async function put(path: string, { storage = owner, bytes = picture, id = bucket } = {}) {
  const { etag } = await storage.upload(sampleBytes(path, 70_000), { bucket: id, path });
  await storage.thumbnails.put({ bucket: id, path, etag }, new Blob([bytes as BlobPart]));
  return etag;
}

async function shown(path: string, storage = storageOf(member)): Promise<Uint8Array | undefined> {
  const found = await storage.thumbnails.read({ bucket, paths: [path] });
  return found.get(path)?.bytes;
}

async function storedThumbnail(path: string): Promise<Uint8Array> {
  const found = await stored.thumbnails.read({ bucket, paths: [path] });
  expect(found.get(path)?.contentType).toBe('application/age');
  return found.get(path)?.bytes ?? expect.fail(`no thumbnail of ${path}`);
}

async function storedFile(path: string): Promise<Uint8Array> {
  return (await stored.download({ bucket, path })).bytes();
}

async function putStored(path: string, etag: string, bytes: Uint8Array): Promise<void> {
  await stored.thumbnails.put({ bucket, path, etag }, bytes);
}

const headerIn = (bytes: Uint8Array) => Buffer.from(bytes.subarray(0, headerEnd(bytes)));
const keyIn = (bytes: Uint8Array) =>
  openHeader(headerIn(bytes), { identities: [machine], passphrases: [] });

describe('thumbnails.put() in an end-to-end bucket', () => {
  test('stores an age file with the header of its file, which other members read', async () => {
    const etag = await put('a.jpg');
    const found = await storageOf(member).thumbnails.read({ bucket, paths: ['a.jpg', 'none'] });
    const bytes = new Uint8Array(picture);
    expect([...found]).toEqual([['a.jpg', { etag, contentType: 'image/webp', bytes }]]);
    const sealed = await storedThumbnail('a.jpg');
    expect(Buffer.from(sealed).includes('WEBP')).toBe(false);
    const file = await storedFile('a.jpg');
    expect(headerIn(sealed)).toEqual(headerIn(file));
    const decrypter = new Decrypter();
    decrypter.addIdentity(machine);
    expect(Buffer.from(await decrypter.decrypt(sealed))).toEqual(picture);
    const opener = openerByKey(await keyIn(file));
    expect(Buffer.from(await openWhole(sealed, opener, nodeSegmentCipher))).toEqual(picture);
  });

  test('needs no identity: an API key that uploads the file stores its thumbnail', async () => {
    const url = service.base;
    const dropping = createStorage({ url, apiKey, endToEnd: nodeEndToEnd() });
    await put('dropped.jpg', { storage: dropping });
    expect(headerIn(await storedThumbnail('dropped.jpg'))).toEqual(
      headerIn(await storedFile('dropped.jpg')),
    );
    expect(await shown('dropped.jpg')).toEqual(new Uint8Array(picture));
    expect(await shown('dropped.jpg', dropping)).toEqual(new Uint8Array(picture));
    const reading = createStorage({ url, apiKey, endToEnd: nodeEndToEnd() });
    await expect(shown('dropped.jpg', reading)).rejects.toMatchObject({ code: 'NoIdentity' });
  });

  test('after uploadAll() uses the header of each file', async () => {
    const paths = Array.from({ length: 5 }, (_, index) => `many/${index}.jpg`);
    const files = paths.map((path) => ({ path, source: sampleBytes(path, 1_000) }));
    for await (const { path, file } of owner.uploadAll(files, { bucket })) {
      const etag = file?.etag ?? expect.fail(path);
      await owner.thumbnails.put({ bucket, path, etag }, testPicture(path.length));
    }
    const found = await storageOf(member).thumbnails.read({ bucket, paths });
    expect([...found.keys()]).toEqual(paths);
    for (const path of paths) {
      const sealed = await storedThumbnail(path);
      expect(headerIn(sealed)).toEqual(headerIn(await storedFile(path)));
    }
  });

  test('of a file that another client has uploaded uses a new key, never the stored one', async () => {
    const { etag } = await owner.upload(sampleBytes('b', 10), { bucket, path: 'b.jpg' });
    await storageOf(member).thumbnails.put({ bucket, path: 'b.jpg', etag }, picture);
    expect(await shown('b.jpg')).toEqual(new Uint8Array(picture));
    const key = await keyIn(await storedFile('b.jpg'));
    const opened = requireFileKey(headerIn(await storedThumbnail('b.jpg')), key);
    await expect(opened).rejects.toMatchObject({ code: 'IntegrityError' });
  });

  test('uses another nonce for another picture, and refuses what is no picture', async () => {
    const etag = await put('c.jpg');
    const before = await storedThumbnail('c.jpg');
    const named = { bucket, path: 'c.jpg', etag };
    await owner.thumbnails.put(named, picture);
    const after = await storedThumbnail('c.jpg');
    expect(headerIn(after)).toEqual(headerIn(before));
    expect(Buffer.compare(after, before)).not.toBe(0);
    const refused = owner.thumbnails.put(named, Buffer.from('<svg/>'));
    await expect(refused).rejects.toMatchObject({ code: 'InvalidContentType' });
    const large = owner.thumbnails.put(named, testPicture(32_757));
    await expect(large).rejects.toMatchObject({ code: 'EntityTooLarge' });
    const plain = putStored('c.jpg', etag, picture);
    await expect(plain).rejects.toMatchObject({ code: 'NotEncrypted', status: 400 });
  });

  test('works with sealed names', async () => {
    await put('album/ä.jpg', { id: 'sealed' });
    const paths = ['album/ä.jpg'];
    const found = await storageOf(member).thumbnails.read({ bucket: 'sealed', paths });
    expect(found.get('album/ä.jpg')?.bytes).toEqual(new Uint8Array(picture));
  });

  test('works after an upload that was interrupted', async () => {
    const source = new Blob([sampleBytes('large', 4_000_000) as BlobPart]);
    const stop = new AbortController();
    const named = { bucket, path: 'resumed.jpg' };
    let session: { uploadId: string; ageHeader?: string | undefined } | undefined;
    const first = owner.upload(source, {
      ...named,
      concurrency: 1,
      signal: stop.signal,
      onSession: (begun) => {
        session = begun;
      },
      onProgress: ({ doneBytes }) => doneBytes > 0 && stop.abort(),
    });
    await expect(first).rejects.toMatchObject({ code: 'Aborted' });
    const { uploadId: resume, ageHeader } = session ?? expect.fail('no session');
    const { etag } = await owner.upload(source, { ...named, resume, ageHeader });
    await owner.thumbnails.put({ ...named, etag }, picture);
    const sealed = await storedThumbnail(named.path);
    expect(headerIn(sealed)).toEqual(headerIn(await storedFile(named.path)));
  });
});

describe('thumbnails.read() in an end-to-end bucket', () => {
  test('finds the thumbnails of copies, moved files and restored versions, after rotations', async () => {
    const path = 'kept.jpg';
    const etag = await put(path);
    await owner.copy({ bucket, path }, { path: 'copy.jpg' });
    await owner.move({ bucket, path: 'copy.jpg' }, { path: 'moved.jpg' });
    await owner.buckets.rotateIdentity(bucket);
    await personOf(service, 'owner').get('rotateBucketKey', bucket);
    await owner.upload(sampleBytes('new', 10), { bucket, path });
    expect(await shown(path)).toBeUndefined();
    const again = storageOf(service.identityPem);
    await put('later.jpg', { storage: again });
    await again.versions.restore({ bucket, path, version: 1 });
    expect((await again.stat({ bucket, path })).etag).toBe(etag);
    for (const one of [path, 'moved.jpg', 'later.jpg']) {
      expect(await shown(one)).toEqual(new Uint8Array(picture));
    }
  });

  test('leaves out damaged thumbnails, and fails if nothing else is left', async () => {
    const etags = new Map<string, string>();
    const paths = ['whole.jpg', 'cut.jpg', 'flipped.jpg', 'other.jpg'];
    for (const path of paths) etags.set(path, await put(path));
    const damage = async (path: string, change: (bytes: Uint8Array) => Uint8Array) => {
      const bytes = change(await storedThumbnail(path));
      await putStored(path, etags.get(path) ?? '', bytes);
    };
    await damage('cut.jpg', (bytes) => bytes.subarray(0, -1));
    await damage('flipped.jpg', (bytes) => bytes.with(-100, (bytes.at(-100) ?? 0) ^ 1));
    const foreign = headerIn(await storedThumbnail('whole.jpg'));
    await damage('other.jpg', (bytes) => Buffer.concat([foreign, bytes.subarray(foreign.length)]));
    const reader = storageOf(member);
    const found = await reader.thumbnails.read({ bucket, paths });
    expect([...found.keys()]).toEqual(['whole.jpg']);
    for (const path of paths.slice(1)) {
      await expect(shown(path, reader)).rejects.toMatchObject({ code: 'IntegrityError' });
    }
  });

  test('opens a thumbnail that age -r made, but nothing that is not a small picture', async () => {
    const { Encrypter } = await import('age-encryption');
    const sealed = (bytes: Uint8Array, recipientCount = 1) => {
      const encrypter = new Encrypter();
      for (let index = 0; index < recipientCount; index++) encrypter.addRecipient(recipient);
      return encrypter.encrypt(bytes);
    };
    const { endToEnd } = await owner.buckets.get(bucket);
    const recipient = endToEnd?.epochs[0]?.recipient ?? expect.fail('no recipient');
    const etag = await put('manual.jpg');
    await putStored('manual.jpg', etag, await sealed(picture));
    expect(await shown('manual.jpg')).toEqual(new Uint8Array(picture));
    await putStored('manual.jpg', etag, await sealed(Buffer.from('<svg onload="x()"/>')));
    await expect(shown('manual.jpg')).rejects.toMatchObject({ code: 'IntegrityError' });
    await putStored('manual.jpg', etag, await sealed(testPicture(40_000)));
    await expect(shown('manual.jpg')).rejects.toThrow('Its picture is too large');
    await putStored('manual.jpg', etag, await sealed(picture, 16));
    expect(await shown('manual.jpg')).toEqual(new Uint8Array(picture));
    // Hundreds would fit, each of which a reader would have to try
    await putStored('manual.jpg', etag, await sealed(picture, 17));
    await expect(shown('manual.jpg')).rejects.toThrow('It has 17 recipients');
  });
});

test("openWhole() by a file's key refuses the thumbnail of another file", async () => {
  await put('one.jpg');
  await put('two.jpg');
  const opener = openerByKey(await keyIn(await storedFile('one.jpg')));
  const opened = openWhole(await storedThumbnail('two.jpg'), opener, nodeSegmentCipher);
  await expect(opened).rejects.toMatchObject({ code: 'IntegrityError' });
});

test('download() refuses a thumbnail in place of its file, by a link too', async () => {
  const named = { bucket, path: 'swapped.jpg' };
  await put(named.path);
  const { url } = await owner.links.create(named);
  const thumbnail = await storedThumbnail(named.path);
  await stored.upload(thumbnail, { ...named, contentType: 'application/age' });
  const refusal = {
    code: 'IntegrityError',
    message: expect.stringContaining('only its thumbnail'),
  };
  await expect(storageOf(member).download(named)).rejects.toMatchObject(refusal);
  const { pathname, search, hash } = new URL(url);
  const opened = openNodeLink(service.base + pathname + search + hash);
  await expect(opened).rejects.toMatchObject(refusal);
});
