// A node that reports an end-to-end bucket as an ordinary one: the S3 server encrypts what it
// stores, and stores no digest of the plaintext. A node that answers writes over HTTP as if it had
// executed them: the S3 server reports only writes that have happened.

import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createHttpStorage } from '../../packages/client/src/http-storage.ts';
import { forgedModes } from '../support/forged-modes.ts';
import { type LyingGateway, startLyingGateway } from '../support/lying-gateway.ts';
import { openService, type Service, sampleBytes } from '../support/service.ts';
import { apiKey as keyOfService, openS3Server, type TestS3Server } from './support/s3-server.ts';

const bucket = 'safe';
let service: Service;
let s3Server: TestS3Server;
let client: S3Client;

beforeAll(async () => {
  service = await openService({ faults: {} });
  s3Server = await openS3Server(service);
  client = s3Server.client();
  await s3Server.storage.buckets.create(bucket, { endToEnd: {} });
});
afterAll(async () => {
  await s3Server?.stop();
  await service?.stop();
});

test.each([1_000, 3_000_000])(
  'efs serve s3 stores no digest of %i bytes of plaintext if a node lies',
  async (length) => {
    const { replica, canisterId } = service;
    if (replica === undefined) expect.fail('this needs the local replica');
    const { secret: apiKey } = await s3Server.storage.keys.create({
      name: 'reader',
      buckets: [bucket],
      permissions: ['read'],
    });
    const Key = `${length}.txt`;
    const Body = sampleBytes(Key, length);
    replica.setFaults({ forge: await forgedModes(replica, canisterId, undefined) });
    await client.send(new PutObjectCommand({ Bucket: bucket, Key, Body }));
    replica.setFaults({});
    const stored = createHttpStorage({ url: service.base, apiKey });
    const { contentType, metadata, size } = await stored.stat({ bucket, path: Key });
    expect(contentType).toBe('application/age');
    expect(size).toBeGreaterThan(length);
    expect(Object.keys(metadata ?? {})).toEqual(['s3.size']);
  },
);

describe('efs serve s3 with an API key, if a node only pretends to execute writes over HTTP', () => {
  let gateway: LyingGateway;
  let lied: TestS3Server;
  let keyed: S3Client;
  const Bucket = 'demo';

  beforeAll(async () => {
    gateway = await startLyingGateway(service.base);
    lied = await openS3Server({ ...service, base: gateway.url });
    keyed = lied.client(keyOfService, { maxAttempts: 1 });
  });
  afterAll(async () => {
    await lied?.stop();
    await gateway?.stop();
  });

  const has = (path: string) =>
    s3Server.storage.stat({ bucket: Bucket, path }).then(
      () => true,
      () => false,
    );

  test('PutObject stores, CopyObject copies, DeleteObject and DeleteObjects delete', async () => {
    await keyed.send(new PutObjectCommand({ Bucket, Key: 'a', Body: sampleBytes('a', 100) }));
    expect(await has('a')).toBe(true);
    await keyed.send(new CopyObjectCommand({ Bucket, Key: 'b', CopySource: `${Bucket}/a` }));
    expect(await has('b')).toBe(true);
    await keyed.send(new DeleteObjectCommand({ Bucket, Key: 'a' }));
    expect(await has('a')).toBe(false);
    await keyed.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects: [{ Key: 'b' }] } }));
    expect(await has('b')).toBe(false);
  });

  test('PutObject in chunks and a multipart upload fail, since their chunks go over HTTP', async () => {
    const Body = sampleBytes('large', 3_000_000);
    const large = new PutObjectCommand({ Bucket, Key: 'large', Body });
    await expect(keyed.send(large)).rejects.toThrow();
    const { UploadId } = await keyed.send(
      new CreateMultipartUploadCommand({ Bucket, Key: 'parts' }),
    );
    const upload = { Bucket, Key: 'parts', UploadId };
    const complete = async () => {
      const { ETag } = await keyed.send(new UploadPartCommand({ ...upload, PartNumber: 1, Body }));
      const MultipartUpload = { Parts: [{ ETag, PartNumber: 1 }] };
      await keyed.send(new CompleteMultipartUploadCommand({ ...upload, MultipartUpload }));
    };
    await expect(complete()).rejects.toThrow();
    expect(await has('large')).toBe(false);
  });
});
