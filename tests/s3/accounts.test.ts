// The accounts of the S3 server follow the profiles, with accounts in memory.

import { mkdtempSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ListBucketsCommand, S3Client } from '@aws-sdk/client-s3';
import { expect, test } from 'vitest';
import { profilesStamp, writeProfiles } from '../../packages/efs/src/config/profiles.ts';
import { type Account, createS3Server } from '../../packages/s3/src/index.ts';

const key = { accessKeyId: 'EFSKEY', secretAccessKey: 'secret', access: { profile: 'here' } };
const home = mkdtempSync(join(tmpdir(), 'efs-accounts-'));
const environment = { HOME: home };
const writeHere = (apiKey: string) =>
  writeProfiles(environment, { profiles: { here: { url: 'https://files.example', apiKey } } });

test('createS3Server() opens an account again only after its profile has changed', async () => {
  let opened = 0;
  const { server, close } = createS3Server({
    credentials: { find: async () => key },
    openAccount: async () => {
      opened += 1;
      return { buckets: [`opened-${opened}`] } as unknown as Account;
    },
    accountsStamp: () => profilesStamp(environment),
    multipart: { folder: join(home, 'uploads') },
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const client = new S3Client({
    endpoint: `http://127.0.0.1:${port}`,
    region: 'auto',
    credentials: key,
    maxAttempts: 1,
  });
  const list = async () => (await client.send(new ListBucketsCommand({}))).Buckets?.[0]?.Name;
  try {
    expect([await list(), await list()]).toEqual(['opened-1', 'opened-1']);
    await writeHere('efs_one');
    expect([await list(), await list()]).toEqual(['opened-2', 'opened-2']);
    await writeHere('efs_two');
    expect([await list(), await list()]).toEqual(['opened-3', 'opened-3']);
  } finally {
    client.destroy();
    await close();
  }
});
