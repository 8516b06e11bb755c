// Uploads in parts through the S3 server, by the SDK of S3, in plain and end-to-end buckets.

import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  type CompleteMultipartUploadCommandInput,
  CreateMultipartUploadCommand,
  type CreateMultipartUploadCommandInput,
  GetObjectAttributesCommand,
  GetObjectCommand,
  type GetObjectCommandInput,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListPartsCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openService, type Service, sampleBytes } from '../support/service.ts';
import { openS3Server, type TestS3Server } from './support/s3-server.ts';

const partBytes = 200_000;
const bytes = sampleBytes('multipart', 2 * partBytes + 50_000);
const parts = [0, 1, 2].map((index) => bytes.subarray(index * partBytes, (index + 1) * partBytes));
const folder = mkdtempSync(join(tmpdir(), 'efs-s3-'));
const multipart = { folder, partBytesMin: 65_536 };

let service: Service;
let s3Server: TestS3Server;
let client: S3Client;

beforeAll(async () => {
  service = await openService();
  s3Server = await openS3Server(service, { multipart });
  client = s3Server.client();
  await s3Server.storage.buckets.create('sealed', { endToEnd: { sealsNames: false } });
});
afterAll(async () => {
  await s3Server?.stop();
  await service?.stop();
});

const md5 = (data: Uint8Array) => createHash('md5').update(data).digest();
const etagOf = (pieces: readonly Uint8Array[]) =>
  `"${md5(Buffer.concat(pieces.map(md5))).toString('hex')}-${pieces.length}"`;

/** Begins an upload; returns the ids of the upload and its object as parameters of commands. */
async function begin(
  Key: string,
  options: Partial<CreateMultipartUploadCommandInput> = {},
): Promise<{ Bucket: string; Key: string; UploadId: string }> {
  const { Bucket = 'demo' } = options;
  const { UploadId = '' } = await client.send(
    new CreateMultipartUploadCommand({ ...options, Bucket, Key }),
  );
  return { Bucket, Key, UploadId };
}

type Upload = Awaited<ReturnType<typeof begin>>;
type Listed = NonNullable<CompleteMultipartUploadCommandInput['MultipartUpload']>['Parts'];

async function send(upload: Upload, PartNumber: number, Body: Uint8Array) {
  const { ETag, ...sums } = await client.send(
    new UploadPartCommand({ ...upload, PartNumber, Body }),
  );
  const { ChecksumCRC32, ChecksumCRC64NVME } = sums;
  return { PartNumber, ETag, ChecksumCRC32, ChecksumCRC64NVME };
}

const complete = (upload: Upload, Parts: Listed) =>
  client.send(new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } }));

async function get({ Bucket, Key }: Omit<Upload, 'UploadId'>): Promise<Uint8Array> {
  const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
  return (await Body?.transformToByteArray()) ?? new Uint8Array(0);
}

const spooled = () => readdirSync(folder).filter((name) => name.endsWith('.part'));

async function sendAll(upload: Upload, numbers: readonly number[]): Promise<Listed> {
  const sent = await Promise.all(
    numbers.map((number) => send(upload, number, parts[number - 1] ?? bytes)),
  );
  return sent.sort((one, other) => one.PartNumber - other.PartNumber);
}

