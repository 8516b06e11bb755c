// A node that forges a bucket's mode for its writers: it reports its own recipients, or that a
// bucket is not end-to-end. It cannot read any byte of a file.

import { IDL } from '@dfinity/candid';
import { Decrypter, generateX25519Identity, identityToRecipient } from 'age-encryption';
import { encode } from 'cborg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { EndToEndLayer } from '../../packages/client/src/end-to-end.ts';
import type { FileStorage } from '../../packages/client/src/files/file-storage.ts';
import { createHttpStorage } from '../../packages/client/src/http-storage.ts';
import { nodeEndToEnd } from '../../packages/client/src/node/end-to-end.ts';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import {
  createStorage,
  type Storage,
  type StorageOptions,
} from '../../packages/client/src/storage.ts';
import type {
  EndToEndOptions,
  RecipientsChange,
} from '../../packages/client/src/types/end-to-end.ts';
import { newIdentity, principalOf } from '../../scripts/local-service.ts';
import { type ForgedMode, forgedModes } from '../support/forged-modes.ts';
import { openService, type Service, sampleBytes } from '../support/service.ts';

const bytes = sampleBytes('a letter', 5_000);
const memberPem = newIdentity();
const retry = { attemptsMax: 3, delayMsMin: 1, delayMsMax: 5 };

let service: Service;
let owner: Storage;
/** The listed recipient of the bucket, and its identity. */
let own: { readonly identity: string; readonly recipient: string };
let evil: typeof own;
let apiKey: string;

async function newPair() {
  const identity = await generateX25519Identity();
  return { identity, recipient: await identityToRecipient(identity) };
}

beforeAll(async () => {
  service = await openService({ faults: {} });
  own = await newPair();
  evil = await newPair();
  owner = createStorage(actor({ identity: identityFromPem(service.identityPem) }));
  const endToEnd = { usesVetKeys: false, recipients: [own.recipient] };
  const addMembers = [{ principal: principalOf(memberPem).toText(), role: 'writer' }];
  await owner.buckets.create('safe', { endToEnd });
  await owner.buckets.update('safe', { addMembers });
  await owner.buckets.create('plain');
  await owner.buckets.update('plain', { addMembers });
  apiKey = await keyOf('safe', 'plain');
});
afterEach(() => service.replica?.setFaults({}));
afterAll(() => service?.stop());

async function keyOf(...buckets: string[]): Promise<string> {
  const request = { name: 'writer', buckets, permissions: ['read', 'write'] as const };
  return (await owner.keys.create(request)).secret;
}

function actor(fields: object): Extract<StorageOptions, { host: string }> {
  const { host, canisterId } = service;
  return { host, canisterId, retry, ...fields };
}

async function lie(mode: ForgedMode | undefined): Promise<void> {
  const { replica, canisterId } = service;
  if (replica === undefined) expect.fail('this needs the local replica');
  replica.setFaults({ forge: await forgedModes(replica, canisterId, mode) });
}

/** Throws if the stored file is not an age file, or cannot be decrypted. */
async function openedBy({ identity }: typeof own, path: string): Promise<Uint8Array> {
  service.replica?.setFaults({});
  const stored = createHttpStorage({ url: service.base, apiKey });
  const decrypter = new Decrypter();
  decrypter.addIdentity(identity);
  return decrypter.decrypt(await (await stored.download({ bucket: 'safe', path })).bytes());
}

type Open = (endToEnd: EndToEndLayer) => FileStorage;
const writers: Readonly<Record<string, Open>> = {
  'a member by the actor': (endToEnd) =>
    createStorage(actor({ identity: identityFromPem(memberPem), endToEnd })),
  'a key by the actor': (endToEnd) => createStorage(actor({ apiKey, endToEnd })),
  'a key over HTTP': (endToEnd) => createStorage({ url: service.base, apiKey, retry, endToEnd }),
};

