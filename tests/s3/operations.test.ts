// Operations of the AWS SDK on objects and buckets: list, copy, delete, tag, ranges, conditions,
// presigned URLs, and anonymous requests.

import { request } from 'node:http';
import {
  CopyObjectCommand,
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteBucketPolicyCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  DeleteObjectTaggingCommand,
  GetBucketCorsCommand,
  GetBucketEncryptionCommand,
  GetBucketLifecycleConfigurationCommand,
  GetBucketLoggingCommand,
  GetBucketNotificationConfigurationCommand,
  GetBucketOwnershipControlsCommand,
  GetBucketPolicyCommand,
  GetBucketReplicationCommand,
  GetBucketTaggingCommand,
  GetBucketVersioningCommand,
  GetBucketWebsiteCommand,
  GetObjectAttributesCommand,
  GetObjectCommand,
  type GetObjectCommandInput,
  GetObjectTaggingCommand,
  GetPublicAccessBlockCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListBucketMetricsConfigurationsCommand,
  ListBucketsCommand,
  ListMultipartUploadsCommand,
  ListObjectsCommand,
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  PutBucketAclCommand,
  PutBucketPolicyCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  type PutObjectCommandInput,
  PutObjectTaggingCommand,
  paginateListObjectsV2,
  type S3Client,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openService, type Service } from '../support/service.ts';
import { apiKey, openS3Server, ownerKey, type TestS3Server } from './support/s3-server.ts';

let service: Service;
let s3Server: TestS3Server;
let client: S3Client;

const Bucket = 'things';
const listed = [
  'a',
  'b!/x',
  'b/',
  'b/1',
  'b/2/c',
  'b/2/d',
  'c',
  'ä',
  '\u{10000}',
  '\uffee',
  'a%2F+ &<b',
];
const inOrder = [...listed].sort((one, other) =>
  Buffer.compare(Buffer.from(one), Buffer.from(other)),
);

beforeAll(async () => {
  service = await openService();
  s3Server = await openS3Server(service);
  client = s3Server.client();
  const { buckets } = s3Server.storage;
  await buckets.create(Bucket, { keepVersionsDays: 3 });
  await buckets.create('names');
  await buckets.create('sealed', { endToEnd: { sealsNames: true } });
  await buckets.create('public', { isPublic: true });
  const keys = ['names', 'sealed'].flatMap((bucket) => listed.map((key) => [bucket, key] as const));
  await Promise.all(keys.map(([bucket, key]) => put(key, 'x', { Bucket: bucket })));
});
afterAll(async () => {
  await s3Server?.stop();
  await service?.stop();
});

function put(Key: string, Body: string, more: Partial<PutObjectCommandInput> = {}) {
  return client.send(new PutObjectCommand({ Bucket, Key, Body, ...more }));
}

async function get(Key: string, more: Partial<GetObjectCommandInput> = {}) {
  const got = await client.send(new GetObjectCommand({ Bucket, Key, ...more }));
  return { ...got, text: await got.Body?.transformToString() };
}

const head = (Key: string) => client.send(new HeadObjectCommand({ Bucket, Key }));
const named = (name: string) => expect.objectContaining({ name });

