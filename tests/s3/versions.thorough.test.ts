// Versions of objects by the SDK, in public, private and end-to-end buckets: the id that an upload
// returned always reads that version, whatever happened to the object since.

import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetBucketVersioningCommand,
  GetObjectAttributesCommand,
  GetObjectCommand,
  type GetObjectCommandInput,
  GetObjectTaggingCommand,
  HeadObjectCommand,
  ListObjectVersionsCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  type PutObjectCommandInput,
  PutObjectTaggingCommand,
  type S3Client,
  UploadPartCommand,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bucketSecrets } from '../../packages/client/src/bucket-secrets.ts';
import { versionIdOf } from '../../packages/s3/src/account.ts';
import { openService, type Service, sampleBytes } from '../support/service.ts';
import { apiKey, openS3Server, ownerAccount, type TestS3Server } from './support/s3-server.ts';

let service: Service;
let s3Server: TestS3Server;
let client: S3Client;

const kinds = [
  ['public', { isPublic: true }],
  ['private', {}],
  ['sealed', { endToEnd: { sealsNames: true } }],
] as const;

beforeAll(async () => {
  service = await openService();
  s3Server = await openS3Server(service);
  client = s3Server.client();
  for (const [bucket, options] of kinds) {
    await s3Server.storage.buckets.create(bucket, { ...options, keepVersionsDays: 3 });
  }
  await s3Server.storage.buckets.create('plain');
});
afterAll(async () => {
  await s3Server?.stop();
  await service?.stop();
});

const numberOf = (id: string | undefined) => Number(/^(\d+)-[0-9a-z]+$/.exec(id ?? '')?.[1]);
const named = (name: string, status: number) =>
  expect.objectContaining({
    name,
    $metadata: expect.objectContaining({ httpStatusCode: status }),
  });

