// Object Lock at the S3 server, by Amazon's SDK.

import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetBucketVersioningCommand,
  GetObjectCommand,
  GetObjectLegalHoldCommand,
  GetObjectLockConfigurationCommand,
  GetObjectRetentionCommand,
  HeadObjectCommand,
  type ObjectLockConfiguration,
  type ObjectLockRetention,
  PutBucketVersioningCommand,
  PutObjectCommand,
  PutObjectLegalHoldCommand,
  PutObjectLockConfigurationCommand,
  PutObjectRetentionCommand,
  PutObjectTaggingCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openService, type Service } from '../support/service.ts';
import { apiKey, openS3Server, type TestS3Server } from './support/s3-server.ts';

const Bucket = 'locked';
let service: Service;
let s3Server: TestS3Server;
let client: S3Client;

beforeAll(async () => {
  service = await openService();
  s3Server = await openS3Server(service);
  client = s3Server.client();
  await client.send(new CreateBucketCommand({ Bucket, ObjectLockEnabledForBucket: true }));
  await client.send(new CreateBucketCommand({ Bucket: 'plain' }));
});
afterAll(async () => {
  await s3Server?.stop();
  await service?.stop();
});

const fault = (name: string, httpStatusCode: number) =>
  expect.objectContaining({ name, $metadata: expect.objectContaining({ httpStatusCode }) });
const denied = fault('AccessDenied', 403);
/** A time in whole milliseconds, as the service stores it. */
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000);
const governance = (days: number): ObjectLockRetention => {
  return { Mode: 'GOVERNANCE', RetainUntilDate: inDays(days) };
};

function put(Key: string, more = {}, bucket = Bucket) {
  return client.send(new PutObjectCommand({ Bucket: bucket, Key, Body: 'x', ...more }));
}
function head(Key: string, more = {}) {
  return client.send(new HeadObjectCommand({ Bucket, Key, ...more }));
}
function remove(Key: string, more = {}) {
  return client.send(new DeleteObjectCommand({ Bucket, Key, ...more }));
}
function retain(Key: string, Retention: ObjectLockRetention, more = {}) {
  const retention = { Bucket, Key, Retention, ...more };
  return client.send(new PutObjectRetentionCommand(retention));
}
async function retentionOf(Key: string, more = {}) {
  const wanted = new GetObjectRetentionCommand({ Bucket, Key, ...more });
  return (await client.send(wanted)).Retention;
}
function hold(Key: string, Status: 'ON' | 'OFF', more = {}) {
  const LegalHold = { Status };
  return client.send(new PutObjectLegalHoldCommand({ Bucket, Key, LegalHold, ...more }));
}
async function holdOf(Key: string, more = {}) {
  const wanted = new GetObjectLegalHoldCommand({ Bucket, Key, ...more });
  return (await client.send(wanted)).LegalHold?.Status;
}
function configure(sent: ObjectLockConfiguration, bucket = Bucket) {
  const configuration = { Bucket: bucket, ObjectLockConfiguration: sent };
  return client.send(new PutObjectLockConfigurationCommand(configuration));
}
async function configurationOf(bucket = Bucket) {
  const wanted = new GetObjectLockConfigurationCommand({ Bucket: bucket });
  return (await client.send(wanted)).ObjectLockConfiguration;
}
function byDefault(DefaultRetention: object): ObjectLockConfiguration {
  return { ObjectLockEnabled: 'Enabled', Rule: { DefaultRetention } };
}
/** Ends the locks of all versions, so that later tests may set others. */
async function unlock(Key: string, VersionId: string | undefined) {
  await hold(Key, 'OFF', { VersionId });
  await remove(Key, { VersionId, BypassGovernanceRetention: true });
}

