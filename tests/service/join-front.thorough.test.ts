// An existing service joins a front: version 0.1.0 with files, a member and a key is upgraded, gets
// links, and then a front. Version 0.1.0 has no links and no role in its records, so the upgraded
// canister before setFront is also the state of any later version before fronts.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { IDL } from '@dfinity/candid';
import { Principal } from '@dfinity/principal';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { endToEnd } from '../../packages/client/src/end-to-end.ts';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import { openLink } from '../../packages/client/src/open-link.ts';
import { createStorage, type Storage } from '../../packages/client/src/storage.ts';
import type { CanisterAnswer } from '../../packages/replica/src/gateway/candid-messages.ts';
import { type Replica, startReplica } from '../../packages/replica/src/replica.ts';
import { buildCanister } from '../../scripts/build.ts';
import { newIdentity, principalOf } from '../../scripts/local-service.ts';
import { type AskedCanister, askedCanister } from '../support/certification/asked-canister.ts';
import { roleArgument, unzippedText } from '../support/certification/opened-front.ts';
import { expectSameBytes } from '../support/expect-same.ts';
import {
  inParallel,
  type OldFile,
  oldFiles,
  ReleasedService,
} from '../support/released-service.ts';
import { projectDir } from '../tidy/source-tree.ts';

const [ownerPem, memberPem] = [newIdentity(), newIdentity()];
const owner = principalOf(ownerPem);
const files = oldFiles(24);
const words = 'the harbour is quiet';
const letter = { bucket: 'safe', path: 'letter.txt' };

let replica: Replica;
let wasm: Uint8Array;
let service: ReleasedService;
let volume: AskedCanister;
let front: AskedCanister;
let frontId: Principal;
let frontUrl: string;
let storage: Storage;
/** Created before the front. */
let plainLink: string;
let ageLink: string;
let certifiedBefore: ReadonlyMap<string, CanisterAnswer>;
let keysBefore: unknown;