describe.concurrent('efs serve s3: objects', () => {
  test("have their metadata, without the S3 server's own entries", async () => {
    const noted = {
      ContentType: 'text/css; charset=utf-8',
      CacheControl: 'max-age=60',
      ContentDisposition: 'attachment; filename="a.css"',
      ContentLanguage: 'de',
      Metadata: { 'some-name': 'value, with "all"' },
    };
    await put('noted', 'body', { ...noted, Tagging: 'env=prod&plain=' });
    expect(await get('noted')).toMatchObject({ ...noted, text: 'body', TagCount: 2 });
    expect((await head('noted')).Metadata).toEqual(noted.Metadata);
  });

  test('are read by range and on conditions', async () => {
    const { ETag = '' } = await put('read', '0123456789');
    const part = await get('read', { Range: 'bytes=2-4' });
    expect(part).toMatchObject({ text: '234', ContentRange: 'bytes 2-4/10', ContentLength: 3 });
    expect((await get('read', { Range: 'bytes=-2' })).text).toBe('89');
    await expect(get('read', { Range: 'bytes=10-' })).rejects.toEqual(named('InvalidRange'));
    expect((await get('read', { IfMatch: ETag })).text).toBe('0123456789');
    await expect(get('read', { IfMatch: '"other"' })).rejects.toEqual(named('PreconditionFailed'));
    const unchanged = { $metadata: expect.objectContaining({ httpStatusCode: 304 }) };
    await expect(get('read', { IfNoneMatch: ETag })).rejects.toMatchObject(unchanged);
    const later = new Date(Date.now() + 60_000);
    await expect(get('read', { IfModifiedSince: later })).rejects.toMatchObject(unchanged);
  });

  test('are stored on conditions, which only one of two concurrent requests meets', async () => {
    const first = () => put('once', 'x', { IfNoneMatch: '*' });
    const tried = await Promise.allSettled([first(), first()]);
    expect(tried.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const { ETag } = await head('once');
    await put('once', 'second', { IfMatch: ETag });
    await expect(put('once', 'third', { IfMatch: ETag })).rejects.toEqual(
      named('PreconditionFailed'),
    );
    await expect(put('never', 'a', { IfMatch: ETag })).rejects.toEqual(named('NoSuchKey'));
    expect((await get('once')).text).toBe('second');
  });

  test('have the checksum of their request, which is verified', async () => {
    const sent = await put('summed', 'body', { ChecksumAlgorithm: 'CRC64NVME' });
    expect(sent.ChecksumCRC64NVME).toMatch(/=$/);
    const got = await get('summed', { ChecksumMode: 'ENABLED' });
    expect(got.ChecksumCRC64NVME).toBe(sent.ChecksumCRC64NVME);
    const wrong = { ChecksumSHA256: Buffer.alloc(32).toString('base64') };
    await expect(put('wrong', 'body', wrong)).rejects.toEqual(named('BadDigest'));
    await expect(head('wrong')).rejects.toEqual(named('NotFound'));
    const ObjectAttributes = ['ETag', 'ObjectSize', 'Checksum'] as const;
    const input = { Bucket, Key: 'summed', ObjectAttributes: [...ObjectAttributes] };
    expect(await client.send(new GetObjectAttributesCommand(input))).toMatchObject({
      ObjectSize: 4,
      Checksum: { ChecksumCRC64NVME: sent.ChecksumCRC64NVME },
    });
  });

  test('are copied with their metadata, or with other metadata', async () => {
    await put('from ä+', 'copied', { Metadata: { a: '1' }, ContentType: 'a/b' });
    const copy = (Key: string, more: object, to = Bucket) => {
      const CopySource = `${Bucket}/${encodeURIComponent('from ä+')}`;
      return client.send(new CopyObjectCommand({ Bucket: to, Key, CopySource, ...more }));
    };
    await copy('same', {});
    expect(await get('same')).toMatchObject({ text: 'copied', Metadata: { a: '1' } });
    const replaced = { MetadataDirective: 'REPLACE', Metadata: { b: '2' }, ContentType: 'c/d' };
    const { CopyObjectResult, VersionId } = await copy('other', replaced);
    expect(VersionId, 'the copy is one change').toMatch(/^1-/);
    expect(await get('other')).toMatchObject({ Metadata: { b: '2' }, ContentType: 'c/d' });
    expect(CopyObjectResult?.ETag).toBe((await head('from ä+')).ETag);
    await expect(copy('from ä+', {})).rejects.toEqual(named('InvalidRequest'));
    await copy('from ä+', replaced);
    expect((await head('from ä+')).Metadata).toEqual({ b: '2' });
    const failing = { CopySourceIfMatch: '"other"' };
    await expect(copy('x', failing)).rejects.toEqual(named('PreconditionFailed'));
    await copy('opened', {}, 'sealed');
    expect(await get('opened', { Bucket: 'sealed' })).toMatchObject({ text: 'copied' });
    const back = { Bucket, Key: 'back', CopySource: 'sealed/opened' };
    await client.send(new CopyObjectCommand(back));
    expect(await get('back')).toMatchObject({ text: 'copied', Metadata: { b: '2' } });
    expect((await head('back')).ETag).toBe((await head('same')).ETag);
    await client.send(new DeleteObjectCommand({ Bucket: 'sealed', Key: 'opened' }));
  });

  test('are tagged, and found by their tags', async () => {
    await put('tagged', 'x');
    const TagSet = [
      { Key: 'env', Value: 'prod=1' },
      { Key: 'odd, =key', Value: '' },
    ];
    const input = { Bucket, Key: 'tagged' };
    await client.send(new PutObjectTaggingCommand({ ...input, Tagging: { TagSet } }));
    const tags = () => client.send(new GetObjectTaggingCommand(input));
    expect((await tags()).TagSet).toEqual(TagSet);
    expect((await s3Server.storage.stat({ bucket: Bucket, path: 'tagged' })).tags[0]).toBe(
      'env=prod=1',
    );
    await client.send(new DeleteObjectTaggingCommand(input));
    expect((await tags()).TagSet).toEqual([]);
  });

  test('are deleted one by one and together, also repeatedly', async () => {
    const Keys = ['gone 1', 'gone/2', 'gone/', 'gone &<3>'];
    await Promise.all(Keys.map((key) => put(key, 'x')));
    await client.send(new DeleteObjectCommand({ Bucket, Key: Keys[0] }));
    await client.send(new DeleteObjectCommand({ Bucket, Key: Keys[0] }));
    const Objects = [...Keys, 'a//b', '../x'].map((Key) => ({ Key }));
    const many = await client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }));
    expect(many.Deleted).toHaveLength(6);
    expect(many.Errors).toBeUndefined();
    await Promise.all(Keys.map((key) => expect(head(key)).rejects.toEqual(named('NotFound'))));
    const quiet = { Objects: [{ Key: 'gone/' }], Quiet: true };
    const answer = await client.send(new DeleteObjectsCommand({ Bucket, Delete: quiet }));
    expect(answer.Deleted).toBeUndefined();
  });

  test('have former versions if the bucket keeps them', async () => {
    const versioning = () => client.send(new GetBucketVersioningCommand({ Bucket }));
    expect((await versioning()).Status).toBe('Enabled');
    await put('kept', 'one');
    await put('kept', 'second');
    const list = () => client.send(new ListObjectVersionsCommand({ Bucket, Prefix: 'kept' }));
    const { Versions = [] } = await list();
    expect(Versions).toMatchObject([
      { Key: 'kept', IsLatest: true, Size: 6 },
      { Key: 'kept', IsLatest: false, Size: 3 },
    ]);
    const [newest, VersionId] = Versions.map((version) => version.VersionId);
    expect((await get('kept', { VersionId: newest })).text).toBe('second');
    expect((await get('kept', { VersionId })).text).toBe('one');
    const first = { Bucket, Prefix: 'kept', MaxKeys: 1 };
    const page = await client.send(new ListObjectVersionsCommand(first));
    const KeyMarker = page.NextKeyMarker;
    const next = { ...first, KeyMarker, VersionIdMarker: page.NextVersionIdMarker };
    const rest = await client.send(new ListObjectVersionsCommand(next));
    expect(rest).toMatchObject({ IsTruncated: false, Versions: [{ VersionId }] });
    await client.send(new DeleteObjectCommand({ Bucket, Key: 'kept', VersionId }));
    await client.send(new DeleteObjectCommand({ Bucket, Key: 'kept', VersionId: newest }));
    expect((await list()).Versions).toBeUndefined();
    const Status = 'Suspended';
    const suspended = new PutBucketVersioningCommand({
      Bucket,
      VersioningConfiguration: { Status },
    });
    await expect(client.send(suspended)).rejects.toEqual(named('InvalidBucketState'));
  });

  test.each(['a//b', '../demo/x', 'a/./b', '/a', 'a\0b', 'x/ '])(
    'cannot have the key %j',
    async (key) => {
      await expect(put(key, 'x')).rejects.toEqual(named('InvalidArgument'));
      await expect(head(key)).rejects.toEqual(named('NotFound'));
    },
  );
});

