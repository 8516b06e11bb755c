// A node that reports an end-to-end bucket as an ordinary one: the S3 server encrypts what it
// stores, and stores no digest of the plaintext.

import { PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createHttpStorage } from '../../packages/client/src/http-storage.ts';
import { forgedModes } from '../support/forged-modes.ts';
import { openService, type Service, sampleBytes } from '../support/service.ts';
import { openS3Server, type TestS3Server } from './support/s3-server.ts';

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
