// The command `efs` and the S3 server with a service of version 0.1.0: supported operations work,
// and errors of the others name the missing feature.

import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import {
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { IDL } from '@dfinity/candid';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import { createStorage, type Storage } from '../../packages/client/src/storage.ts';
import { type Replica, startReplica } from '../../packages/replica/src/replica.ts';
import { newIdentity, principalOf } from '../../scripts/local-service.ts';
import { apiKey as keyPair, openS3Server } from '../s3/support/s3-server.ts';
import { expectSameBytes } from '../support/expect-same.ts';
import { type Service, sampleBytes } from '../support/service.ts';
import { projectDir } from '../tidy/source-tree.ts';
import { callCommand } from './command-calls.ts';

type Way = Readonly<Record<string, string>>;

const large = sampleBytes('large', 2_500_000);
/** Fits into one request on any line, because records of 0.1.0 lack the length of chunks. */
const middle = sampleBytes('middle', 120_000);
const upgrade = 'Upgrade the service';

let replica: Replica;
let canisterId: string;
let apiKey: string;
let folder: string;
let storage: Storage;
let ways: Readonly<Record<'actor' | 'http', Way>>;
const pem = newIdentity();

beforeAll(async () => {
  const wasm = join(projectDir, 'tests', 'releases', '0.1.0', 'file_storage.wasm.gz');
  const sender = principalOf(pem);
  replica = await startReplica();
  canisterId = (await replica.createCanister({ controllers: [sender] })).toText();
  await replica.install(canisterId, new Uint8Array(gunzipSync(await readFile(wasm))));
  const host = `http://localhost:${replica.port}`;
  storage = createStorage({ host, canisterId, identity: identityFromPem(pem) });
  for (const bucket of ['one', 'two']) {
    const argument = IDL.encode([IDL.Text], [bucket]);
    await replica.call(canisterId, 'createBucket', argument, { sender });
  }
  folder = await mkdtemp(join(tmpdir(), 'earlier-commands-'));
  await mkdir(join(folder, 'tree/deep'), { recursive: true });
  await writeFile(join(folder, 'tree/a.txt'), 'a');
  await writeFile(join(folder, 'tree/deep/middle.bin'), middle);
  const EFS_IDENTITY = join(folder, 'identity.pem');
  await writeFile(EFS_IDENTITY, pem);
  const actor = { EFS_HOST: host, EFS_CANISTER_ID: canisterId, EFS_IDENTITY };
  const named = ['--name', 'k', '--permission', 'read,write,delete'];
  apiKey = (await efs(actor, 'key', 'create', 'one', ...named)).output.trim();
  ways = { actor, http: { EFS_URL: replica.url, EFS_API_KEY: apiKey } };
});
afterAll(async () => {
  await replica?.stop();
  await rm(folder, { recursive: true, force: true });
});

function efs(environment: Way, ...words: string[]) {
  return callCommand(words, { folder, environment });
}

test.each(['actor', 'http'] as const)('efs sync sends and fetches a folder, %s', async (way) => {
  const run = (...words: string[]) => efs(ways[way], 'sync', ...words);
  expect(await run('tree', `one/${way}`)).toMatchObject({ code: 0 });
  expect((await run('tree', `one/${way}`)).errors).toBe('0 sent, 2 the same, 0 removed.\n');
  expect(await run(`one/${way}`, `./${way}`)).toMatchObject({ code: 0 });
  expectSameBytes(await readFile(join(folder, way, 'deep/middle.bin')), middle);
  expect((await run(`one/${way}`, `./${way}`)).errors).toBe('0 fetched, 2 the same, 0 removed.\n');
});

test.each(['actor', 'http'] as const)('efs cp, mv and set ask for an upgrade, %s', async (way) => {
  await storage.upload(new Uint8Array(3), { bucket: 'one', path: 'refused', contentType: 'a/b' });
  for (const words of [
    ['cp', 'one/refused', 'one/copy'],
    ['mv', 'one/refused', 'one/moved'],
    ['set', '--type', 'text/html', 'one/refused'],
    ['link', 'create', '--expires', '7d', 'one/refused'],
  ]) {
    const { code, errors } = await efs(ways[way], ...words);
    expect([words[0], code]).toEqual([words[0], 2]);
    expect(errors).toContain(upgrade);
    expect(errors).toContain('[Unsupported');
  }
  expect((await storage.stat({ bucket: 'one', path: 'refused' })).size).toBe(3);
});

test('efs sync between buckets, mv -r and bucket create ask for an upgrade or name the missing method', async () => {
  await storage.upload(new Uint8Array(3), { bucket: 'one', path: 'm/a', contentType: 'a/b' });
  for (const [words, sentence] of [
    [['sync', 'one/m', 'two/copy'], upgrade],
    [['mv', '-r', 'one/m/', 'one/moved/'], "The service's version does not have getUsage"],
    [['bucket', 'create', 'three'], upgrade],
  ] as const) {
    const { code, errors } = await efs(ways.actor, ...words);
    expect([words[0], code]).toEqual([words[0], 2]);
    expect(errors).toContain(sentence);
  }
});

test('upload() of a stream of unknown size asks for the size', async () => {
  const stream = () => new Blob([new Uint8Array(large)]).stream();
  const web = createStorage({ url: replica.url, apiKey });
  for (const one of [storage, web]) {
    const sent = one.upload(stream(), { bucket: 'one', path: 'stream', contentType: 'a/b' });
    const message = expect.stringContaining('give it, or upgrade the service.');
    await expect(sent).rejects.toMatchObject({ code: 'Unsupported', message });
    const size = large.length;
    await one.upload(stream(), { bucket: 'one', path: 'stream', contentType: 'a/b', size });
  }
});

test('download() of a private file by actor calls reports that the chunk length is unknown', async () => {
  const file = { bucket: 'two', path: 'unusual' };
  await storage.upload(large, { ...file, contentType: 'a/b', chunkBytes: 900_123 });
  await storage.buckets.update('two', { isPublic: false });
  const message = expect.stringContaining('chunk length is unknown');
  const guessed = storage.download(file).then((download) => download.bytes());
  await expect(guessed).rejects.toMatchObject({ code: 'Unsupported', message });
  const download = await storage.download(file, { chunkBytes: 900_123 });
  expectSameBytes(await download.bytes(), large);
});

test('efs serve s3: the S3 server stores, lists, reads and deletes with a key', async () => {
  const service = { host: ways.actor.EFS_HOST, canisterId, base: replica.url, apiKey };
  const server = await openS3Server({ ...service, identityPem: pem } as unknown as Service);
  try {
    const client = server.client(keyPair);
    const at = { Bucket: 'one', Key: 's3/large' };
    await client.send(new PutObjectCommand({ ...at, Body: large }));
    const { Contents } = await client.send(
      new ListObjectsV2Command({ Bucket: 'one', Prefix: 's3/' }),
    );
    expect(Contents?.map(({ Key }) => Key)).toEqual(['s3/large']);
    const read = await client.send(new GetObjectCommand(at));
    expectSameBytes((await read.Body?.transformToByteArray()) ?? new Uint8Array(0), large);
    const copied = client.send(
      new CopyObjectCommand({ ...at, Key: 's3/b', CopySource: 'one/s3/large' }),
    );
    const refused = { name: 'NotImplemented', message: expect.stringContaining(upgrade) };
    await expect(copied).rejects.toMatchObject(refused);
    const { UploadId } = await client.send(new CreateMultipartUploadCommand(at));
    const part = client.send(
      new UploadPartCommand({ ...at, UploadId, PartNumber: 1, Body: large }),
    );
    const sized = {
      name: 'NotImplemented',
      message: expect.stringContaining('upgrade the service'),
    };
    await expect(part).rejects.toMatchObject(sized);
    await client.send(new DeleteObjectCommand(at));
    const gone = client.send(new GetObjectCommand(at));
    await expect(gone).rejects.toMatchObject({ name: 'NoSuchKey' });
  } finally {
    await server.stop();
  }
});