const lies: Readonly<Record<string, () => ForgedMode | undefined>> = {
  'its own recipient': () => ({ sealsNames: false, recipients: [evil.recipient] }),
  'an added recipient of its own': () => ({
    sealsNames: false,
    recipients: [own.recipient, evil.recipient],
  }),
  'no encryption': () => undefined,
};

describe.each(Object.keys(writers))('%s', (writer) => {
  const open = (options: EndToEndOptions = {}) =>
    (writers[writer] ?? expect.fail())(nodeEndToEnd(options));

  test.each(Object.keys(lies))(
    'upload() encrypts to the bucket’s recipients if a node reports %s',
    async (name) => {
      const mode = lies[name] ?? expect.fail();
      const path = `${writer} ${name}`;
      await lie(mode());
      const storage = open();
      await storage.upload(bytes, { bucket: 'safe', path });
      // A second upload may rely on the first signed reply, and on a query that agrees with it.
      await lie(mode());
      await storage.upload(bytes, { bucket: 'safe', path: `${path} 2` });
      for (const stored of [path, `${path} 2`]) {
        expect(Buffer.compare(await openedBy(own, stored), bytes)).toBe(0);
        await expect(openedBy(evil, stored)).rejects.toThrow(/no identity matched/);
      }
    },
  );

  test('upload() encrypts nothing if a node reports a plain bucket as end-to-end', async () => {
    await lie({ sealsNames: false, recipients: [evil.recipient] });
    const file = { bucket: 'plain', path: `${writer}.txt` };
    await open().upload(bytes, { ...file, contentType: 'text/plain' });
    service.replica?.setFaults({});
    const { size, contentType } = await open().stat(file);
    expect([size, contentType]).toEqual([bytes.length, 'text/plain']);
  });

  test('upload() refuses recipients other than the pinned ones until they are accepted', async () => {
    const digest = await owner.buckets.recipientsDigest('safe');
    expect(digest).toMatch(/^[\w-]{43}$/);
    const file = { bucket: 'safe', path: `pinned by ${writer}` };
    await open({ pinnedRecipients: { safe: digest } }).upload(bytes, file);
    const other = { safe: digest.replace(/^./, (first) => (first === 'A' ? 'B' : 'A')) };
    const refused = open({ pinnedRecipients: other }).upload(bytes, { ...file, path: 'never' });
    await expect(refused).rejects.toMatchObject({ code: 'Untrusted' });
    const ordinary = open({ pinnedRecipients: { safe: 'none' } }).upload(bytes, file);
    await expect(ordinary).rejects.toMatchObject({ code: 'Untrusted' });
    const asked: RecipientsChange[] = [];
    const acceptRecipients = (change: RecipientsChange) => asked.push(change) > 0;
    const accepting = open({ pinnedRecipients: other, acceptRecipients });
    for (let run = 0; run < 2; run += 1) await accepting.upload(bytes, file);
    expect(asked).toEqual([{ bucket: 'safe', expected: other.safe, actual: digest }]);
    let isAccepted = false;
    const later = open({ pinnedRecipients: other, acceptRecipients: () => isAccepted });
    const early = later.upload(bytes, { ...file, path: 'never' });
    await expect(early).rejects.toMatchObject({ code: 'Untrusted' });
    isAccepted = true;
    await later.upload(bytes, file);
    await expect(owner.stat({ bucket: 'safe', path: 'never' })).rejects.toMatchObject({
      code: 'NoSuchFile',
    });
  });
});