describe.each(['demo', 'sealed'])(
  'CompleteMultipartUpload: an upload in parts to bucket %s',
  (Bucket) => {
    test('consists of its parts in order, with the metadata of its start', async () => {
      const told = { Bucket, ContentType: 'a/b', Metadata: { mtime: '1.5' } };
      const upload = await begin('whole.bin', told);
      const listed = await sendAll(upload, [1, 2, 3]);
      await expect(get(upload)).rejects.toMatchObject({ name: 'NoSuchKey' });
      const { ETag } = await complete(upload, listed);
      if (Bucket === 'demo') expect(ETag).toBe(etagOf(parts));
      expect(Buffer.compare(await get(upload), bytes)).toBe(0);
      const head = await client.send(new HeadObjectCommand({ Bucket, Key: upload.Key }));
      expect(head).toMatchObject({ ETag, ContentLength: bytes.length, Metadata: { mtime: '1.5' } });
      expect(spooled()).toEqual([]);
      expect((await complete(upload, listed)).ETag).toBe(ETag);
    });

    test('can be read by part number', async () => {
      const upload = await begin('numbers.bin', { Bucket });
      await complete(upload, await sendAll(upload, [1, 2, 3]));
      const named = { Bucket, Key: upload.Key };
      for (const [index, part] of parts.entries()) {
        const ask = { ...named, PartNumber: index + 1 };
        const got = await client.send(new GetObjectCommand(ask));
        expect(got).toMatchObject({ PartsCount: 3, ContentLength: part.length });
        const own = await got.Body?.transformToByteArray();
        expect(Buffer.compare(own ?? new Uint8Array(0), part)).toBe(0);
        const head = await client.send(new HeadObjectCommand(ask));
        expect(head).toMatchObject({ PartsCount: 3, ContentLength: part.length });
      }
      const attributes = new GetObjectAttributesCommand({
        ...named,
        ObjectAttributes: ['ObjectParts'],
      });
      expect((await client.send(attributes)).ObjectParts).toMatchObject({
        TotalPartsCount: 3,
        IsTruncated: false,
        Parts: parts.map((part, index) => ({ PartNumber: index + 1, Size: part.length })),
      });
      const page = { ...attributes.input, MaxParts: 1, PartNumberMarker: '1' };
      const { ObjectParts } = await client.send(new GetObjectAttributesCommand(page));
      expect(ObjectParts).toMatchObject({ IsTruncated: true, NextPartNumberMarker: '2' });
      expect(ObjectParts?.Parts).toMatchObject([{ PartNumber: 2 }]);
      const refused: [Partial<GetObjectCommandInput>, string][] = [
        [{ PartNumber: 4 }, 'InvalidPartNumber'],
        [{ PartNumber: 0 }, 'InvalidArgument'],
        [{ PartNumber: 1, Range: 'bytes=0-1' }, 'InvalidRequest'],
      ];
      for (const [ask, name] of refused) {
        const command = new GetObjectCommand({ ...named, ...ask });
        await expect(client.send(command)).rejects.toMatchObject({ name });
      }
      await client.send(new PutObjectCommand({ Bucket, Key: 'one.bin', Body: 'one' }));
      const partOfOne = (PartNumber: number) =>
        client.send(new GetObjectCommand({ Bucket, Key: 'one.bin', PartNumber }));
      expect(await partOfOne(1)).toMatchObject({ ContentLength: 3 });
      await expect(partOfOne(2)).rejects.toMatchObject({ name: 'InvalidPartNumber' });
    });

    test('accepts parts in any order, and of a repeated part the last one', async () => {
      const upload = await begin('again.bin', { Bucket });
      const listed = (await sendAll(upload, [3, 2, 1])) ?? [];
      const again = await send(upload, 2, parts[0] ?? bytes);
      await expect(complete(upload, listed)).rejects.toMatchObject({ name: 'InvalidPart' });
      await complete(upload, [listed[0] ?? {}, again, listed[2] ?? {}]);
      const [one = bytes, , three = bytes] = parts;
      expect(Buffer.compare(await get(upload), Buffer.concat([one, one, three]))).toBe(0);
    });

    test('that is aborted leaves nothing', async () => {
      const upload = await begin('given-up.bin', { Bucket });
      await sendAll(upload, [1, 3]);
      await client.send(new AbortMultipartUploadCommand(upload));
      expect(spooled()).toEqual([]);
      expect(await s3Server.storage.uploads.list({ bucket: Bucket })).toEqual([]);
      const gone = { name: 'NoSuchUpload' };
      await expect(send(upload, 1, parts[0] ?? bytes)).rejects.toMatchObject(gone);
      await expect(complete(upload, [{ PartNumber: 1, ETag: 'a' }])).rejects.toMatchObject(gone);
      const abort = client.send(new AbortMultipartUploadCommand(upload));
      await expect(abort).rejects.toMatchObject(gone);
    });
  },
);

