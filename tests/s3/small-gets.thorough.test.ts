// Small objects that are requested at about the same time: few queries answer them, and each answer
// is the one that a request by itself gets.

import {
  GetObjectCommand,
  type GetObjectCommandInput,
  HeadObjectCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { IDL } from '@icp-sdk/core/candid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { serviceInterface } from '../../packages/client/src/actor/candid-interface.ts';
import { etagOf } from '../../packages/client/src/bytes/digest.ts';
import { sha256 } from '../../packages/client/src/bytes/sha256.ts';
import { openService, type Service, sampleBytes } from '../support/service.ts';
import { apiKey, openS3Server, type TestS3Server } from './support/s3-server.ts';

let service: Service;
let s3Server: TestS3Server;
let client: S3Client;
const names = Array.from({ length: 40 }, (_, index) => `many/${String(index).padStart(2, '0')}`);
const buckets = ['demo', 'private', 'versioned', 'encrypted', 'named'];

beforeAll(async () => {
  service = await openService({ faults: {} });
  s3Server = await openS3Server(service);
  client = s3Server.client();
  const { storage } = s3Server;
  await storage.buckets.create('private');
  await storage.buckets.create('versioned', { keepVersionsDays: 1, isPublic: true });
  await storage.buckets.create('encrypted', { endToEnd: { sealsNames: false } });
  await storage.buckets.create('named', { endToEnd: { sealsNames: true } });
  await Promise.all(buckets.map(fill));
}, 120_000);
afterAll(async () => {
  await s3Server?.stop();
  await service?.stop();
});

async function fill(Bucket: string): Promise<void> {
  const lengths = [...names.map((Key, index) => [Key, 5_000 + index] as const)];
  lengths.push(['many/empty', 0], ['many/longer', 150_000], ['many/long', 2_500_000]);
  await Promise.all(
    lengths.map(([Key, length]) =>
      client.send(
        new PutObjectCommand({
          ...{ Bucket, Key, Body: sampleBytes(Bucket + Key, length), ContentType: 'a/b' },
          ...{ Metadata: { of: Key }, CacheControl: 'max-age=5', ChecksumAlgorithm: 'CRC32' },
        }),
      ),
    ),
  );
}

/** Returns everything that the answer says, or its error, without what differs by request. */
async function answerOf(by: S3Client, input: GetObjectCommandInput): Promise<unknown> {
  try {
    const { $metadata, Body, ...fields } = await by.send(new GetObjectCommand(input));
    const bytes = Buffer.from((await Body?.transformToByteArray()) ?? []);
    return { ...fields, status: $metadata.httpStatusCode, bytes };
  } catch (error) {
    const { name, $metadata } = error as { name: string; $metadata?: { httpStatusCode?: number } };
    return { name, status: $metadata?.httpStatusCode };
  }
}

/** Returns the queries that the replica runs during `work`, by their methods. */
async function queriesOf(work: () => Promise<unknown>): Promise<Readonly<Record<string, number>>> {
  const reports = service.replica?.reports ?? expect.fail('this needs the local replica');
  const before = reports.length;
  await work();
  const counts: Record<string, number> = {};
  for (const { kind, method } of reports.slice(before)) {
    if (kind === 'query') counts[method] = (counts[method] ?? 0) + 1;
  }
  return counts;
}

const sum = (counts: Readonly<Record<string, number>>) =>
  Object.values(counts).reduce((all, one) => all + one, 0);

async function oneByOne(by: S3Client, inputs: readonly GetObjectCommandInput[]) {
  const answers: unknown[] = [];
  for (const input of inputs) answers.push(await answerOf(by, input));
  return answers;
}

describe('efs serve s3: GetObject of many small objects at once', () => {
  test.each([
    ['demo', 30],
    ['private', 30],
    ['versioned', 30],
    ['encrypted', 30],
    // Records of sealed names are read one by one.
    ['named', 70],
  ])('in bucket %s takes fewer than %i queries', async (Bucket, most) => {
    const inputs = names.map((Key) => ({ Bucket, Key, ChecksumMode: 'ENABLED' as const }));
    const single = await oneByOne(client, inputs);
    expect(single).toMatchObject(
      names.map((Key, index) => ({
        status: 200,
        bytes: Buffer.from(sampleBytes(Bucket + Key, 5_000 + index)),
        Metadata: { of: Key },
      })),
    );
    let together: unknown[] = [];
    const counts = await queriesOf(async () => {
      together = await Promise.all(inputs.map((input) => answerOf(client, input)));
    });
    expect(together).toEqual(single);
    expect(sum(counts), JSON.stringify(counts)).toBeLessThan(most);
    expect(counts.readFiles, JSON.stringify(counts)).toBeLessThan(20);
  });

  test.each(buckets)('in bucket %s does not change answers of other kinds', async (Bucket) => {
    const [Key = '', other = '', third = ''] = names;
    const { ETag: IfNoneMatch } = await client.send(new HeadObjectCommand({ Bucket, Key }));
    const inputs: GetObjectCommandInput[] = [
      ...names.map((name) => ({ Bucket, Key: name })),
      { Bucket, Key },
      { Bucket, Key: 'many/missing' },
      { Bucket, Key: 'many//never' },
      { Bucket, Key, IfNoneMatch },
      { Bucket, Key: other, IfMatch: '"x"' },
      { Bucket, Key: other, Range: 'bytes=0-' },
      { Bucket, Key: third, Range: 'bytes=100-199' },
      { Bucket, Key: third, Range: 'bytes=9999999-' },
      { Bucket, Key: third, ResponseContentType: 'text/x-other' },
      { Bucket, Key: third, PartNumber: 1 },
      ...['many/empty', 'many/longer', 'many/long'].map((name) => ({ Bucket, Key: name })),
    ];
    const single = await oneByOne(client, inputs);
    const together = await Promise.all(inputs.map((input) => answerOf(client, input)));
    expect(together).toEqual(single);
    const statuses = single.map((answer) => (answer as { status: number }).status);
    expect(statuses.slice(names.length)).toEqual([
      ...[200, 404, 404, 304, 412, 206, 206, 416, 200, 200],
      ...[200, 200, 200],
    ]);
  });

  test('by former versions returns each version', async () => {
    const Bucket = 'versioned';
    const Key = 'many/00';
    const former = await client.send(new HeadObjectCommand({ Bucket, Key }));
    await client.send(new PutObjectCommand({ Bucket, Key, Body: 'newer' }));
    const { VersionId } = await client.send(new HeadObjectCommand({ Bucket, Key }));
    const inputs = [former.VersionId, VersionId, undefined].map((id) => {
      return { Bucket, Key, VersionId: id };
    });
    const single = await oneByOne(client, inputs);
    expect(await Promise.all(inputs.map((input) => answerOf(client, input)))).toEqual(single);
    const bytes = single.map((answer) => (answer as { bytes: Buffer }).bytes.length);
    expect(bytes).toEqual([5_000, 5, 5]);
  });

  test('with an API key over HTTP and without a key returns the same', async () => {
    const keyed = s3Server.client(apiKey);
    const inputs = names.map((Key) => ({ Bucket: 'demo', Key }));
    const single = await oneByOne(client, inputs);
    expect(await Promise.all(inputs.map((input) => answerOf(keyed, input)))).toEqual(single);
    const urls = names.slice(1).map((Key) => `${s3Server.url}/versioned/${Key}`);
    let bodies: Buffer[] = [];
    const counts = await queriesOf(async () => {
      const answers = await Promise.all(urls.map((url) => fetch(url)));
      bodies = await Promise.all(answers.map(async (one) => Buffer.from(await one.arrayBuffer())));
    });
    const whole = names.map((Key, index) => sampleBytes(`versioned${Key}`, 5_000 + index));
    expect(bodies).toEqual(whole.slice(1).map((bytes) => Buffer.from(bytes)));
    // Nobody lists a public bucket without a right to it, so records are read one by one.
    expect(sum(counts), JSON.stringify(counts)).toBeLessThan(80);
    const refused = await Promise.all([
      fetch(`${s3Server.url}/private/many/00`),
      fetch(`${s3Server.url}/private/many/01`),
    ]);
    expect(refused.map(({ status }) => status)).toEqual([404, 404]);
  });
});

test('efs serve s3: GetObject of one small object takes two queries, and of a new version returns it', async () => {
  const object = { Bucket: 'private', Key: 'changing' };
  for (const Body of ['first', 'second', 'third']) {
    await client.send(new PutObjectCommand({ ...object, Body }));
    let answers: unknown[] = [];
    const counts = await queriesOf(async () => {
      answers = [await answerOf(client, object)];
    });
    expect(answers).toMatchObject([{ bytes: Buffer.from(Body) }]);
    expect(counts).toEqual({ getFile: 1, readFiles: 1 });
  }
});

test('efs serve s3: GetObject sends no bytes that one node has invented for another query', async () => {
  const { replica } = service;
  if (replica === undefined) expect.fail('this needs the local replica');
  const { retTypes = [] } = new Map(serviceInterface()._fields).get('readFiles') ?? {};
  const bytes = new Uint8Array(Buffer.from('invented'));
  const etag = await etagOf([await sha256(bytes)]);
  replica.setFaults({
    forge({ method }, reply) {
      if (method !== 'readFiles') return undefined;
      const [answer] = IDL.decode(retTypes, reply as never) as unknown as [ReadAnswer];
      const [first, ...others] = answer.ok.results;
      const results = [{ ok: { ...first?.ok, etag, bytes } }, ...others];
      return new Uint8Array(IDL.encode(retTypes, [{ ok: { ...answer.ok, results } }]));
    },
  });
  const inputs = names.slice(1).map((Key) => ({ Bucket: 'private', Key }));
  const answers = await Promise.all(inputs.map((input) => answerOf(client, input)));
  replica.setFaults({});
  const right = names.slice(1).map((Key, index) => sampleBytes(`private${Key}`, 5_001 + index));
  for (const [index, answer] of answers.entries()) {
    const { status, bytes: found } = answer as { status: number; bytes: Buffer };
    if (status === 200) expect(Buffer.compare(found, right[index] ?? bytes)).toBe(0);
    else expect(status).toBe(503);
  }
  const statuses = answers.map((answer) => (answer as { status: number }).status);
  expect(statuses).toContain(200);
  expect(statuses).toContain(503);
});

interface ReadAnswer {
  readonly ok: { readonly results: readonly { readonly ok: object }[] };
}

test('efs serve s3: HeadObject of many objects at once takes few queries', async () => {
  const Bucket = 'private';
  const heads = () =>
    Promise.all(names.map((Key) => client.send(new HeadObjectCommand({ Bucket, Key }))));
  const counts = await queriesOf(async () => {
    const found = await heads();
    expect(found.map(({ Metadata }) => Metadata)).toEqual(names.map((of) => ({ of })));
  });
  expect(sum(counts), JSON.stringify(counts)).toBeLessThan(20);
});