describe('a client that knows a bucket as end-to-end', () => {
  test('upload() refuses to treat it as plain until the user accepts that', async () => {
    const bucket = 'emptied';
    const recipients = [own.recipient];
    await owner.buckets.create(bucket, { endToEnd: { usesVetKeys: false, recipients } });
    const key = await keyOf(bucket);
    const known = new Map();
    const memory = {
      get: async (name: string) => known.get(name),
      set: async (name: string, mode: object) => void known.set(name, mode),
    };
    const open = (options: EndToEndOptions) =>
      createStorage(actor({ apiKey: key, endToEnd: nodeEndToEnd({ memory, ...options }) }));
    await open({}).upload(bytes, { bucket, path: 'a' });
    await owner.remove({ bucket, path: 'a' });
    await owner.buckets.update(bucket, { isEndToEnd: false });
    const file = { bucket, path: 'b', contentType: 'text/plain' };
    await expect(open({}).upload(bytes, file)).rejects.toMatchObject({
      code: 'Untrusted',
      message: expect.stringContaining('is not end-to-end encrypted; recipients with the digest'),
    });
    await open({ acceptRecipients: () => true }).upload(bytes, file);
    await open({}).upload(bytes, file);
    expect((await owner.stat(file)).size).toBe(bytes.length);
  });

  test('upload() requests signed recipients once an hour, and again if a query differs', async () => {
    const bucket = 'asked';
    const recipients = [own.recipient];
    await owner.buckets.create(bucket, { endToEnd: { usesVetKeys: false, recipients } });
    const key = await keyOf(bucket);
    const known = new Map();
    const memory = {
      get: async (name: string) => known.get(name),
      set: async (name: string, mode: object) => void known.set(name, mode),
    };
    const asked = () =>
      service.replica?.reports.filter(
        ({ kind, method }) => kind === 'update' && method === 'getBucketMode',
      ).length;
    const upload = () =>
      createStorage(actor({ apiKey: key, endToEnd: nodeEndToEnd({ memory }) })).upload(bytes, {
        bucket,
        path: 'a',
      });
    const before = asked() ?? 0;
    for (let run = 0; run < 3; run += 1) await upload();
    expect(asked()).toBe(before + 1);
    await owner.buckets.update(bucket, { endToEnd: { recipients: [evil.recipient] } });
    for (let run = 0; run < 2; run += 1) await upload();
    expect(asked()).toBe(before + 2);
    known.set(bucket, { ...known.get(bucket), signedAtMs: Date.now() - 3_600_001 });
    await upload();
    expect(asked()).toBe(before + 3);
  });
});

describe('createHttpStorage', () => {
  const open = (options: EndToEndOptions) =>
    createHttpStorage({ url: service.base, apiKey, retry, endToEnd: nodeEndToEnd(options) });

  test('sends nothing to a bucket whose recipients are not pinned', async () => {
    for (const bucket of ['safe', 'plain']) {
      const refused = open({}).upload(bytes, { bucket, path: 'unpinned' });
      await expect(refused).rejects.toMatchObject({
        code: 'Untrusted',
        message: expect.stringContaining('createStorage()'),
      });
    }
  });

  test('encrypts to pinned recipients, and refuses those that a node reports', async () => {
    const safe = await owner.buckets.recipientsDigest('safe');
    const pinnedRecipients = { safe, plain: 'none' };
    expect(await owner.buckets.recipientsDigest('plain')).toBe('none');
    await open({ pinnedRecipients }).upload(bytes, { bucket: 'safe', path: 'over HTTP' });
    expect(Buffer.compare(await openedBy(own, 'over HTTP'), bytes)).toBe(0);
    await open({ pinnedRecipients }).upload(bytes, { bucket: 'plain', path: 'over HTTP' });
    for (const mode of Object.values(lies)) {
      await lie(mode());
      const refused = open({ pinnedRecipients }).upload(bytes, { bucket: 'safe', path: 'lied' });
      await expect(refused).rejects.toMatchObject({ code: 'Untrusted' });
    }
  });
});

test('createStorage() refuses to upload to another machine over plain HTTP', async () => {
  const url = 'http://192.0.2.1:4943';
  const storage = createStorage({ url, apiKey, retry, endToEnd: nodeEndToEnd() });
  const refused = storage.upload(bytes, { bucket: 'safe', path: 'x' });
  await expect(refused).rejects.toMatchObject({ code: 'Untrusted' });
});

