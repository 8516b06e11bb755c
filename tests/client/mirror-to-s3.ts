// A service and its mirror in S3, which is another service behind `efs serve s3`. Each test has new
// buckets.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import { createNodeStorage } from '../../packages/client/src/node/storage.ts';
import type { Storage } from '../../packages/client/src/storage.ts';
import { openS3Server, ownerKey, type TestS3Server } from '../s3/support/s3-server.ts';
import { openService, type Service } from '../support/service.ts';
import { callCommand } from './command-calls.ts';
import { filesIn, objectsIn } from './mirrored-objects.ts';

let here: Service;
export let there: Service;
export let s3Server: TestS3Server;
export let client: S3Client;
export let owner: Storage;
export let folder: string;
/** Name of both buckets. */
export let bucket: string;
let count = 0;

/** Call it once, at the top of a test file. */
export function openMirrorToS3(): void {
  beforeAll(async () => {
    here = await openService({});
    there = await openService({});
    s3Server = await openS3Server(there);
    client = s3Server.client();
    folder = await mkdtemp(join(tmpdir(), 'mirror-s3-'));
    await writeFile(join(folder, 'here.pem'), here.identityPem);
    const { host, canisterId, identityPem } = here;
    owner = createNodeStorage({ host, canisterId, identity: identityFromPem(identityPem) });
  });
  afterAll(async () => {
    await s3Server?.stop();
    await here?.stop();
    await there?.stop();
    await rm(folder, { recursive: true, force: true });
  });
  beforeEach(async () => {
    count += 1;
    bucket = `photos-${count}`;
    await owner.buckets.create(bucket, { keepVersionsDays: 30 });
    await s3Server.storage.buckets.create(bucket, { keepVersionsDays: 30 });
  });
}

export function environment(more: Record<string, string> = {}) {
  return {
    ...{ EFS_HOST: here.host, EFS_CANISTER_ID: here.canisterId },
    EFS_IDENTITY: join(folder, 'here.pem'),
    AWS_ACCESS_KEY_ID: ownerKey.accessKeyId,
    AWS_SECRET_ACCESS_KEY: ownerKey.secretAccessKey,
    AWS_ENDPOINT_URL: s3Server.url,
    ...more,
  };
}

export const mirrorTo = (to: string, flags: readonly string[], more?: Record<string, string>) =>
  callCommand(['mirror', bucket, '--to', to, ...flags], { folder, environment: environment(more) });
export const mirror = (...flags: string[]) => mirrorTo(`s3://${bucket}/copy`, flags);
export const text = (words: string) => new TextEncoder().encode(words);
export const store = (path: string, bytes: Uint8Array, more = {}) =>
  owner.upload(bytes, { bucket, path, ...more });
/** Stores an object that is not the mirror's. */
export const put = (Key: string, words: string) =>
  client.send(new PutObjectCommand({ Bucket: bucket, Key, Body: words }));

export async function expectEqual(): Promise<void> {
  const files = await filesIn(owner, bucket);
  expect(files.size).toBeGreaterThan(0);
  expect(await objectsIn({ client, Bucket: bucket, Prefix: 'copy/' })).toEqual(files);
}