const fileAt = ({ bucket, path }: OldFile) => `/cloud/${bucket}/${encodeURI(path)}`;
const requestOf = (link: string) => link.slice(new URL(link).origin.length).replace(/#.*/, '');

/** Paths whose answers are certified: public files, links, and a path without a file. */
const certifiedPaths = () => [
  ...files.filter(({ bucket }) => bucket === 'demo').map(fileAt),
  requestOf(plainLink),
  requestOf(ageLink),
  '/cloud/demo/none',
];

async function certifiedAnswers(): Promise<ReadonlyMap<string, CanisterAnswer>> {
  const answers = new Map<string, CanisterAnswer>();
  for (const url of certifiedPaths()) answers.set(url, await volume.accepted({ url }));
  return answers;
}

function storageOf(pem: string, options: object = {}): Storage {
  const identity = identityFromPem(pem);
  return createStorage({ host: replica.url, canisterId: service.canisterId, identity, ...options });
}

async function upgrade(): Promise<void> {
  await replica.upgrade(service.canisterId, wasm, undefined, { sender: owner });
  // Waits for the root key: until then, an update answers.
  expect((await service.get(files[0] ?? expect.fail())).status).toBe(200);
}

async function installReleased(): Promise<void> {
  const folder = join(projectDir, 'tests', 'releases', '0.1.0');
  const released = gunzipSync(await readFile(join(folder, 'file_storage.wasm.gz')));
  const id = await replica.createCanister({ controllers: [owner] });
  await replica.install(id, new Uint8Array(released));
  service = new ReleasedService(replica, id.toText(), owner);
  volume = askedCanister(replica, { canisterId: id, controller: owner });
  await service.prepare();
  await inParallel(files, 4, (file) => service.store(file));
  const Member = IDL.Record({ principal: IDL.Principal, role: IDL.Text });
  const Change = IDL.Record({ bucketId: IDL.Text, addMembers: IDL.Opt(IDL.Vec(Member)) });
  const addMembers = [[{ principal: principalOf(memberPem), role: 'writer' }]];
  await service.call('updateBucket', [Change], [{ bucketId: 'secret', addMembers }]);
}

/** Gives the service what version 0.1.0 lacks: links, and an end-to-end bucket. */
async function makeLinks(): Promise<void> {
  const identity = await generateX25519Identity();
  storage = storageOf(ownerPem, { endToEnd: endToEnd({ identities: [identity] }) });
  const recipients = [await identityToRecipient(identity)];
  await storage.buckets.create('safe', { endToEnd: { usesVetKeys: false, recipients } });
  await storage.upload(new Blob([words]), letter);
  const { bucket, path } = files.find((file) => file.bucket === 'secret') ?? expect.fail();
  plainLink = (await storage.links.create({ bucket, path })).url;
  ageLink = (await storage.links.create(letter)).url;
}

async function joinFront(): Promise<void> {
  frontId = await replica.createCanister({ controllers: [owner] });
  await replica.install(frontId, wasm, roleArgument({ front: null }));
  front = askedCanister(replica, { canisterId: frontId, controller: owner });
  frontUrl = `http://${frontId}.localhost:${replica.port}`;
  await front.call('addVolume', [IDL.Principal], [Principal.fromText(service.canisterId)]);
  const Front = IDL.Record({ front: IDL.Principal, url: IDL.Opt(IDL.Text) });
  await volume.call('setFront', [IDL.Opt(Front)], [[{ front: frontId, url: [frontUrl] }]]);
}

beforeAll(async () => {
  const { wasmPath } = await buildCanister({ force: false });
  wasm = new Uint8Array(await readFile(wasmPath));
  replica = await startReplica();
  await installReleased();
  keysBefore = await service.keys('demo');
  await upgrade();
  await service.untilUpgraded();
  await makeLinks();
  certifiedBefore = await certifiedAnswers();
  expect((await volume.accepted({ url: '/' })).body.length).toBeGreaterThan(600);
  await joinFront();
});
afterAll(() => replica?.stop());

describe.each([
  ['setFront', async () => {}],
  ['an upgrade after setFront', upgrade],
])('%s', (_, change) => {
  beforeAll(change);

  test('leaves at / of the volume a small page that links to the front', async () => {
    const page = await unzippedText(await volume.accepted({ url: '/' }));
    expect(page).toContain(`<a href="${frontUrl}/">`);
    expect(page).not.toContain('<script');
    expect(page.length).toBeLessThan(600);
    expect(await unzippedText(await front.accepted({ url: '/' }))).toContain('/assets/');
    const { body } = await front.accepted({ url: '/.well-known/efs-service' });
    const { volumes } = JSON.parse(Buffer.from(body).toString());
    expect(volumes).toEqual([expect.objectContaining({ canisterId: service.canisterId })]);
  });

  test('redirects at the front to the public bucket of the released version, and to no other', async () => {
    await expect.poll(async () => (await front.ask({ url: '/b/demo' })).status).toBe(307);
    const { headers } = await front.accepted({ url: '/b/demo' });
    const origin = `http://${service.canisterId}.localhost:${replica.port}`;
    expect(headers).toContainEqual(['Location', `${origin}/cloud/demo/`]);
    expect((await front.accepted({ url: '/b/secret' })).status).toBe(404);
  });

  test('keeps bytes, status and certification of files and links', async () => {
    for (const [url, now] of await certifiedAnswers()) {
      const before = certifiedBefore.get(url) ?? expect.fail(url);
      expect([url, now.status]).toEqual([url, before.status]);
      expectSameBytes(now.body, before.body, url);
    }
    for (const file of files) {
      const response = await service.get(file);
      expect(response.status, file.path).toBe(200);
      expectSameBytes(new Uint8Array(await response.arrayBuffer()), file.bytes, file.path);
    }
  });

  test('keeps members and keys', async () => {
    expect(await service.keys('demo')).toEqual(keysBefore);
    const file = files.find(({ bucket }) => bucket === 'secret') ?? expect.fail();
    const { bucket, path } = file;
    const member = storageOf(memberPem);
    expectSameBytes(await (await member.download({ bucket, path })).bytes(), file.bytes);
    await member.upload(new Blob([words]), { bucket, path: 'by a member' });
    const bytes = new TextEncoder().encode(words);
    const byKey = { ...file, path: 'by the key', bytes, tags: [], chunkBytes: 0 };
    await service.store(byKey);
    expect(await (await service.get(byKey)).text()).toBe(words);
  });

  test('makes new links to end-to-end files begin at the front, and redirects former ones', async () => {
    const { url } = await storage.links.create(letter);
    expect(url.startsWith(`${frontUrl}/s/${service.canisterId}/`)).toBe(true);
    expect(new URL(ageLink).hostname).toBe(`${service.canisterId}.localhost`);
    // Not every system resolves names below localhost.
    const local: typeof fetch = (input, init) =>
      fetch(replica.url + requestOf(String(input)), init);
    for (const link of [url, ageLink]) {
      const download = await openLink(link, { fetch: local });
      expect(new TextDecoder().decode(await download.bytes())).toBe(words);
    }
    const headers = { 'Sec-Fetch-Dest': 'document' };
    const path = requestOf(ageLink);
    const shown = await fetch(replica.url + path, { headers, redirect: 'manual' });
    expect(shown.status).toBe(307);
    const place = `${frontUrl}/s/${service.canisterId}${path.slice('/s'.length)}`;
    expect(shown.headers.get('location')).toBe(place);
    const plain = await storage.links.create({ bucket: 'demo', path: files[0]?.path ?? '' });
    expect(new URL(plain.url).hostname).toBe(`${service.canisterId}.localhost`);
  });
});