describe('CompleteMultipartUpload: parts', () => {
  test('of one length are stored as they arrive, and a last part of another length waits', async () => {
    const upload = await begin('streamed.bin');
    await sendAll(upload, [1, 2, 3]);
    expect(spooled()).toHaveLength(1);
    const [session] = await s3Server.storage.uploads.list({ bucket: 'demo' });
    expect(session).toMatchObject({ uploadedSize: 2 * partBytes, chunkSize: partBytes });
    await client.send(new AbortMultipartUploadCommand(upload));
  });

  test('of any lengths are joined if all of them waited', async () => {
    const upload = await begin('any.bin');
    const pieces = [
      bytes.subarray(0, 65_537),
      bytes.subarray(65_537, 200_003),
      bytes.subarray(200_003),
    ];
    const listed = [];
    for (const [index, piece] of pieces.entries())
      listed.push(await send(upload, 2 * index + 2, piece));
    await complete(upload, listed);
    expect(Buffer.compare(await get(upload), bytes)).toBe(0);
  });

  const [first = bytes, second = bytes] = parts;
  const short = bytes.subarray(0, 100_000);

  test.each<[string, [number, Uint8Array][]]>([
    ['of several lengths', [1, 2, 3, 4].map((number) => [number, number === 2 ? short : first])],
    ['with gaps between their numbers', [1, 3, 7, 8].map((number) => [number, second])],
    [
      'whose numbers begin above 1, of several lengths',
      [
        [2, first],
        [5, first],
        [9, short],
        [11, first],
      ],
    ],
  ])('%s are joined after those that are already stored', async (name, sent) => {
    const upload = await begin(`${name}.bin`);
    const listed = [];
    for (const [number, body] of sent) listed.push(await send(upload, number, body));
    const { ETag } = await complete(upload, listed);
    const bodies = sent.map(([, body]) => body);
    expect(ETag).toBe(etagOf(bodies));
    expect(Buffer.compare(await get(upload), Buffer.concat(bodies))).toBe(0);
    expect(spooled()).toEqual([]);
  });

  test('whose offsets would change are refused, at once if they are sent again', async () => {
    const upload = await begin('unfit.bin');
    const listed = await sendAll(upload, [1, 2]);
    const again = send(upload, 1, short);
    await expect(again).rejects.toThrow('send it with that length, or start a new upload');
    await expect(complete(upload, listed?.slice(1))).rejects.toThrow('parts of equal length');
    await complete(upload, listed);
    expect(Buffer.compare(await get(upload), Buffer.concat([first, second]))).toBe(0);
  });

  test('that do not match their digests are not stored', async () => {
    const upload = await begin('wrong.bin');
    const part = { ...upload, PartNumber: 1, Body: parts[0] ?? bytes };
    const wrong = new UploadPartCommand({ ...part, ContentMD5: md5(bytes).toString('base64') });
    await expect(client.send(wrong)).rejects.toMatchObject({ name: 'BadDigest' });
    const { Parts } = await client.send(new ListPartsCommand(upload));
    expect(Parts).toBeUndefined();
    const listed = await sendAll(upload, [1]);
    expect(await complete(upload, listed)).toMatchObject({ ETag: etagOf(parts.slice(0, 1)) });
  });

  test('that are sent several times concurrently are stored as sent last', async () => {
    const upload = await begin('twice.bin');
    const bodies = [parts[1] ?? bytes, parts[0] ?? bytes, parts[0] ?? bytes];
    const sent = await Promise.allSettled(bodies.map((body) => send(upload, 1, body)));
    const kept = sent.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    const { Parts = [] } = await client.send(new ListPartsCommand(upload));
    expect(kept.map(({ ETag }) => ETag)).toContain(Parts[0]?.ETag);
    await complete(upload, Parts);
    const stored = await get(upload);
    expect(`"${md5(stored).toString('hex')}"`).toBe(Parts[0]?.ETag);
  });

  test('are listed page by page', async () => {
    const upload = await begin('listed.bin');
    await sendAll(upload, [1, 3]);
    const { Parts, IsTruncated } = await client.send(new ListPartsCommand(upload));
    expect(IsTruncated).toBe(false);
    expect(Parts).toMatchObject([
      { PartNumber: 1, Size: partBytes, ETag: `"${md5(parts[0] ?? bytes).toString('hex')}"` },
      { PartNumber: 3, Size: 50_000 },
    ]);
    const page = { ...upload, MaxParts: 1 };
    const first = await client.send(new ListPartsCommand(page));
    expect(first).toMatchObject({ IsTruncated: true, NextPartNumberMarker: '1' });
    const marker = { ...page, PartNumberMarker: first.NextPartNumberMarker };
    const second = await client.send(new ListPartsCommand(marker));
    expect(second.Parts).toMatchObject([{ PartNumber: 3 }]);
    await client.send(new AbortMultipartUploadCommand(upload));
  });

  test('can be copied from objects', async () => {
    const source = await begin('whole-source.bin');
    await complete(source, await sendAll(source, [1, 2, 3]));
    const upload = await begin('copied.bin');
    const copy = async (PartNumber: number, start: number, end: number) => {
      const CopySource = `demo/${source.Key}`;
      const CopySourceRange = `bytes=${start}-${end - 1}`;
      const { CopyPartResult } = await client.send(
        new UploadPartCopyCommand({ ...upload, PartNumber, CopySource, CopySourceRange }),
      );
      return { PartNumber, ETag: CopyPartResult?.ETag };
    };
    const listed = [
      await copy(1, 0, partBytes),
      await copy(2, partBytes, 2 * partBytes),
      await copy(3, 2 * partBytes, bytes.length),
    ];
    await complete(upload, listed);
    expect(Buffer.compare(await get(upload), bytes)).toBe(0);
    await expect(copy(4, 0, bytes.length + 1)).rejects.toThrow();
  });
});

