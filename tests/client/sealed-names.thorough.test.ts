// Buckets that seal names: members use and see plain names, in the library and the command, and the
// service only has sealed ones.

import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { aessiv } from '@noble/ciphers/aes.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sealedNames } from '../../packages/client/src/age/sealed-names.ts';
import { nodeEndToEnd } from '../../packages/client/src/node/end-to-end.ts';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import { createNodeStorage } from '../../packages/client/src/node/storage.ts';
import { openLink } from '../../packages/client/src/open-link.ts';
import { namesOf } from '../../packages/client/src/sealed-names/bucket-names.ts';
import { createStorage, type Storage } from '../../packages/client/src/storage.ts';
import { StorageError } from '../../packages/client/src/storage-error.ts';
import type { EndToEndRecord } from '../../packages/client/src/types/end-to-end.ts';
import { newIdentity, principalOf } from '../../scripts/local-service.ts';
import { openService, type Service } from '../support/service.ts';
import { callCommand } from './command-calls.ts';

const bytesOf = (hex: string) => new Uint8Array(Buffer.from(hex.replaceAll(' ', ''), 'hex'));
const key = Uint8Array.from({ length: 64 }, (_, index) => index);
const names = sealedNames(key);

describe('sealedNames(): a sealed segment of a path', () => {
  test('is encrypted by AES-SIV, which matches the vectors of RFC 5297, A.1 and A.2', () => {
    const one = aessiv(
      bytesOf('fffefdfcfbfaf9f8f7f6f5f4f3f2f1f0 f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff'),
      bytesOf('101112131415161718191a1b1c1d1e1f2021222324252627'),
    );
    expect(one.encrypt(bytesOf('112233445566778899aabbccddee'))).toEqual(
      bytesOf('85632d07c6e8f37f950acd320a2ecc93 40c02b9690c4dc04daef7f6afe5c'),
    );
    const two = aessiv(
      bytesOf('7f7e7d7c7b7a79787776757473727170 404142434445464748494a4b4c4d4e4f'),
      bytesOf('00112233445566778899aabbccddeeffdeaddadadeaddadaffeeddccbbaa99887766554433221100'),
      bytesOf('102030405060708090a0'),
      bytesOf('09f911029d74e35bd84156c5635688c0'),
    );
    expect(two.encrypt(Buffer.from('this is some plaintext to encrypt using SIV-AES'))).toEqual(
      bytesOf(
        '7bdb6e3b432667eb06f4d14bff2fbd0f cb900f2fddbe404326601965c889bf17' +
          'dba77ceb094fa663b7a3f748ba8af829 ea64ad544a272e9c485b62a3fd5c0d',
      ),
    );
  });

  test('equals the output of another library, and is the same in every folder', () => {
    // AESSIV of Python's cryptography, without associated data.
    const sealed = Buffer.from('9eeb6b14df4b18900e2a3640408ae69c33ed68203997229ea016', 'hex');
    const name = sealed.toString('base64url');
    expect(names.seal('report.pdf')).toBe(name);
    expect(names.seal('/report.pdf/report.pdf')).toBe(`${name}/${name}`);
    expect(names.seal('report.pdf/')).toBe(`${name}/`);
    expect([names.seal(''), names.open(`${name}/${name}/`).path]).toEqual([
      '',
      'report.pdf/report.pdf/',
    ]);
    const said = names.openText(`no ${name}, no "${name.slice(0, 4)}…"`, ['a/report.pdf']);
    expect(said).toBe('no report.pdf, no "report.pdf"');
  });

  test('holds at most 150 bytes, and a path at most four such segments; others are refused', () => {
    const longest = 'é'.repeat(75);
    const path = Array(4).fill(longest).join('/');
    expect(names.open(names.seal(path))).toEqual({ path });
    expect(() => names.seal(`${longest}x`)).toThrow(/151 bytes of UTF-8.*at most 150/);
    expect(() => names.seal(`${path}/${longest}`)).toThrow(
      /sealed, it has .* of at most 1024 bytes/,
    );
    for (const wrong of ['a//b', 'a//', '../a', 'a/.', 'a\nb', '\u202ea', '\ud800']) {
      expect(() => names.seal(wrong), JSON.stringify(wrong)).toThrow(
        expect.objectContaining({ code: 'InvalidPath' }),
      );
    }
  });

  test('that is not the canonical encryption of a valid name is shown as stored', () => {
    const sealed = (name: string) =>
      Buffer.from(aessiv(key).encrypt(Buffer.from(name))).toString('base64url');
    const clear = sealed('a');
    // 23 characters for 17 bytes: two bits of the last character are ignored.
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const last = alphabet[alphabet.indexOf(clear.slice(-1)) ^ 1];
    const respelled = clear.slice(0, -1) + last;
    expect(Buffer.from(respelled, 'base64url')).toEqual(Buffer.from(clear, 'base64url'));
    const others = ['clear.txt', sealed('..'), sealed('a/b'), sealed(''), `${clear}A`, respelled];
    for (const other of others) {
      const shown = { path: `a/${other}`, isPathAsStored: true };
      expect(names.open(`${clear}/${other}`)).toEqual(shown);
    }
  });
});