describe.each(['names', 'sealed'])('efs serve s3: the list of bucket %s', (bucket) => {
  async function pages(MaxKeys: number, more: object) {
    const found: string[] = [];
    const config = { client, pageSize: MaxKeys };
    for await (const page of paginateListObjectsV2(config, { Bucket: bucket, ...more })) {
      const prefixes = (page.CommonPrefixes ?? []).map(({ Prefix }) => `${Prefix}*`);
      found.push(...(page.Contents ?? []).map(({ Key = '' }) => Key), ...prefixes);
      expect(page.KeyCount).toBeLessThanOrEqual(MaxKeys);
    }
    return found;
  }
  const sorted = (names: string[]) =>
    names.sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)));

  test.each([2, 1_000])('has every key in the order of UTF-8, with pages of %i', async (size) => {
    expect(await pages(size, {})).toEqual(inOrder);
    expect(await pages(size, { EncodingType: 'url' })).toEqual(
      inOrder.map((key) => encodeURIComponent(key).replaceAll('%2F', '/')),
    );
  });

  test.each([1, 1_000])(
    'has folders, and groups by any delimiter, with pages of %i',
    async (size) => {
      const below = (Prefix: string, Delimiter: string) => pages(size, { Prefix, Delimiter });
      const folders = inOrder.filter((key) => !key.includes('/'));
      expect(sorted(await below('', '/'))).toEqual(sorted([...folders, 'b!/*', 'b/*']));
      expect(await below('b/', '/')).toEqual(['b/', 'b/1', 'b/2/*']);
      const others = inOrder.filter((key) => !key.includes('2'));
      expect(sorted(await below('', '2'))).toEqual(sorted([...others, 'b/2*', 'a%2*']));
      expect(await below('b/2', '')).toEqual(['b/2/c', 'b/2/d']);
      expect(await below('b/ ', '')).toEqual([]);
    },
  );

  test('begins after a name, in both versions of the list', async () => {
    const StartAfter = 'b/';
    const after = inOrder.slice(inOrder.indexOf(StartAfter) + 1);
    const second = await client.send(new ListObjectsV2Command({ Bucket: bucket, StartAfter }));
    expect(second.Contents?.map(({ Key }) => Key)).toEqual(after);
    const input = { Bucket: bucket, Marker: StartAfter, MaxKeys: 2, Delimiter: '/' };
    const first = await client.send(new ListObjectsCommand(input));
    expect(first).toMatchObject({ IsTruncated: true, NextMarker: 'ä' });
    expect(first.Contents?.map(({ Key }) => Key)).toEqual(['c', 'ä']);
    const none = await client.send(new ListObjectsV2Command({ Bucket: bucket, MaxKeys: 0 }));
    expect(none).toMatchObject({ KeyCount: 0, IsTruncated: false });
    const wrong = new ListObjectsV2Command({ Bucket: bucket, ContinuationToken: 'b/' });
    await expect(client.send(wrong)).rejects.toEqual(named('InvalidArgument'));
  });
});