test('upload() does not believe a node that claims an earlier version without end-to-end buckets', async () => {
  const claim = encode({
    ...{ status: 'non_replicated_rejection', reject_code: 5, error_code: 'IC0536' },
    reject_message: `Canister ${service.canisterId} has no update method 'getBucketMode'`,
  });
  const lying: typeof fetch = async (input, init) => {
    const { url } = new Request(input);
    return /\/call$/.test(url)
      ? new Response(claim as BodyInit, { status: 200 })
      : fetch(input, init);
  };
  const storage = createStorage(actor({ apiKey, fetch: lying, endToEnd: nodeEndToEnd() }));
  await expect(storage.upload(bytes, { bucket: 'safe', path: 'x' })).rejects.toMatchObject({
    code: 'Untrusted',
    message: expect.stringContaining('A node denies'),
  });
});

describe('a member of a bucket with sealed names', () => {
  test('stat() and upload() send no plain path, whatever a node reports', async () => {
    const bucket = 'sealed';
    const secretName = 'quarterly-figures';
    await owner.buckets.create(bucket, { endToEnd: { sealsNames: true } });
    await owner.upload(bytes, { bucket, path: `${secretName}/1.txt` });
    const sent: Buffer[] = [];
    const listening: typeof fetch = (input, init) => {
      if (init?.body instanceof Uint8Array) sent.push(Buffer.from(init.body));
      return fetch(input, init);
    };
    const identity = identityFromPem(service.identityPem);
    const storage = createStorage(actor({ identity, fetch: listening, endToEnd: nodeEndToEnd() }));
    for (const mode of [undefined, { sealsNames: false, recipients: [] }]) {
      await lie(mode);
      await storage.upload(bytes, { bucket, path: `${secretName}/2.txt` });
      // The client has learned from the upload that the bucket seals names.
      await storage.stat({ bucket, path: `${secretName}/2.txt` });
    }
    expect(sent.length).toBeGreaterThan(4);
    expect(sent.filter((body) => body.includes(secretName))).toEqual([]);
  });

  test('stat() sends no plain path of a known bucket if a node refuses its mode', async () => {
    const bucket = 'known';
    const path = 'annual-figures/1.txt';
    await owner.buckets.create(bucket, { endToEnd: { sealsNames: true } });
    const known = new Map();
    const memory = {
      get: async (name: string) => known.get(name),
      set: async (name: string, mode: object) => void known.set(name, mode),
    };
    const identity = identityFromPem(service.identityPem);
    const open = (ownFetch: typeof fetch) =>
      createStorage(actor({ identity, fetch: ownFetch, endToEnd: nodeEndToEnd({ memory }) }));
    await open(fetch).upload(bytes, { bucket, path });
    const sent: Buffer[] = [];
    const listening: typeof fetch = (input, init) => {
      if (init?.body instanceof Uint8Array) sent.push(Buffer.from(init.body));
      return fetch(input, init);
    };
    const refusal = { err: 'NoSuchBucket: Bucket known does not exist.' };
    const reply = new Uint8Array(IDL.encode([IDL.Variant({ err: IDL.Text })], [refusal]));
    const forge = ({ method }: { method: string }) => (method === 'getBucket' ? reply : undefined);
    service.replica?.setFaults({ forge });
    expect(await open(listening).stat({ bucket, path })).toMatchObject({ path });
    expect(sent.length).toBeGreaterThan(1);
    expect(sent.filter((body) => body.includes('annual-figures'))).toEqual([]);
  });
});

test('download() returns encrypted bytes if a node reports that a bucket is not end-to-end', async () => {
  await createStorage(actor({ apiKey })).upload(bytes, { bucket: 'safe', path: 'read' });
  await lie(undefined);
  const endToEnd = nodeEndToEnd({ identities: [own.identity] });
  const storage = createStorage(actor({ apiKey, endToEnd }));
  const read = await (await storage.download({ bucket: 'safe', path: 'read' })).bytes();
  expect(Buffer.from(read).subarray(0, 21).toString()).toBe('age-encryption.org/v1');
});
