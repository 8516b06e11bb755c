// `efs rule`, by the command's `main()`, the library's `rules`, and GET of a bucket's rules.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import { createStorage } from '../../packages/client/src/storage.ts';
import { onlyOnOurReplica } from '../support/network/elsewhere.ts';
import { openService, type Service } from '../support/service.ts';
import { callCommand } from './command-calls.ts';

let service: Service;
let folder: string;
let efs: (...words: string[]) => ReturnType<typeof callCommand>;

beforeAll(async () => {
  service = await openService();
  folder = await mkdtemp(join(tmpdir(), 'efs-rules-'));
  await writeFile(join(folder, 'identity.pem'), service.identityPem);
  const environment = {
    EFS_URL: service.base,
    EFS_HOST: service.host,
    EFS_CANISTER_ID: service.canisterId,
    EFS_IDENTITY: join(folder, 'identity.pem'),
  };
  efs = (...words) => callCommand(words, { folder, environment });
  expect(await efs('bucket', 'create', 'ruled')).toMatchObject({ code: 0 });
});

afterAll(async () => {
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

test('efs rule adds, lists and removes rules', async () => {
  const logs = ['--delete-after', '30', '--prefix', 'logs/', '--tag', 'x', '--id', 'logs'];
  expect((await efs('rule', 'add', 'ruled', ...logs)).output).toBe('logs\n');
  const versions = ['--keep-versions', '5', '--erase-versions-after', '90', '--disabled'];
  expect((await efs('rule', 'add', 'ruled', ...versions)).output).toBe('rule-1\n');
  expect((await efs('rule', 'add', 'ruled', '--end-uploads-after', '24')).output).toBe('rule-2\n');
  const { output } = await efs('rule', 'ls', 'ruled');
  expect(output).toMatch(/^logs +logs\/ +x +delete after 30 d$/m);
  expect(output).toMatch(/^rule-1 +disabled, keep 5 versions, erase versions after 90 d$/m);
  expect(output).toMatch(/^rule-2 +end uploads after 24 h$/m);
  expect(await efs('rule', 'rm', 'ruled', 'logs', 'rule-1')).toMatchObject({ code: 0 });
  const left = JSON.parse((await efs('rule', 'ls', '--json', 'ruled')).output);
  expect(left).toEqual([{ id: 'rule-2', isEnabled: true, prefix: '', endUploadsAfterHours: 24 }]);
});

test('efs rule add and rm read the rules in replies that the network signs', async ({ skip }) => {
  onlyOnOurReplica('it reports the messages that a canister runs')({ skip });
  const kinds = () =>
    (service.replica?.reports ?? [])
      .filter(({ method, kind }) => method === 'getRules' && kind !== 'inspect')
      .map(({ kind }) => kind);
  const before = kinds().length;
  await efs('rule', 'add', 'ruled', '--delete-after', '3', '--id', 'three');
  await efs('rule', 'rm', 'ruled', 'three');
  await efs('rule', 'ls', 'ruled');
  expect(kinds().slice(before)).toEqual(['replicatedQuery', 'replicatedQuery', 'query']);
});

test('efs rule says what is wrong, and changes nothing', async () => {
  const before = (await efs('rule', 'ls', 'ruled')).output;
  const same = await efs('rule', 'add', 'ruled', '--delete-after', '1', '--id', 'rule-2');
  expect(same.errors).toContain('already has a rule rule-2: choose another --id');
  expect((await efs('rule', 'add', 'ruled')).errors).toContain('has no action');
  const never = await efs('rule', 'add', 'ruled', '--delete-after', '0');
  expect(never.errors).toContain('must be a whole number from 1 to 36500');
  const none = await efs('rule', 'rm', 'ruled', 'none');
  expect(none.errors).toContain('has no rule none: efs rule ls ruled shows its rules');
  expect([same, never, none].map(({ code }) => code)).not.toContain(0);
  expect((await efs('rule', 'ls', 'ruled')).output).toBe(before);
});

test('rules.set replaces all rules, and GET rules shows them to a key with read', async () => {
  const { host, canisterId, base, bucket } = service;
  const identity = identityFromPem(service.identityPem);
  const storage = createStorage({ host, canisterId, identity });
  const rule = { id: 'old', prefix: 'a/', deleteAfterDays: 3, keepVersions: 2 };
  const stored = await storage.rules.set(bucket, [rule]);
  expect(stored).toEqual([{ ...rule, isEnabled: true }]);
  expect(await storage.rules.list(bucket)).toEqual(stored);
  const url = `${base}/api/v1/bucket/${bucket}/rules`;
  const headers = { Authorization: `Bearer ${service.apiKey}` };
  expect(await (await fetch(url, { headers })).json()).toEqual({ items: stored });
  expect((await fetch(url)).status).toBe(401);
  expect(await storage.rules.set(bucket, [])).toEqual([]);
});
