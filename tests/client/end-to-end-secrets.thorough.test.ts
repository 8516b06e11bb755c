// No plaintext anywhere: a team stores and reads files of an end-to-end bucket in every way.
// Neither the canister's memory, nor the replica's files and output, nor the exchanged messages
// contain a part of a file, an identity, a file's key or a sealed name.

import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bech32 } from '@scure/base';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openHeader } from '../../packages/client/src/age/header.ts';
import { memoryIdentityStore } from '../../packages/client/src/age/identity-store.ts';
import { readPrefix } from '../../packages/client/src/age/opened-file.ts';
import { bucketSecrets, type EpochIdentity } from '../../packages/client/src/bucket-secrets.ts';
import { createHttpStorage } from '../../packages/client/src/http-storage.ts';
import { nodeEndToEnd, openNodeLink } from '../../packages/client/src/node/end-to-end.ts';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import { createNodeStorage } from '../../packages/client/src/node/storage.ts';
import { openFolderLink } from '../../packages/client/src/open-folder-link.ts';
import { createStorage, type Storage } from '../../packages/client/src/storage.ts';
import { type Replica, startReplica } from '../../packages/replica/src/replica.ts';
import { buildCanister } from '../../scripts/build.ts';
import { deployLocally, newIdentity, principalOf } from '../../scripts/local-service.ts';
import { findShared } from '../support/byte-windows.ts';
import { copyPreparedState } from '../support/prepared-state.ts';
import { sampleBytes } from '../support/service.ts';

/** Every shared sequence of 15 bytes contains such a window; a key has 16 bytes. */
const [windowBytes, step] = [8, 8];
const bucket = 'safe';
const readerPem = newIdentity();
const large = sampleBytes('large secret', 2_200_000);
const small = sampleBytes('small secret', 5_000);

let folder: string;
let replica: Replica;
let canisterId: string;
/** Addresses, headers and bodies of all requests, and bodies of all answers. */
const messages: Uint8Array[] = [];
const printed: string[] = [];
/** Secrets that must not appear anywhere else, by description. */
const secrets = new Map<string, Uint8Array>();
let recipient: string;

const listening = async (input: string | URL | Request, init?: RequestInit) => {
  const request = new Request(input, { ...init, duplex: 'half' } as RequestInit);
  messages.push(Buffer.from(request.url + JSON.stringify([...request.headers])));
  messages.push(new Uint8Array(await request.clone().arrayBuffer()));
  const answer = await fetch(request);
  messages.push(new Uint8Array(await answer.clone().arrayBuffer()));
  return answer;
};

function storeOf(pem: string, host: string) {
  const common = { host, canisterId, identity: identityFromPem(pem), fetch: listening };
  const store = memoryIdentityStore();
  return {
    options: common,
    store,
    storage: createNodeStorage({ ...common, endToEnd: nodeEndToEnd({ store }) }),
  };
}

function keepIdentity({ identity, recipient: own }: EpochIdentity): void {
  // The prefix also occurs in the program.
  secrets.set('identity', Buffer.from(identity.replace('AGE-SECRET-KEY-1', '')));
  secrets.set('secret of the identity', bech32.decodeToBytes(identity.toLowerCase()).bytes);
  recipient = own;
}

/** Decrypts the key of a stored file with the identity. */
async function fileKeyOf(sealed: Uint8Array, { identity }: EpochIdentity): Promise<Uint8Array> {
  const read = async (start: number, end: number) => sealed.subarray(start, end);
  const { header } = await readPrefix({ size: sealed.length, read });
  return openHeader(header, { identities: [identity], passphrases: [] });
}

/** Uses every form in which a path is sent to the service. */
async function useSealedNames(storage: Storage): Promise<void> {
  const hex = (what: string) => Buffer.from(sampleBytes(what, 12)).toString('hex');
  const [directory, name] = [hex('directory'), `${hex('name')}.pdf`];
  const named = { bucket: 'named', path: `${directory}/${name}` };
  await storage.buckets.create('named', { endToEnd: { sealsNames: true } });
  await storage.upload(small, named);
  await storage.upload(small, { ...named, metadata: { by: 'a session' } });
  await storage.copy(named, { path: `${directory}-copied/${name}` });
  await storage.moveAll({
    bucket: 'named',
    fromPrefix: `${directory}/`,
    toPrefix: `${directory}-moved/`,
  });
  const paths: string[] = [];
  for await (const { path } of storage.list({ bucket: 'named', prefix: directory })) {
    paths.push(path);
  }
  expect(paths).toEqual([`${directory}-copied/${name}`, `${directory}-moved/${name}`]);
  await storage.links.create({ bucket: 'named', path: paths[0] ?? '' });
  await openFolder(storage, { bucket: 'named', prefix: `${directory}-copied/` });
  secrets.set('directory', Buffer.from(directory));
  secrets.set('name', Buffer.from(name));
}