test('efs serve s3: buckets are created, listed, inspected and removed', async () => {
  const input = { Bucket: 'fresh' };
  await client.send(new CreateBucketCommand(input));
  // Creation is repeatable as in us-east-1; these options have no effect.
  const again = { ...input, ACL: 'private', ObjectLockEnabledForBucket: false } as const;
  await client.send(new CreateBucketCommand(again));
  const { Buckets = [] } = await client.send(new ListBucketsCommand());
  expect(Buckets.map(({ Name }) => Name)).toContain('fresh');
  await client.send(new HeadBucketCommand(input));
  await put('x', 'x', input);
  await expect(client.send(new DeleteBucketCommand(input))).rejects.toEqual(
    named('BucketNotEmpty'),
  );
  await client.send(new DeleteObjectCommand({ ...input, Key: 'x' }));
  await client.send(new DeleteBucketCommand(input));
  await expect(client.send(new HeadBucketCommand(input))).rejects.toEqual(named('NotFound'));
  await expect(put('x', 'x', input)).rejects.toEqual(named('NoSuchBucket'));
});

test.each([
  [new GetBucketPolicyCommand({ Bucket }), 'NoSuchBucketPolicy'],
  [new GetBucketCorsCommand({ Bucket }), 'NoSuchCORSConfiguration'],
  [new GetBucketLifecycleConfigurationCommand({ Bucket }), 'NoSuchLifecycleConfiguration'],
  [new GetBucketEncryptionCommand({ Bucket }), 'ServerSideEncryptionConfigurationNotFoundError'],
  [new GetBucketTaggingCommand({ Bucket }), 'NoSuchTagSet'],
  [new GetPublicAccessBlockCommand({ Bucket }), 'NoSuchPublicAccessBlockConfiguration'],
  [new GetBucketOwnershipControlsCommand({ Bucket }), 'OwnershipControlsNotFoundError'],
  [new GetBucketWebsiteCommand({ Bucket }), 'NoSuchWebsiteConfiguration'],
  [new GetBucketReplicationCommand({ Bucket }), 'ReplicationConfigurationNotFoundError'],
  [new GetBucketPolicyCommand({ Bucket: 'none' }), 'NoSuchBucket'],
] as [GetBucketPolicyCommand, string][])(
  'GET of absent setting %# reports %s',
  async (asked, code) => {
    const $metadata = expect.objectContaining({ httpStatusCode: 404 });
    await expect(client.send(asked)).rejects.toMatchObject({ name: code, $metadata });
  },
);

