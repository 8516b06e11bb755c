// Keys with a prefix: created by library and command, and used by them as drop boxes.

import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { administrationCalls } from '../../packages/client/src/actor/administration.ts';
import type { ServiceActor } from '../../packages/client/src/actor/candid-types.ts';
import type { Service as ActorService } from '../../packages/client/src/actor/connection.ts';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import { createStorage, type Storage } from '../../packages/client/src/storage.ts';
import type { KeyRequest } from '../../packages/client/src/types/keys.ts';
import { openService, type Service, sampleBytes } from '../support/service.ts';
import { callCommand } from './command-calls.ts';

let service: Service;
let owner: Storage;
let folder: string;

beforeAll(async () => {
  service = await openService();
  folder = await mkdtemp(join(tmpdir(), 'keys-'));
  const { host, canisterId, identityPem } = service;
  owner = createStorage({ host, canisterId, identity: identityFromPem(identityPem) });
  await writeFile(join(folder, 'owner.pem'), identityPem);
  await writeFile(join(folder, 'small.txt'), 'small');
  await mkdir(join(folder, 'team'));
  await writeFile(join(folder, 'team', 'n.txt'), 'new');
  await writeFile(join(folder, 'large.bin'), sampleBytes('large', 4_000_000));
});

afterAll(async () => {
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

function asOwner(...words: string[]) {
  const { host, canisterId } = service;
  const environment = { EFS_HOST: host, EFS_CANISTER_ID: canisterId, EFS_IDENTITY: 'owner.pem' };
  return callCommand(words, { folder, environment });
}

function withKey(apiKey: string, ...words: string[]) {
  const environment = { EFS_URL: service.base, EFS_API_KEY: apiKey };
  return callCommand(words, { folder, environment });
}

test('createApiKey(): a drop-box key uploads files of any size, only to its folder, and reads none', async () => {
  await owner.buckets.create('letters');
  const words = ['--prefix', 'inbox/', '--permissions', 'write', '--expires', '7d'];
  const made = await asOwner('key', 'create', 'letters', ...words);
  const secret = made.output.trim();
  expect(secret).toMatch(/^efs_[\w-]+$/);
  for (const to of ['letters/inbox/', 'letters/inbox/again/']) {
    expect(await withKey(secret, 'put', 'small.txt', 'large.bin', to)).toMatchObject({ code: 0 });
  }
  const elsewhere = await withKey(secret, 'put', 'small.txt', 'letters/small.txt');
  expect(elsewhere.code).toBe(4);
  expect(elsewhere.errors).toContain('restricted to paths that begin with "inbox/"');
  for (const asked of [
    'ls letters/inbox/',
    'get letters/inbox/small.txt -',
    'rm letters/inbox/small.txt',
  ]) {
    expect((await withKey(secret, ...asked.split(' '))).code, asked).toBe(4);
  }
  const { body } = await owner.download({ bucket: 'letters', path: 'inbox/large.bin' });
  const read = new Uint8Array(await new Response(body as BodyInit).arrayBuffer());
  expect(Buffer.compare(read, await readFile(join(folder, 'large.bin')))).toBe(0);
  const table = (await asOwner('key', 'ls', 'letters')).output;
  expect(table).toMatch(
    /PERMISSIONS +PREFIX +EXPIRES +PER HOUR +FILES\n.* write +inbox\/ +20\d\d-/,
  );
  expect(table).toContain('2000 updates, 2.00 GB');
});

test('efs key create --updates-per-hour limits the updates of the key, and efs put reports the limit', async () => {
  await owner.buckets.create('slow');
  const words = ['--permissions', 'write', '--updates-per-hour', '4', '--bytes-per-hour', '3MB'];
  const secret = (await asOwner('key', 'create', 'slow', ...words)).output.trim();
  expect((await asOwner('key', 'ls', 'slow')).output).toContain('4 updates, 3.00 MB');
  const puts = [];
  for (const path of ['a', 'b', 'c']) {
    puts.push(await withKey(secret, 'put', 'small.txt', `slow/${path}`));
  }
  expect(puts[0]).toMatchObject({ code: 0 });
  expect(puts[2]?.errors).toMatch(/has used its budget of 4 updates an hour: try again in \d+ sec/);
  const few = await asOwner('key', 'create', 'slow', '--bytes-per-hour', '1MB');
  expect(few.errors).toContain('bytesPerHour is 1000000: send at least 2097152');
});

test('createApiKey(): a key created by the library lists and syncs only its prefix', async () => {
  await owner.buckets.create('shared');
  const upload = (path: string) =>
    owner.upload(sampleBytes(path, 9), { bucket: 'shared', path, contentType: 'a/b' });
  for (const path of ['team/a', 'team/sub/b', 'other/c']) await upload(path);
  const permissions = ['read', 'write', 'delete'] as const;
  const request = { name: 'team', buckets: ['shared'], permissions, prefix: '/team/' };
  const { secret, prefix } = await owner.keys.create(request);
  expect(prefix).toBe('team/');
  expect(await owner.keys.list('shared')).toMatchObject([{ name: 'team', prefix: 'team/' }]);
  const listed = JSON.parse((await withKey(secret, 'ls', '-r', '--json', 'shared')).output);
  expect(listed.map(({ path }: { path: string }) => path)).toEqual(['team/a', 'team/sub/b']);
  expect((await withKey(secret, 'ls', 'shared')).output).toMatch(/ team\/a\n.* team\/sub\/\n$/s);
  expect((await withKey(secret, 'ls', 'shared/other/')).code).toBe(4);
  expect((await withKey(secret, 'du', 'shared')).output).toMatch(/^18\t2\tshared\/$/m);
  expect((await withKey(secret, 'tree', 'shared')).output).not.toContain('c');
  expect((await withKey(secret, 'sync', '--delete', 'team', 'shared/team')).code).toBe(0);
  expect((await withKey(secret, 'rm', '-r', 'shared/')).code).not.toBe(0);
  expect(await owner.stat({ bucket: 'shared', path: 'other/c' })).toMatchObject({ size: 9 });
});

test('efs key create takes permissions by commas or repeated flags, and names an unknown one', async () => {
  const made = await asOwner('key', 'create', 'shared', '--permission', 'read,write', '--json');
  expect(JSON.parse(made.output)).toMatchObject({ name: '', permissions: ['read', 'write'] });
  const again = ['--permission', 'read', '--permissions', 'delete'];
  const both = await asOwner('key', 'create', 'shared', '--json', ...again);
  expect(JSON.parse(both.output)).toMatchObject({ permissions: ['read', 'delete'] });
  const wrong = await asOwner('key', 'create', 'shared', '--permissions', 'read,admin');
  expect([wrong.code, wrong.errors]).toEqual([2, expect.stringContaining('got admin')]);
});

test('createApiKey(): a key that an old service creates without the requested prefix or budget is revoked', async () => {
  const revoked: string[] = [];
  const key = { id: 'x', hint: '', name: '', buckets: [], permissions: [], createdAt: 0n };
  const absent = {
    prefix: [],
    expiresAt: [],
    updatesPerHour: [],
    bytesPerHour: [],
    maxFileBytes: [],
    maxFiles: [],
    fileCount: [],
  };
  const made = { ...key, ...absent, secret: 's' };
  const actor = {
    createApiKey: async () => ({ ok: made }),
    revokeApiKey: async (id: string) => {
      revoked.push(id);
      return { ok: null };
    },
  } as unknown as ServiceActor;
  const createKey = (asked: KeyRequest) =>
    administrationCalls.createKey({ actor } as ActorService, asked, undefined);
  const request = { name: '', buckets: ['a'], permissions: ['read'] } as const;
  await expect(createKey({ ...request, prefix: 'in/' })).rejects.toMatchObject({
    code: 'Unsupported',
  });
  await expect(createKey({ ...request, updatesPerHour: 9 })).rejects.toMatchObject({
    code: 'Unsupported',
  });
  expect(revoked).toEqual(['x', 'x']);
  expect((await createKey(request)).secret).toBe('s');
});
