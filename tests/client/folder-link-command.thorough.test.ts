// Links to folders by the command `efs`: created, listed, downloaded, refreshed and removed.

import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sharedFilesMax } from '../../packages/wire/src/limits.ts';
import { openService, type Service } from '../support/service.ts';
import { callCommand } from './command-calls.ts';
import { commandEnvironment } from './command-runs.ts';

let service: Service;
let folder: string;
const kinds = ['plain', 'safe', 'sealed'];

function environmentOf(who: 'owner' | 'stranger'): Record<string, string> {
  if (who === 'stranger') return {};
  const { host, canisterId, base } = service;
  const identity = join(folder, 'owner.pem');
  return { EFS_HOST: host, EFS_CANISTER_ID: canisterId, EFS_URL: base, EFS_IDENTITY: identity };
}

async function efs(words: string, who: 'owner' | 'stranger' = 'owner', code = 0) {
  const transport = who === 'owner' ? { EFS_TRANSPORT: 'actor' } : {};
  const environment = { ...environmentOf(who), ...transport };
  const ended = await callCommand(words.split(' '), { folder, environment });
  expect(ended, words).toMatchObject({ code });
  return ended;
}

const text = (path: string) => readFile(join(folder, path), 'utf8');

beforeAll(async () => {
  service = await openService({ hasFront: false });
  folder = await mkdtemp(join(tmpdir(), 'efs-folders-'));
  await writeFile(join(folder, 'owner.pem'), service.identityPem, { mode: 0o600 });
  await mkdir(join(folder, 'up/day1'), { recursive: true });
  await writeFile(join(folder, 'up/sea.txt'), 'the sea');
  await writeFile(join(folder, 'up/day1/harbour.txt'), 'the harbour');
  await efs('bucket create plain');
  await efs('bucket create safe --end-to-end');
  await efs('bucket create sealed --end-to-end --seal-names');
  for (const bucket of kinds) await efs(`sync up ${bucket}/trip`);
});
afterAll(async () => {
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

describe.each(kinds)('efs link create %s/trip/', (bucket) => {
  test('prints an address by which a stranger lists and downloads the folder', async () => {
    const made = await efs(`link create --json --expires 1d ${bucket}/trip/`);
    const { url, id } = JSON.parse(made.output);
    const listed = await efs(`ls -r ${url}`, 'stranger');
    expect(listed.output).toContain('sea.txt');
    expect(listed.output).toContain('harbour.txt');
    expect(listed.output).not.toMatch(/efs-shared|AFTER/);
    expect((await efs(`ls ${url}`, 'stranger')).output).toMatch(/day1\/$/m);
    await efs(`get -r ${url} ${bucket}-got`, 'stranger');
    expect(await text(`${bucket}-got/sea.txt`)).toBe('the sea');
    expect(await text(`${bucket}-got/day1/harbour.txt`)).toBe('the harbour');
    expect((await readdir(join(folder, `${bucket}-got`))).sort()).toEqual(['day1', 'sea.txt']);
    const again = await efs(`get -r ${url} ${bucket}-got`, 'stranger');
    expect(again.errors).toMatch(/0 fetched, 2 the same/);
    expect((await efs(`get ${url}`, 'stranger', 2)).errors).toMatch(/give -r/);
    await efs(`link rm ${bucket} ${id}`);
    expect((await efs(`ls ${url}`, 'stranger', 4)).errors).toMatch(/key/);
    expect((await efs(`ls -r ${bucket}`)).output).not.toContain('efs-shared');
  });
});

test('efs sync and get -r leave the lists of keys alone', async () => {
  const { url, id } = JSON.parse((await efs('link create --json safe/trip/')).output);
  expect((await efs('sync --delete up safe/trip')).errors).toMatch(/2 the same, 0 removed/);
  await efs('get -r safe/trip/ members');
  expect((await readdir(join(folder, 'members'))).sort()).toEqual(['day1', 'sea.txt']);
  await efs(`get -r ${url} kept`, 'stranger');
  await efs(`link rm safe ${id}`);
});

test('efs link refresh opens files that were stored later', async () => {
  const { url, id } = JSON.parse((await efs('link create --json sealed/trip/')).output);
  await writeFile(join(folder, 'late.txt'), 'late');
  await efs('put late.txt sealed/trip/');
  expect((await efs(`ls -r ${url}`, 'stranger')).output).toMatch(/AFTER SHARING.*added/s);
  const partly = await efs(`get -r ${url} partly`, 'stranger', 4);
  expect(partly.errors).toMatch(/added after the folder was shared/);
  expect(await text('partly/sea.txt')).toBe('the sea');
  expect((await efs(`link refresh ${url}`)).errors).toMatch(/opens 3 files/);
  await efs(`get -r ${url} partly`, 'stranger');
  expect(await text('partly/late.txt')).toBe('late');
  await efs('rm sealed/trip/late.txt');
  await efs(`link rm sealed ${id}`);
});

test('efs link create of a folder refuses options of files, and too many files', async () => {
  for (const flag of ['--title x', '--name x', '--max-downloads 3']) {
    expect((await efs(`link create ${flag} safe/trip/`, 'owner', 2)).errors).toMatch(/omit these/);
  }
  await mkdir(join(folder, 'many'));
  const names = Array.from({ length: sharedFilesMax + 1 }, (_, index) => `${index}`);
  for (const name of names) await writeFile(join(folder, 'many', name), '');
  await efs('sync many safe/many');
  const refused = await efs('link create safe/many/', 'owner', 6);
  expect(refused.errors).toMatch(/5001 files.*at most 5000.*Nothing was created/);
  expect((await efs('key ls safe')).output).not.toMatch(/Link to/);
  expect((await efs('ls -r safe')).output).not.toContain('efs-shared');
}, 300_000);

test('efs link create that is killed leaves no key without its list', async () => {
  const command = join(import.meta.dirname, '../../packages/efs/bin/efs.js');
  for (const delayMs of [400, 700, 1_000, 1_300, 1_600]) {
    const environment = { ...environmentOf('owner'), EFS_TRANSPORT: 'actor' };
    const child = spawn(process.execPath, [command, 'link', 'create', 'safe/trip/'], {
      cwd: folder,
      env: commandEnvironment({ folder, environment }),
    });
    const timer = setTimeout(() => child.kill('SIGKILL'), delayMs);
    await new Promise((resolve) => child.once('exit', resolve));
    clearTimeout(timer);
    const keys = JSON.parse((await efs('key ls --json safe')).output) as { name: string }[];
    const files = (await efs('ls -r safe/trip/.efs-shared/')).output;
    for (const { name } of keys) {
      const [, list] = / ([\w-]{8})$/.exec(name) ?? [];
      if (list !== undefined) expect(files).toContain(`${list}.age`);
    }
  }
});
