// End-to-end buckets by the command `efs`: Alice creates one, shares it with Bob and removes him.
// Without a link or identity, others decrypt nothing, even with all bytes that the canister stores.

import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Decrypter, Encrypter, generateX25519Identity, identityToRecipient } from 'age-encryption';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { unmeasuredBytesMax } from '../../packages/client/src/connection/transfer-window.ts';
import { newIdentity, principalOf } from '../../scripts/local-service.ts';
import { openService, type Service, sampleBytes } from '../support/service.ts';
import { callCommand } from './command-calls.ts';

let service: Service;
let folder: string;
/** Alice's recovery key, on paper. */
let paper: string;
const pems = { alice: newIdentity(), bob: newIdentity(), eve: newIdentity() };
type Who = keyof typeof pems | 'controller';
const principals = (who: keyof typeof pems) => principalOf(pems[who]).toText();
const first = sampleBytes('first', 200_000);
const files: Record<string, Uint8Array> = {
  'plan.txt': first,
  'empty.txt': new Uint8Array(0),
  'inner/note.md': Buffer.from('not for everybody'),
};

/** Each person has a separate folder and configuration. */
async function efs(who: Who, words: string, environment: Record<string, string> = {}) {
  return callCommand(words.split(' '), {
    folder: join(folder, who),
    environment: {
      EFS_HOST: service.host,
      EFS_CANISTER_ID: service.canisterId,
      EFS_IDENTITY: join(folder, `${who}.pem`),
      ...environment,
    },
  });
}

async function done(who: Who, words: string, environment?: Record<string, string>) {
  const ended = await efs(who, words, environment);
  expect(ended, words).toMatchObject({ code: 0 });
  return ended;
}

const local = (who: Who, name: string) => join(folder, who, name);
const same = async (file: string, bytes: Uint8Array) =>
  Buffer.compare(await readFile(file), bytes) === 0;

/** Returns the stored bytes, fetched with an API key. */
async function stored(secret: string, path: string): Promise<Uint8Array> {
  const answer = await fetch(`${service.base}/cloud/safe/${path}`, {
    headers: { Authorization: `Bearer ${secret}` },
  });
  expect(answer.status).toBe(200);
  return new Uint8Array(await answer.arrayBuffer());
}

async function opened(keyFile: string, sealed: Uint8Array): Promise<Uint8Array> {
  const decrypter = new Decrypter();
  const identities = (await readFile(keyFile, 'utf8')).match(/^AGE-SECRET-KEY-1\S+$/gm) ?? [];
  for (const identity of identities) decrypter.addIdentity(identity);
  return decrypter.decrypt(sealed);
}