describe('PUT /{bucket}?object-lock', () => {
  test('sets the default retention, which GET shows and new objects get', async () => {
    expect(await configurationOf()).toEqual({ ObjectLockEnabled: 'Enabled' });
    const { Status } = await client.send(new GetBucketVersioningCommand({ Bucket }));
    expect(Status).toBe('Enabled');
    const sent = byDefault({ Mode: 'GOVERNANCE', Days: 3 });
    await configure(sent);
    expect(await configurationOf()).toEqual(sent);
    const { VersionId } = await put('by-default');
    const found = await head('by-default');
    expect(found.ObjectLockMode).toBe('GOVERNANCE');
    const days = (Number(found.ObjectLockRetainUntilDate) - Number(found.LastModified)) / 86_400e3;
    expect(Math.round(days)).toBe(3);
    await expect(remove('by-default', { VersionId })).rejects.toEqual(denied);
    await configure(byDefault({ Mode: 'COMPLIANCE', Years: 1 }));
    expect(await configurationOf()).toEqual(byDefault({ Mode: 'COMPLIANCE', Days: 365 }));
    await configure({ ObjectLockEnabled: 'Enabled' });
    expect(await configurationOf()).toEqual({ ObjectLockEnabled: 'Enabled' });
    await put('without');
    expect(await head('without')).not.toHaveProperty('ObjectLockMode');
    await unlock('by-default', VersionId);
  });

  test('keeps the rules with a prefix', async () => {
    const logs = { prefix: 'logs/', mode: 'governance', days: 2 } as const;
    const { buckets } = s3Server.storage;
    await buckets.create('ruled', { retention: [logs] });
    expect(await configurationOf('ruled')).toEqual({ ObjectLockEnabled: 'Enabled' });
    await configure(byDefault({ Mode: 'GOVERNANCE', Days: 5 }), 'ruled');
    const all = { prefix: '', mode: 'governance', days: 5 };
    expect((await buckets.get('ruled')).retention).toEqual([all, logs]);
    await configure({ ObjectLockEnabled: 'Enabled' }, 'ruled');
    expect((await buckets.get('ruled')).retention).toEqual([logs]);
  });

  test.each<[ObjectLockConfiguration | object, string]>([
    [byDefault({ Mode: 'GOVERNANCE', Days: 1, Years: 1 }), 'MalformedXML'],
    [byDefault({ Mode: 'GOVERNANCE' }), 'MalformedXML'],
    [byDefault({ Mode: 'GOVERNANCE', Days: 0 }), 'InvalidRetentionPeriod'],
    [byDefault({ Mode: 'GOVERNANCE', Years: -1 }), 'InvalidRetentionPeriod'],
    [byDefault({ Mode: 'GOVERNANCE', Years: 101 }), 'InvalidRetentionPeriod'],
    [byDefault({ Mode: 'governance', Days: 1 }), 'MalformedXML'],
    [byDefault({ Days: 1 }), 'MalformedXML'],
    [{ ObjectLockEnabled: 'Disabled' }, 'MalformedXML'],
    [{ ObjectLockEnabled: 'Enabled', Rule: {} }, 'MalformedXML'],
    [{}, 'MalformedXML'],
  ])('refuses configuration %# with %s', async (sent, code) => {
    await expect(configure(sent)).rejects.toEqual(fault(code, 400));
    expect(await configurationOf()).toEqual({ ObjectLockEnabled: 'Enabled' });
  });

  test('needs a bucket with versions', async () => {
    const missing = fault('ObjectLockConfigurationNotFoundError', 404);
    await expect(configurationOf('plain')).rejects.toEqual(missing);
    const state = fault('InvalidBucketState', 409);
    const sent = byDefault({ Mode: 'GOVERNANCE', Days: 1 });
    await expect(configure(sent, 'plain')).rejects.toEqual(state);
    const enabled = { Bucket: 'plain', ObjectLockEnabledForBucket: true };
    const request = fault('InvalidRequest', 400);
    await expect(client.send(new CreateBucketCommand(enabled))).rejects.toEqual(request);
    await put('a', {}, 'plain');
    const of = { Bucket: 'plain' };
    await expect(retain('a', governance(1), of)).rejects.toEqual(request);
    await expect(retentionOf('a', of)).rejects.toEqual(request);
    await expect(hold('a', 'ON', of)).rejects.toEqual(request);
    await expect(holdOf('a', of)).rejects.toEqual(request);
    await expect(put('b', { ObjectLockLegalHoldStatus: 'ON' }, 'plain')).rejects.toEqual(request);
    await put('b', { ObjectLockLegalHoldStatus: 'OFF' }, 'plain');
    const versioning = (Bucket: string, Status: 'Enabled' | 'Suspended') =>
      client.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status } }));
    await client.send(new CreateBucketCommand({ Bucket: 'later' }));
    await versioning('later', 'Enabled');
    await configure(sent, 'later');
    expect(await configurationOf('later')).toEqual(sent);
    await expect(versioning('later', 'Suspended')).rejects.toEqual(state);
  });
});

