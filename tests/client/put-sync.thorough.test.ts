// `efs put`, `sync` and `rm` with problems on the disk: colliding names, changing files, pipes,
// links, and wrong sizes. Nothing is stored incompletely or removed by mistake.

import { execFile, execFileSync } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import {
  appendFile,
  mkdir,
  mkdtemp,
  readdir,
  rm,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSource } from '../../packages/client/src/bytes/upload-source.ts';
import { openFileSource } from '../../packages/client/src/node/file-source.ts';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import { createStorage } from '../../packages/client/src/storage.ts';
import { isStorageError } from '../../packages/client/src/storage-error.ts';
import { openService, type Service, sampleBytes } from '../support/service.ts';
import { callCommand } from './command-calls.ts';
import { type CommandSettings, runCommand } from './command-runs.ts';
import { noFaults, startProxy } from './unreliable-proxy.ts';

let service: Service;
let folder: string;
let settings: CommandSettings;

beforeAll(async () => {
  service = await openService();
  folder = await mkdtemp(join(tmpdir(), 'efs-put-sync-'));
  settings = { folder, environment: { EFS_URL: service.base, EFS_API_KEY: service.apiKey } };
});
afterAll(async () => {
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

const efs = (...words: string[]) => callCommand(words, settings);
const ofInvalidArgument = (error: unknown) => isStorageError(error, 'InvalidArgument');

/** Writes texts to paths relative to the test's folder. */
async function writeFiles(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(folder, path, '..'), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}

async function storedPaths(prefix: string): Promise<string[]> {
  const { output } = await efs('ls', '--json', '--all', `${service.bucket}/${prefix}`);
  return (JSON.parse(output) as { path: string }[]).map(({ path }) => path);
}

test('efs put: two files with the same target name are refused before anything is sent', async () => {
  await writeFiles({ 'b0/w.txt': 'w', 'b1/x.txt': 'one', 'b2/x.txt': 'two' });
  const target = `${service.bucket}/same/`;
  const ended = await efs('put', 'b0/w.txt', 'b1/x.txt', 'b2/x.txt', target);
  expect(ended).toMatchObject({ code: 2, output: '' });
  expect(ended.errors).toContain('b1/x.txt and b2/x.txt');
  expect(await storedPaths('same/')).toEqual([]);
});

test('efs put --json prints the files sent before the one that failed', async () => {
  await writeFiles({ 'sent.txt': 'sent' });
  const ended = await efs('put', '--json', 'sent.txt', 'missing.txt', `${service.bucket}/json/`);
  expect(ended.code).toBe(1);
  expect(JSON.parse(ended.output)).toMatchObject([{ path: 'json/sent.txt', size: 4 }]);
});

test.each([
  ['5', 'text/plain'],
  ['0', 'text/plain'],
  ['0', 'none'],
])('efs put: standard input of more than --size %s (type %s) is refused', async (size, type) => {
  const path = `${service.bucket}/told/${type}-${size}`;
  const typed = type === 'none' ? [] : ['--type', type];
  const input = new TextEncoder().encode('sixsix');
  const words = ['put', ...typed, '--size', size, '-', path];
  const ended = await runCommand(words, { ...settings, input });
  expect(ended.errors).toContain(`more bytes than its given size of ${size}`);
  expect(ended.code).toBe(2);
  expect(await storedPaths('told/')).toEqual([]);
});

test('efs put: endless standard input is refused as soon as it exceeds --size', async () => {
  const script = join(import.meta.dirname, '../../packages/efs/bin/efs.js');
  const words = ['put', '--size', '2500000', '-', `${service.bucket}/told/endless.bin`];
  const run = promisify(execFile)(
    'sh',
    ['-c', 'yes | "$@"', '-', process.execPath, script, ...words],
    {
      env: { ...process.env, ...settings.environment },
      timeout: 300_000,
    },
  );
  await expect(run).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/more bytes than/),
  });
  expect(await storedPaths('told/')).toEqual([]);
});

test('openSource(): a stream of exactly the declared size is read to its end', async () => {
  const stream = new Blob(['abcdef']).stream();
  const source = await openSource(stream, { size: 6, bufferedBytesMax: 1 });
  expect(new TextDecoder().decode(await source.slice(0, 4))).toBe('abcd');
  expect(new TextDecoder().decode(await source.slice(4, 6))).toBe('ef');
});

test.each([
  ['grows', (file: string) => appendFile(file, 'more')],
  ['gets a new time', (file: string) => utimes(file, 1, 1)],
])('openFileSource(): a file that %s while it is read is refused', async (_what, change) => {
  await writeFiles({ 'torn.txt': 'abcdef' });
  const file = join(folder, 'torn.txt');
  const source = await openFileSource(file);
  await source.slice(0, 3);
  await change(file);
  await expect(source.slice(3, 6)).rejects.toThrow(`${file} changed while it was read`);
  await source.close();
});