test('namesOf() asks again after a failure, but not after a success', async () => {
  const mode = { sealsNames: true } as EndToEndRecord;
  let asked = 0;
  const find = namesOf({
    hasIssuer: true,
    mode: async () => mode,
    keys: async () => ({
      async namesOf() {
        asked += 1;
        if (asked === 1) throw new StorageError('SlowDown', 'Too many derivations.');
        return names;
      },
    }),
  });
  await expect(find('b', 'find', undefined)).rejects.toMatchObject({ code: 'SlowDown' });
  for (const use of ['find', 'name', 'find'] as const) {
    expect(await find('b', use, undefined)).toBe(names);
  }
  expect(asked).toBe(2);
});

describe('sealedNames(): in a bucket', () => {
  const bucket = 'safe';
  const readerPem = newIdentity();
  const named = (path: string) => ({ bucket, path });
  let service: Service;
  let folder: string;
  let owner: Storage;
  let apiKey: string;
  /** Uses the API key, so it sees the stored names. */
  let keyed: Pick<Storage, 'list' | 'upload' | 'copy'>;

  function storageOf(pem: string): Storage {
    const { host, canisterId } = service;
    return createNodeStorage({ host, canisterId, identity: identityFromPem(pem) });
  }

  async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
    const list: T[] = [];
    for await (const item of items) list.push(item);
    return list;
  }
  const paths = async (items: AsyncIterable<{ readonly path: string }>) =>
    (await all(items)).map(({ path }) => path);

  async function efs(words: string) {
    const environment = {
      EFS_HOST: service.host,
      EFS_CANISTER_ID: service.canisterId,
      EFS_IDENTITY: join(folder, 'owner.pem'),
    };
    const ended = await callCommand(words.split(' '), { folder, environment });
    expect(ended, words).toMatchObject({ code: 0 });
    return ended;
  }

  beforeAll(async () => {
    service = await openService();
    folder = await mkdtemp(join(tmpdir(), 'efs-names-'));
    await writeFile(join(folder, 'owner.pem'), service.identityPem, { mode: 0o600 });
    owner = storageOf(service.identityPem);
    await owner.buckets.create(bucket, { endToEnd: { sealsNames: true } });
    const member = { principal: principalOf(readerPem).toText(), role: 'reader' };
    await owner.buckets.update(bucket, { addMembers: [member], keepVersionsDays: 1 });
    const { secret } = await owner.keys.create({
      name: 'all',
      buckets: [bucket],
      permissions: ['read', 'write', 'delete'],
    });
    apiKey = secret;
    keyed = createStorage({ url: service.base, apiKey, endToEnd: nodeEndToEnd() });
    const files = ['b.txt', 'a.txt', 'inner/c.txt', 'inner/deep/d.txt'];
    const sources = files.map((path) => ({ path, source: Buffer.from(path) }));
    const stored = await all(owner.uploadAll(sources, { bucket }));
    expect(stored.map(({ path, file }) => [path, file?.path])).toEqual(
      files.map((path) => [path, path]),
    );
  });
  afterAll(async () => {
    await service?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  test('members list and count by plain names, in order, by folders and prefixes', async () => {
    const reader = storageOf(readerPem);
    expect(await paths(reader.list({ bucket }))).toEqual([
      ...['a.txt', 'b.txt', 'inner/c.txt', 'inner/deep/d.txt'],
    ]);
    expect(await paths(reader.list({ bucket, prefix: 'inner/d', sort: 'date_asc' }))).toEqual([
      'inner/deep/d.txt',
    ]);
    const page = await reader.listFolder({ bucket, prefix: 'inner/', delimiter: '/' });
    expect(page.items).toMatchObject([{ path: 'inner/c.txt', name: 'c.txt' }]);
    expect(page.folders).toEqual([{ path: 'inner/deep/' }]);
    expect(await reader.usage({ bucket, prefix: 'inner/' })).toMatchObject({ files: 2 });
    await expect(reader.usage({ bucket, prefix: 'inner/d' })).rejects.toThrow(
      /must end in a slash/,
    );
    const read = await reader.download(named('inner/c.txt'));
    expect(Buffer.from(await read.bytes()).toString()).toBe('inner/c.txt');
    expect(read.contentType).toBe('text/plain');
    await expect(reader.stat(named('none.txt'))).rejects.toThrow(/none\.txt/);
  });

  test('the service stores no plain name, and an API key cannot name a file', async () => {
    for (const { path, name } of await all(keyed.list({ bucket }))) {
      expect(path).toMatch(/^[\w-]{22,}(?:\/[\w-]{22,})*$/);
      expect(path.endsWith(name)).toBe(true);
    }
    const [first] = await paths(keyed.list({ bucket }));
    for (const attempt of [
      () => keyed.upload(Buffer.from('x'), named('x.txt')),
      () => keyed.copy(named(first ?? ''), { path: 'x.txt' }),
    ]) {
      await expect(attempt()).rejects.toMatchObject({
        code: 'NoIdentity',
        message: expect.stringMatching(/seals the names.*not API keys/),
      });
    }
    const environment = { EFS_URL: service.base, EFS_API_KEY: apiKey };
    const ended = await callCommand(['put', 'owner.pem', 'safe/'], { folder, environment });
    expect(ended).toMatchObject({ code: 4, output: '' });
    expect(ended.errors).toMatch(/seals the names/);
  });

  test('copies, moves, folders, changes, versions and links take plain names', async () => {
    await owner.copy(named('a.txt'), { path: 'copies/a.txt' });
    await owner.move(named('copies/a.txt'), { path: 'moved/one.txt' });
    const whole = { bucket, fromPrefix: 'moved/', toPrefix: 'kept/here/' };
    expect(await owner.moveAll(whole)).toEqual({ moved: 1, failed: [] });
    await expect(owner.moveAll({ ...whole, toPrefix: 'k' })).rejects.toThrow(/must end in a slash/);
    const file = named('kept/here/one.txt');
    expect(await owner.change(file, { tags: ['t'] })).toMatchObject({ path: file.path });
    await owner.upload(Buffer.from('another'), file);
    const [former, ...others] = await all(owner.versions.list({ bucket, prefix: 'kept/h' }));
    expect([former?.path, others]).toEqual([file.path, []]);
    const { version = 0 } = former ?? {};
    const read = await owner.stat(file, { version });
    expect(read).toMatchObject({ path: file.path, version });
    const download = await owner.versions.download({ ...file, version });
    expect(Buffer.from(await download.bytes()).toString()).toBe('a.txt');
    expect(await owner.versions.restore({ ...file, version })).toMatchObject({ path: file.path });
    await expect(owner.links.create({ ...file, downloadName: 'one.txt' })).rejects.toThrow(
      /download name/,
    );
    const link = new URL((await owner.links.create(file)).url);
    expect(link.pathname + link.search).not.toContain('one.txt');
    expect(link.hash).toMatch(/^#[\w-]{23}\/one\.txt$/);
    const { pathname, search, hash } = link;
    const opened = await openLink(service.base + pathname + search + hash);
    expect(Buffer.from(await opened.bytes()).toString()).toBe(
      Buffer.from(await (await owner.download(file)).bytes()).toString(),
    );
    expect(await paths(owner.links.list(named(file.path)))).toEqual([file.path]);
    const removed = await all(owner.removeAll({ bucket, prefix: 'kept/' }));
    expect(removed.map(({ path, error }) => [path, error])).toEqual([[file.path, undefined]]);
  });

  test('operations on many files report each under its plain name, even if it cannot be sealed', async () => {
    const long = 'x'.repeat(151);
    const sources = [long, 'many/1.txt'].map((path) => ({ path, source: Buffer.from(path) }));
    const stored = await all(owner.uploadAll(sources, { bucket }));
    expect(stored).toMatchObject([
      { path: long, error: { code: 'InvalidPath' } },
      { path: 'many/1.txt', file: { path: 'many/1.txt' } },
    ]);
    // Their sealed paths exceed one request.
    const none = Array.from({ length: 998 }, (_, index) => `many/of/a/folder/${index}.txt`);
    const gone = await all(owner.removeAll({ bucket, paths: [long, ...none, 'many/1.txt'] }));
    const codes = new Map(gone.map(({ path, error }) => [path, error?.code]));
    expect([codes.size, codes.get(long), codes.get('many/1.txt')]).toEqual([
      ...[1_000, 'InvalidPath', undefined],
    ]);
    expect(codes.get('many/of/a/folder/7.txt')).toBe('NoSuchFile');
    expect(gone.find(({ path }) => path.endsWith('/77.txt'))?.error?.message).toContain('/77.txt');
  });

  test('a retained file is deleted by its plain name only with bypassGovernance', async () => {
    await owner.buckets.update(bucket, { keepVersionsDays: 0 });
    const file = await owner.upload(Buffer.from('kept'), named('retained.txt'));
    const until = new Date(Date.now() + 86_400_000);
    await owner.retention.set(named(file.path), { mode: 'governance', until });
    const remove = (bypassGovernance: boolean) =>
      all(owner.removeAll({ bucket, paths: [file.path], bypassGovernance }));
    expect(await remove(false)).toMatchObject([{ path: file.path, error: { code: 'FileHeld' } }]);
    expect((await remove(true))[0]?.error).toBeUndefined();
    await expect(owner.stat(named(file.path))).rejects.toMatchObject({ code: 'NoSuchFile' });
    await owner.buckets.update(bucket, { keepVersionsDays: 1 });
  });

  test('an interrupted upload is listed under its plain name and continues', async () => {
    const source = Buffer.alloc(2_000_000, 7);
    const options = { ...named('large.bin'), metadata: { of: 'it' } };
    const kept: { id: string; ageHeader: string | undefined }[] = [];
    const stopped = owner.upload(source, {
      ...options,
      onSession({ uploadId: id, ageHeader }) {
        kept.push({ id, ageHeader });
        throw new Error('stopped');
      },
    });
    await expect(stopped).rejects.toThrow('stopped');
    const [session] = await owner.uploads.list({ bucket });
    expect(session).toMatchObject({ path: 'large.bin', uploadId: kept[0]?.id });
    const { id: resume, ageHeader } = kept[0] ?? {};
    expect(await owner.upload(source, { ...options, resume, ageHeader })).toMatchObject({
      path: 'large.bin',
    });
    await owner.remove(named('large.bin'));
  });

  test('names are unchanged after the identity is rotated', async () => {
    await owner.buckets.rotateIdentity(bucket);
    const later = storageOf(service.identityPem);
    await later.upload(Buffer.from('later'), named('inner/later.txt'));
    expect(await paths(later.list({ bucket, prefix: 'inner/' }))).toEqual([
      ...['inner/c.txt', 'inner/deep/d.txt', 'inner/later.txt'],
    ]);
    await later.remove(named('inner/later.txt'));
  });

  test('efs puts, lists, gets, syncs, moves and removes by plain names', async () => {
    await mkdir(join(folder, 'up/sub'), { recursive: true });
    await writeFile(join(folder, 'up/one.txt'), 'one');
    await writeFile(join(folder, 'up/sub/two.txt'), 'two');
    await efs('put up/one.txt safe/put/');
    expect((await efs('ls safe/put/')).output).toContain('put/one.txt');
    await efs('get safe/put/one.txt got.txt');
    expect(await readFile(join(folder, 'got.txt'), 'utf8')).toBe('one');
    expect((await efs('sync up safe/synced')).errors).toMatch(/2 sent, 0 the same/);
    expect((await efs('sync up safe/synced')).errors).toMatch(/0 sent, 2 the same/);
    await efs('mv -r safe/synced/sub/ safe/elsewhere/');
    expect((await efs('sync safe/elsewhere down')).errors).toMatch(/1 fetched/);
    expect(await readFile(join(folder, 'down/two.txt'), 'utf8')).toBe('two');
    await efs('mv safe/put/one.txt safe/put/renamed.txt');
    await efs('rm safe/put/renamed.txt');
    await efs('rm -r safe/synced/');
    expect((await efs('ls --recursive safe')).output).toMatch(
      /a\.txt\n.*b\.txt\n.*elsewhere\/two\.txt\n.*inner\/c\.txt\n.*inner\/deep\/d\.txt/,
    );
  });
});
