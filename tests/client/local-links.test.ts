// Addresses of links of a service with a front on this machine: their names are below localhost,
// which the command resolves itself.

import dns from 'node:dns';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { resolveLocalhostNames } from '../../packages/efs/src/config/localhost-names.ts';
import { openService, type Service } from '../support/service.ts';
import { callCommand } from './command-calls.ts';

let service: Service;
let folder: string;

async function efs(words: string, environment: Record<string, string>): Promise<string> {
  const ended = await callCommand(words.split(' '), { folder, environment });
  expect(ended, words).toMatchObject({ code: 0 });
  return ended.output;
}

function asOwner(words: string): Promise<string> {
  const { host, canisterId } = service;
  const EFS_IDENTITY = join(folder, 'owner.pem');
  const own = { EFS_HOST: host, EFS_CANISTER_ID: canisterId, EFS_IDENTITY };
  return efs(words, { ...own, EFS_LINK_PASSWORD: 'tea for two', EFS_TRANSPORT: 'actor' });
}

beforeAll(async () => {
  service = await openService({ hasFront: true });
  folder = await mkdtemp(join(tmpdir(), 'efs-local-links-'));
  await writeFile(join(folder, 'owner.pem'), service.identityPem, { mode: 0o600 });
  await writeFile(join(folder, 'sea.txt'), 'the sea');
  await asOwner('put sea.txt demo/trip/sea.txt');
});
afterAll(async () => {
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

test.each([
  ['a file', 'demo/trip/sea.txt', 'get', 'got'],
  ['a file with a password', '--password demo/trip/sea.txt', 'get', 'got'],
  ['a folder', 'demo/trip/', 'get -r', 'dir/sea.txt'],
])('efs get: the printed address of %s opens', async (_, link, get, saved) => {
  const { url } = JSON.parse(await asOwner(`link create --json ${link}`));
  expect(new URL(url).hostname).toMatch(/\.localhost$/);
  const target = saved.split('/', 1)[0];
  await efs(`${get} ${url} ${target}`, { EFS_LINK_PASSWORD: 'tea for two' });
  expect(await readFile(join(folder, saved), 'utf8')).toBe('the sea');
  await rm(join(folder, target ?? ''), { recursive: true });
});

test('resolveLocalhostNames(): only names below localhost are this machine', async () => {
  resolveLocalhostNames();
  const lookup = promisify(dns.lookup);
  for (const name of ['rwlgt-iiaaa-aaaaa-aaaaa-cai.localhost', 'a.LOCALHOST']) {
    expect((await lookup(name)).address).toMatch(/^(?:127\.0\.0\.1|::1)$/);
  }
  await expect(lookup('localhost.invalid')).rejects.toThrow('ENOTFOUND');
});
