// The command `efs` as people run it: in a separate process if the test is about the process,
// otherwise by its `main()`.

import { readdirSync, statSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openService, type Service, sampleBytes, sha256Hex } from '../support/service.ts';
import { callCommand } from './command-calls.ts';
import { type CommandSettings, runCommand, startCommand } from './command-runs.ts';
import { noFaults, startProxy } from './unreliable-proxy.ts';

let service: Service;
let folder: string;
let environment: Record<string, string>;

beforeAll(async () => {
  service = await openService();
  folder = await mkdtemp(join(tmpdir(), 'efs-command-'));
  await writeFile(join(folder, 'identity.pem'), service.identityPem);
  environment = {
    EFS_URL: service.base,
    EFS_HOST: service.host,
    EFS_CANISTER_ID: service.canisterId,
    EFS_API_KEY: service.apiKey,
    EFS_IDENTITY: join(folder, 'identity.pem'),
  };
});
afterAll(async () => {
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

const settings = (more: Partial<CommandSettings> = {}): CommandSettings => ({
  folder,
  environment,
  ...more,
});
const efs = (...words: string[]) => callCommand(words, settings());
/** Runs the command in a separate process. */
const efsProcess = (...words: string[]) => runCommand(words, settings());

async function sampleFile(name: string, length: number): Promise<Uint8Array> {
  const bytes = sampleBytes(name, length);
  await writeFile(join(folder, name), bytes);
  return bytes;
}

test('efs: put and get transfer a file both ways; put prints names, and no temporary file remains', async () => {
  const { bucket } = service;
  const bytes = await sampleFile('film.mp4', 4_000_000);
  await sampleFile('notes.txt', 10);
  const sent = await efsProcess('put', 'film.mp4', 'notes.txt', `${bucket}/in/`, '--tag', 'a');
  expect(sent).toEqual({
    code: 0,
    output: `${bucket}/in/film.mp4\n${bucket}/in/notes.txt\n`,
    errors: '',
  });
  const fetched = await efs('--transport', 'actor', 'get', `${bucket}/in/film.mp4`, 'back.mp4');
  expect(fetched).toEqual({ code: 0, output: '', errors: '' });
  expect(sha256Hex(await readFile(join(folder, 'back.mp4')))).toBe(sha256Hex(bytes));
  expect(await readdir(join(folder, 'state', 'efs'))).toEqual([]);
  const record = JSON.parse((await efs('stat', '--json', `${bucket}/in/film.mp4`)).output);
  expect(record).toMatchObject({ size: 4_000_000, contentType: 'video/mp4', tags: ['a'] });
});

test('efs: standard input and output can replace files', async () => {
  const { bucket } = service;
  const words = ['put', '--type', 'text/plain', '-', `${bucket}/piped.txt`];
  const sent = await runCommand(words, settings({ input: new TextEncoder().encode('piped') }));
  expect(sent.code).toBe(0);
  expect((await efsProcess('get', `${bucket}/piped.txt`, '-')).output).toBe('piped');
  const range = await efsProcess('get', '--range', '1-2', `${bucket}/piped.txt`, '-');
  expect(range.output).toBe('ip');
});

test('efs: ls prints a table or JSON, and nothing after rm -r', async () => {
  const { bucket } = service;
  await sampleFile('listed.txt', 1_234);
  await efs('put', 'listed.txt', `${bucket}/ls/`);
  const table = await efs('ls', bucket, '--prefix', 'ls/');
  expect(table.output).toMatch(
    /^ +SIZE +MODIFIED +TYPE +PATH\n1\.23 kB .* text\/plain +ls\/listed/,
  );
  const files = JSON.parse((await efs('ls', `${bucket}/ls/`, '--json')).output);
  expect(files).toMatchObject([{ path: 'ls/listed.txt', size: 1_234 }]);
  expect((await efs('rm', '-r', `${bucket}/ls`)).output).toBe(`${bucket}/ls/listed.txt\n`);
  expect((await efs('ls', `${bucket}/ls/`)).output).toBe('');
});

test('efs: sync sends only changed files', async () => {
  const { bucket } = service;
  await mkdir(join(folder, 'site', 'sub'), { recursive: true });
  for (const [name, length] of Object.entries({ 'a.txt': 5, 'sub/b.css': 7, 'c.bin': 3_900_000 })) {
    await writeFile(join(folder, 'site', name), sampleBytes(name, length));
  }
  const first = await efs('sync', 'site', `${bucket}/www`);
  expect(first.errors).toBe('3 sent, 0 the same, 0 removed.\n');
  await writeFile(join(folder, 'site', 'a.txt'), 'other');
  await rm(join(folder, 'site', 'sub', 'b.css'));
  const tried = await efs('sync', '--delete', '--dry-run', 'site', `${bucket}/www`);
  const second = await efs('sync', '--delete', 'site', `${bucket}/www`);
  expect(second.output).toBe(`changed ${bucket}/www/a.txt\nremoved ${bucket}/www/sub/b.css\n`);
  expect(tried.output).toBe(
    `would put ${bucket}/www/a.txt\nwould remove ${bucket}/www/sub/b.css\n`,
  );
  expect(second.errors).toBe('1 sent, 1 the same, 1 removed.\n');
  const third = await efs('sync', '--delete', 'site', `${bucket}/www`);
  expect(third).toEqual({ code: 0, output: '', errors: '0 sent, 2 the same, 0 removed.\n' });
});

test('efs: buckets and keys are created, used and removed; key create prints only the secret', async () => {
  expect((await efs('bucket', 'create', 'shelf')).output).toBe('shelf\n');
  const made = await efs('key', 'create', 'shelf', '--name', 'n', '--expires', '2d');
  const secret = made.output.trim();
  expect(secret).toMatch(/^efs_[\w-]+$/);
  await sampleFile('kept.txt', 3);
  const withKey = settings({ environment: { EFS_URL: service.base, EFS_API_KEY: secret } });
  expect((await callCommand(['put', 'kept.txt', 'shelf/'], withKey)).code).toBe(0);
  const [key] = JSON.parse((await efs('key', 'ls', 'shelf', '--json')).output);
  expect(key).toMatchObject({ name: 'n', permissions: ['read', 'write'], buckets: ['shelf'] });
  expect((await efs('key', 'revoke', key.id)).code).toBe(0);
  const refused = await callCommand(['put', 'kept.txt', 'shelf/'], withKey);
  expect(refused.code).toBe(4);
  expect(refused.errors).toContain('[InvalidApiKey, request ');
  expect(refused.errors).not.toContain(secret);
  expect((await efs('bucket', 'rm', 'shelf')).code).toBe(5);
  const { EFS_API_KEY: _, ...asOwner } = environment;
  const removal = ['--transport', 'actor', 'rm', 'shelf/kept.txt'];
  expect((await callCommand(removal, settings({ environment: asOwner }))).code).toBe(0);
  expect((await efs('bucket', 'rm', 'shelf')).code).toBe(0);
  expect((await efs('bucket', 'ls')).output).toMatch(/^BUCKET +FILES +SIZE/);
});

test('efs: a bucket is private by default, and public if requested', async () => {
  expect((await efs('bucket', 'create', 'cellar')).code).toBe(0);
  expect((await efs('bucket', 'create', 'window', '--public')).code).toBe(0);
  const listed: { id: string; isPublic: boolean }[] = JSON.parse(
    (await efs('bucket', 'ls', '--json')).output,
  );
  const made = listed.filter(({ id }) => id === 'cellar' || id === 'window');
  expect(made).toMatchObject([
    { id: 'cellar', isPublic: false },
    { id: 'window', isPublic: true },
  ]);
});

test('efs: exit codes indicate the kind of failure', async () => {
  const { bucket } = service;
  await sampleFile('small.txt', 3);
  const codes = async (...words: string[]) => (await efs(...words)).code;
  expect(await codes('put')).toBe(2);
  expect((await efsProcess('get', `${bucket}/none`)).code).toBe(3);
  expect(await codes('put', 'small.txt', `${bucket}/twice.txt`)).toBe(0);
  expect(await codes('put', '--no-replace', 'small.txt', `${bucket}/twice.txt`)).toBe(5);
  expect(await codes('put', 'no such file', `${bucket}/`)).toBe(1);
  const overHttp = settings({ environment: { EFS_URL: service.base, EFS_HOST: '' } });
  expect((await callCommand(['bucket', 'ls'], overHttp)).code).toBe(2);
  const help = await efsProcess('--help');
  expect(help.code).toBe(0);
  expect(help.output).toContain('Examples:');
});

test.each([
  ['SIGKILL', undefined, /^$/],
  ['SIGINT', 130, /--resume continues it[\s\S]*\[Aborted\]/],
] as const)(
  'efs: after %s, --resume sends only the chunks that were not accepted',
  async (signal, code, words) => {
    const { bucket } = service;
    const proxy = await startProxy(service.base);
    proxy.faults = { ...noFaults, delayMsMax: 100 };
    const name = `killed by ${signal}.bin`;
    const bytes = await sampleFile(name, 20_000_000);
    const throughProxy = settings({ environment: { ...environment, EFS_URL: proxy.url } });
    const target = `${bucket}/killed/`;
    const first = startCommand(['put', '-p', '2', name, target], throughProxy);
    proxy.onAccepted = (count) => {
      if (count === 4) first.process.kill(signal);
    };
    const ended = await first.ended;
    expect(ended.code).toBe(code);
    expect(ended.errors).toMatch(words);
    await proxy.idle();
    const before = proxy.accepted.size;
    expect(before).toBeGreaterThanOrEqual(4);
    const [remembered = ''] = await readdir(join(folder, 'state', 'efs'));
    expect((await stat(join(folder, 'state', 'efs', remembered))).mode & 0o777).toBe(0o600);
    const second = await runCommand(['put', '--resume', '-p', '8', name, target], throughProxy);
    expect(second).toMatchObject({ code: 0, errors: '' });
    // The number of chunks depends on the measured speed of the line: at least 11.
    const chunks = [...proxy.accepted.values()];
    expect(chunks.length).toBeGreaterThanOrEqual(Math.max(11, before + 1));
    expect(new Set(chunks)).toEqual(new Set([1]));
    await proxy.stop();
    await efs('get', `${target}${name}`, 'resumed.bin');
    expect(sha256Hex(await readFile(join(folder, 'resumed.bin')))).toBe(sha256Hex(bytes));
    expect(await readdir(join(folder, 'state', 'efs'))).toEqual([]);
  },
);

test('efs: an interrupted get continues where it stopped', async () => {
  const { bucket } = service;
  const bytes = await sampleFile('long.bin', 12_000_000);
  await efs('put', 'long.bin', `${bucket}/`);
  const proxy = await startProxy(service.base);
  const throughProxy = settings({ environment: { ...environment, EFS_URL: proxy.url } });
  const words = ['get', '-p', '1', `${bucket}/long.bin`, 'long.back'];
  const parts = () => readdirSync(folder).filter((entry) => entry.endsWith('.part'));
  const received = () => {
    const [part = 'none yet'] = parts();
    return statSync(join(folder, part), { throwIfNoEntry: false })?.size ?? 0;
  };
  const isHalfway = () => received() >= 3 * 1_900_000;
  // Loses all answers after three chunks, so the download cannot end before it is interrupted.
  proxy.losesAnswer = isHalfway;
  const first = startCommand(words, throughProxy);
  await expect.poll(isHalfway).toBe(true);
  first.process.kill('SIGINT');
  expect((await first.ended).code).toBe(130);
  proxy.losesAnswer = undefined;
  const second = await runCommand([...words, '--resume'], throughProxy);
  expect(second).toMatchObject({ code: 0, errors: '' });
  await proxy.stop();
  expect(sha256Hex(await readFile(join(folder, 'long.back')))).toBe(sha256Hex(bytes));
  expect(parts()).toEqual([]);
});
