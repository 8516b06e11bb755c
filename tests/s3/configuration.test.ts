// The configuration that the S3 server uses for each caller.

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readConfiguration } from '../../packages/efs/src/config/config.ts';
import { writeProfiles } from '../../packages/efs/src/config/profiles.ts';
import { configurationFor } from '../../packages/efs/src/service/s3-configuration.ts';

const url = 'https://rwlgt-iiaaa-aaaaa-aaaaa-cai.icp.net';
const environment = { HOME: mkdtempSync(join(tmpdir(), 'efs-')), EFS_AGE_IDENTITY: 'key.txt' };
const flags = { url, apiKey: 'efs_key', identity: 'alice' };

test('configurationFor() gives unsigned requests no key, no identity and no age identity', () => {
  const served = readConfiguration(flags, environment);
  expect(served).toMatchObject({ ageIdentity: 'key.txt', apiKey: 'efs_key', identity: 'alice' });
  expect(configurationFor(served, undefined)).toMatchObject({
    url,
    apiKey: undefined,
    identity: undefined,
    identityPem: undefined,
    ageIdentity: undefined,
    transport: 'actor',
  });
});

test('configurationFor() gives an access key its API key and no identity', () => {
  const served = readConfiguration(flags, environment);
  const credential = { accessKeyId: 'EFS', access: { url, apiKey: 'efs_other' } };
  expect(configurationFor(served, credential)).toMatchObject({
    url,
    apiKey: 'efs_other',
    identity: undefined,
    identityPem: undefined,
  });
});

test('configurationFor() gives an access key with an API key no front of the environment', () => {
  const withFront = { ...environment, EFS_FRONT_ID: 'rrkah-fqaaa-aaaaa-aaaaq-cai' };
  const served = readConfiguration({ host: 'https://icp-api.io', identity: 'alice' }, withFront);
  expect(served.front).toBe(withFront.EFS_FRONT_ID);
  const access = { url: 'https://files.example', apiKey: 'efs_other' };
  const credential = { accessKeyId: 'EFS', access };
  const found = configurationFor(served, credential);
  expect(found).toMatchObject({ ...access, front: undefined, canisterId: undefined });
});

test('configurationFor() refuses an access key whose profile was removed', async () => {
  const credential = { accessKeyId: 'EFS', access: { profile: 'home' } };
  const served = readConfiguration(flags, environment);
  await writeProfiles(environment, { profiles: { home: { url, apiKey: 'efs_home' } } });
  expect(configurationFor(served, credential)).toMatchObject({ url, apiKey: 'efs_home' });
  await writeProfiles(environment, { profiles: {} });
  const refused = expect.objectContaining({ code: 'InvalidAccessKeyId', status: 403 });
  expect(() => configurationFor(served, credential)).toThrow(refused);
});
