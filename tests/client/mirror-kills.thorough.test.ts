// `efs mirror` that is killed again and again while the source changes: it ends with equal buckets.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import { createNodeStorage } from '../../packages/client/src/node/storage.ts';
import type { Storage } from '../../packages/client/src/storage.ts';
import { randomNumbers } from '../support/random-numbers.ts';
import { seedOr } from '../support/seed.ts';
import { openService, type Service } from '../support/service.ts';
import { callCommand } from './command-calls.ts';
import { type CommandSettings, startCommand } from './command-runs.ts';
import { killOften } from './mirror-kills.ts';
import { statesIn } from './mirrored-buckets.ts';
import { changeAtRandom } from './random-changes.ts';

const bucket = 'demo';
const killCount = 30;
const seed = seedOr(20_261_128);

let here: Service;
let there: Service;
let owner: Storage;
let keeper: Storage;
let settings: CommandSettings;

const open = ({ host, canisterId, identityPem }: Service) =>
  createNodeStorage({ host, canisterId, identity: identityFromPem(identityPem) });

beforeAll(async () => {
  here = await openService({});
  there = await openService({});
  const folder = await mkdtemp(join(tmpdir(), 'mirror-kills-'));
  await writeFile(join(folder, 'here.pem'), here.identityPem);
  await writeFile(join(folder, 'there.pem'), there.identityPem);
  const environment = {
    ...{ EFS_HOST: here.host, EFS_CANISTER_ID: here.canisterId },
    EFS_IDENTITY: join(folder, 'here.pem'),
  };
  settings = { folder, environment };
  const profile = ['--host', there.host, '--canister-id', there.canisterId];
  const url = ['--url', there.base, '--identity', join(folder, 'there.pem')];
  await callCommand(['profile', 'add', 'backup', ...url, ...profile], { folder });
  owner = open(here);
  keeper = open(there);
  for (const storage of [owner, keeper]) {
    await storage.buckets.update(bucket, { keepVersionsDays: 30 });
  }
});
afterAll(async () => {
  await here?.stop();
  await there?.stop();
  await rm(settings.folder, { recursive: true, force: true });
});

test(`efs mirror killed ${killCount} times ends with equal buckets (seed ${seed})`, async () => {
  const random = randomNumbers(seed);
  const words = ['mirror', bucket, '--to', `backup:${bucket}`, '-p', '4'];
  const change = () => changeAtRandom(owner, bucket, random);
  for (let changes = 0; changes < 30; changes++) await change();
  const kills = { count: killCount, delayMsMax: 200, random, change };
  const stepCount = await killOften(words, settings, kills);
  const last = startCommand([...words, '--once'], settings);
  expect(await last.ended).toMatchObject({ code: 0 });
  const states = await statesIn(owner, bucket);
  expect(states.size).toBeGreaterThan(20);
  expect(await statesIn(keeper, bucket)).toEqual(states);
  expect(stepCount).toBeGreaterThan(killCount);
  const verified = await callCommand([...words, '--verify'], settings);
  expect(verified).toMatchObject({ code: 0, errors: '' });
}, 3_600_000);

test(`efs mirror killed in its first passes, without versions (seed ${seed})`, async () => {
  const random = randomNumbers(seed);
  await owner.buckets.create('plain', { keepVersionsDays: 0 });
  const change = () => changeAtRandom(owner, 'plain', random);
  for (let changes = 0; changes < 40; changes++) await change();
  for (let turn = 0; turn < 4; turn++) {
    const target = `plain-${turn}`;
    await keeper.buckets.create(target, { keepVersionsDays: 0 });
    const words = ['mirror', 'plain', '--to', `backup:${target}`, '-p', '4'];
    await killOften(words, settings, { count: 3, delayMsMax: 200, random, change });
    const last = startCommand([...words, '--once'], settings);
    expect(await last.ended).toMatchObject({ code: 0 });
    expect(await statesIn(keeper, target)).toEqual(await statesIn(owner, 'plain'));
  }
}, 3_600_000);
