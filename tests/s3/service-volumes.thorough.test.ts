// The S3 server with a service of three volumes: clients of S3 see one service.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteBucketCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  GetObjectTaggingCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListBucketsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3';
import type { Principal } from '@dfinity/principal';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import { createNodeServiceStorage } from '../../packages/client/src/node/storage.ts';
import type { ServiceStorage } from '../../packages/client/src/service-storage.ts';
import { readConfiguration } from '../../packages/efs/src/config/config.ts';
import { type Profile, writeProfiles } from '../../packages/efs/src/config/profiles.ts';
import { openAccount } from '../../packages/efs/src/service/serve-s3.ts';
import { manage } from '../replica/conformance/management-client.ts';
import { expectSameBytes } from '../support/expect-same.ts';
import { sampleBytes } from '../support/service.ts';
import { ServiceOfVolumes } from '../support/service-of-volumes.ts';
import { apiKey, openS3Server, ownerKey, type TestS3Server } from './support/s3-server.ts';

const service = new ServiceOfVolumes();
const buckets = ['one', 'two', 'three', 'four', 'five', 'six'];
const named = (name: string) => expect.objectContaining({ name });
let home: string;
let owner: ServiceStorage;
let s3Server: TestS3Server;
let client: S3Client;
/** A bucket of each volume, in the order of the volumes. */
let apart: string[];

beforeAll(async () => {
  await service.start(3, { isOnline: true });
  const [host, front] = [service.replica.url, service.frontId.toText()];
  const identity = identityFromPem(service.controllerPem);
  owner = createNodeServiceStorage({ host, front, identity });
  home = await mkdtemp(join(tmpdir(), 'efs-volumes-'));
  const pem = join(home, 'identity.pem');
  await writeFile(pem, service.controllerPem, { mode: 0o600 });
  const environment = { HOME: home };
  await vi.waitFor(
    async () => {
      const states = (await owner.volumes.list()).map(({ state }) => state);
      expect(states).toEqual(['open', 'open', 'open']);
    },
    { timeout: 60_000 },
  );
  await owner.buckets.create('keyed');
  const canisterId = await owner.volumeOf('keyed');
  const permissions = ['read', 'write'] as const;
  const request = { name: 'k', buckets: ['keyed'], permissions };
  const key = await owner.keys.create(request);
  const profiles: Record<string, Profile> = {
    owner: { host, front, identity: pem },
    key: { host, canisterId, apiKey: key.secret },
  };
  await writeProfiles(environment, { profiles });
  const served = readConfiguration({ profile: 'owner' }, environment);
  const described = { host, canisterId: front, base: host, apiKey: '' };
  s3Server = await openS3Server(
    { ...described, identityPem: service.controllerPem },
    { openAccount: (credential) => openAccount(served, credential) },
  );
  client = s3Server.client();
  for (const Bucket of buckets) await client.send(new CreateBucketCommand({ Bucket }));
  const places = await Promise.all(buckets.map((bucket) => owner.volumeOf(bucket)));
  apart = service.volumes.map((id) => buckets[places.indexOf(id.toText())] ?? '');
});
afterAll(async () => {
  await s3Server?.stop();
  await service.stop();
  await rm(home, { recursive: true, force: true });
});

async function namesOf(s3: S3Client): Promise<(string | undefined)[]> {
  return ((await s3.send(new ListBucketsCommand({}))).Buckets ?? []).map(({ Name }) => Name);
}

function put(Bucket: string, Key: string, Body: string | Uint8Array, more = {}) {
  return client.send(new PutObjectCommand({ Bucket, Key, Body, ...more }));
}

async function get(Bucket: string, Key: string, s3 = client) {
  const answer = await s3.send(new GetObjectCommand({ Bucket, Key }));
  return { ...answer, bytes: (await answer.Body?.transformToByteArray()) ?? new Uint8Array(0) };
}

