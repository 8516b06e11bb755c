// Links to folders by the command `efs`: created, listed, downloaded, refreshed and removed.

import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import { createNodeStorage } from '../../packages/client/src/node/storage.ts';
import { sharedFilesMax } from '../../packages/wire/src/limits.ts';
import { openService, type Service } from '../support/service.ts';
import { callCommand } from './command-calls.ts';
import { commandEnvironment } from './command-runs.ts';
import { startProxy } from './unreliable-proxy.ts';

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

test('efs sync and get -r hide no other files in the folder of the lists', async () => {
  await writeFile(join(folder, 'other.txt'), 'no list');
  await efs('put other.txt safe/trip/.efs-shared/');
  await efs('get -r safe/trip/ backup');
  expect(await readdir(join(folder, 'backup/.efs-shared'))).toEqual(['other.txt']);
  await efs('rm safe/trip/.efs-shared/other.txt');
});

test('efs cp -r copies no list of keys', async () => {
  const { id } = JSON.parse((await efs('link create --json safe/trip/')).output);
  await efs('bucket create copies');
  await efs('cp -r safe/trip/ copies/trip/');
  await efs('cp -r safe/trip/ safe/copied/');
  for (const place of ['copies', 'safe/copied/']) {
    const listed = await efs(`ls -r ${place}`);
    expect(listed.output).toContain('sea.txt');
    expect(listed.output).not.toContain('efs-shared');
  }
  await efs('rm -r safe/copied/');
  await efs(`link rm safe ${id}`);
});

test('efs prints no key of an address that is given in place of a name', async () => {
  const { url, id } = JSON.parse((await efs('link create --json safe/trip/')).output);
  const addresses = [url, url.slice(0, -3), url.slice(0, url.indexOf('&volume'))];
  const calls = addresses.flatMap((address) => [
    ...[`sync ${address} x`, `sync x ${address}`, `cat ${address}`, `stat ${address}`],
    ...[`cp ${address} safe/x`, `rm ${address}`, `put ${address} safe/`, `key ls ${address}`],
    ...[
      `bucket show ${address}`,
      `link rm safe ${address}`,
      `sync ./${address} safe`,
      `${address}`,
    ],
    ...(address === url ? [] : [`ls ${address}`, `get -r ${address} x`, `get ${address}`]),
  ]);
  const { code, key } = { code: expect.any(Number), key: url.match(/efs_[\w-]{10}/)[0] };
  for (const json of ['', ' --json']) {
    for (const words of calls) {
      const { errors, output } = await efs(words + json, 'owner', code);
      expect(errors + output, words).not.toContain(key);
      expect(errors, words).not.toBe('');
    }
  }
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

/** Starts the command, and kills it when the service has executed its n-th update. */
async function killedAt(update: number): Promise<number | null> {
  const command = join(import.meta.dirname, '../../packages/efs/bin/efs.js');
  const proxy = await startProxy(service.host);
  const environment = { ...environmentOf('owner'), EFS_TRANSPORT: 'actor', EFS_HOST: proxy.url };
  const child = spawn(process.execPath, [command, 'link', 'create', 'safe/trip/'], {
    cwd: folder,
    env: commandEnvironment({ folder, environment }),
    stdio: 'ignore',
  });
  let updates = 0;
  proxy.losesAnswer = (address) => {
    if (!address.endsWith('/call') || ++updates < update) return false;
    return child.kill('SIGKILL');
  };
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve));
  await proxy.stop();
  return code;
}

test('efs link create killed after any update leaves no key without its list', async () => {
  const { host, canisterId, identityPem } = service;
  const identity = identityFromPem(identityPem);
  const owner = createNodeStorage({ host, canisterId, identity });
  async function lists(): Promise<string[]> {
    const ids: string[] = [];
    const place = { bucket: 'safe', prefix: 'trip/.efs-shared/' };
    for await (const { path } of owner.list(place)) ids.push(path.slice(-20, -4));
    return ids;
  }
  let [kills, withoutKey] = [0, 0];
  let code: number | null = null;
  for (let update = 1; code === null; update++) {
    code = await killedAt(update);
    if (code === null) kills++;
    const stored = await lists();
    const ids = (await owner.keys.list('safe')).map(({ name }) => name.slice(-16));
    for (const id of ids) expect(stored).toContain(id);
    withoutKey = stored.length - ids.length;
  }
  expect(code).toBe(0);
  expect(kills).toBeGreaterThanOrEqual(2);
  expect(withoutKey).toBeGreaterThan(0);
  const { parse } = Date;
  const older = vi.spyOn(Date, 'parse').mockImplementation((time) => parse(time) - 4_000_000);
  try {
    for (const { id } of await owner.keys.list('safe')) await owner.folderLinks.remove('safe', id);
  } finally {
    older.mockRestore();
  }
  expect([await lists(), await owner.keys.list('safe')]).toEqual([[], []]);
});