test('efs serve s3: settings that S3 reports as empty are empty, and deleting absent ones succeeds', async () => {
  const logging = await client.send(new GetBucketLoggingCommand({ Bucket }));
  expect(logging.LoggingEnabled).toBeUndefined();
  const events = await client.send(new GetBucketNotificationConfigurationCommand({ Bucket }));
  expect(events.QueueConfigurations).toBeUndefined();
  const metrics = new ListBucketMetricsConfigurationsCommand({ Bucket });
  expect(await client.send(metrics)).toMatchObject({ IsTruncated: false });
  await client.send(new DeleteBucketPolicyCommand({ Bucket }));
  const missing = new DeleteBucketPolicyCommand({ Bucket: 'none' });
  await expect(client.send(missing)).rejects.toEqual(named('NoSuchBucket'));
});

test('efs serve s3: PutBucketPolicy is refused so that clients do not retry', async () => {
  const patient = s3Server.client(ownerKey, { maxAttempts: 5 });
  const Policy = JSON.stringify({ Version: '2012-10-17', Statement: [] });
  const put = new PutBucketPolicyCommand({ Bucket: 'names', Policy });
  const $metadata = expect.objectContaining({ httpStatusCode: 400, attempts: 1 });
  await expect(patient.send(put)).rejects.toMatchObject({ name: 'NotImplemented', $metadata });
});

test('efs serve s3: PutBucketAcl accepts only the ACL private, and only for a private bucket', async () => {
  const acl = (bucket: string, ACL: 'private' | 'public-read') =>
    client.send(new PutBucketAclCommand({ Bucket: bucket, ACL }));
  await acl(Bucket, 'private');
  await expect(acl(Bucket, 'public-read')).rejects.toEqual(named('NotImplemented'));
  await expect(acl('public', 'private')).rejects.toEqual(named('NotImplemented'));
});

test('efs serve s3: ListBuckets filters by prefix and has pages', async () => {
  const page = (more: object) => client.send(new ListBucketsCommand({ Prefix: 's', ...more }));
  await client.send(new CreateBucketCommand({ Bucket: 'second' }));
  const first = await page({ MaxBuckets: 1 });
  const { ContinuationToken } = first;
  const next = await page({ MaxBuckets: 1, ContinuationToken });
  const names = [...(first.Buckets ?? []), ...(next.Buckets ?? [])].map(({ Name }) => Name);
  expect(names).toEqual(['sealed', 'second']);
  expect(next.ContinuationToken).toBeUndefined();
  await expect(page({ MaxBuckets: 10_001 })).rejects.toEqual(named('InvalidArgument'));
});

test('efs serve s3: ListMultipartUploads refuses a missing bucket with 404, and an unsigned request', async () => {
  const missing = new ListMultipartUploadsCommand({ Bucket: 'none' });
  await expect(client.send(missing)).rejects.toEqual(named('NoSuchBucket'));
  expect((await fetch(`${s3Server.url}/public?uploads`)).status).toBe(403);
});