describe.each(kinds.map(([bucket]) => bucket))('in a %s bucket', (Bucket) => {
  const put = (Key: string, Body: Uint8Array, more: Partial<PutObjectCommandInput> = {}) =>
    client.send(new PutObjectCommand({ Bucket, Key, Body, ...more }));
  async function get(Key: string, more: Partial<GetObjectCommandInput> = {}) {
    const got = await client.send(new GetObjectCommand({ Bucket, Key, ...more }));
    return { ...got, bytes: Buffer.from((await got.Body?.transformToByteArray()) ?? []) };
  }
  const listed = async (Prefix: string) => {
    const { Versions = [] } = await client.send(new ListObjectVersionsCommand({ Bucket, Prefix }));
    return Versions;
  };

  test('versionIdOf(): a version can be read by its id, whatever happened to the object', async () => {
    const Key = 'a/kept';
    const contents = [2_000_000, 20, 300].map((size) => sampleBytes(`${size}`, size));
    const ids: string[] = [];
    for (const [index, bytes] of contents.entries()) {
      const Metadata = { turn: `${index}` };
      const answer = await put(Key, bytes, { ContentType: 'text/plain', Metadata });
      ids.push(answer.VersionId ?? expect.fail('no version id'));
    }
    expect(ids.map(numberOf)).toEqual([1, 2, 3]);
    const check = async () => {
      const all = await listed(Key);
      for (const [index, VersionId] of ids.entries()) {
        const bytes = contents[index] ?? Buffer.of();
        const got = await get(Key, { VersionId });
        expect(Buffer.compare(got.bytes, bytes)).toBe(0);
        const Metadata = { turn: `${index}` };
        const shown = { VersionId, Metadata, ContentLength: bytes.length, ETag: got.ETag };
        expect(got).toMatchObject(shown);
        const head = await client.send(new HeadObjectCommand({ Bucket, Key, VersionId }));
        expect(head).toMatchObject(shown);
        const facts = all.find((version) => version.VersionId === VersionId);
        expect(facts).toMatchObject({ Key, Size: bytes.length, ETag: got.ETag });
      }
    };
    await check();
    expect((await get(Key)).VersionId).toBe(ids[2]);
    await client.send(new DeleteObjectCommand({ Bucket, Key }));
    await expect(get(Key)).rejects.toEqual(named('NoSuchKey', 404));
    await check();
    const [VersionId] = ids;
    const range = await get(Key, { VersionId, Range: 'bytes=1899990-1900009' });
    expect(range.ContentRange).toBe('bytes 1899990-1900009/2000000');
    expect(
      Buffer.compare(range.bytes, contents[0]?.subarray(1_899_990, 1_900_010) ?? Buffer.of()),
    ).toBe(0);
    const IfNoneMatch = range.ETag;
    await expect(get(Key, { VersionId, IfNoneMatch })).rejects.toEqual(named('Unknown', 304));
    const wanted = { Bucket, Key, VersionId, ObjectAttributes: ['ObjectSize' as const] };
    const attributes = await client.send(new GetObjectAttributesCommand(wanted));
    expect(attributes).toMatchObject({ ObjectSize: 2_000_000, VersionId });
    const url = await getSignedUrl(client, new GetObjectCommand({ Bucket, Key, VersionId: '2' }));
    expect(await (await fetch(url)).arrayBuffer()).toHaveProperty('byteLength', 20);
    for (const id of ['4', '0', `2-${ids[0]?.split('-')[1]}`]) {
      await expect(get(Key, { VersionId: id })).rejects.toEqual(named('NoSuchVersion', 404));
    }
    await expect(get(Key, { VersionId: 'x' })).rejects.toEqual(named('InvalidArgument', 400));
    await client.send(new DeleteObjectCommand({ Bucket, Key, VersionId }));
    await expect(get(Key, { VersionId })).rejects.toEqual(named('NoSuchVersion', 404));
  });

  test('versionIdOf(): a version can be copied onto the object, to another, and as a part', async () => {
    const Key = 'a/source';
    const old = sampleBytes('old', 400_000);
    await put(Key, old, { ContentType: 'a/b', Metadata: { of: 'old' }, Tagging: 'k=v' });
    await put(Key, sampleBytes('new', 40));
    const CopySource = `${Bucket}/${Key}?versionId=1`;
    const copied = await client.send(new CopyObjectCommand({ Bucket, Key, CopySource }));
    expect([copied.VersionId, copied.CopySourceVersionId].map(numberOf)).toEqual([3, 1]);
    const back = await get(Key);
    expect(Buffer.compare(back.bytes, old)).toBe(0);
    // The service cannot see the type of an encrypted file.
    const ContentType = Bucket === 'sealed' ? 'binary/octet-stream' : 'a/b';
    expect(back).toMatchObject({ ContentType, Metadata: { of: 'old' }, TagCount: 1 });
    expect((await listed(Key)).map(({ VersionId }) => numberOf(VersionId))).toEqual([3, 2, 1]);
    await client.send(new CopyObjectCommand({ Bucket, Key: 'a/other', CopySource }));
    expect(Buffer.compare((await get('a/other')).bytes, old)).toBe(0);

    const target = { Bucket, Key: 'a/whole' };
    const { UploadId } = await client.send(new CreateMultipartUploadCommand(target));
    const from = { ...target, UploadId, CopySource, CopySourceRange: 'bytes=9-100008' };
    const part = await client.send(new UploadPartCopyCommand({ ...from, PartNumber: 1 }));
    const last = { ...target, UploadId, PartNumber: 2, Body: Buffer.from('end') };
    const { ETag } = await client.send(new UploadPartCommand(last));
    const Parts = [
      { PartNumber: 1, ETag: part.CopyPartResult?.ETag },
      { PartNumber: 2, ETag },
    ];
    const whole = { ...target, UploadId, MultipartUpload: { Parts } };
    const completed = await client.send(new CompleteMultipartUploadCommand(whole));
    expect([completed.VersionId, part.CopySourceVersionId].map(numberOf)).toEqual([1, 1]);
    const expected = Buffer.concat([old.subarray(9, 100_009), Buffer.from('end')]);
    expect(Buffer.compare((await get('a/whole', { VersionId: '1' })).bytes, expected)).toBe(0);
  });

  test('versionIdOf(): tags of a version are shown and cannot change', async () => {
    const Key = 'a/tagged';
    await put(Key, Buffer.from('one'), { Tagging: 'turn=1' });
    await put(Key, Buffer.from('two'), { Tagging: 'turn=2' });
    const tags = async (VersionId?: string) => {
      const got = await client.send(new GetObjectTaggingCommand({ Bucket, Key, VersionId }));
      return got.TagSet?.map(({ Value }) => Value);
    };
    expect(await tags('1')).toEqual(['1']);
    const Tagging = { TagSet: [{ Key: 'turn', Value: '3' }] };
    const change = new PutObjectTaggingCommand({ Bucket, Key, VersionId: '1', Tagging });
    await expect(client.send(change)).rejects.toEqual(named('NotImplemented', 400));
    expect(await tags()).toEqual(['2']);
  });
});

