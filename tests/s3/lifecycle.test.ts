// The lifecycle configuration of a bucket at the S3 server, by Amazon's SDK.

import {
  DeleteBucketLifecycleCommand,
  GetBucketLifecycleConfigurationCommand,
  type LifecycleRule,
  PutBucketLifecycleConfigurationCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openService, type Service } from '../support/service.ts';
import { openS3Server, type TestS3Server } from './support/s3-server.ts';

const Bucket = 'aged';
let service: Service;
let s3Server: TestS3Server;
let client: S3Client;

beforeAll(async () => {
  service = await openService();
  s3Server = await openS3Server(service);
  client = s3Server.client();
  await s3Server.storage.buckets.create(Bucket, { keepVersionsDays: 30 });
});
afterAll(async () => {
  await s3Server?.stop();
  await service?.stop();
});

const put = (...Rules: LifecycleRule[]) =>
  client.send(
    new PutBucketLifecycleConfigurationCommand({ Bucket, LifecycleConfiguration: { Rules } }),
  );
const get = async () =>
  (await client.send(new GetBucketLifecycleConfigurationCommand({ Bucket }))).Rules;
const named = (name: string) => expect.objectContaining({ name });

const rules: LifecycleRule[] = [
  { ID: 'logs', Status: 'Enabled', Filter: { Prefix: 'logs/' }, Expiration: { Days: 30 } },
  {
    ID: 'all',
    Status: 'Disabled',
    Filter: { And: { Prefix: 'a/', Tags: [{ Key: 'env', Value: 'test' }] } },
    NoncurrentVersionExpiration: { NoncurrentDays: 7 },
    AbortIncompleteMultipartUpload: { DaysAfterInitiation: 2 },
  },
];

test('createS3Server() sets rules by a lifecycle, shows and removes them', async () => {
  await expect(get()).rejects.toEqual(named('NoSuchLifecycleConfiguration'));
  await put(...rules);
  expect(await get()).toEqual(rules);
  expect(await s3Server.storage.rules.list(Bucket)).toMatchObject([
    { id: 'logs', isEnabled: true, prefix: 'logs/', deleteAfterDays: 30 },
    { id: 'all', isEnabled: false, prefix: 'a/', tag: 'env=test', endUploadsAfterHours: 48 },
  ]);
  await client.send(new DeleteBucketLifecycleCommand({ Bucket }));
  await expect(get()).rejects.toEqual(named('NoSuchLifecycleConfiguration'));
  await client.send(new DeleteBucketLifecycleCommand({ Bucket }));
});

const rule: LifecycleRule = { ID: 'a', Status: 'Enabled', Filter: { Prefix: '' } };

test.each<[LifecycleRule, string]>([
  [{ ...rule, Transitions: [{ Days: 3, StorageClass: 'GLACIER' }] }, 'NotImplemented'],
  [{ ...rule, Expiration: { Date: new Date(1_800_000_000_000) } }, 'NotImplemented'],
  [{ ...rule, Expiration: { ExpiredObjectDeleteMarker: true } }, 'NotImplemented'],
  [
    { ...rule, NoncurrentVersionExpiration: { NoncurrentDays: 3, NewerNoncurrentVersions: 2 } },
    'NotImplemented',
  ],
  [{ ...rule, Expiration: { Days: 1 }, Filter: { ObjectSizeGreaterThan: 5 } }, 'NotImplemented'],
  [
    {
      ...rule,
      Expiration: { Days: 1 },
      Filter: { And: { Tags: ['b', 'c'].map((Key) => ({ Key, Value: 'd' })) } },
    },
    'NotImplemented',
  ],
  [{ ...rule, Expiration: { Days: 0 } }, 'InvalidArgument'],
  [rule, 'InvalidArgument'],
])('PUT bucket?lifecycle refuses rule %# with %s', async (sent, code) => {
  await expect(put(sent)).rejects.toEqual(named(code));
  await expect(get()).rejects.toEqual(named('NoSuchLifecycleConfiguration'));
});
