// `efs serve s3` as a process: its keys, its addresses, and the files that remain after a kill.

import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  GetObjectCommand,
  ListBucketsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createStorage } from '../../packages/client/src/storage.ts';
import { type CommandRun, runCommand, startCommand } from '../client/command-runs.ts';
import { openService, type Service, sampleBytes } from '../support/service.ts';

let service: Service;
let folder: string;
const s3Servers: CommandRun[] = [];

beforeAll(async () => {
  service = await openService();
  folder = await mkdtemp(join(tmpdir(), 'efs-s3-'));
  await writeFile(join(folder, 'identity.pem'), service.identityPem, { mode: 0o600 });
});
afterAll(async () => {
  for (const s3Server of s3Servers) s3Server.process.kill('SIGKILL');
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

const efs = (...words: string[]) => runCommand(words, { folder });

async function serve(...words: string[]): Promise<CommandRun & { readonly url: string }> {
  const all = ['--profile', 'owner', 'serve', 's3', '--listen', '127.0.0.1:0', ...words];
  const s3Server = startCommand(all, { folder });
  s3Servers.push(s3Server);
  let output = '';
  s3Server.process.stdout?.on('data', (text) => {
    output += text;
  });
  await expect.poll(() => output).toMatch(/^S3 at \S+$/m);
  return { ...s3Server, url: /^S3 at (\S+)$/m.exec(output)?.[1] ?? '' };
}

const keys: Record<string, { accessKeyId: string; secretAccessKey: string }> = {};

const clientOf = (url: string, name: string) => {
  const credentials = keys[name] ?? { accessKeyId: '', secretAccessKey: '' };
  const place = { endpoint: url, region: 'us-east-1', forcePathStyle: true };
  return new S3Client({ ...place, credentials, maxAttempts: 1 });
};

test('efs serve s3: credentials are created for a profile and for an API key, in a file of their own', async () => {
  const { host, canisterId, base, apiKey } = service;
  const identity = join(folder, 'identity.pem');
  const named = ['--host', host, '--canister-id', canisterId, '--identity', identity];
  expect(await efs(...named, 'profile', 'add', 'owner')).toMatchObject({ code: 0 });
  const create = ['serve', 's3', 'credentials', 'create', '--json'];
  const made = await Promise.all([
    efs('--profile', 'owner', ...create),
    efs('serve', 's3', 'credentials', 'ls'),
  ]);
  expect(made[1]).toMatchObject({ code: 0 });
  keys.owner = JSON.parse(made[0]?.output ?? '');
  keys.key = JSON.parse((await efs('--url', base, '--api-key', apiKey, ...create)).output);
  const listed = await efs('serve', 's3', 'credentials', 'ls');
  expect(listed.output).toContain(`${keys.owner?.accessKeyId}  profile owner`);
  expect(listed.output).not.toContain(keys.owner?.secretAccessKey);
  expect((await stat(join(folder, 'config/efs/s3-credentials.json'))).mode & 0o777).toBe(0o600);
  expect(await efs('serve', 's3', 'credentials', 'rm', 'NONE')).toMatchObject({ code: 2 });
});

test('efs serve s3: only answered writes are stored after the S3 server is killed', async () => {
  const first = await serve();
  const object = { Bucket: service.bucket, Key: 'kept/small' };
  await clientOf(first.url, 'key').send(new PutObjectCommand({ ...object, Body: 'answered' }));
  const large = { ...object, Key: 'kept/large', Body: sampleBytes('large', 12_000_000) };
  const cut = clientOf(first.url, 'owner').send(new PutObjectCommand(large));
  const failed = expect(cut).rejects.toThrow();
  const storage = createStorage({ url: service.base, apiKey: service.apiKey });
  const openUploads = () => storage.uploads.list({ bucket: service.bucket });
  await expect.poll(openUploads, { interval: 10 }).not.toEqual([]);
  first.process.kill('SIGKILL');
  await failed;
  const second = await serve();
  const client = clientOf(second.url, 'owner');
  const list = new ListObjectsV2Command({ Bucket: object.Bucket, Prefix: 'kept/' });
  expect((await client.send(list)).Contents?.map(({ Key }) => Key)).toEqual(['kept/small']);
  await client.send(new PutObjectCommand(large));
  const { Body } = await client.send(new GetObjectCommand({ ...object, Key: 'kept/large' }));
  const bytes = (await Body?.transformToByteArray()) ?? new Uint8Array(0);
  expect(Buffer.compare(bytes, large.Body)).toBe(0);
  const { Buckets } = await client.send(new ListBucketsCommand());
  expect(Buckets?.map(({ Name }) => Name)).toEqual([service.bucket]);
  second.process.kill('SIGINT');
  const { code, errors } = await second.ended;
  expect(code).toBe(0);
  expect(errors).toMatch(/^PUT \/demo\/kept\/large 200 \d+ ms$/m);
  expect(errors).not.toContain(keys.owner?.secretAccessKey);
});

test('efs serve s3 --cors-origin answers preflights of each named origin', async () => {
  const origins = ['https://app.example', 'http://localhost:5173'];
  const { url } = await serve(...origins.flatMap((origin) => ['--cors-origin', origin]));
  const statusOf = async (Origin: string) => {
    const headers = { Origin, 'Access-Control-Request-Method': 'PUT' };
    return (await fetch(`${url}/demo/a`, { method: 'OPTIONS', headers })).status;
  };
  expect(await Promise.all([...origins, 'https://other.example'].map(statusOf))).toEqual([
    200, 200, 403,
  ]);
});

test('efs serve s3: a read-only S3 server refuses requests that change something', async () => {
  const { url } = await serve('--read-only');
  const object = { Bucket: service.bucket, Key: 'kept/small' };
  const client = clientOf(url, 'owner');
  const got = await client.send(new GetObjectCommand(object));
  expect(await got.Body?.transformToString()).toBe('answered');
  const refused = client.send(new PutObjectCommand({ ...object, Body: 'x' }));
  await expect(refused).rejects.toMatchObject({ name: 'AccessDenied' });
});
