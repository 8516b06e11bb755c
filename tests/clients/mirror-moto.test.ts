// `efs mirror` to moto, a third-party S3 server with versions and delete markers, and the way back
// by `aws s3 sync`.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CreateBucketCommand,
  DeleteObjectCommand,
  ListMultipartUploadsCommand,
  PutBucketVersioningCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import { createNodeStorage } from '../../packages/client/src/node/storage.ts';
import type { Storage } from '../../packages/client/src/storage.ts';
import { callCommand } from '../client/command-calls.ts';
import { collected } from '../client/mirrored-buckets.ts';
import { filesIn, objectsIn } from '../client/mirrored-objects.ts';
import { changeAtRandom } from '../client/random-changes.ts';
import { randomNumbers } from '../support/random-numbers.ts';
import { seedOr } from '../support/seed.ts';
import { openService, type Service, sampleBytes } from '../support/service.ts';
import { runProgram } from './support/run-program.ts';

const seed = seedOr(20_261_129);
const bucket = 'demo';
const credentials = { accessKeyId: 'moto', secretAccessKey: 'moto-secret' };

let service: Service;
let owner: Storage;
let moto: ChildProcess;
let client: S3Client;
let folder: string;
let environment: Record<string, string>;

beforeAll(async () => {
  service = await openService({});
  folder = await mkdtemp(join(tmpdir(), 'mirror-moto-'));
  await writeFile(join(folder, 'owner.pem'), service.identityPem);
  const { host, canisterId, identityPem } = service;
  owner = createNodeStorage({ host, canisterId, identity: identityFromPem(identityPem) });
  await owner.buckets.update(bucket, { keepVersionsDays: 30 });
  const port = await freePort();
  moto = spawn('moto_server', ['-H', '127.0.0.1', '-p', `${port}`], { stdio: 'ignore' });
  const endpoint = `http://127.0.0.1:${port}`;
  client = new S3Client({ endpoint, region: 'us-east-1', forcePathStyle: true, credentials });
  await vi.waitFor(() => client.send(new CreateBucketCommand({ Bucket: 'versioned' })), 30_000);
  await client.send(new CreateBucketCommand({ Bucket: 'plain' }));
  const VersioningConfiguration = { Status: 'Enabled' } as const;
  const versioned = { Bucket: 'versioned', VersioningConfiguration };
  await client.send(new PutBucketVersioningCommand(versioned));
  environment = {
    ...{ EFS_HOST: host, EFS_CANISTER_ID: canisterId, EFS_IDENTITY: join(folder, 'owner.pem') },
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    AWS_REGION: 'us-east-1',
    AWS_ENDPOINT_URL: endpoint,
  };
});
afterAll(async () => {
  client?.destroy();
  moto?.kill('SIGTERM');
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

const efs = (...words: string[]) => callCommand(words, { folder, environment });
const mirror = (...flags: string[]) =>
  efs('mirror', bucket, '--to', 's3://versioned/copy', ...flags);

async function expectEqual(): Promise<void> {
  const files = await filesIn(owner, bucket);
  expect(files.size).toBeGreaterThan(0);
  expect(await objectsIn({ client, Bucket: 'versioned', Prefix: 'copy/' })).toEqual(files);
}

test(`efs mirror follows a random history with versions and delete markers (seed ${seed})`, async () => {
  const random = randomNumbers(seed);
  await owner.upload(sampleBytes('large', 20_000_000), { bucket, path: 'large/film' });
  for (let pass = 0; pass < 10; pass++) {
    for (let change = 0; change < 12; change++) await changeAtRandom(owner, bucket, random);
    expect(await mirror('--once')).toMatchObject({ code: 0 });
    await expectEqual();
    expect((await mirror('--once')).errors).toBe('0 stored, 0 changed, 0 removed, 0 erased.\n');
  }
  expect(await mirror('--verify', '--bytes')).toMatchObject({ code: 0, errors: '' });
  const { Uploads = [] } = await client.send(
    new ListMultipartUploadsCommand({ Bucket: 'versioned' }),
  );
  expect(Uploads).toEqual([]);
  await rm(join(folder, 'state'), { recursive: true });
  expect((await mirror('--once')).errors).toBe('0 stored, 0 changed, 0 removed, 0 erased.\n');
}, 900_000);

test('efs mirror repairs what others have deleted, by a run without its state', async () => {
  const [first] = await collected(owner.list({ bucket }));
  const Key = `copy/${first?.path}`;
  await client.send(new DeleteObjectCommand({ Bucket: 'versioned', Key }));
  const differing = await mirror('--verify');
  expect(differing).toMatchObject({
    code: 8,
    output: `${first?.path}: the mirror has deleted the file\n`,
  });
  await rm(join(folder, 'state'), { recursive: true });
  expect(await mirror('--once')).toMatchObject({ code: 0 });
  await expectEqual();
}, 300_000);

test('aws s3 sync and efs sync bring the files back after the canister is lost', async () => {
  const to = ['--to', 's3://plain', '--once'];
  expect(await efs('mirror', bucket, ...to)).toMatchObject({ code: 0 });
  const words = ['s3', 'sync', '--no-progress', 's3://plain', 'back'] as const;
  const env = { ...environment, AWS_EC2_METADATA_DISABLED: 'true' };
  const synced = await runProgram(['aws', ...words], { folder, env });
  expect(synced.errors).toBe('');
  await owner.buckets.create('restored');
  expect(await efs('sync', 'back', 'restored')).toMatchObject({ code: 0 });
  const digests = async (name: string) => {
    const files = await filesIn(owner, name);
    return [...files].flatMap(([path, { present }]) => (present ? [[path, present.sha256]] : []));
  };
  const restored = await digests('restored');
  expect(restored.length).toBeGreaterThan(10);
  expect(restored).toEqual(await digests(bucket));
}, 300_000);

test('efs mirror names the missing bucket', async () => {
  const { code, errors } = await efs('mirror', bucket, '--to', 's3://missing', '--once');
  expect(`${code} ${errors}`).toMatch(/^3 .*The S3 bucket missing does not exist at http/);
  expect(await readFile(join(folder, 'owner.pem'), 'utf8')).toContain('PRIVATE KEY');
});