test('versionIdOf(): reading a version of a public bucket requires the right to read the bucket', async () => {
  const target = { Bucket: 'public', Key: 'secret' };
  for (const Body of ['a secret', 'none']) {
    await client.send(new PutObjectCommand({ ...target, Body }));
  }
  const at = `${s3Server.url}/public/secret`;
  expect(await (await fetch(at)).text()).toBe('none');
  const former = await fetch(`${at}?versionId=1`);
  expect([former.status, await former.text()]).toEqual([403, expect.stringContaining('Access')]);
});

test('versionIdOf(): a bucket that keeps no versions returns no ids until versioning is enabled', async () => {
  const target = { Bucket: 'plain', Key: 'a' };
  const put = () => client.send(new PutObjectCommand({ ...target, Body: 'x' }));
  expect((await put()).VersionId).toBeUndefined();
  expect((await client.send(new HeadObjectCommand(target))).VersionId).toBeUndefined();
  const VersioningConfiguration = { Status: 'Enabled' } as const;
  await client.send(new PutBucketVersioningCommand({ Bucket: 'plain', VersioningConfiguration }));
  const { Status } = await client.send(new GetBucketVersioningCommand({ Bucket: 'plain' }));
  expect(Status).toBe('Enabled');
  expect(numberOf((await put()).VersionId)).toBe(2);
});

test('versionIdOf(): the id of an erased version is never used again', async () => {
  const target = { Bucket: 'private', Key: 'again' };
  const put = async (Body: string) =>
    (await client.send(new PutObjectCommand({ ...target, Body }))).VersionId;
  await put('first');
  const gone = await put('second');
  await client.send(new DeleteObjectCommand({ ...target, VersionId: gone }));
  const next = await put('third');
  expect([gone, next].map(numberOf), 'the service has given the number again').toEqual([2, 2]);
  expect(next).not.toBe(gone);
  const read = client.send(new GetObjectCommand({ ...target, VersionId: gone }));
  await expect(read).rejects.toEqual(named('NoSuchVersion', 404));
  // Repeats a request that was executed but not answered, as a client does
  await client.send(new DeleteObjectCommand({ ...target, VersionId: gone }));
  const got = await client.send(new GetObjectCommand({ ...target, VersionId: next }));
  expect(await got.Body?.transformToString()).toBe('third');
});

test('versionIdOf(): over HTTP, keepsVersions() is false without a request', async () => {
  const secrets = bucketSecrets({ url: 'http://127.0.0.1:1', apiKey: 'efs_none' }, {});
  expect(await secrets.keepsVersions('public')).toBe(false);
});

test('versionIdOf(): if the look-up of versioning fails, the id is omitted and the operation succeeds', async () => {
  const keepsVersions = () => Promise.reject(new Error('The service is away.'));
  const { secrets } = ownerAccount(service);
  const record = { bucketId: 'public', version: 3, updatedAt: '1970-01-01T00:00:00.036Z' };
  expect(await versionIdOf({ secrets: { ...secrets, keepsVersions } }, record)).toBeUndefined();
  expect(await versionIdOf({ secrets }, record)).toBe('3-10');
});

test('versionIdOf(): an API key can read versions too, over HTTP', async () => {
  const byKey = s3Server.client(apiKey);
  const target = { Bucket: service.bucket, Key: 'by/key' };
  await s3Server.storage.buckets.update(service.bucket, { keepVersionsDays: 3 });
  const old = sampleBytes('by key', 2_500_000);
  for (const Body of [old, Buffer.from('new')]) {
    await byKey.send(new PutObjectCommand({ ...target, Body, Metadata: { a: 'b' } }));
  }
  const got = await byKey.send(new GetObjectCommand({ ...target, VersionId: '1' }));
  expect(got.Metadata).toEqual({ a: 'b' });
  expect(Buffer.compare((await got.Body?.transformToByteArray()) ?? old.subarray(1), old)).toBe(0);
  const none = byKey.send(new GetObjectCommand({ ...target, VersionId: '7' }));
  await expect(none).rejects.toEqual(named('NoSuchVersion', 404));
});
