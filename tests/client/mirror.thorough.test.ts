// `efs mirror` between two services, each on a local replica of its own.

import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { encodeHex } from '../../packages/client/src/bytes/bytes.ts';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import { createNodeStorage } from '../../packages/client/src/node/storage.ts';
import type { Storage } from '../../packages/client/src/storage.ts';
import { openService, type Service, sampleBytes } from '../support/service.ts';
import { callCommand } from './command-calls.ts';
import { startCommand } from './command-runs.ts';
import { eraseAndRestore, statesIn } from './mirrored-buckets.ts';

let here: Service;
let there: Service;
let owner: Storage;
let keeper: Storage;
let folder: string;
let bucket: string;
let count = 0;

const open = ({ host, canisterId, identityPem }: Service) =>
  createNodeStorage({ host, canisterId, identity: identityFromPem(identityPem) });

function environment() {
  return {
    ...{ EFS_HOST: here.host, EFS_CANISTER_ID: here.canisterId },
    EFS_IDENTITY: join(folder, 'here.pem'),
  };
}
const efs = (...words: string[]) => callCommand(words, { folder, environment: environment() });
const mirror = (...flags: string[]) => efs('mirror', bucket, '--to', `backup:${bucket}`, ...flags);

beforeAll(async () => {
  here = await openService({ faults: {} });
  there = await openService({ faults: {} });
  folder = await mkdtemp(join(tmpdir(), 'mirror-'));
  await writeFile(join(folder, 'here.pem'), here.identityPem);
  await writeFile(join(folder, 'there.pem'), there.identityPem);
  const profile = ['--host', there.host, '--canister-id', there.canisterId];
  const url = ['--url', there.base, '--identity', join(folder, 'there.pem')];
  const added = await callCommand(['profile', 'add', 'backup', ...url, ...profile], { folder });
  expect(added.code).toBe(0);
  owner = open(here);
  keeper = open(there);
});
afterAll(async () => {
  await here?.stop();
  await there?.stop();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  count += 1;
  bucket = `photos-${count}`;
  await owner.buckets.create(bucket, { keepVersionsDays: 30 });
  await keeper.buckets.create(bucket, { keepVersionsDays: 30 });
});

const store = (path: string, bytes: Uint8Array, more = {}) =>
  owner.upload(bytes, { bucket, path, ...more });
const text = (words: string) => new TextEncoder().encode(words);

async function expectEqual(name = bucket): Promise<void> {
  const stored = await statesIn(owner, name);
  expect(stored.size).toBeGreaterThan(0);
  expect(await statesIn(keeper, name)).toEqual(stored);
}