async function text(bucket: string, key: string, s3 = client): Promise<string> {
  return Buffer.from((await get(bucket, key, s3)).bytes).toString();
}

describe('efs serve s3 with several volumes', () => {
  test('CreateBucket uses all volumes, and ListBuckets has the buckets of all', async () => {
    expect(apart).not.toContain('');
    expect(await namesOf(client)).toEqual(['keyed', ...buckets].sort());
    await client.send(new CreateBucketCommand({ Bucket: 'one' }));
    await client.send(new HeadBucketCommand({ Bucket: 'one' }));
    const missing = client.send(new HeadBucketCommand({ Bucket: 'none' }));
    await expect(missing).rejects.toEqual(named('NotFound'));
  });

  test('small objects of several buckets are stored and read at the same time', async () => {
    const all = buckets.flatMap((bucket) => Array.from({ length: 8 }, (_, n) => [bucket, `k${n}`]));
    const send = async (work: (bucket: string, key: string) => Promise<unknown>) =>
      Promise.all(all.map(([bucket = '', key = '']) => work(bucket, key)));
    await send((bucket, key) => put(bucket, `many/${key}`, `${bucket} ${key}`));
    await send(async (bucket, key) => {
      expect(await text(bucket, `many/${key}`)).toBe(`${bucket} ${key}`);
    });
    for (const Bucket of apart) {
      const list = () => client.send(new ListObjectsV2Command({ Bucket, Prefix: 'many/' }));
      expect((await list()).KeyCount).toBe(8);
      const Objects = all.slice(0, 8).map(([, key]) => ({ Key: `many/${key}` }));
      const removed = await client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }));
      expect(removed.Errors).toBeUndefined();
      expect((await list()).KeyCount).toBe(0);
    }
  });

  test('CopyObject copies between volumes with metadata, tags, checksum and ETag', async () => {
    const [from = '', to = ''] = apart;
    const bytes = sampleBytes('copied', 4_500_000);
    const noted = {
      ContentType: 'text/css',
      CacheControl: 'max-age=60',
      Metadata: { by: 'Ada' },
      ChecksumAlgorithm: 'CRC64NVME',
    };
    const stored = await put(from, 'source', bytes, { ...noted, Tagging: 'env=prod' });
    const copy = (Key: string, more = {}) =>
      client.send(
        new CopyObjectCommand({ Bucket: to, Key, CopySource: `${from}/source`, ...more }),
      );
    const { CopyObjectResult } = await copy('copy');
    expect(CopyObjectResult?.ETag).toBe(stored.ETag);
    const found = await get(to, 'copy');
    expectSameBytes(found.bytes, bytes);
    expect(found).toMatchObject({
      ...{ ContentType: 'text/css', CacheControl: 'max-age=60', Metadata: { by: 'Ada' } },
      ETag: stored.ETag,
    });
    const head = new HeadObjectCommand({ Bucket: to, Key: 'copy', ChecksumMode: 'ENABLED' });
    expect((await client.send(head)).ChecksumCRC64NVME).toBe(stored.ChecksumCRC64NVME);
    const tags = await client.send(new GetObjectTaggingCommand({ Bucket: to, Key: 'copy' }));
    expect(tags.TagSet).toEqual([{ Key: 'env', Value: 'prod' }]);
    const replaced = { MetadataDirective: 'REPLACE', Metadata: { b: '2' }, ContentType: 'c/d' };
    await copy('other', replaced);
    const other = await get(to, 'other');
    expect(other).toMatchObject({ Metadata: { b: '2' }, ContentType: 'c/d', ETag: stored.ETag });
    const failed = named('PreconditionFailed');
    await expect(copy('x', { CopySourceIfMatch: '"other"' })).rejects.toEqual(failed);
    await expect(copy('x', { CopySourceIfNoneMatch: stored.ETag })).rejects.toEqual(failed);
    await expect(copy('copy', { IfNoneMatch: '*' })).rejects.toEqual(failed);
    await expect(get(to, 'x')).rejects.toEqual(named('NoSuchKey'));
    await copy('copy', { IfMatch: stored.ETag, CopySourceIfMatch: stored.ETag });
  });

  test('a multipart upload stores parts, and copies of another volume, at any volume', async () => {
    const [from = '', , Bucket = ''] = apart;
    const parts = [0, 1, 2].map((n) => sampleBytes(`part ${n}`, 1_048_576));
    await put(from, 'last', sampleBytes('last', 900_000));
    const target = { Bucket, Key: 'parts' };
    const { UploadId } = await client.send(new CreateMultipartUploadCommand(target));
    const sent = await Promise.all(
      parts.map(async (Body, index) => {
        const part = { ...target, UploadId, PartNumber: index + 1, Body };
        return (await client.send(new UploadPartCommand(part))).ETag;
      }),
    );
    const copied = await client.send(
      new UploadPartCopyCommand({
        ...{ ...target, UploadId, PartNumber: 4 },
        ...{ CopySource: `${from}/last`, CopySourceRange: 'bytes=0-499999' },
      }),
    );
    const Parts = [...sent, copied.CopyPartResult?.ETag].map((ETag, index) => ({
      ...{ ETag, PartNumber: index + 1 },
    }));
    const completion = { ...target, UploadId, MultipartUpload: { Parts } };
    const { ETag } = await client.send(new CompleteMultipartUploadCommand(completion));
    expect(ETag).toMatch(/-4"$/);
    const whole = Buffer.concat([...parts, sampleBytes('last', 900_000).subarray(0, 500_000)]);
    expectSameBytes((await get(Bucket, 'parts')).bytes, whole);
    expect(await owner.uploads.list({ bucket: Bucket })).toEqual([]);
    const copy = { Bucket: from, Key: 'joined', CopySource: `${Bucket}/parts` };
    expect((await client.send(new CopyObjectCommand(copy))).CopyObjectResult?.ETag).toBe(ETag);
    const PartNumber = 2;
    const second = new GetObjectCommand({ Bucket: from, Key: 'joined', PartNumber });
    const answer = await client.send(second);
    expect(answer.PartsCount).toBe(4);
    expectSameBytes((await answer.Body?.transformToByteArray()) as Uint8Array, parts[1] as Buffer);
  });

  test('end-to-end buckets of several volumes are encrypted and decrypted', async () => {
    const sealed = ['safe-a', 'safe-b', 'safe-c'];
    for (const bucket of sealed) await owner.buckets.create(bucket, { endToEnd: {} });
    const places = await Promise.all(sealed.map((bucket) => owner.volumeOf(bucket)));
    expect(new Set(places).size).toBeGreaterThan(1);
    for (const bucket of sealed) {
      await put(bucket, 'secret', `secret of ${bucket}`);
      expect(await text(bucket, 'secret')).toBe(`secret of ${bucket}`);
      const record = await owner.stat({ bucket, path: 'secret' });
      expect(record.contentType).toBe('application/age');
      for (const Bucket of [apart[0], apart[1], apart[2], 'safe-a']) {
        if (Bucket === bucket || Bucket === undefined) continue;
        const copy = { Bucket, Key: `of ${bucket}`, CopySource: `${bucket}/secret` };
        await client.send(new CopyObjectCommand(copy));
        expect(await text(Bucket, copy.Key)).toBe(`secret of ${bucket}`);
      }
    }
  });

  test('unsigned requests read public files of every volume, and an API key its bucket', async () => {
    const open = ['open-a', 'open-b', 'open-c'];
    for (const bucket of open) {
      await owner.buckets.create(bucket, { isPublic: true });
      await put(bucket, 'file', `public in ${bucket}`);
      const answer = await fetch(`${s3Server.url}/${bucket}/file`);
      expect(await answer.text()).toBe(`public in ${bucket}`);
    }
    const places = await Promise.all(open.map((bucket) => owner.volumeOf(bucket)));
    expect(new Set(places).size).toBeGreaterThan(1);
    await put('one', 'private', 'x');
    const answer = await fetch(`${s3Server.url}/one/private`);
    expect(answer.status).toBe(404);
    const keyed = s3Server.client(apiKey);
    await keyed.send(new PutObjectCommand({ Bucket: 'keyed', Key: 'k', Body: 'by key' }));
    expect(await text('keyed', 'k', keyed)).toBe('by key');
    await expect(text('one', 'private', keyed)).rejects.toEqual(
      expect.objectContaining({ name: expect.stringMatching(/^(AccessDenied|NoSuchBucket)$/) }),
    );
  });

  test('a bucket that was created again at another volume is found again', async () => {
    const Bucket = 'leaving';
    await client.send(new CreateBucketCommand({ Bucket }));
    await put(Bucket, 'a', 'x');
    const before = await owner.volumeOf(Bucket);
    await owner.remove({ bucket: Bucket, path: 'a' });
    await owner.buckets.remove(Bucket);
    await expect(text(Bucket, 'a')).rejects.toEqual(named('NoSuchBucket'));
    await client.send(new CreateBucketCommand({ Bucket }));
    await put(Bucket, 'a', 'x');
    await owner.remove({ bucket: Bucket, path: 'a' });
    await owner.buckets.remove(Bucket);
    const target = service.volumes.find((id) => id.toText() !== before) as Principal;
    await service.createAt(target, Bucket);
    const patient = s3Server.client(ownerKey, { maxAttempts: 3 });
    await patient.send(new PutObjectCommand({ Bucket, Key: 'b', Body: 'there' }));
    expect(await text(Bucket, 'b')).toBe('there');
    const listed = await client.send(new ListObjectsV2Command({ Bucket }));
    expect(listed.Contents?.map(({ Key }) => Key)).toEqual(['b']);
    const Delete = { Objects: [{ Key: 'b' }] };
    await client.send(new DeleteObjectsCommand({ Bucket, Delete }));
    await client.send(new DeleteBucketCommand({ Bucket }));
    expect(await namesOf(client)).not.toContain(Bucket);
  });

  test('a stopped volume is named in the errors of its buckets and of ListBuckets', async () => {
    const [first = '', second = ''] = apart;
    const stopped = service.volumes[1] as Principal;
    await put(first, 'there', 'still');
    await put(second, 'gone', 'for now');
    await service.setFrozen(stopped, true);
    const $metadata = expect.objectContaining({ httpStatusCode: 503 });
    const message = expect.stringContaining(stopped.toText());
    const refused = { name: 'ServiceUnavailable', $metadata, message };
    await expect(text(second, 'gone')).rejects.toMatchObject(refused);
    await expect(put(second, 'more', 'x')).rejects.toMatchObject(refused);
    await expect(namesOf(client)).rejects.toMatchObject(refused);
    await expect(text('none', 'x')).rejects.toMatchObject(refused);
    expect(await text(first, 'there')).toBe('still');
    await put(first, 'more', 'x');
    await service.setFrozen(stopped, false);
    expect(await text(second, 'gone')).toBe('for now');
    expect(await namesOf(client)).toContain(second);
  });

  test('ListBuckets waits less for a stopped volume than its objects do', async () => {
    const [, Bucket = ''] = apart;
    await put(Bucket, 'waits', 'for the start');
    const canister = { canister_id: service.volumes[1], sender: service.controller };
    await manage(service.replica, 'stop_canister', canister);
    const read = text(Bucket, 'waits');
    const list = namesOf(client).catch((error) => error);
    expect(await Promise.race([list, read])).toMatchObject({ name: 'ServiceUnavailable' });
    await manage(service.replica, 'start_canister', canister);
    expect(await read).toBe('for the start');
    expect(await namesOf(client)).toContain(Bucket);
  });
});
