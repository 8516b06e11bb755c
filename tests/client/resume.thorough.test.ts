// Cases in which `put --resume` must not continue the interrupted upload: then it starts over, and
// cancels the old upload.

import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import { createStorage, type Storage } from '../../packages/client/src/storage.ts';
import { openService, type Service, sampleBytes } from '../support/service.ts';
import { callCommand } from './command-calls.ts';
import { startCommand } from './command-runs.ts';
import { noFaults, startProxy, type UnreliableProxy } from './unreliable-proxy.ts';

let service: Service;
let storage: Storage;
let proxy: UnreliableProxy;
let folder: string;
let environment: Record<string, string>;

beforeAll(async () => {
  service = await openService();
  storage = createStorage({ url: service.base, apiKey: service.apiKey });
});
afterAll(() => service?.stop());
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'efs-resume-'));
  proxy = await startProxy(service.host);
  environment = { EFS_URL: proxy.url, EFS_API_KEY: service.apiKey };
  return async () => {
    await proxy.stop();
    await rm(folder, { recursive: true, force: true });
  };
});

const bytes = sampleBytes('resume', 6_000_000);
const other = sampleBytes('other', 6_000_000);
const target = (name: string) => ({ bucket: service.bucket, path: `resume/${name}` });
const states = () => join(folder, 'state/efs');
const efs = (...words: string[]) => callCommand(words, { folder, environment });
const put = (name: string, ...flags: string[]) =>
  efs('put', ...flags, name, `${service.bucket}/resume/`);

async function isStored(name: string, expected: Uint8Array): Promise<boolean> {
  const { body } = await storage.download(target(name));
  const stored = await new Response(body as BodyInit).arrayBuffer();
  return Buffer.compare(new Uint8Array(stored), expected) === 0;
}

/** Kills a put of the file once it has noted its upload; returns the upload's id. */
async function interrupt(name: string, bucket = service.bucket): Promise<string> {
  await writeFile(join(folder, name), bytes);
  proxy.faults = { ...noFaults, delayMsMax: 100 };
  const words = ['put', '-p', '1', name, `${bucket}/resume/`];
  const run = startCommand(words, { folder, environment });
  // The answer to the first chunk has the id.
  const before = proxy.accepted.size;
  proxy.onAccepted = (count) => void (count === before + 2 && run.process.kill('SIGKILL'));
  await run.ended;
  await proxy.idle();
  proxy.faults = noFaults;
  proxy.onAccepted = undefined;
  const [remembered = ''] = await readdir(states());
  return JSON.parse(await readFile(join(states(), remembered), 'utf8')).uploadId;
}

async function isGivenUp(uploadId: string, name: string): Promise<void> {
  const { status } = await storage.uploads.status({ ...target(name), uploadId });
  expect(status).toBe('cancelled');
}

test('efs put --resume: other content with the same name, size and time is sent again as a whole', async () => {
  const uploadId = await interrupt('same');
  const path = join(folder, 'same');
  const { atime, mtime } = await stat(path);
  await writeFile(path, other);
  await utimes(path, atime, mtime);
  const ended = await put('same', '--resume');
  expect(ended).toMatchObject({ code: 0, errors: expect.stringMatching(/it starts over/) });
  expect(await isStored('same', other)).toBe(true);
  await isGivenUp(uploadId, 'same');
});

test('efs put --resume with other options applies them: a file created meanwhile is not replaced', async () => {
  const uploadId = await interrupt('kept');
  const theirs = sampleBytes('theirs', 10);
  await storage.upload(theirs, { ...target('kept'), contentType: 'a/b' });
  const ended = await put('kept', '--resume', '--no-replace');
  expect(ended.code).toBe(5);
  expect(await isStored('kept', theirs)).toBe(true);
  await isGivenUp(uploadId, 'kept');
});

test('efs put without --resume discards the remains of an earlier one', async () => {
  const uploadId = await interrupt('again');
  expect(await put('again')).toMatchObject({ code: 0 });
  expect(await isStored('again', bytes)).toBe(true);
  await isGivenUp(uploadId, 'again');
});

test('efs put --resume: an encrypted upload continues with an identity, and restarts without one', async () => {
  const { owner, known } = await sealedBucket('sealed');
  for (const flags of [known, []]) {
    await interrupt('large', 'sealed');
    const ended = await efs(...flags, 'put', '--resume', 'large', 'sealed/resume/');
    expect(ended.code, ended.errors).toBe(0);
    expect(ended.errors.includes('it starts over')).toBe(flags.length === 0);
    await efs(...known, 'get', 'sealed/resume/large', 'back');
    expect(Buffer.compare(await readFile(join(folder, 'back')), bytes)).toBe(0);
  }
  expect(await owner.uploads.list({ bucket: 'sealed' })).toEqual([]);
});

test('efs put --resume: an encrypted upload that an earlier version of efs began starts over', async () => {
  const { known } = await sealedBucket('earlier');
  await interrupt('large', 'earlier');
  const [name = ''] = await readdir(states());
  const note = JSON.parse(await readFile(join(states(), name), 'utf8'));
  const [header, digest] = note.ageHeader.split('.');
  expect(digest).toMatch(/^[\w-]{43}$/);
  await writeFile(join(states(), name), JSON.stringify({ ...note, ageHeader: header }));
  const ended = await efs(...known, 'put', '--resume', 'large', 'earlier/resume/');
  expect(ended).toMatchObject({ code: 0, errors: expect.stringContaining('an earlier version') });
  await efs(...known, 'get', 'earlier/resume/large', 'back');
  expect(Buffer.compare(await readFile(join(folder, 'back')), bytes)).toBe(0);
  expect(await readdir(states())).toEqual([]);
});

/** Creates an end-to-end bucket whose files `known` opens, with a key for `efs`. */
async function sealedBucket(id: string) {
  const { host, canisterId, identityPem } = service;
  const owner = createStorage({ host, canisterId, identity: identityFromPem(identityPem) });
  const identity = await generateX25519Identity();
  const recipients = [await identityToRecipient(identity)];
  await owner.buckets.create(id, { endToEnd: { usesVetKeys: false, recipients } });
  const permissions = ['read', 'write', 'delete'] as const;
  const key = await owner.keys.create({ name: 'both', buckets: [id], permissions });
  environment = { ...environment, EFS_API_KEY: key.secret };
  await writeFile(join(folder, 'key.txt'), identity);
  return { owner, known: ['--age-identity', 'key.txt'] };
}