describe('PUT /{bucket}/{key}?retention', () => {
  test('retains a version, and lengthens, shortens and ends it by bypassing governance', async () => {
    const { VersionId } = await put('single');
    const none = fault('NoSuchObjectLockConfiguration', 404);
    await expect(retentionOf('single')).rejects.toEqual(none);
    const [short, long] = [governance(1), governance(9)];
    await retain('single', short);
    expect(await retentionOf('single')).toEqual(short);
    await retain('single', long, { VersionId });
    expect(await retentionOf('single', { VersionId })).toEqual(long);
    await expect(retain('single', short)).rejects.toEqual(denied);
    const compliance = { ...long, Mode: 'COMPLIANCE' } as const;
    await expect(retain('single', compliance)).rejects.toEqual(denied);
    await retain('single', short, { BypassGovernanceRetention: true });
    expect(await retentionOf('single')).toEqual(short);
    await expect(retain('single', {})).rejects.toEqual(denied);
    await retain('single', {}, { BypassGovernanceRetention: true });
    await expect(retentionOf('single')).rejects.toEqual(none);
    await remove('single', { VersionId });
  });

  test.each<[object, string]>([
    [{ Mode: 'governance', RetainUntilDate: inDays(1) }, 'MalformedXML'],
    [{ Mode: 'GOVERNANCE' }, 'MalformedXML'],
    [{ RetainUntilDate: inDays(1) }, 'MalformedXML'],
    [{ Mode: 'GOVERNANCE', RetainUntilDate: new Date(0) }, 'InvalidArgument'],
    [{ Mode: 'GOVERNANCE', RetainUntilDate: inDays(36_501) }, 'InvalidArgument'],
  ])('refuses retention %# with %s', async (sent, code) => {
    await put('refused');
    await expect(retain('refused', sent)).rejects.toEqual(fault(code, 400));
    const none = fault('NoSuchObjectLockConfiguration', 404);
    await expect(retentionOf('refused')).rejects.toEqual(none);
  });

  test('names missing objects and versions', async () => {
    const missing = fault('NoSuchKey', 404);
    await expect(retain('nothing', governance(1))).rejects.toEqual(missing);
    await expect(retentionOf('nothing')).rejects.toEqual(missing);
    await put('versioned');
    const VersionId = '9-abc';
    const version = fault('NoSuchVersion', 404);
    await expect(retain('versioned', governance(1), { VersionId })).rejects.toEqual(version);
    await expect(hold('versioned', 'ON', { VersionId })).rejects.toEqual(version);
  });
});

describe('PUT /{bucket}/{key}?legal-hold', () => {
  test('holds a former version until the hold is removed', async () => {
    const { VersionId } = await put('held');
    expect(await holdOf('held')).toBe('OFF');
    await hold('held', 'ON');
    await put('held', { Body: 'newer' });
    expect(await holdOf('held')).toBe('OFF');
    expect(await holdOf('held', { VersionId })).toBe('ON');
    expect((await head('held', { VersionId })).ObjectLockLegalHoldStatus).toBe('ON');
    const erasing = remove('held', { VersionId, BypassGovernanceRetention: true });
    await expect(erasing).rejects.toEqual(denied);
    await expect(erasing).rejects.toThrow(/object lock.*legal hold.*PutObjectLegalHold/);
    await remove('held');
    await hold('held', 'OFF', { VersionId });
    await remove('held', { VersionId });
    const gone = new GetObjectCommand({ Bucket, Key: 'held', VersionId });
    await expect(client.send(gone)).rejects.toEqual(fault('NoSuchVersion', 404));
  });

  test('refuses another status', async () => {
    await put('other');
    const status = hold('other', 'abc' as 'ON');
    await expect(status).rejects.toEqual(fault('MalformedXML', 400));
  });
});

