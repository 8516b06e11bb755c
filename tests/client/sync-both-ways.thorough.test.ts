// `efs sync` and `efs get -r` from the service to this machine and from bucket to bucket, `efs put
// -r`, and the features of all directions: filters, --delete with its limit, dry runs, JSON.

import {
  link,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import { createNodeStorage } from '../../packages/client/src/node/storage.ts';
import { createStorage, type Storage } from '../../packages/client/src/storage.ts';
import { openService, type Service, sampleBytes } from '../support/service.ts';
import { callCommand } from './command-calls.ts';
import { startCommand } from './command-runs.ts';
import { noFaults, startProxy } from './unreliable-proxy.ts';

const other = 'second';

let service: Service;
let base: string;
let folder: string;
let storage: Storage;
let place: string;
let count = 0;

beforeAll(async () => {
  service = await openService();
  base = await mkdtemp(join(tmpdir(), 'sync-both-ways-'));
  await writeFile(join(base, 'identity.pem'), service.identityPem);
  storage = createNodeStorage({ url: service.base, apiKey: service.apiKey });
  const { host, canisterId, identityPem } = service;
  const owner = createStorage({ host, canisterId, identity: identityFromPem(identityPem) });
  await owner.buckets.create(other);
});
afterAll(async () => {
  await service?.stop();
  await rm(base, { recursive: true, force: true });
});
beforeEach(async () => {
  folder = await mkdtemp(join(base, 'run-'));
  count++;
  place = `${service.bucket}/test-${count}`;
});

function settings(more: Readonly<Record<string, string>> = {}) {
  const environment = { EFS_URL: service.base, EFS_API_KEY: service.apiKey, ...more };
  return { folder, environment };
}
const efs = (...words: string[]) => callCommand(words, settings());
/** Uses the actor with the identity, which has rights to both buckets. */
function efsAsOwner(...words: string[]) {
  const { host: EFS_HOST, canisterId: EFS_CANISTER_ID } = service;
  const EFS_IDENTITY = join(base, 'identity.pem');
  return callCommand(words, { folder, environment: { EFS_HOST, EFS_CANISTER_ID, EFS_IDENTITY } });
}

async function store(files: Readonly<Record<string, string>>): Promise<void> {
  const prefix = `${place.slice(service.bucket.length + 1)}/`;
  const named = Object.entries(files).map(([path, text]) => ({
    path: prefix + path,
    source: new TextEncoder().encode(text),
  }));
  for await (const { error } of storage.uploadAll(named, { bucket: service.bucket })) {
    if (error !== undefined) throw error;
  }
}

async function write(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(folder, path, '..'), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}

/** Returns paths with their text. */
async function here(name: string): Promise<Record<string, string>> {
  const entries = await readdir(join(folder, name), { recursive: true, withFileTypes: true });
  const files: Record<string, string> = {};
  for (const entry of entries.filter((one) => one.isFile())) {
    const file = join(entry.parentPath, entry.name);
    files[file.slice(join(folder, name).length + 1)] = await readFile(file, 'utf8');
  }
  return files;
}

async function there(name: string): Promise<string[]> {
  const { output } = await efsAsOwner('ls', '--json', `${name}/`);
  const prefix = `${name}/`.slice(name.indexOf('/') + 1);
  return (JSON.parse(output) as { path: string }[]).map(({ path }) => path.slice(prefix.length));
}

const sorted = (text: string) => text.split('\n').filter(Boolean).sort();

test('efs sync downloads a folder of a bucket, and later only the changed files', async () => {
  await store({ 'a.txt': 'a', 'sub/b.txt': 'b', 'sub/c.txt': 'c' });
  const first = await efs('sync', place, './back');
  expect(first).toMatchObject({ code: 0, errors: '3 fetched, 0 the same, 0 removed.\n' });
  expect(sorted(first.output)).toEqual(
    ['a.txt', 'sub/b.txt', 'sub/c.txt'].map((path) => `new     ${join('back', path)}`),
  );
  expect(await here('back')).toEqual({ 'a.txt': 'a', 'sub/b.txt': 'b', 'sub/c.txt': 'c' });
  await store({ 'a.txt': 'A' });
  // A file with equal bytes is not downloaded again, whatever its time.
  await utimes(join(folder, 'back/sub/b.txt'), 1, 1);
  await writeFile(join(folder, 'back/sub/c.txt'), 'changed here');
  await write({ 'back/more/d.txt': 'd', 'back/.efs-0123456789abcdef.part': 'kept' });
  const tried = await efs('sync', '-n', '--delete', place, 'back');
  expect(sorted(tried.output)).toEqual([
    'would get back/a.txt',
    'would get back/sub/c.txt',
    'would remove back/more/d.txt',
  ]);
  expect(tried.errors).toBe(
    'Nothing is done yet: 2 would be fetched, 1 the same, 1 would be removed.\n',
  );
  const second = await efs('sync', '--delete', place, 'back');
  expect(second.errors).toBe('2 fetched, 1 the same, 1 removed.\n');
  expect(await here('back')).toEqual({
    '.efs-0123456789abcdef.part': 'kept',
    'a.txt': 'A',
    'sub/b.txt': 'b',
    'sub/c.txt': 'c',
  });
  expect(await readdir(join(folder, 'back'))).not.toContain('more');
  const third = await efs('sync', '--delete', place, 'back');
  expect(third).toEqual({ code: 0, output: '', errors: '0 fetched, 3 the same, 0 removed.\n' });
});

test('efs sync --delete keeps a file that is a stored one under another letter case', async () => {
  await store({ 'sub/photo.jpg': 'a' });
  await write({ 'back/sub/photo.jpg': 'a', 'back/sub/PHOTO.PNG': 'b' });
  // On a disk that ignores case, both names are one file too.
  await link(join(folder, 'back/sub/photo.jpg'), join(folder, 'back/sub/PHOTO.JPG'));
  const { output } = await efs('sync', '--delete', place, 'back');
  expect(sorted(output)).toEqual(['removed back/sub/PHOTO.PNG']);
  expect(Object.keys(await here('back')).sort()).toEqual(['sub/PHOTO.JPG', 'sub/photo.jpg']);
});

test('efs sync --dry-run writes nothing', async () => {
  await store({ 'a.txt': 'a' });
  await write({ 'back/b.txt': 'b', 'state/efs/notes': '' });
  const damaged = join(folder, 'state/efs', `upload-${'0'.repeat(64)}.json`);
  await writeFile(damaged, '');
  await utimes(join(folder, 'back'), 1, 1);
  const { output } = await efs('sync', '--dry-run', '--delete', place, 'back');
  expect(sorted(output)).toEqual(['would get back/a.txt', 'would remove back/b.txt']);
  expect((await stat(join(folder, 'back'))).mtimeMs).toBe(1_000);
  expect(await readFile(damaged, 'utf8')).toBe('');
});

test("efs get -r of demo/a keeps the folder's name, and of demo/a/ gets its contents", async () => {
  await store({ 'x.txt': 'x', 'in/y.txt': 'y' });
  const name = place.slice(service.bucket.length + 1);
  expect((await efs('get', '-r', `${place}/`, 'target')).code).toBe(0);
  expect(await here('target')).toEqual({ 'x.txt': 'x', 'in/y.txt': 'y' });
  expect((await efs('get', '-r', place)).code).toBe(0);
  expect(await here(name)).toEqual({ 'x.txt': 'x', 'in/y.txt': 'y' });
  expect((await efs('get', `${place}/`)).errors).toContain('give -r for all files in it');
  const nothing = await efs('get', '-r', `${place}/none/`, 'target');
  expect(nothing).toMatchObject({ code: 3, output: '' });
});

test('efs put -r sends each folder under its name, unless the argument ends in a slash', async () => {
  await write({ 'tree/a.txt': 'a', 'tree/sub/b.txt': 'b', 'tree/node_modules/c.js': 'c' });
  const sent = await efs('put', '-r', '--exclude', 'node_modules', 'tree', `${place}/`);
  expect(sent).toEqual({
    code: 0,
    output: `${place}/tree/a.txt\n${place}/tree/sub/b.txt\n`,
    errors: '2 sent.\n',
  });
  await efs('put', '-r', 'tree/', `${place}/bare`);
  expect(await there(`${place}/bare`)).toEqual(['a.txt', 'node_modules/c.js', 'sub/b.txt']);
});

test('efs put of several files continues after a folder and a missing file, and reports a summary', async () => {
  await write({ 'tree/a.txt': 'a', 'tree/sub/b.txt': 'b', 'tree/z.txt': 'z' });
  const names = ['tree/a.txt', 'tree/none', 'tree/sub', 'tree/z.txt'];
  const ended = await efs('put', ...names, `${place}/`);
  expect(ended.code).toBe(1);
  expect(ended.output).toBe(`${place}/a.txt\n${place}/z.txt\n`);
  expect(ended.errors).toContain('tree/none is not sent: ');
  expect(ended.errors).toContain('tree/sub is not sent: it is a folder: give -r for all files');
  expect(ended.errors).toContain('efs: 2 sent, 2 failed.');
});

test('efs sync from bucket to bucket copies the differences, and with --delete removes other files', async () => {
  await store({ 'a.txt': 'a', 'b.txt': 'b' });
  const target = `${other}/copy-${count}`;
  const first = await efsAsOwner('sync', place, target);
  expect(first).toMatchObject({ code: 0, errors: '2 copied, 0 the same, 0 removed.\n' });
  await store({ 'a.txt': 'changed' });
  await efsAsOwner('rm', `${place}/b.txt`);
  const second = await efsAsOwner('sync', '--delete', place, target);
  expect(second.output).toBe(`changed ${target}/a.txt\nremoved ${target}/b.txt\n`);
  const third = await efsAsOwner('sync', '--delete', place, target);
  expect(third.errors).toBe('0 copied, 1 the same, 0 removed.\n');
  const within = await efsAsOwner('sync', place, `${place}/in`);
  expect(within).toMatchObject({ code: 2, errors: expect.stringContaining('contains the other') });
});

test('efs sync: filters apply in each direction, and --delete keeps the excluded files', async () => {
  await store({ 'a.jpg': 'a', 'b.txt': 'b', 'raw/c.jpg': 'c' });
  const pictures = ['--exclude', '*', '--include', '*.jpg', '--exclude', 'raw/'];
  await write({ 'back/own.txt': 'own', 'back/old.jpg': 'old' });
  const down = await efs('sync', '--delete', ...pictures, place, 'back');
  expect(down.output).toBe('new     back/a.jpg\nremoved back/old.jpg\n');
  const up = await efs('sync', '--delete', ...pictures, './back', `${place}/again`);
  expect(up.output).toBe(`new     ${place}/again/a.jpg\n`);
  const across = await efs('sync', ...pictures, `${place}/again`, `${place}-copied`);
  expect(across.output).toBe(`new     ${place}-copied/a.jpg\n`);
});

test('efs sync does nothing at all if it would remove more files than --max-delete allows', async () => {
  await store({ 'a.txt': 'a' });
  await write({ 'back/x': 'x', 'back/y': 'y' });
  const words = ['sync', '--delete', place, 'back'];
  const refused = await efs(...words, '--max-delete', '1');
  expect(refused).toMatchObject({ code: 2, output: '' });
  expect(refused.errors).toContain('Nothing was done, because 2 files would be removed');
  expect(await here('back')).toEqual({ x: 'x', y: 'y' });
  expect((await efs(...words, '--max-delete', '2')).code).toBe(0);
  await write(Object.fromEntries(Array.from({ length: 1_001 }, (_, n) => [`back/n${n}`, ''])));
  expect((await efs(...words)).errors).toContain('(the limit is 1000)');
});

test('efs sync: nothing is written outside the folder, nor through a link in it', async () => {
  await store({ 'ok.txt': 'ok', 'link/passwd': 'no', 'file/a': 'a', linked: 'new' });
  await write({ 'outside/keep': 'keep', 'target.txt': 'old', 'back/file': 'a file' });
  await symlink('../outside', join(folder, 'back/link'));
  await symlink('../target.txt', join(folder, 'back/linked'));
  const ended = await efs('sync', '--delete', place, './back');
  expect(ended.code).toBe(1);
  expect(ended.output).toBe('new     back/ok.txt\n');
  expect(ended.errors).toContain('back/link/passwd is not fetched: ');
  expect(ended.errors).toContain('3 files were not fetched; therefore nothing is removed.');
  expect(await here('outside')).toEqual({ keep: 'keep' });
  expect(await readFile(join(folder, 'target.txt'), 'utf8')).toBe('old');
});

test('efs sync: an interrupted sync continues, also within a large file', async () => {
  const bytes = sampleBytes('large', 9_000_000);
  await mkdir(join(folder, 'up'));
  await writeFile(join(folder, 'up/large.bin'), bytes);
  const proxy = await startProxy(service.host);
  proxy.faults = { ...noFaults, delayMsMax: 200 };
  const throughProxy = settings({ EFS_URL: proxy.url });
  const sending = startCommand(['sync', '-p', '1', 'up', place], throughProxy);
  proxy.onAccepted = (accepted) => {
    if (accepted === 2) sending.process.kill('SIGINT');
  };
  const stopped = await sending.ended;
  expect(stopped.code).toBe(130);
  expect(stopped.errors).toContain('up/large.bin can continue: the same sync continues it.');
  await proxy.idle();
  expect((await callCommand(['sync', 'up', place], throughProxy)).code).toBe(0);
  // The number of chunks depends on the measured speed of the line: at least 5.
  const chunks = [...proxy.accepted.values()];
  expect(chunks.length).toBeGreaterThanOrEqual(5);
  expect(new Set(chunks)).toEqual(new Set([1]));
  const fetching = startCommand(['sync', '-p', '1', place, './down'], throughProxy);
  const part = async () => (await readdir(join(folder, 'down')).catch(() => []))[0] ?? 'none';
  while (((await stat(join(folder, 'down', await part())).catch(() => null))?.size ?? 0) < 3e6) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  fetching.process.kill('SIGINT');
  expect((await fetching.ended).errors).toContain('the same command continues.');
  proxy.faults = noFaults;
  expect((await callCommand(['sync', place, './down'], throughProxy)).code).toBe(0);
  await proxy.stop();
  expect(await readdir(join(folder, 'down'))).toEqual(['large.bin']);
  expect(Buffer.compare(await readFile(join(folder, 'down/large.bin')), bytes)).toBe(0);
});

test('efs sync explains its usage if the source does not exist', async () => {
  for (const destination of [place, './here']) {
    const ended = await efs('sync', './none', destination);
    expect(ended.code).toBe(2);
    expect(ended.errors).toContain('  efs sync photos demo/photos ');
  }
  const neither = await efs('sync', 'phtos', place);
  expect(neither.errors).toContain('"phtos" is neither a folder of this machine nor in a bucket');
  expect(neither.errors).toContain('efs sync makes the second folder equal');
  await store({ a: 'a' });
  const unknown = await efs('sync', place, 'nobody/x');
  expect(unknown.errors).toContain('write ./nobody/x for a new folder on this machine');
  expect((await efs('sync', place, 'fresh')).output).toBe('new     fresh/a\n');
});

test('efs sync and get -r report their results as JSON', async () => {
  await store({ 'a.txt': 'abc' });
  const tried = await efs('sync', '--json', '--dry-run', place, './back');
  expect(JSON.parse(tried.output)).toEqual({
    verb: 'fetched',
    isDryRun: true,
    done: 1,
    same: 0,
    removed: 0,
    failed: 0,
    actions: [{ action: 'get', name: 'back/a.txt', size: 3, isNew: true }],
  });
  const done = await efs('get', '-r', '--json', `${place}/`, 'back');
  expect(JSON.parse(done.output)).toMatchObject({ isDryRun: false, done: 1 });
  expect(done.errors).toBe('');
});

test('efs put reports small, medium and large files in the order of its arguments', async () => {
  const sizes = { a: 10, b: 200_000, c: 300_000, d: 4_000_000, e: 150_000, f: 20, g: 500_000 };
  for (const [name, size] of Object.entries(sizes)) {
    await writeFile(join(folder, name), sampleBytes(name, size));
  }
  const names = Object.keys(sizes);
  const ended = await efs('put', '-p', '2', ...names.slice(0, 5), 'none', 'f', 'g', `${place}/`);
  expect(ended.output).toBe(names.map((name) => `${place}/${name}\n`).join(''));
  expect(ended.errors).toContain('efs: 7 sent, 1 failed.');
  expect((await efs('get', '-r', `${place}/`, 'back')).code).toBe(0);
  const back = await readdir(join(folder, 'back'));
  expect(back.sort()).toEqual(names);
  for (const name of names) {
    const bytes = await readFile(join(folder, 'back', name));
    expect(bytes.equals(await readFile(join(folder, name)))).toBe(true);
  }
});