/** Shares the folder by a link, and reads it with the link. */
async function openFolder(storage: Storage, folderName: { bucket: string; prefix: string }) {
  const { url } = await storage.folderLinks.create(folderName);
  // Names below localhost may not resolve.
  const local: typeof fetch = (input, init) =>
    listening(String(input).replace(/\/\/[^/]*localhost/, '//localhost'), init);
  const shared = await openFolderLink(url, { fetch: local });
  const paths: string[] = [];
  for await (const { path } of shared.list()) paths.push(path);
  for (const path of paths) await (await shared.download(path)).bytes();
  expect(paths.length).toBeGreaterThan(0);
  await storage.folderLinks.refresh(url);
  const secret = new URLSearchParams(new URL(url).hash.slice(1)).get('secret') ?? '';
  secrets.set(`secret of ${folderName.bucket}`, Buffer.from(secret));
  secrets.set(`identity of ${folderName.bucket}`, Buffer.from(secret, 'base64url').subarray(1));
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'efs-secrets-'));
  const stateDir = join(folder, 'state');
  await copyPreparedState(stateDir);
  const wasm = new Uint8Array(await readFile((await buildCanister({ force: false })).wasmPath));
  const note = (text: string) => void printed.push(text);
  const onPrint = (_: string, text: string) => note(text);
  replica = await startReplica({ stateDir, sync: false, onNote: note, onPrint });
  const service = await deployLocally({ replica, stateDir, wasm });
  canisterId = service.canisterId;
  const owner = storeOf(service.identityPem, service.url);
  const reader = storeOf(readerPem, service.url);
  await owner.storage.buckets.create(bucket, { endToEnd: {} });
  const principal = principalOf(readerPem).toText();
  await owner.storage.buckets.update(bucket, { addMembers: [{ principal, role: 'reader' }] });
  await owner.storage.upload(large, { bucket, path: 'large' });
  for await (const { error } of owner.storage.uploadAll([{ path: 'small', source: small }], {
    bucket,
  })) {
    expect(error).toBeUndefined();
  }
  await useSealedNames(owner.storage);
  const keys = {
    name: 'all',
    buckets: [bucket],
    permissions: ['read', 'write', 'delete'] as const,
  };
  const { secret: apiKey } = await owner.storage.keys.create(keys);
  const http = { url: service.url, apiKey, fetch: listening };
  await createStorage({ ...http, endToEnd: nodeEndToEnd() }).upload(large, {
    bucket,
    path: 'dropped',
  });
  for (const path of ['large', 'small', 'dropped']) {
    const bytes = await (await reader.storage.download({ bucket, path })).bytes();
    expect(bytes.length).toBe(path === 'small' ? small.length : large.length);
  }
  const link = await owner.storage.links.create({ bucket, path: 'small' });
  const linked = new URL(link.url, service.url);
  secrets.set('fragment', Buffer.from(linked.hash.slice(1)));
  await (
    await openNodeLink(service.url + linked.pathname + linked.search + linked.hash, {
      fetch: listening,
    })
  ).bytes();
  const [epoch] = await bucketSecrets(owner.options, { store: owner.store }).identities(bucket);
  keepIdentity(epoch ?? expect.fail('no identity'));
  for (const path of ['large', 'small', 'dropped']) {
    const sealed = await createHttpStorage(http).download({ bucket, path });
    secrets.set(`key of ${path}`, await fileKeyOf(await sealed.bytes(), epoch as EpochIdentity));
  }
  secrets.set('large', large);
  secrets.set('small', small);
});

afterAll(async () => {
  await replica?.stop();
  await rm(folder, { recursive: true, force: true });
});

function searched(dump: Uint8Array): void {
  if (findShared(dump, Buffer.concat([...secrets.values()]), windowBytes, step) < 0) return;
  for (const [what, secret] of secrets) {
    expect(findShared(dump, secret, windowBytes, step), what).toBe(-1);
  }
}

test('nodeEndToEnd(): messages, stable memory, heap, journals and output contain no secret', async () => {
  const sent = Buffer.concat(messages);
  expect(sent.length).toBeGreaterThan(6 * large.length);
  expect(sent.includes('age-encryption.org/v1')).toBe(true);
  const journal = await readFile(join(folder, 'state', 'journal'));
  expect(journal.length).toBeGreaterThan(1_000_000);
  await replica.stop();
  const entries = await readdir(join(folder, 'state'), { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && !entry.name.endsWith('.wasm'));
  const dumps = await Promise.all(
    files.map(({ parentPath, name }) => readFile(join(parentPath, name))),
  );
  // The search must find public values where they are stored.
  const holdersOf = (text: string) =>
    files.filter((_, index) => dumps[index]?.includes(text)).map(({ name }) => name);
  // A node of a stable map can end anywhere, also within the text.
  const halves = [recipient.slice(0, recipient.length / 2), recipient.slice(recipient.length / 2)];
  expect(halves.flatMap(holdersOf)).toContain('stable.bin');
  expect(holdersOf('AccessDenied')).toContain('heap.bin');
  searched(Buffer.concat([sent, journal, ...dumps, Buffer.from(printed.join('\n'))]));
});