describe('CompleteMultipartUpload: a completion', () => {
  test("requires existing parts in ascending order, of S3's minimum length", async () => {
    const upload = await begin('refused.bin');
    const [one, two] = (await sendAll(upload, [1, 2])) ?? [];
    const small = await send(upload, 3, bytes.subarray(0, 10));
    const four = await send(upload, 4, bytes.subarray(0, 10));
    const wrong = async (list: Listed, name: string) =>
      expect(complete(upload, list)).rejects.toMatchObject({ name });
    await wrong([two ?? {}, one ?? {}], 'InvalidPartOrder');
    await wrong([one ?? {}, one ?? {}], 'InvalidPartOrder');
    await wrong([{ ...one, ETag: two?.ETag }, one ?? {}], 'InvalidPartOrder');
    await wrong([one ?? {}, { ...two, ETag: one?.ETag }], 'InvalidPart');
    await wrong([one ?? {}, { ...two, ChecksumCRC32: 'AAAAAA==' }], 'InvalidPart');
    await wrong([one ?? {}, { PartNumber: 9, ETag: one?.ETag }], 'InvalidPart');
    await wrong([one ?? {}, small, four], 'EntityTooSmall');
    await wrong([], 'MalformedXML');
    const { ETag } = await complete(upload, [one ?? {}, two ?? {}]);
    expect(ETag).toBe(etagOf(parts.slice(0, 2)));
  });

  test.each([
    ['CRC32', undefined, 'COMPOSITE'],
    ['CRC32', 'FULL_OBJECT', 'FULL_OBJECT'],
    ['CRC64NVME', undefined, 'FULL_OBJECT'],
  ] as const)('has a checksum of all parts: %s %s', async (algorithm, type, expected) => {
    const kind = { ChecksumAlgorithm: algorithm, ...(type && { ChecksumType: type }) };
    const upload = await begin(`sums-${algorithm}-${type}.bin`, kind);
    const sent = [];
    for (const [index, Body] of parts.entries()) {
      const PartNumber = index + 1;
      const { ETag, ChecksumCRC32, ChecksumCRC64NVME } = await client.send(
        new UploadPartCommand({ ...upload, PartNumber, Body, ChecksumAlgorithm: algorithm }),
      );
      sent.push({ PartNumber, ETag, ChecksumCRC32, ChecksumCRC64NVME });
    }
    const done = await complete(upload, sent);
    expect(done.ChecksumType).toBe(expected);
    const name = `Checksum${algorithm}` as const;
    expect(done[name]).toMatch(expected === 'COMPOSITE' ? /=-3$/ : /=$/);
    const mode = { Bucket: 'demo', Key: upload.Key, ChecksumMode: 'ENABLED' } as const;
    const head = await client.send(new HeadObjectCommand(mode));
    expect(head).toMatchObject({ [name]: done[name], ChecksumType: expected });
    // The SDK compares the part's checksum with the bytes of the part.
    const part = await client.send(new GetObjectCommand({ ...mode, PartNumber: 2 }));
    expect(part).toMatchObject({ [name]: sent[1]?.[name], ChecksumType: expected });
    await part.Body?.transformToByteArray();
    if (expected === 'COMPOSITE') return;
    // The SDK compares the checksum with the bytes received.
    const { Body } = await client.send(new GetObjectCommand(mode));
    expect((await Body?.transformToByteArray())?.length).toBe(bytes.length);
  });
});