describe('DELETE /{bucket}/{key} of a locked object', () => {
  test('is refused unless the request bypasses governance, also for many', async () => {
    const until = { ObjectLockMode: 'GOVERNANCE', ObjectLockRetainUntilDate: inDays(1) };
    const { VersionId } = await put('deleted', until);
    const { VersionId: free } = await put('free');
    const erasing = remove('deleted', { VersionId });
    await expect(erasing).rejects.toEqual(denied);
    await expect(erasing).rejects.toThrow(/retained in governance mode.*x-amz-bypass-governance/);
    const Objects = [
      { Key: 'deleted', VersionId },
      { Key: 'free', VersionId: free },
    ];
    const all = { Bucket, Delete: { Objects } };
    const answer = await client.send(new DeleteObjectsCommand(all));
    expect(answer.Deleted).toEqual([Objects[1]]);
    expect(answer.Errors).toMatchObject([{ ...Objects[0], Code: 'AccessDenied' }]);
    const bypassing = { ...all, BypassGovernanceRetention: true };
    const { Errors } = await client.send(new DeleteObjectsCommand(bypassing));
    expect(Errors).toBeUndefined();
    await expect(head('deleted', { VersionId })).rejects.toEqual(fault('NotFound', 404));
  });

  test('is refused like an overwrite where no former version is kept', async () => {
    await s3Server.storage.buckets.create('vault', {
      retention: [{ mode: 'governance', days: 1 }],
    });
    await put('a', {}, 'vault');
    await expect(put('a', { Body: 'other' }, 'vault')).rejects.toEqual(denied);
    await expect(remove('a', { Bucket: 'vault' })).rejects.toEqual(denied);
    const Objects = [{ Key: 'a' }];
    const all = { Bucket: 'vault', Delete: { Objects } };
    const { Errors } = await client.send(new DeleteObjectsCommand(all));
    expect(Errors).toMatchObject([{ Key: 'a', Code: 'AccessDenied' }]);
    const tags = { Tagging: { TagSet: [{ Key: 'a', Value: 'b' }] } };
    const tagging = new PutObjectTaggingCommand({ Bucket: 'vault', Key: 'a', ...tags });
    await expect(client.send(tagging)).rejects.toEqual(denied);
    await remove('a', { Bucket: 'vault', BypassGovernanceRetention: true });
    await put('a', { Body: 'other' }, 'vault');
    await client.send(new DeleteObjectsCommand({ ...all, BypassGovernanceRetention: true }));
    await s3Server.storage.buckets.remove('vault');
  });
});

