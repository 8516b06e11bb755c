// `efs mirror` to S3 that is killed again and again while the source changes: it ends with an equal
// bucket, and leaves no unfinished uploads.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ListMultipartUploadsCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import { createNodeStorage } from '../../packages/client/src/node/storage.ts';
import type { Storage } from '../../packages/client/src/storage.ts';
import { openS3Server, ownerKey, type TestS3Server } from '../s3/support/s3-server.ts';
import { randomNumbers } from '../support/random-numbers.ts';
import { seedOr } from '../support/seed.ts';
import { openService, type Service, sampleBytes } from '../support/service.ts';
import { callCommand } from './command-calls.ts';
import { type CommandSettings, startCommand } from './command-runs.ts';
import { killOften } from './mirror-kills.ts';
import { filesIn, objectsIn } from './mirrored-objects.ts';
import { changeAtRandom } from './random-changes.ts';

const bucket = 'demo';
const killCount = 15;
const seed = seedOr(20_261_130);

let here: Service;
let there: Service;
let s3Server: TestS3Server;
let owner: Storage;
let settings: CommandSettings;

beforeAll(async () => {
  here = await openService({});
  there = await openService({});
  s3Server = await openS3Server(there);
  const folder = await mkdtemp(join(tmpdir(), 'mirror-s3-kills-'));
  await writeFile(join(folder, 'here.pem'), here.identityPem);
  const environment = {
    ...{ EFS_HOST: here.host, EFS_CANISTER_ID: here.canisterId },
    EFS_IDENTITY: join(folder, 'here.pem'),
    AWS_ACCESS_KEY_ID: ownerKey.accessKeyId,
    AWS_SECRET_ACCESS_KEY: ownerKey.secretAccessKey,
    AWS_ENDPOINT_URL: s3Server.url,
  };
  settings = { folder, environment };
  const { host, canisterId, identityPem } = here;
  owner = createNodeStorage({ host, canisterId, identity: identityFromPem(identityPem) });
  for (const storage of [owner, s3Server.storage]) {
    await storage.buckets.update(bucket, { keepVersionsDays: 30 });
  }
});
afterAll(async () => {
  await s3Server?.stop();
  await here?.stop();
  await there?.stop();
  await rm(settings.folder, { recursive: true, force: true });
});

test(`efs mirror to S3 killed ${killCount} times ends equal (seed ${seed})`, async () => {
  const random = randomNumbers(seed);
  const words = ['mirror', bucket, '--to', `s3://${bucket}/copy`, '-p', '4'];
  const change = () => changeAtRandom(owner, bucket, random);
  for (let changes = 0; changes < 20; changes++) await change();
  const stepCount = await killOften(words, settings, {
    ...{ count: killCount, delayMsMax: 400, random, change },
    async prepare(kill) {
      const bytes = sampleBytes(`film ${kill}`, 17_000_000);
      if (kill % 3 === 0) await owner.upload(bytes, { bucket, path: 'film' });
    },
  });
  const last = startCommand([...words, '--once'], settings);
  expect(await last.ended).toMatchObject({ code: 0 });
  const files = await filesIn(owner, bucket);
  expect(files.size).toBeGreaterThan(10);
  const client = s3Server.client();
  expect(await objectsIn({ client, Bucket: bucket, Prefix: 'copy/' })).toEqual(files);
  expect(stepCount).toBeGreaterThan(killCount);
  const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: bucket }));
  expect(Uploads).toEqual([]);
  const verified = await callCommand([...words, '--verify', '--bytes'], settings);
  expect(verified).toMatchObject({ code: 0, errors: '' });
}, 3_600_000);
