// `efs cp`, `mv`, `set` and `versions`, and their results in other commands.

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import { createStorage, type Storage } from '../../packages/client/src/storage.ts';
import type { BucketRecord } from '../../packages/client/src/types/buckets.ts';
import type { FileRecord } from '../../packages/client/src/types/files.ts';
import type { FileVersion } from '../../packages/client/src/types/versions.ts';
import { openService, type Service, sampleBytes } from '../support/service.ts';
import { callCommand } from './command-calls.ts';

const other = 'second';

let service: Service;
let folder: string;
let storage: Storage;

beforeAll(async () => {
  service = await openService();
  folder = await mkdtemp(join(tmpdir(), 'file-commands-'));
  await writeFile(join(folder, 'identity.pem'), service.identityPem);
  const { host, canisterId, identityPem } = service;
  storage = createStorage({ host, canisterId, identity: identityFromPem(identityPem) });
  await storage.buckets.create(other);
});
afterAll(async () => {
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Uses the actor with the identity, which has rights to both buckets. */
function efs(...words: string[]) {
  const { host, canisterId } = service;
  const environment = {
    EFS_HOST: host,
    EFS_CANISTER_ID: canisterId,
    EFS_IDENTITY: join(folder, 'identity.pem'),
  };
  return callCommand(words, { folder, environment });
}

/** Uses HTTP with the key, which is for the first bucket only. */
function efsOverHttp(...words: string[]) {
  const environment = { EFS_URL: service.base, EFS_API_KEY: service.apiKey };
  return callCommand(words, { folder, environment });
}

function put(path: string, bucket = service.bucket): Promise<FileRecord> {
  return storage.upload(sampleBytes(path, 10), { bucket, path, contentType: 'a/b' });
}

async function paths(prefix: string, bucket = service.bucket): Promise<string[]> {
  const found: string[] = [];
  for await (const { path } of storage.list({ bucket, prefix })) found.push(path);
  return found.map((path) => path.slice(prefix.length));
}

test('efs: cp and mv bring a file to a new name or folder, also in another bucket', async () => {
  const { bucket } = service;
  await put('one/a.txt');
  expect(await efs('cp', `${bucket}/one/a.txt`, `${bucket}/one/b.txt`)).toEqual({
    code: 0,
    output: `${bucket}/one/b.txt\n`,
    errors: '',
  });
  const moved = await efs('mv', `${bucket}/one/a.txt`, `${bucket}/one/b.txt`, `${other}/one/`);
  expect(moved).toMatchObject({ code: 0, errors: '2 moved.\n' });
  expect(moved.output.split('\n').sort()).toEqual(['', `${other}/one/a.txt`, `${other}/one/b.txt`]);
  expect(await paths('one/')).toEqual([]);
  expect(await efs('mv', `${other}/one/a.txt`, bucket)).toMatchObject({
    output: `${bucket}/a.txt\n`,
  });
  expect(await paths('one/', other)).toEqual(['b.txt']);
});

test('efs: cp continues after a failure, reports a summary, and keeps existing files with --no-replace', async () => {
  const { bucket } = service;
  for (const path of ['from/a', 'from/b']) await put(`keep/${path}`);
  const kept = await put('keep/to/b');
  const names = ['a', 'b', 'none'].map((name) => `${bucket}/keep/from/${name}`);
  const ended = await efsOverHttp('cp', '-p', '1', '--no-replace', ...names, `${bucket}/keep/to/`);
  expect(ended.output).toBe(`${bucket}/keep/to/a\n`);
  expect(ended.errors).toContain(`${bucket}/keep/from/b is not copied: `);
  expect(ended.errors).toContain(`${bucket}/keep/from/none is not copied: `);
  expect(ended.errors).toContain('efs: 1 copied, 2 failed. [PreconditionFailed]');
  expect(ended.code).toBe(5);
  expect(await storage.stat({ bucket, path: 'keep/to/b' })).toEqual(kept);
});

test('efs: cp -r and mv -r copy and move a whole folder, within a bucket and to another', async () => {
  const { bucket } = service;
  for (const path of ['x', 'y/z', 'y/a b']) await put(`tree/${path}`);
  const copied = await efsOverHttp('cp', '-r', `${bucket}/tree/`, `${bucket}/copy`);
  expect(copied).toMatchObject({ code: 0, errors: '3 copied.\n' });
  expect(await paths('copy/')).toEqual(['x', 'y/a b', 'y/z']);
  const moved = await efsOverHttp('mv', '-r', `${bucket}/copy/`, `${bucket}/moved/`);
  expect(moved).toEqual({ code: 0, output: '', errors: '3 moved.\n' });
  expect(await paths('copy/')).toEqual([]);
  await put('tree/x');
  await put('moved/y/z');
  const kept = await efsOverHttp('mv', '-r', '--no-replace', `${bucket}/tree/`, `${bucket}/moved/`);
  expect(kept.code).toBe(5);
  expect(kept.errors).toContain('efs: 0 moved, 3 failed.');
  expect(await efs('mv', '-r', `${bucket}/moved/`, other)).toMatchObject({ code: 0 });
  expect(await paths('y/', other)).toEqual(['a b', 'z']);
  expect(await paths('moved/')).toEqual([]);
  for (const kind of ['cp', 'mv']) {
    const nothing = await efs(kind, '-r', `${bucket}/moved/`, `${bucket}/elsewhere/`);
    expect(nothing.code).toBe(3);
    expect(nothing.errors).toContain(`${bucket}/moved/ has no files.`);
  }
});

test.each([
  [['cp', 'demo/a/', 'demo/b/'], 'give -r for all files in it'],
  [['mv', 'demo/a', 'demo/b', 'demo/c'], 'write demo/c/'],
  [['cp', 'demo/a/x', 'demo/b/x', 'demo/c/'], 'demo/a/x and demo/b/x would both become demo/c/x'],
  [['cp', '-r', 'demo/a/', 'demo/a/b/'], 'contains the other'],
  [['mv', '-r', 'demo/', 'demo/b/'], 'contains the other'],
  [['mv', 'demo/a'], 'takes files and then a destination'],
  [['set', 'demo/a'], 'No change is given'],
  [['set', '--header', 'x', 'demo/a'], 'A header must be "Name: value"'],
  [['set', '--metadata', 'x', 'demo/a'], 'It must be name=value'],
  [['versions', 'rm', '-r', 'demo/a/', '1'], 'omit -r'],
  [['versions', 'rm', 'demo/a/'], 'has no path'],
  [['versions', 'get', 'demo/a/', '1'], 'has no path'],
  [['versions', 'get', 'demo/a', 'x'], 'It must be a whole number'],
  [['versions', 'get', 'http://x.localhost/s/1/a?k=1', '1'], 'write bucket/path'],
  [['versions', 'get', 'demo//a', '1'], 'has two slashes together'],
])('efs: %o is a usage error', async (words, text) => {
  const ended = await efs(...words);
  expect(ended.code).toBe(2);
  expect(ended.errors).toContain(text);
});

test('efs: set changes only the given fields, and keeps other metadata', async () => {
  const { bucket } = service;
  const name = `${bucket}/set/a.txt`;
  await writeFile(join(folder, 'a.txt'), 'hello');
  const pairs = ['--metadata', 'by=me', '--metadata', 'of=x=y'];
  await efsOverHttp('put', ...pairs, 'a.txt', name);
  const stat = async () => JSON.parse((await efs('stat', '--json', name)).output) as FileRecord;
  expect(await stat()).toMatchObject({ metadata: { by: 'me', of: 'x=y' }, version: 1 });
  expect((await efs('stat', name)).output).toMatch(/^metadata +by me, of x=y$/m);
  const set = await efsOverHttp('set', '--metadata', 'by=you', '--tag', 't', '--tag', 'u', name);
  expect(set).toEqual({ code: 0, output: `${name}\n`, errors: '' });
  expect(await stat()).toMatchObject({ metadata: { by: 'you', of: 'x=y' }, tags: ['t', 'u'] });
  const words = ['--type', 'text/html', '--cache-control', 'max-age=5', '--no-tags', '--json'];
  const shown = await efs('set', ...words, '--header', 'Content-Language: de', name);
  expect(JSON.parse(shown.output)).toMatchObject([{ contentType: 'text/html', tags: [] }]);
  const { headers } = await fetch(`${service.base}/cloud/${name}`);
  expect(headers.get('cache-control')).toBe('max-age=5');
  expect(headers.get('content-language')).toBe('de');
  await efs('set', '--no-metadata', '--metadata', 'only=this', '--no-headers', name);
  expect((await stat()).metadata).toEqual({ only: 'this' });
  expect((await fetch(`${service.base}/cloud/${name}`)).headers.get('content-language')).toBeNull();
  await efs('set', '--no-metadata', name);
  expect((await stat()).metadata).toBeUndefined();
  const failed = await efs('set', '--type', 'a/b', `${bucket}/set/none`, name);
  expect(failed).toMatchObject({ code: 3, output: `${name}\n` });
  expect(failed.errors).toContain('efs: 1 changed, 1 failed. [NoSuchFile]');
});

test('efs: versions lists, gets, restores and erases former versions', async () => {
  const created = await efs('bucket', 'create', '--keep-versions', '30', '--json', 'kept');
  expect(JSON.parse(created.output)).toMatchObject({ keepVersionsDays: 30 });
  for (const count of [1, 2, 3, 4]) {
    const name = { bucket: 'kept', path: 'a/x', contentType: 'a/b' };
    await storage.upload(Buffer.from(`text ${count}`), name);
  }
  await put('a/y', 'kept');
  expect((await efs('rm', 'kept/a/y')).code).toBe(0);
  const table = (await efs('versions', 'ls', 'kept')).output;
  expect(table).toMatch(/^VERSION +SIZE +MODIFIED +REPLACED +KEPT UNTIL +PATH\n/);
  expect(table.trimEnd().split('\n')).toHaveLength(5);
  const listed = async (place: string) => {
    const { output } = await efs('versions', 'ls', '--json', place);
    return (JSON.parse(output) as FileVersion[]).map(({ path, version }) => `${path} ${version}`);
  };
  expect(await listed('kept/a/x')).toEqual(['a/x 1', 'a/x 2', 'a/x 3']);
  for (const [number, output] of [
    ['2', 'text 2'],
    ['4', 'text 4'],
  ] as const) {
    expect(await efs('versions', 'get', 'kept/a/x', number, '-')).toMatchObject({
      code: 0,
      output,
    });
  }
  const got = await efs('versions', 'get', '--json', '--range', '0-3', 'kept/a/x', '1', 'former');
  expect(JSON.parse(got.output)).toMatchObject({ path: 'a/x', size: 6 });
  expect(await readFile(join(folder, 'former'), 'utf8')).toBe('text');
  const none = await efs('versions', 'get', 'kept/a/x', '9', '-');
  expect(none).toMatchObject({ code: 3, errors: expect.stringContaining('Version 9') });
  expect(await efs('versions', 'restore', 'kept/a/y', '1')).toEqual({
    code: 0,
    output: 'kept/a/y\n',
    errors: '',
  });
  const restored = await efs('versions', 'restore', '--json', 'kept/a/x', '2');
  expect(JSON.parse(restored.output)).toMatchObject({ path: 'a/x', version: 5 });
  const refused = await efs('versions', 'restore', '--no-replace', 'kept/a/x', '1');
  expect(refused.code).toBe(5);
  expect((await efs('versions', 'rm', 'kept/a/x', '3')).errors).toBe('1 version erased.\n');
  expect((await efs('versions', 'rm', 'kept/a/x', '3')).code).toBe(3);
  expect(await listed('kept/a/')).toEqual(['a/x 1', 'a/x 4']);
  expect((await efs('versions', 'rm', 'kept/a/x')).errors).toBe('2 versions erased.\n');
  await put('a/x', 'kept');
  expect((await efs('versions', 'rm', '-r', 'kept')).errors).toBe('1 version erased.\n');
  expect(await efs('versions', 'ls', 'kept')).toEqual({ code: 0, output: '', errors: '' });
});

test('efs: bucket ls shows versions in JSON, and bucket rm --force erases them', async () => {
  await efs('bucket', 'create', 'forced');
  expect((await efs('bucket', 'set', '--keep-versions', '5', 'forced')).output).toMatch(
    /^keepVersionsDays +5$/m,
  );
  await put('a', 'forced');
  await put('a', 'forced');
  const buckets = JSON.parse((await efs('bucket', 'ls', '--json')).output) as BucketRecord[];
  const forced = buckets.find(({ id }) => id === 'forced');
  expect(forced).toMatchObject({ keepVersionsDays: 5, versionCount: 1 });
  expect(forced?.versionBytes).toBeGreaterThan(10);
  expect((await efs('bucket', 'rm', 'forced')).code).toBe(5);
  const removed = await efs('bucket', 'rm', '--force', 'forced');
  expect(removed).toMatchObject({ code: 0, output: 'forced\n' });
  expect(removed.errors).toContain('2 former versions erased.');
});
