// Deletions by the SDK: with conditions, and of versions by their ids.

import {
  DeleteObjectCommand,
  type DeleteObjectCommandInput,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectVersionsCommand,
  type ObjectIdentifier,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readXml } from '../../packages/s3/src/xml/read.ts';
import { openService, type Service } from '../support/service.ts';
import { openS3Server, type TestS3Server } from './support/s3-server.ts';

let service: Service;
let s3Server: TestS3Server;
let client: S3Client;

const kinds = [
  ['plain', {}],
  ['versioned', { keepVersionsDays: 3 }],
  ['sealed', { keepVersionsDays: 3, endToEnd: { sealsNames: true } }],
] as const;

beforeAll(async () => {
  service = await openService();
  s3Server = await openS3Server(service);
  client = s3Server.client();
  for (const [bucket, options] of kinds) await s3Server.storage.buckets.create(bucket, options);
});
afterAll(async () => {
  await s3Server?.stop();
  await service?.stop();
});

const failed = expect.objectContaining({
  name: 'PreconditionFailed',
  $metadata: expect.objectContaining({ httpStatusCode: 412 }),
});
const hasGone = expect.objectContaining({ name: 'NotFound' });

describe.each(kinds)('deleteObjects(): DeleteObject in bucket %s', (Bucket) => {
  const put = (Key: string, Body: string) =>
    client.send(new PutObjectCommand({ Bucket, Key, Body }));
  const head = (Key: string) => client.send(new HeadObjectCommand({ Bucket, Key }));
  const remove = (Key: string, more: Partial<DeleteObjectCommandInput>) =>
    client.send(new DeleteObjectCommand({ Bucket, Key, ...more }));

  test('with conditions deletes only an object that meets all of them', async () => {
    await put('a', '0123456789');
    const { ETag, LastModified } = await head('a');
    const epoch = new Date(0);
    for (const wrong of [
      { IfMatch: '"other"' },
      { IfMatchSize: 9 },
      { IfMatchLastModifiedTime: epoch },
      { IfMatch: ETag, IfMatchSize: 10, IfMatchLastModifiedTime: epoch },
    ]) {
      await expect(remove('a', wrong), JSON.stringify(wrong)).rejects.toEqual(failed);
    }
    const right = { IfMatch: ETag, IfMatchSize: 10, IfMatchLastModifiedTime: LastModified };
    await remove('a', right);
    await expect(head('a')).rejects.toEqual(hasGone);
    expect((await remove('a', { IfMatch: '"other"' })).$metadata.httpStatusCode).toBe(204);
  });

  test('with If-Match leaves an object that was stored after the comparison', async () => {
    await put('race', 'before');
    const { storage } = s3Server;
    const { etag } = await storage.stat({ bucket: Bucket, path: 'race' });
    await put('race', 'after');
    const file = { bucket: Bucket, path: 'race' };
    const refused = storage.remove(file, { ifMatch: `"${etag}"` });
    await expect(refused).rejects.toMatchObject({ code: 'PreconditionFailed' });
    expect((await head('race')).ContentLength).toBe(5);
  });

  test('and DeleteObjects check the conditions of each object', async () => {
    for (const key of ['b', 'c', 'd', 'e']) await put(key, key);
    const { ETag } = await head('b');
    const { LastModified } = await head('c');
    const Objects: ObjectIdentifier[] = [
      { Key: 'b', ETag },
      { Key: 'c', LastModifiedTime: LastModified, Size: 1 },
      { Key: 'd', ETag: '"other"' },
      { Key: 'e', Size: 2 },
      { Key: 'none', ETag: '"other"' },
    ];
    const answer = await client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }));
    expect(answer.Deleted?.map(({ Key }) => Key)).toEqual(['b', 'c', 'none']);
    expect(answer.Errors?.map(({ Key, Code }) => [Key, Code])).toEqual([
      ['d', 'PreconditionFailed'],
      ['e', 'PreconditionFailed'],
    ]);
    expect((await head('d')).ETag).toBeDefined();
  });
});

test.each(['versioned', 'sealed'])(
  'deleteObjects(): DeleteObject in bucket %s with the id of the newest version makes the previous one current',
  async (Bucket) => {
    const Key = 'history';
    const ids: (string | undefined)[] = [];
    for (const Body of ['one', 'second', 'the third']) {
      const { VersionId } = await client.send(new PutObjectCommand({ Bucket, Key, Body }));
      ids.push(VersionId);
    }
    const get = async () => {
      const { Body, VersionId } = await client.send(new GetObjectCommand({ Bucket, Key }));
      return [await Body?.transformToString(), VersionId];
    };
    const remove = (VersionId: string | undefined, IfMatch?: string) =>
      client.send(new DeleteObjectCommand({ Bucket, Key, VersionId, IfMatch }));
    await expect(remove(ids[2], '"other"')).rejects.toEqual(failed);
    await remove(ids[2]);
    expect(await get()).toEqual(['second', ids[1]]);
    await remove(ids[0]);
    expect(await get()).toEqual(['second', ids[1]]);
    const list = new ListObjectVersionsCommand({ Bucket, Prefix: Key });
    const { Versions } = await client.send(list);
    expect(Versions).toMatchObject([{ Key, IsLatest: true, VersionId: ids[1] }]);
    await remove(ids[1]);
    await expect(get()).rejects.toEqual(expect.objectContaining({ name: 'NoSuchKey' }));
    expect((await client.send(list)).Versions).toBeUndefined();
  },
);

test('readXml refuses more elements than the request may have, before parsing', () => {
  const many = Buffer.from(`<Delete>${'<a/>'.repeat(400_000)}</Delete>`);
  expect(() => readXml(many, 'Delete', 12_020)).toThrow('more than 12020 tags');
  const few = Buffer.from(`<Delete>${'<a/>'.repeat(12_018)}</Delete>`);
  expect(() => readXml(few, 'Delete', 12_020)).not.toThrow();
});
