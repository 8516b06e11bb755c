// A bucket with hyphens in its id, over every interface: the actor, HTTP, the command, the S3
// server, a site, links, an API key, and end-to-end encryption with sealed names.

import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CreateBucketCommand,
  GetObjectCommand,
  ListBucketsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import { createStorage, type Storage } from '../../packages/client/src/storage.ts';
import { openS3Server, type TestS3Server } from '../s3/support/s3-server.ts';
import { openService, type Service, sampleBytes } from '../support/service.ts';
import { callCommand } from './command-calls.ts';

const bucket = 'holiday-photos';
const bytes = sampleBytes(bucket, 3_000);
let service: Service;
let owner: Storage;
let http: Storage;
let s3Server: TestS3Server;
let folder: string;

beforeAll(async () => {
  service = await openService();
  const { base: url, host, canisterId, identityPem } = service;
  folder = await mkdtemp(join(tmpdir(), 'hyphen-bucket-'));
  await writeFile(join(folder, 'identity.pem'), identityPem);
  owner = createStorage({ host, canisterId, identity: identityFromPem(identityPem) });
  await owner.buckets.create(bucket);
  const { secret } = await owner.keys.create({
    name: 'album',
    buckets: [bucket],
    permissions: ['read', 'write', 'delete'],
  });
  http = createStorage({ url, apiKey: secret });
  s3Server = await openS3Server(service);
});
afterAll(async () => {
  await s3Server?.stop();
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

async function efs(...line: string[]): Promise<string> {
  const environment = {
    EFS_HOST: service.host,
    EFS_CANISTER_ID: service.canisterId,
    EFS_IDENTITY: join(folder, 'identity.pem'),
  };
  const ended = await callCommand(line, { folder, environment });
  expect(ended, line.join(' ')).toMatchObject({ code: 0 });
  return ended.output;
}

async function pathsOf(storage: Storage, name: string): Promise<string[]> {
  const paths: string[] = [];
  for await (const { path } of storage.list({ bucket: name })) paths.push(path);
  return paths;
}

test.each<[string, () => Storage]>([
  ['the actor', () => owner],
  ['HTTP and a key for this bucket', () => http],
])('createStorage(): a file is stored, read, listed and deleted by %s', async (_, storage) => {
  const file = { bucket, path: 'a-b/c.bin' };
  await storage().upload(bytes, { ...file, contentType: 'a/b' });
  expect(Buffer.compare(await (await storage().download(file)).bytes(), bytes)).toBe(0);
  expect(await pathsOf(storage(), bucket)).toEqual([file.path]);
  await storage().remove(file);
});

test('efs creates a bucket with a hyphen and syncs a folder to and from it', async () => {
  await efs('bucket', 'create', '2026-summer');
  expect(await efs('bucket', 'ls')).toMatch(/^2026-summer /m);
  await mkdir(join(folder, 'out'));
  await writeFile(join(folder, 'out', 'x.txt'), 'by efs');
  await efs('sync', 'out', '2026-summer/up');
  await efs('sync', '2026-summer/up', './back');
  expect(await readFile(join(folder, 'back', 'x.txt'), 'utf8')).toBe('by efs');
  await efs('cp', '2026-summer/up/x.txt', `${bucket}/copied-x.txt`);
  expect(await efs('cat', `${bucket}/copied-x.txt`)).toBe('by efs');
});

test('efs serve s3: the S3 server creates, fills and lists a bucket with a hyphen', async () => {
  const client = s3Server.client();
  await client.send(new CreateBucketCommand({ Bucket: 'by-s3' }));
  await client.send(new PutObjectCommand({ Bucket: 'by-s3', Key: 'a-b/c', Body: bytes }));
  const { Body } = await client.send(new GetObjectCommand({ Bucket: 'by-s3', Key: 'a-b/c' }));
  expect(Buffer.compare((await Body?.transformToByteArray()) ?? new Uint8Array(), bytes)).toBe(0);
  const { Contents } = await client.send(new ListObjectsV2Command({ Bucket: 'by-s3' }));
  expect(Contents?.map(({ Key }) => Key)).toEqual(['a-b/c']);
  const { Buckets } = await client.send(new ListBucketsCommand({}));
  expect(Buckets?.map(({ Name }) => Name)).toEqual(expect.arrayContaining(['by-s3', bucket]));
});

test('createStorage(): a public bucket can be a site with certified answers', async () => {
  await owner.buckets.create('web-site', { isPublic: true, isSite: true });
  const pages = { 'index.html': 'home', 'docs/index.html': 'docs', '404.html': 'lost' };
  for (const [path, text] of Object.entries(pages)) {
    await owner.upload(Buffer.from(text), { bucket: 'web-site', path, contentType: 'text/html' });
  }
  const answer = async (path: string) => {
    const url = `${service.base}/cloud/web-site/${path}`;
    const response = await fetch(url, { redirect: 'manual' });
    return [response.status, await response.text()];
  };
  expect(await answer('')).toEqual([200, 'home']);
  expect(await answer('docs/')).toEqual([200, 'docs']);
  expect((await answer('docs'))[0]).toBe(308);
  expect(await answer('none')).toEqual([404, 'lost']);
});

test('createStorage(): a link to a file of the bucket is opened, listed and removed', async () => {
  const file = { bucket, path: 'linked-file' };
  await http.upload(bytes, { ...file, contentType: 'a/b' });
  const { id, url } = await owner.links.create(file);
  const { pathname, search } = new URL(url, service.base);
  const opened = await fetch(`${service.base}${pathname}${search}`);
  expect(Buffer.compare(new Uint8Array(await opened.arrayBuffer()), bytes)).toBe(0);
  const listed: string[] = [];
  for await (const link of owner.links.list({ bucket })) listed.push(link.id);
  expect(listed).toEqual([id]);
  await owner.links.remove(bucket, id);
});

test('createStorage(): an end-to-end bucket seals files and names', async () => {
  await efs('bucket', 'create', '--end-to-end', '--seal-names', 'top-secret');
  await writeFile(join(folder, 'plan.txt'), 'sealed');
  await efs('put', 'plan.txt', 'top-secret/a-folder/');
  expect(await efs('ls', 'top-secret/a-folder/')).toContain('plan.txt');
  expect(await efs('cat', 'top-secret/a-folder/plan.txt')).toBe('sealed');
  const { endToEnd } = await owner.buckets.get('top-secret');
  expect(endToEnd).toMatchObject({ sealsNames: true, usesVetKeys: true });
});