beforeAll(async () => {
  service = await openService({});
  folder = await mkdtemp(join(tmpdir(), 'efs-story-'));
  const all = { ...pems, controller: service.identityPem };
  for (const [who, pem] of Object.entries(all)) {
    await mkdir(join(folder, who));
    await writeFile(join(folder, `${who}.pem`), pem, { mode: 0o600 });
  }
  await mkdir(local('alice', 'folder/inner'), { recursive: true });
  for (const [path, bytes] of Object.entries(files)) {
    await writeFile(local('alice', `folder/${path}`), bytes);
  }
  paper = await generateX25519Identity();
  await writeFile(local('alice', 'paper.txt'), `# on paper\n${paper}\n`);
  await done('controller', `access allow ${principals('alice')}`);
});
afterAll(async () => {
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

test('efs: Alice creates a bucket, puts a folder and adds Bob, who gets it', async () => {
  const recipient = await identityToRecipient(paper);
  const made = await done('alice', `bucket create safe --end-to-end --recipient ${recipient}`);
  expect(made.errors).toMatch(/its members and 1 recipients that you listed can decrypt them/);
  await done('alice', `member add safe ${principals('bob')} --role writer`);
  await done('alice', 'put -r folder/ safe/');
  await done('bob', 'get -r safe/ got');
  for (const [path, bytes] of Object.entries(files)) {
    expect(await same(local('bob', `got/${path}`), bytes), path).toBe(true);
  }
  const part = await done('bob', 'get --range 70000-70099 safe/plan.txt -');
  expect(Buffer.from(part.output, 'latin1').equals(first.subarray(70_000, 70_100))).toBe(true);
  expect((await done('bob', 'cat safe/inner/note.md')).output).toBe('not for everybody');
  const record = JSON.parse((await done('bob', 'stat --json safe/plan.txt')).output);
  expect(record).toMatchObject({ contentType: 'application/age', plainSize: 200_000 });
  const [kept = ''] = await readdir(local('bob', 'config/efs/identities'));
  expect((await stat(local('bob', `config/efs/identities/${kept}`))).mode & 0o777).toBe(0o600);
});

test('efs: a second sync transfers nothing, although it can compare only encrypted files', async () => {
  const up = await done('alice', 'sync folder safe/');
  expect(up.errors).toMatch(/0 sent, 3 the same/);
  expect((await done('bob', 'sync safe/ got')).errors).toMatch(/0 fetched, 3 the same/);
  await writeFile(local('alice', 'folder/plan.txt'), Buffer.from(first).reverse());
  expect((await done('alice', 'sync folder safe/')).errors).toMatch(/1 sent, 2 the same/);
  await writeFile(local('alice', 'folder/plan.txt'), first);
  await done('alice', 'sync folder safe/');
});

test('efs: files copied from a plain bucket are encrypted, and files moved to one are decrypted', async () => {
  await done('alice', 'bucket create plain');
  await done('alice', 'put --type text/x-one --tag a folder/plan.txt plain/');
  await done('alice', 'sync plain/ safe/copied');
  expect((await done('alice', 'sync plain/ safe/copied')).errors).toMatch(/0 copied, 1 the same/);
  const { output } = await done('alice', 'stat --json safe/copied/plan.txt');
  expect(JSON.parse(output)).toMatchObject({ contentType: 'application/age', tags: ['a'] });
  await done('alice', 'mv safe/copied/plan.txt plain/back.txt');
  expect((await efs('alice', 'stat safe/copied/plan.txt')).code).toBe(3);
  await done('alice', 'get plain/back.txt back.txt');
  expect(await same(local('alice', 'back.txt'), first)).toBe(true);
});

test('efs: storing an encrypted file costs the canister no more than a plain one', async () => {
  // Encrypted, it is just short enough to be sent whole whatever the speed of the line.
  await writeFile(local('alice', 'large.bin'), sampleBytes('large', unmeasuredBytesMax - 1_000));
  const costOf = async (words: string) => {
    const reports = service.replica?.reports ?? [];
    const before = reports.length;
    await done('alice', words);
    // Queries cost nothing; one of the updates asks for the bucket's mode.
    const paid = reports.slice(before).filter(({ kind }) => kind !== 'query');
    return paid.reduce((sum, { instructions }) => sum + Number(instructions), 0);
  };
  const plain = await costOf('put large.bin plain/');
  expect(plain).toBeGreaterThan(10_000_000);
  expect((await costOf('put large.bin safe/')) / plain).toBeLessThan(1.01);
});

test('efs: the fragment of a link decrypts its file', async () => {
  const { output } = await done('alice', 'link create safe/plan.txt --expires 1d');
  const url = new URL(output.trim(), service.base);
  expect(url.hash).toMatch(/^#[\w-]{23}$/);
  url.host = new URL(service.base).host;
  await done('eve', `get ${url.href} linked.txt`);
  expect(await same(local('eve', 'linked.txt'), first)).toBe(true);
});

test('efs: after Bob is removed and the identity rotated, his old identity decrypts no new file', async () => {
  await done('bob', 'identity export safe keys.txt');
  expect((await stat(local('bob', 'keys.txt'))).mode & 0o777).toBe(0o600);
  expect((await efs('bob', 'identity export safe keys.txt')).code).toBe(2);
  const removed = await done('alice', `member rm safe ${principals('bob')} --rotate`);
  expect(removed.errors).toMatch(/this member, who can still read downloaded files/);
  expect(removed.errors).toMatch(/New files are encrypted for epoch 2, and this member cannot/);
  await done('alice', 'put folder/plan.txt safe/later.txt');
  // The existence of a bucket is not revealed to callers without rights.
  expect((await efs('bob', 'get safe/later.txt -')).code).toBe(3);
  expect((await efs('bob', 'identity export safe')).code).toBe(3);
  const { output } = await done('alice', 'key create safe --permissions read --name copies');
  const later = await stored(output.trim(), 'later.txt');
  await expect(opened(local('bob', 'keys.txt'), later)).rejects.toThrow();
  const before = await opened(local('bob', 'keys.txt'), await stored(output.trim(), 'plan.txt'));
  expect(Buffer.compare(before, first)).toBe(0);
  expect((await done('alice', 'identity show safe')).output).toMatch(/age1.*\n.*age1.*\nown +age1/);
});

test('efs: an API key, a stranger and a controller decrypt nothing; the recovery key decrypts all', async () => {
  const { output } = await done('alice', 'key create safe --permissions read,write');
  const keyed = { EFS_URL: service.base, EFS_API_KEY: output.trim(), EFS_IDENTITY: '' };
  const blind = await efs('eve', 'get safe/later.txt -', keyed);
  expect(blind).toMatchObject({ code: 4, output: '' });
  expect(blind.errors).toMatch(/no identity is given.*--age-identity/);
  // Writing needs only the recipients.
  await writeFile(local('eve', 'drop.txt'), 'dropped');
  await done('eve', 'put drop.txt safe/', keyed);
  expect((await done('alice', 'cat safe/drop.txt')).output).toBe('dropped');
  expect((await efs('eve', 'get safe/later.txt -')).code).toBe(3);
  for (const words of ['get safe/later.txt -', 'identity export safe']) {
    expect(await efs('controller', words), words).toMatchObject({ code: 4, output: '' });
  }
  const found = await done(
    'eve',
    `--age-identity ${local('alice', 'paper.txt')} cat safe/later.txt`,
    keyed,
  );
  expect(Buffer.from(found.output, 'latin1').equals(first)).toBe(true);
});

test('efs: with only listed recipients, members need an identity file, also one with a passphrase', async () => {
  const recipient = await identityToRecipient(paper);
  await done('alice', `bucket create own --end-to-end --no-vetkeys --recipient ${recipient}`);
  await done('alice', 'put folder/plan.txt own/');
  expect((await efs('alice', 'get own/plan.txt -')).code).toBe(4);
  const encrypter = new Encrypter();
  encrypter.setScryptWorkFactor(10);
  encrypter.setPassphrase('a word');
  await writeFile(local('alice', 'paper.age'), await encrypter.encrypt(`${paper}\n`));
  const keys = { EFS_AGE_IDENTITY: local('alice', 'paper.age') };
  expect(await efs('alice', 'get own/plan.txt -', keys)).toMatchObject({ code: 2 });
  const got = await done('alice', 'get own/plan.txt -', { ...keys, EFS_AGE_PASSPHRASE: 'a word' });
  expect(Buffer.from(got.output, 'latin1').equals(first)).toBe(true);
  const other = await generateX25519Identity();
  await writeFile(local('alice', 'other.txt'), other);
  const wrong = await efs('alice', 'get own/plan.txt -', { EFS_AGE_IDENTITY: 'other.txt' });
  expect(wrong).toMatchObject({ code: 4, output: '' });
  expect(wrong.errors).toMatch(/encrypted to others/);
});