test('efs serve s3: ListObjectsV2 treats an empty continuation token as the beginning', async () => {
  const list = new ListObjectsV2Command({ Bucket: 'names', ContinuationToken: '', MaxKeys: 1 });
  expect((await client.send(list)).Contents?.map(({ Key }) => Key)).toEqual(inOrder.slice(0, 1));
});

test('efs serve s3: GET ignores an expectation other than 100-continue', async () => {
  await put('expected', 'x', { Bucket: 'public' });
  const status = await new Promise((resolve, reject) => {
    const headers = { Expect: '200-ok' };
    request(`${s3Server.url}/public/expected`, { headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on('error', reject)
      .end();
  });
  expect(status).toBe(200);
});

test('efs serve s3: response-content-disposition may have Latin-1, and no other characters', async () => {
  await put('latin', 'x');
  const shown = (name: string) =>
    get('latin', { ResponseContentDisposition: `inline; a="${name}"` });
  expect((await shown('föö')).ContentDisposition).toBe('inline; a="föö"');
  await expect(shown('日本')).rejects.toEqual(named('InvalidArgument'));
  await expect(shown('a\r\nb')).rejects.toEqual(named('InvalidArgument'));
});

test('efs serve s3: a presigned URL is valid only for the request that it was signed for', async () => {
  await put('signed', 'by an address');
  const options = { expiresIn: 60 };
  const shown = { Bucket, Key: 'signed', ResponseContentType: 'a/b' };
  const url = await getSignedUrl(client, new GetObjectCommand(shown), options);
  const answer = await fetch(url);
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'a/b']);
  expect(await answer.text()).toBe('by an address');
  expect((await fetch(url.replace('/signed?', '/noted?'))).status).toBe(403);
  // Otherwise the SDK signs a checksum of an empty body.
  const plain = s3Server.client(ownerKey, { requestChecksumCalculation: 'WHEN_REQUIRED' });
  const putUrl = await getSignedUrl(plain, new PutObjectCommand({ Bucket, Key: 'put' }), options);
  expect((await fetch(putUrl, { method: 'PUT', body: 'sent' })).status).toBe(200);
  expect((await get('put')).text).toBe('sent');
});

test('efs serve s3: an unsigned request can only read public objects', async () => {
  await put('seen', 'by all', { Bucket: 'public' });
  const open = (path: string, init?: RequestInit) => fetch(`${s3Server.url}/${path}`, init);
  expect(await (await open('public/seen')).text()).toBe('by all');
  expect((await open(`${Bucket}/noted`)).status).toBe(404);
  expect((await open('public/mine', { method: 'PUT', body: 'x' })).status).toBe(403);
  expect((await open('public/seen', { method: 'DELETE' })).status).toBe(403);
  expect((await open('public/seen?response-content-type=text/html')).status).toBe(400);
});

test('efs serve s3: an API key has its permissions, only in its bucket', async () => {
  const keyed = s3Server.client(apiKey);
  const object = { Bucket: service.bucket, Key: 'by key/of 2 MB' };
  const Body = new Uint8Array(2_500_000).fill(7);
  await keyed.send(new PutObjectCommand({ ...object, Body, Metadata: { a: 'b' } }));
  const got = await keyed.send(new GetObjectCommand(object));
  expect(got.Metadata).toEqual({ a: 'b' });
  expect(Buffer.compare((await got.Body?.transformToByteArray()) ?? Body, Body)).toBe(0);
  await keyed.send(new CreateBucketCommand({ Bucket: service.bucket }));
  const others = new CreateBucketCommand({ Bucket });
  await expect(keyed.send(others)).rejects.toEqual(named('NotImplemented'));
  const elsewhere = new HeadObjectCommand({ Bucket, Key: 'noted' });
  const $metadata = expect.objectContaining({ httpStatusCode: 403 });
  await expect(keyed.send(elsewhere)).rejects.toMatchObject({ $metadata });
});

test('efs serve s3: no line of the log contains a secret', () => {
  expect(s3Server.log.length).toBeGreaterThan(50);
  expect(s3Server.log.join('\n')).not.toMatch(/x-amz-|\?|secret|authorization/i);
});
