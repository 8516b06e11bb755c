// Objects through the S3 server by the SDK of S3: uploaded bytes are returned unchanged, in plain,
// private and end-to-end buckets.

import { createHash } from 'node:crypto';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openService, type Service, sampleBytes } from '../support/service.ts';
import { openS3Server, type TestS3Server } from './support/s3-server.ts';

let service: Service;
let s3Server: TestS3Server;
let client: S3Client;

beforeAll(async () => {
  service = await openService();
  s3Server = await openS3Server(service);
  client = s3Server.client();
  await s3Server.storage.buckets.create('private');
  await s3Server.storage.buckets.create('sealed', { endToEnd: { sealsNames: false } });
});
afterAll(async () => {
  await s3Server?.stop();
  await service?.stop();
});

const md5 = (bytes: Uint8Array) => createHash('md5').update(bytes).digest('hex');

async function get(Bucket: string, Key: string): Promise<Uint8Array> {
  const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
  return (await Body?.transformToByteArray()) ?? new Uint8Array(0);
}

test.each(['demo', 'private', 'sealed'])(
  'putObject(): objects of bucket %s can be read back',
  async (Bucket) => {
    await Promise.all([0, 1, 5_000, 150_000, 4_000_000].map((size) => goThere(Bucket, size)));
  },
);

test('getObject() and lists have no list of keys of a link to a folder', async () => {
  const path = 'trip/.efs-shared/AAAAAAAAAAAAAAAA.age';
  for (const Bucket of ['private', 'sealed']) {
    await s3Server.storage.upload(new Blob(['keys']), { bucket: Bucket, path });
    const other = { Bucket, Key: 'trip/.efs-shared/other.txt', Body: 'other' };
    await client.send(new PutObjectCommand(other));
    const keys = async (Delimiter?: string) => {
      const { Contents = [] } = await client.send(
        new ListObjectsV2Command({ Bucket, Prefix: 'trip/.efs-shared/', Delimiter }),
      );
      return Contents.map(({ Key }) => Key);
    };
    const shown = Bucket === 'private' ? [path, other.Key] : [other.Key];
    expect([await keys(), await keys('/'), await keys('~')]).toEqual([shown, shown, shown]);
    const head = client.send(new HeadObjectCommand({ Bucket, Key: path }));
    if (Bucket === 'private') {
      await head;
      expect(await get(Bucket, path)).toHaveLength(4);
      continue;
    }
    await expect(head).rejects.toMatchObject({ $metadata: { httpStatusCode: 404 } });
    await expect(get(Bucket, path)).rejects.toMatchObject({ name: 'NoSuchKey' });
  }
});

async function goThere(Bucket: string, size: number): Promise<void> {
  const Key = `objects/of ${size}+ä.bin`;
  const Body = sampleBytes(Key, size);
  const put = await client.send(
    new PutObjectCommand({ Bucket, Key, Body, Metadata: { mtime: '1.5' }, ContentType: 'a/b' }),
  );
  const etag = Bucket === 'sealed' ? /^"[0-9a-f]{32}-\d+"$/ : new RegExp(`^"${md5(Body)}"$`);
  expect(put.ETag).toMatch(etag);
  const head = await client.send(new HeadObjectCommand({ Bucket, Key }));
  expect(head).toMatchObject({ ContentLength: size, ETag: put.ETag, Metadata: { mtime: '1.5' } });
  expect(Buffer.compare(await get(Bucket, Key), Body)).toBe(0);
  const listed = await client.send(new ListObjectsV2Command({ Bucket, Prefix: Key }));
  expect(listed.Contents).toMatchObject([{ Key, Size: size, ETag: put.ETag }]);
  await client.send(new DeleteObjectCommand({ Bucket, Key }));
  await expect(get(Bucket, Key)).rejects.toMatchObject({ name: 'NoSuchKey' });
}