describe('CompleteMultipartUpload: an S3 server after a restart', () => {
  test('continues uploads where they were', async () => {
    const upload = await begin('restart.bin');
    const first = (await sendAll(upload, [1, 3])) ?? [];
    await s3Server.stop();
    s3Server = await openS3Server(service, { multipart });
    client = s3Server.client();
    const listed = [first[0] ?? {}, await send(upload, 2, parts[1] ?? bytes), first[1] ?? {}];
    await complete(upload, listed);
    expect(Buffer.compare(await get(upload), bytes)).toBe(0);
  });
});

test('CompleteMultipartUpload and others: lists have pages and prefixes, UploadPart refuses another object', async () => {
  const uploads = [await begin('list/a'), await begin('list/b'), await begin('list/b')];
  const ask = { Bucket: 'demo', Prefix: 'list/' };
  const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand(ask));
  expect(Uploads.map(({ Key }) => Key)).toEqual(['list/a', 'list/b', 'list/b']);
  const page = await client.send(new ListMultipartUploadsCommand({ ...ask, MaxUploads: 2 }));
  expect(page).toMatchObject({ IsTruncated: true, NextKeyMarker: 'list/b' });
  const rest = await client.send(
    new ListMultipartUploadsCommand({
      ...ask,
      KeyMarker: page.NextKeyMarker,
      UploadIdMarker: page.NextUploadIdMarker,
    }),
  );
  expect(rest.Uploads?.map(({ UploadId }) => UploadId)).toEqual([Uploads[2]?.UploadId]);
  const folder = { ...ask, Prefix: '', Delimiter: '/', MaxUploads: 1 };
  const grouped = await client.send(new ListMultipartUploadsCommand(folder));
  expect(grouped.CommonPrefixes).toEqual([{ Prefix: 'list/' }]);
  expect(grouped).toMatchObject({ Delimiter: '/', IsTruncated: false });
  expect(grouped.Uploads ?? []).toEqual([]);
  const behind = { ...folder, KeyMarker: 'list/' };
  const none = await client.send(new ListMultipartUploadsCommand(behind));
  expect(none.CommonPrefixes ?? []).toEqual([]);
  const elsewhere = { ...uploads[0], Key: 'list/c' } as Upload;
  await expect(send(elsewhere, 1, bytes)).rejects.toMatchObject({ name: 'NoSuchUpload' });
  for (const upload of uploads) await client.send(new AbortMultipartUploadCommand(upload));
});
