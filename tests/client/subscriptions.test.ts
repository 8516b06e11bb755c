// `efs subscription`, by the command's `main()`, and the library's `subscriptions`.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import { createStorage } from '../../packages/client/src/storage.ts';
import { openService, type Service } from '../support/service.ts';
import { callCommand } from './command-calls.ts';

const subscriber = 'ryjl3-tyaaa-aaaaa-aaaba-cai';
let service: Service;
let folder: string;
let efs: (...words: string[]) => ReturnType<typeof callCommand>;

beforeAll(async () => {
  service = await openService();
  folder = await mkdtemp(join(tmpdir(), 'efs-subscriptions-'));
  await writeFile(join(folder, 'identity.pem'), service.identityPem);
  const environment = {
    EFS_URL: service.base,
    EFS_HOST: service.host,
    EFS_CANISTER_ID: service.canisterId,
    EFS_IDENTITY: join(folder, 'identity.pem'),
  };
  efs = (...words) => callCommand(words, { folder, environment });
  expect(await efs('bucket', 'create', 'subscribed')).toMatchObject({ code: 0 });
});

afterAll(async () => {
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

test('efs subscription adds, lists, resumes and removes subscriptions', async () => {
  const chosen = ['--prefix', 'logs/', '--kind', 'file.stored', '--kind', 'file.moved'];
  const added = await efs('subscription', 'add', 'subscribed', subscriber, ...chosen);
  expect(added.output).toMatch(/^\d+\n$/);
  const id = added.output.trim();
  const shown = (await efs('subscription', 'ls', 'subscribed')).output;
  const line = `^${id} +${subscriber} +efs_events +logs/ +file.stored,file.moved +\\d+ +ok$`;
  expect(shown).toMatch(new RegExp(line, 'm'));
  expect((await efs('subscription', 'resume', 'subscribed', id)).output).toBe(`${id}\n`);
  expect((await efs('subscription', 'rm', 'subscribed', id)).output).toBe(`${id}\n`);
  expect((await efs('subscription', 'ls', 'subscribed', '--json')).output).toBe('[]\n');
});

test('efs subscription says what is wrong', async () => {
  const add = ['subscription', 'add', 'subscribed'];
  const method = await efs(...add, subscriber, '--method', 'transfer');
  expect(method.errors).toContain('begins with efs_');
  expect((await efs(...add, 'x')).errors).toContain('"x" is not a principal');
  const kind = await efs(...add, subscriber, '--kind', 'file.read');
  expect(kind.errors).toContain('The kind "file.read" does not exist: send some of file.stored');
  const none = await efs('subscription', 'rm', 'subscribed', '1');
  expect(none.errors).toContain('has no subscription 1');
  expect((await efs('subscription', 'rm', 'subscribed', 'x')).errors).toContain('is not the id');
  for (const { code } of [method, kind, none]) expect(code).not.toBe(0);
});

test('subscriptions.update pauses, resumes and changes what is delivered', async () => {
  const { host, canisterId, bucket } = service;
  const identity = identityFromPem(service.identityPem);
  const { subscriptions } = createStorage({ host, canisterId, identity });
  const request = { canisterId: subscriber, method: 'efs_events', prefix: 'a/', after: 0 };
  const added = await subscriptions.add(bucket, request);
  expect(added).toMatchObject({ canisterId: subscriber, prefix: 'a/', kinds: [], cursor: 0 });
  expect(added.pausedAt).toBeUndefined();
  const { id } = added;
  const paused = await subscriptions.update(bucket, id, { isPaused: true, prefix: '' });
  expect(Date.parse(paused.pausedAt ?? '')).toBeGreaterThan(0);
  expect(paused.prefix).toBe('');
  const kinds = ['file.deleted'];
  await subscriptions.update(bucket, id, { isPaused: false, kinds });
  const [listed] = await subscriptions.list(bucket);
  expect(listed).toMatchObject({ id, kinds, prefix: '' });
  expect(listed?.pausedAt).toBeUndefined();
  await subscriptions.remove(bucket, id);
  expect(await subscriptions.list(bucket)).toEqual([]);
});