describe('PUT /{bucket}/{key} with x-amz-object-lock-…', () => {
  const RetainUntilDate = inDays(2);
  const lock = {
    ObjectLockMode: 'GOVERNANCE',
    ObjectLockRetainUntilDate: RetainUntilDate,
    ObjectLockLegalHoldStatus: 'ON',
  } as const;

  test('PutObject locks the version that it stores, and overrides a longer default', async () => {
    await configure(byDefault({ Mode: 'GOVERNANCE', Days: 30 }));
    const { VersionId } = await put('put', lock);
    await configure({ ObjectLockEnabled: 'Enabled' });
    expect(await head('put', { VersionId })).toMatchObject(lock);
    const got = await client.send(new GetObjectCommand({ Bucket, Key: 'put' }));
    expect(got).toMatchObject(lock);
    await unlock('put', VersionId);
  });

  test('CopyObject locks the copy, and copies no lock', async () => {
    const { VersionId: source } = await put('source', lock);
    const copy = (Key: string, more = {}) =>
      client.send(new CopyObjectCommand({ Bucket, Key, CopySource: `${Bucket}/source`, ...more }));
    const { VersionId } = await copy('copy', lock);
    expect(await head('copy')).toMatchObject(lock);
    await copy('open');
    expect(await head('open')).not.toHaveProperty('ObjectLockMode');
    expect(await head('open')).not.toHaveProperty('ObjectLockLegalHoldStatus');
    await unlock('source', source);
    await unlock('copy', VersionId);
  });

  test.each([1, 3])('CompleteMultipartUpload locks an object of %i parts', async (count) => {
    const target = { Bucket, Key: `parts-${count}` };
    const begin = new CreateMultipartUploadCommand({ ...target, ...lock });
    const { UploadId } = await client.send(begin);
    const Parts = [];
    for (let PartNumber = 1; PartNumber <= count; PartNumber++) {
      const part = { ...target, UploadId, PartNumber, Body: Buffer.alloc(70_000, PartNumber) };
      Parts.push({ PartNumber, ETag: (await client.send(new UploadPartCommand(part))).ETag });
    }
    const completion = { ...target, UploadId, MultipartUpload: { Parts } };
    const done = await client.send(new CompleteMultipartUploadCommand(completion));
    expect(await head(target.Key, { VersionId: done.VersionId })).toMatchObject(lock);
    const again = await client.send(new CompleteMultipartUploadCommand(completion));
    expect(again.VersionId).toBe(done.VersionId);
    await unlock(target.Key, done.VersionId);
  });

  test.each<[object, string]>([
    [{ ObjectLockMode: 'GOVERNANCE' }, 'InvalidArgument'],
    [{ ObjectLockRetainUntilDate: RetainUntilDate }, 'InvalidArgument'],
    [{ ...lock, ObjectLockMode: 'governance' }, 'InvalidArgument'],
    [{ ...lock, ObjectLockRetainUntilDate: new Date(0) }, 'InvalidArgument'],
    [{ ...lock, ObjectLockLegalHoldStatus: 'on' }, 'InvalidArgument'],
  ])('refuses fields %# with %s before the write', async (fields, code) => {
    await expect(put('unwritten', fields)).rejects.toEqual(fault(code, 400));
    const begin = new CreateMultipartUploadCommand({ Bucket, Key: 'unwritten', ...fields });
    await expect(client.send(begin)).rejects.toEqual(fault(code, 400));
    await expect(head('unwritten')).rejects.toEqual(fault('NotFound', 404));
  });

  test('refuses less than a default retention in compliance mode before the write', async () => {
    await s3Server.storage.buckets.create('strict', {
      keepVersionsDays: 1,
      retention: [{ mode: 'compliance', days: 3, prefix: 'logs/' }],
    });
    const refused = fault('InvalidRequest', 400);
    await expect(put('logs/a', lock, 'strict')).rejects.toEqual(refused);
    const compliance = { ...lock, ObjectLockMode: 'COMPLIANCE' };
    await expect(put('logs/a', compliance, 'strict')).rejects.toEqual(refused);
    expect(await s3Server.storage.usage({ bucket: 'strict' })).toMatchObject({ files: 0 });
    const { VersionId } = await put('other', lock, 'strict');
    await hold('other', 'OFF', { Bucket: 'strict' });
    const erasing = { Bucket: 'strict', VersionId, BypassGovernanceRetention: true };
    await remove('other', erasing);
  });

  test('says that an object is stored if an API key may write but not retain', async () => {
    const keyed = s3Server.client(apiKey);
    const { bucket } = service;
    await s3Server.storage.buckets.update(bucket, { keepVersionsDays: 1 });
    const sending = keyed.send(
      new PutObjectCommand({ Bucket: bucket, Key: 'by-key', Body: 'x', ...lock }),
    );
    await expect(sending).rejects.toEqual(denied);
    await expect(sending).rejects.toThrow(/stored as version 1, but not locked/);
    const found = await s3Server.storage.stat({ bucket, path: 'by-key' });
    expect(found.retention).toBeUndefined();
  });

  test('locks objects with an API key that may retain', async () => {
    const { bucket } = service;
    const permissions = ['read', 'write', 'delete', 'retain'] as const;
    const { keys } = s3Server.storage;
    const { secret } = await keys.create({ name: 'locks', buckets: [bucket], permissions });
    const keyedServer = await openS3Server({ ...service, apiKey: secret });
    const keyed = keyedServer.client(apiKey);
    const object = { Bucket: bucket, Key: 'by-retaining-key' };
    await keyed.send(new PutObjectCommand({ ...object, Body: 'x', ...lock }));
    expect(await keyed.send(new HeadObjectCommand(object))).toMatchObject(lock);
    await keyed.send(new PutObjectLegalHoldCommand({ ...object, LegalHold: { Status: 'OFF' } }));
    const ending = { ...object, Retention: {}, BypassGovernanceRetention: true };
    await keyed.send(new PutObjectRetentionCommand(ending));
    const none = fault('NoSuchObjectLockConfiguration', 404);
    await expect(keyed.send(new GetObjectRetentionCommand(object))).rejects.toEqual(none);
    await keyedServer.stop();
  });
});