test('efs put of a growing file stores nothing and leaves nothing to resume', async () => {
  const file = join(folder, 'growing.bin');
  await writeFile(file, sampleBytes('growing', 8_000_000));
  const proxy = await startProxy(service.host);
  proxy.faults = noFaults;
  proxy.onAccepted = (count) => {
    if (count === 1) appendFileSync(file, 'more');
  };
  const environment = { ...settings.environment, EFS_URL: proxy.url };
  const words = ['put', '-p', '1', 'growing.bin', `${service.bucket}/growing/`];
  const ended = await callCommand(words, { ...settings, environment });
  await proxy.stop();
  expect(ended).toMatchObject({ code: 2, output: '' });
  expect(ended.errors).toMatch(/^efs: growing.bin changed while it was read/);
  expect(await storedPaths('growing/')).toEqual([]);
  expect(await readdir(join(folder, 'state', 'efs'))).toEqual([]);
  const { host, canisterId, identityPem, bucket } = service;
  const owner = createStorage({ host, canisterId, identity: identityFromPem(identityPem) });
  const open = await owner.uploads.list({ bucket });
  expect(open.filter(({ path }) => path.startsWith('growing/'))).toEqual([]);
});

test('openFileSource(): a file longer than its reported size is refused', async () => {
  await expect(openFileSource('/proc/self/status')).rejects.toSatisfy(ofInvalidArgument);
});

test('efs put: a pipe without a writer is refused at once', async () => {
  execFileSync('mkfifo', [join(folder, 'pipe')]);
  const ended = await efs('put', 'pipe', `${service.bucket}/`);
  expect(ended).toMatchObject({ code: 2, output: '' });
  expect(ended.errors).toContain('pipe is not a file');
});

test('efs sync: a parallelism of 0 is refused', async () => {
  await writeFiles({ 'none/a.txt': 'a' });
  const ended = await efs('sync', '-p', '0', 'none', `${service.bucket}/none`);
  expect(ended).toMatchObject({ code: 2, output: '' });
});

test('efs sync follows links to files, and --delete keeps stored files that correspond to skipped ones', async () => {
  const destination = `${service.bucket}/links`;
  await writeFiles({ 'target.txt': 't', 'elsewhere/b.txt': 'b', 'links/gone.txt': 'g' });
  await writeFiles({ 'links/inner/b.txt': 'b', 'links/dangling': 'd' });
  expect((await efs('sync', 'links', destination)).code).toBe(0);
  for (const name of ['gone.txt', 'inner', 'dangling']) {
    await rm(join(folder, 'links', name), { recursive: true });
  }
  await symlink('../target.txt', join(folder, 'links/file.txt'));
  await symlink('../elsewhere', join(folder, 'links/inner'));
  await symlink('nothing', join(folder, 'links/dangling'));
  const ended = await efs('sync', '--delete', 'links', destination);
  expect(ended).toEqual({
    code: 0,
    output: `new     ${destination}/file.txt\nremoved ${destination}/gone.txt\n`,
    errors:
      'links/dangling is skipped: it is not a regular file.\nlinks/inner is skipped: it is not a regular file.\n' +
      '1 sent, 0 the same, 1 removed.\n',
  });
  const kept = ['links/dangling', 'links/file.txt', 'links/inner/b.txt'];
  expect(await storedPaths('links/')).toEqual(kept);
});

test('efs sync continues after a file that cannot be sent, and then removes nothing', async () => {
  const destination = `${service.bucket}/partly`;
  await writeFiles({ 'partly/old.txt': 'old' });
  await efs('sync', 'partly', destination);
  await rm(join(folder, 'partly/old.txt'));
  await writeFiles({ 'partly/a\nb.txt': 'refused', 'partly/z.txt': 'z' });
  const noText = Buffer.concat([Buffer.from(join(folder, 'partly/')), Buffer.from([0xff])]);
  await writeFile(noText, 'not UTF-8');
  const ended = await efs('sync', '-p', '1', '--delete', 'partly', destination);
  expect(ended.code).toBe(2);
  expect(ended.output).toBe(`new     ${destination}/z.txt\n`);
  expect(ended.errors).toContain('partly/a\\u{a}b.txt is not sent: ');
  expect(ended.errors).toContain('partly/\ufffd is not sent: ENOENT');
  expect(ended.errors).toContain('1 sent, 0 the same, 0 removed.\n');
  expect(ended.errors).toContain('efs: 2 files were not sent; therefore nothing is removed.');
  expect(await storedPaths('partly/')).toEqual(['partly/old.txt', 'partly/z.txt']);
});

test('efs sync exits with an error if no file can be sent', async () => {
  await writeFiles({ 'refused/a.txt': 'a', 'refused/b.txt': 'b' });
  const environment = { ...settings.environment, EFS_API_KEY: `${service.apiKey}x` };
  const words = ['sync', 'refused', `${service.bucket}/refused`];
  const ended = await callCommand(words, { ...settings, environment });
  expect(ended).toMatchObject({ code: 4, output: '' });
});

test('efs rm -r of a file removes it, and reports a path that does not exist', async () => {
  const { bucket } = service;
  await writeFiles({ 'single.txt': 's' });
  await efs('put', 'single.txt', `${bucket}/rm/`);
  const removed = await efs('rm', '-r', `${bucket}/rm/single.txt`);
  expect(removed).toMatchObject({ code: 0, output: `${bucket}/rm/single.txt\n` });
  expect(await storedPaths('rm/')).toEqual([]);
  for (const name of ['rm/single.txt', 'rm/', 'rm']) {
    const ended = await efs('rm', '-r', `${bucket}/${name}`);
    expect(ended).toMatchObject({ code: 3, output: '' });
    expect(ended.errors).toContain('NoSuchFile');
  }
});