describe('efs mirror', () => {
  test('copies files with type, tags, metadata and former versions, and then changes', async () => {
    const metadata = { camera: 'X100' };
    await store('a.txt', text('one'), { contentType: 'text/x-one', tags: ['t', 's'], metadata });
    await store('a.txt', text('two'), { tags: ['u'] });
    await store('large.bin', sampleBytes('large', 4_100_000));
    await store('chunked.bin', sampleBytes('chunked', 90_000), { chunkBytes: 65_536 });
    await store('gone.txt', text('gone'));
    await owner.remove({ bucket, path: 'gone.txt' });
    const first = await mirror('--once');
    expect(first).toMatchObject({
      code: 0,
      errors: '5 stored, 0 changed, 1 removed, 0 erased.\n',
    });
    await expectEqual();
    expect((await mirror('--once')).errors).toBe('0 stored, 0 changed, 0 removed, 0 erased.\n');

    await owner.change({ bucket, path: 'a.txt' }, { tags: ['v'], contentType: 'text/x-two' });
    await owner.move({ bucket, path: 'large.bin' }, { path: 'b/large.bin' });
    await owner.remove({ bucket, path: 'chunked.bin' });
    await store('new.txt', text('new'));
    await store('new.txt', text('newer'));
    const second = await mirror('--once');
    // The large file is moved within the mirror.
    expect(second.errors).toBe('2 stored, 1 changed, 1 removed, 0 erased.\n');
    await expectEqual();
  });

  test('stores files of a first mirror while a node lists what has changed since', async () => {
    for (const storage of [owner, keeper]) {
      await storage.buckets.update(bucket, { keepVersionsDays: 0 });
    }
    const paths = Array.from({ length: 250 }, (_, index) => `${index}`);
    const files = paths.map((path) => ({ path, source: text(path) }));
    for await (const { error } of owner.uploadAll(files, { bucket })) expect(error).toBe(undefined);
    const former = new Map<string, Uint8Array>();
    here.replica?.setFaults({
      forge(query, reply) {
        if (query.method === 'listFolder') former.set(encodeHex(query.arg), reply);
        return undefined;
      },
    });
    await efs('mirror', bucket, '--to', `backup:${bucket}`, '--once');
    for await (const { error } of keeper.removeAll({ bucket, paths }))
      expect(error).toBe(undefined);
    await rm(join(folder, 'state'), { recursive: true });
    await store('7', text('changed'));
    await owner.change({ bucket, path: '8' }, { tags: ['new'] });
    await owner.remove({ bucket, path: '9' });
    await store('added', text('added'));
    let repeated = 0;
    here.replica?.setFaults({
      forge(query) {
        if (query.method !== 'listFolder') return undefined;
        const reply = former.get(encodeHex(query.arg));
        if (reply !== undefined) repeated += 1;
        return reply;
      },
    });
    const { code, output } = await mirror('--once');
    here.replica?.setFaults({});
    expect({ code, repeated: repeated > 0 }).toEqual({ code: 0, repeated: true });
    expect(output).toContain('stored');
    await expectEqual();
  });

  test('erases and restores versions as the source did', async () => {
    await eraseAndRestore(owner, bucket, async () => {
      await mirror('--once');
      await expectEqual();
    });
  });

  test('follows changes until it is interrupted', async () => {
    await store('a', text('a'));
    const words = ['mirror', bucket, '--to', `backup:${bucket}`];
    const run = startCommand(words, { folder, environment: environment() });
    const isThere = async (path: string) => {
      await expect.poll(() => keeper.stat({ bucket, path }).catch(() => 'none')).not.toBe('none');
    };
    await isThere('a');
    await store('b', text('b'));
    await isThere('b');
    const second = await mirror('--once');
    expect(second).toMatchObject({ code: 2 });
    expect(second.errors).toContain(`Process ${run.process.pid} mirrors the same bucket`);
    run.process.kill('SIGINT');
    expect(await run.ended).toMatchObject({ code: 0 });
    await expectEqual();
  });

  test('compares everything again without its state, or with that of another bucket', async () => {
    await store('a', text('a'));
    await mirror('--once');
    const states = join(folder, 'state/efs');
    const names = await readdir(states);
    const found = await Promise.all(names.map((name) => readFile(join(states, name), 'utf8')));
    const file = join(states, names[found.findIndex((one) => one.includes(`/${bucket}"`))] ?? '');
    const state = JSON.parse(await readFile(file, 'utf8'));
    // Somebody changes the mirror, which the journal of the source does not tell.
    await keeper.upload(text('wrong'), { bucket, path: 'a' });
    await keeper.upload(text('extra'), { bucket, path: 'extra' });
    await mirror('--once');
    expect((await mirror('--verify')).code).toBe(8);
    await writeFile(file, JSON.stringify({ ...state, cursor: { ...state.cursor, salt: '00' } }));
    expect((await mirror('--once')).code).toBe(0);
    await expectEqual();
    await keeper.upload(text('wrong'), { bucket, path: 'a' });
    await writeFile(file, '{"cursor": 1');
    expect((await mirror('--once')).code).toBe(0);
    await expectEqual();
  });

  test('--verify compares both buckets and changes nothing', async () => {
    await store('same', text('same'));
    await store('same', text('same again'));
    await mirror('--once');
    const equal = await mirror('--verify');
    expect(equal).toMatchObject({ code: 0, errors: '' });
    expect(equal.output).toContain('1 files and 1 former versions have the same digests');
    await keeper.upload(text('other'), { bucket, path: 'only' });
    await store('lacking', text('x'));
    await keeper.change({ bucket, path: 'same' }, { tags: ['x'] });
    const before = await statesIn(keeper, bucket);
    const differing = await mirror('--verify');
    expect(differing.code).toBe(8);
    expect(differing.output.split('\n').sort()).toEqual([
      '',
      'lacking: the mirror lacks 1 versions',
      'only: only the mirror has 1 of its versions',
      'same: type, tags or metadata differ',
    ]);
    expect(await statesIn(keeper, bucket)).toEqual(before);
  });

  test('mirrors an end-to-end bucket as it is stored, also into an ordinary one', async () => {
    const sealed = `sealed-${count}`;
    await owner.buckets.create(sealed, { endToEnd: {} });
    await keeper.buckets.create(sealed);
    await owner.upload(text('a secret'), { bucket: sealed, path: 'letter.txt' });
    await owner.upload(sampleBytes('secret', 300_000), { bucket: sealed, path: 'large.bin' });
    const done = await efs('mirror', sealed, '--to', `backup:${sealed}`, '--once');
    expect(done).toMatchObject({ code: 0 });
    await expectEqual(sealed);
    const copy = await keeper.download({ bucket: sealed, path: 'letter.txt' });
    expect(Buffer.from(await copy.bytes()).toString('latin1')).toContain('age-encryption.org/v1');
  });

  test('refuses buckets that cannot be mirrors, and too many removals', async () => {
    const refused = async (to: string, from = bucket) => {
      const { code, errors } = await efs('mirror', from, '--to', to, '--once');
      return `${code} ${errors}`;
    };
    expect(await refused(bucket)).toContain('cannot be a mirror of itself');
    expect(await refused('backup:a/b')).toMatch(/^2 .*names no bucket to mirror to/);
    expect(await refused('backup:none')).toContain('create it there by efs bucket create none');
    await keeper.buckets.update(bucket, { keepVersionsDays: 1 });
    expect(await refused(`backup:${bucket}`)).toContain('--keep-versions 30.');
    const names = `names-${count}`;
    await owner.buckets.create(names, { endToEnd: { sealsNames: true } });
    expect(await refused(`backup:${bucket}`, names)).toContain('seals names cannot be mirrored');
    await keeper.buckets.update(bucket, { keepVersionsDays: 30 });
    await keeper.upload(text('x'), { bucket, path: 'only/there' });
    expect(await refused(`backup:${bucket}`)).toContain('has no files, and its mirror');
    await store('a', text('a'));
    const few = await mirror('--once', '--max-delete', '0');
    expect(few).toMatchObject({ code: 2 });
    expect(few.errors).toContain('--max-delete 1 allows it');
    expect(await keeper.stat({ bucket, path: 'only/there' })).toBeDefined();
    expect((await mirror('--once')).code).toBe(0);
    await expectEqual();
  });

  test('takes an address of the other canister, with the same identity', async () => {
    await store('a', text('a'));
    const target = `${bucket}-copy`;
    await owner.buckets.create(target, { keepVersionsDays: 30 });
    const address = `http://${here.canisterId}.localhost:${new URL(here.host).port}/${target}`;
    const done = await efs('mirror', bucket, '--to', address, '--once');
    expect(done).toMatchObject({ code: 0, errors: '1 stored, 0 changed, 0 removed, 0 erased.\n' });
    expect(await statesIn(owner, target)).toEqual(await statesIn(owner, bucket));
  });

  test('restores a lost source from its mirror', async () => {
    await store('a.txt', text('one'), { tags: ['t'] });
    await store('a.txt', text('two'), { tags: ['t'] });
    await store('b/c.bin', sampleBytes('c', 2_500_000));
    await mirror('--once');
    const before = await statesIn(owner, bucket);
    const restored = `${bucket}-restored`;
    await owner.buckets.create(restored, { keepVersionsDays: 30 });
    await writeFile(join(folder, 'restore.pem'), here.identityPem);
    const profile = ['--host', here.host, '--canister-id', here.canisterId];
    const url = ['--url', here.base, '--identity', join(folder, 'restore.pem')];
    await callCommand(['profile', 'add', 'new', ...url, ...profile], { folder });
    const words = ['--profile', 'backup', 'mirror', bucket, '--to', `new:${restored}`];
    expect(await callCommand([...words, '--once'], { folder })).toMatchObject({ code: 0 });
    expect(await statesIn(owner, restored)).toEqual(before);
    expect(await callCommand([...words, '--verify'], { folder })).toMatchObject({ code: 0 });
  });
});
