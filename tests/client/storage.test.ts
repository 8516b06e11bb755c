// The client with the running service, over each transport and over both: downloads return the
// uploaded bytes.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import { createStorage, type Storage } from '../../packages/client/src/storage.ts';
import type { FileRecord } from '../../packages/client/src/types/files.ts';
import type { UploadSession } from '../../packages/client/src/types/transfers.ts';
import { chunkBytesMax, singleUploadBytesMax } from '../../packages/wire/src/limits.ts';
import { openService, type Service, sampleBytes, sha256Hex } from '../support/service.ts';

let service: Service;

/** Folder with more files than a page. */
const listFolder = 'client list/';
const listedPaths = Array.from({ length: 53 }, (_, index) => `${listFolder}${1_000 + index}`);

beforeAll(async () => {
  service = await openService();
  const { base: url, apiKey, bucket } = service;
  const storage = createStorage({ url, apiKey });
  const put = (path: string) =>
    storage.upload(sampleBytes(path, 3), { bucket, path, contentType: 'a/b' });
  await Promise.all(listedPaths.map(put));
});
afterAll(() => service?.stop());

const contentTypeOf = (path: string) => (path.endsWith('.bin') ? 'a/b' : undefined);

const transports: readonly [string, () => Storage][] = [
  [
    'HTTP',
    () => {
      const { base: url, apiKey } = service;
      return createStorage({ url, apiKey, transport: 'http', contentTypeOf });
    },
  ],
  ['both', () => createStorage({ url: service.base, apiKey: service.apiKey, contentTypeOf })],
  [
    'the actor, with an identity',
    () => {
      const { host, canisterId, identityPem } = service;
      const identity = identityFromPem(identityPem);
      return createStorage({ host, canisterId, identity, contentTypeOf });
    },
  ],
];

async function bytesOf(body: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  return new Uint8Array(await new Response(body as BodyInit).arrayBuffer());
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

describe.each(transports)('createStorage(): over %s', (name, open) => {
  const prefix = `client ${name}/`;
  let storage: Storage;
  beforeAll(() => {
    storage = open();
  });
  const target = (path: string) => ({ bucket: service.bucket, path: prefix + path });

  async function roundTrip(path: string, bytes: Uint8Array): Promise<FileRecord> {
    const record = await storage.upload(bytes, target(path));
    const download = await storage.download(target(path));
    expect(download).toMatchObject({ etag: record.etag, size: bytes.length, start: 0 });
    const received = await bytesOf(download.body);
    expect(received.length).toBe(bytes.length);
    expect(sha256Hex(received)).toBe(sha256Hex(bytes));
    return record;
  }

  test('a small file is uploaded in one request and downloaded', async () => {
    const bytes = sampleBytes('small', 1_000);
    let sessions = 0;
    const record = await storage.upload(bytes, {
      ...target('ä %41+.bin'),
      tags: ['one', 'two'],
      onSession: () => {
        sessions++;
      },
    });
    const path = `${prefix}ä %41+.bin`;
    expect(record).toMatchObject({ path, size: 1_000, contentType: 'a/b', tags: ['one', 'two'] });
    expect(record.etag).toBe(sha256Hex(bytes));
    expect(sessions).toBe(0);
    expect(await storage.stat(target('ä %41+.bin'))).toEqual(record);
  });

  test.each([
    ['an empty file', 0],
    ['one byte', 1],
    ['the largest file of one call', chunkBytesMax],
    ['the largest file of one HTTP request', singleUploadBytesMax],
    ['three chunks, the last of one byte', 2 * chunkBytesMax + 1],
  ])('%s is uploaded and downloaded', async (what, size) => {
    const record = await roundTrip(`${what}.bin`, sampleBytes(what, size));
    expect(record.size).toBe(size);
  });

  test('the type is the given one, or else that of the Blob, of contentTypeOf(), or of the service', async () => {
    const typeOf = async (path: string, source: Uint8Array | Blob, contentType?: string) =>
      (await storage.upload(source, { ...target(path), contentType })).contentType;
    const bytes = sampleBytes('type', 10);
    expect(await typeOf('type.bin', bytes, 'image/x-told')).toBe('image/x-told');
    expect(await typeOf('type.bin', new Blob(['a'], { type: 'text/css' }))).toBe('text/css');
    expect(await typeOf('type.bin', bytes)).toBe('a/b');
    expect(await typeOf('type.png', bytes)).toBe('image/png');
  });

  test('stored headers are returned', async () => {
    const headers = { 'Cache-Control': 'public, max-age=31536000, immutable' };
    await storage.upload(sampleBytes('headers', 10), { ...target('h.bin'), headers });
    const path = encodeURIComponent(`${prefix}h.bin`).replaceAll('%2F', '/');
    const response = await fetch(`${service.base}/cloud/${service.bucket}/${path}`);
    expect(response.headers.get('cache-control')).toBe(headers['Cache-Control']);
    await response.arrayBuffer();
  });

  test('a stream of known size is uploaded, also in chunks of an unusual length', async () => {
    const bytes = sampleBytes('stream', 700_001);
    const stream = new Blob([bytes as BlobPart]).stream() as ReadableStream<Uint8Array>;
    const done: number[] = [];
    const record = await storage.upload(stream, {
      ...target('stream'),
      contentType: 'a/b',
      size: bytes.length,
      chunkBytes: 77_777,
      headers: { 'Content-Language': 'de' },
      onProgress: ({ doneBytes }) => done.push(doneBytes),
    });
    expect(record.size).toBe(bytes.length);
    // A download recognizes its chunks, whatever their length.
    const download = await storage.download(target('stream'));
    expect(sha256Hex(await bytesOf(download.body))).toBe(sha256Hex(bytes));
    expect(done.at(-1)).toBe(bytes.length);
  });

  test('a Blob of several chunks is uploaded', async () => {
    const bytes = sampleBytes('blob', 2_100_001);
    const blob = new Blob([bytes as BlobPart]);
    const place = target('blob.bin');
    const { size } = await storage.upload(blob, { ...place, chunkBytes: 700_000 });
    expect(size).toBe(bytes.length);
    const { body } = await storage.download(place);
    expect(sha256Hex(await bytesOf(body))).toBe(sha256Hex(bytes));
  });

  const streamOf = (bytes: Uint8Array) =>
    new Blob([bytes as BlobPart]).stream() as ReadableStream<Uint8Array>;

  test('a stream needs no size: a short one is sent at once, a long one in an open session', async () => {
    let sessions = 0;
    const onSession = () => {
      sessions += 1;
    };
    const short = streamOf(sampleBytes('short', 5));
    const small = await storage.upload(short, { ...target('short.bin'), onSession });
    expect([small.size, sessions]).toEqual([5, 0]);
    // The second length is a multiple of the chunk's length.
    for (const length of [2_100_000, 32 * 65_536]) {
      const bytes = sampleBytes('long', length);
      const totals = new Set<number | undefined>();
      const record = await storage.upload(streamOf(bytes), {
        ...target('long.bin'),
        chunkBytes: 65_536,
        concurrency: 8,
        onSession,
        onProgress: ({ totalBytes }) => totals.add(totalBytes),
      });
      expect(record).toMatchObject({ size: length, chunkSize: 65_536 });
      expect([...totals]).toEqual([undefined]);
      const { body } = await storage.download(target('long.bin'));
      expect(sha256Hex(await bytesOf(body))).toBe(sha256Hex(bytes));
    }
    expect(sessions).toBe(2);
  });

  test('a stream of unknown size that fails or is stopped leaves no session', async () => {
    const { bucket } = service;
    const open = async () => (await storage.uploads.list({ bucket })).map(({ path }) => path);
    async function* failing(): AsyncGenerator<Uint8Array> {
      yield sampleBytes('failing', 2_500_000);
      throw new Error('the disk is gone');
    }
    const failed = storage.upload(failing(), target('failing.bin'));
    await expect(failed).rejects.toThrow('the disk is gone');
    const controller = new AbortController();
    async function* waiting(): AsyncGenerator<Uint8Array> {
      yield sampleBytes('waiting', 2_500_000);
      await new Promise(() => {});
    }
    const stopped = storage.upload(waiting(), {
      ...target('waiting.bin'),
      signal: controller.signal,
      // Bytes are reported before the chunk has arrived.
      onProgress: ({ doneBytes }) => doneBytes > 0 && controller.abort(),
    });
    await expect(stopped).rejects.toMatchObject({ code: 'Aborted' });
    const paths = await open();
    for (const name of ['failing.bin', 'waiting.bin']) expect(paths).not.toContain(prefix + name);
  });

  test('open uploads are listed', async () => {
    const { bucket } = service;
    let listed: UploadSession | undefined;
    await storage.upload(streamOf(sampleBytes('listed', 2_100_000)), {
      ...target('listed.bin'),
      onSession: async ({ uploadId }) => {
        const uploads = await storage.uploads.list({ bucket });
        listed = uploads.find((upload) => upload.uploadId === uploadId);
      },
    });
    expect(listed).toMatchObject({ isSizeKnown: false, totalSize: 0, status: 'active' });
  });

  test('a range of a file is downloaded', async () => {
    const bytes = sampleBytes('range', 2 * chunkBytesMax + 500);
    await storage.upload(bytes, target('range.bin'));
    const range = { start: chunkBytesMax - 7, end: 2 * chunkBytesMax + 9 };
    const download = await storage.download(target('range.bin'), { range });
    const received = await bytesOf(download.body);
    expect(sha256Hex(received)).toBe(sha256Hex(bytes.subarray(range.start, range.end)));
    const beyond = storage.download(target('range.bin'), { range: { start: bytes.length } });
    await expect(beyond).rejects.toMatchObject({ code: 'InvalidRange', status: 416 });
  });

  test('a download continues where an earlier one ended, and still verifies the whole file', async () => {
    const bytes = sampleBytes('range', 2 * chunkBytesMax + 500);
    const options = { ...target('range.bin'), chunkBytes: chunkBytesMax };
    const { etag } = await storage.upload(bytes, options);
    const received = bytes.slice(0, chunkBytesMax + 1_000);
    const download = await storage.download(target('range.bin'), { resume: { etag, received } });
    expect(download.start).toBe(chunkBytesMax);
    const rest = await bytesOf(download.body);
    expect(sha256Hex(rest)).toBe(sha256Hex(bytes.subarray(chunkBytesMax)));
    received[5] = (received[5] ?? 0) ^ 1;
    const wrong = await storage.download(target('range.bin'), { resume: { etag, received } });
    await expect(bytesOf(wrong.body)).rejects.toMatchObject({ code: 'IntegrityError' });
    const other = storage.download(target('range.bin'), { resume: { etag: 'x', received } });
    await expect(other).rejects.toMatchObject({ code: 'PreconditionFailed' });
  });

  test('a list yields every file under its prefix once, page by page', async () => {
    const { bucket } = service;
    const prefix = listFolder;
    const files = await all(storage.list({ bucket, prefix, sort: 'name_desc' }));
    expect(files.map(({ path }) => path)).toEqual(listedPaths.toReversed());
  });

  test('a removed file is missing, and the error has the code, status and message of the service', async () => {
    await storage.upload(sampleBytes('gone', 3), target('gone.bin'));
    await storage.remove(target('gone.bin'));
    const refusal = { code: 'NoSuchFile', status: 404, name: 'StorageError' };
    await expect(storage.stat(target('gone.bin'))).rejects.toMatchObject(refusal);
    await expect(storage.remove(target('gone.bin'))).rejects.toMatchObject(refusal);
    await expect(storage.download(target('gone.bin'))).rejects.toMatchObject(refusal);
  });

  test('a precondition protects the old file', async () => {
    const old = await storage.upload(sampleBytes('old', 3), target('condition.bin'));
    const next = sampleBytes('next', 3);
    const refused = storage.upload(next, { ...target('condition.bin'), ifNoneMatch: '*' });
    await expect(refused).rejects.toMatchObject({ code: 'PreconditionFailed' });
    expect(await storage.stat(target('condition.bin'))).toEqual(old);
    const ifMatch = `"${old.etag}"`;
    const replaced = await storage.upload(next, { ...target('condition.bin'), ifMatch });
    expect(replaced.etag).toBe(sha256Hex(next));
  });

  test('a session can be read, left open, continued and cancelled', async () => {
    const bytes = sampleBytes('session', 3 * 65_536);
    const controller = new AbortController();
    let uploadId = '';
    // Such a small file needs a session only because no type is given.
    const options = { ...target('session.png'), chunkBytes: 65_536 };
    const stopped = storage.upload(new Blob([bytes as BlobPart]).stream(), {
      ...options,
      size: bytes.length,
      concurrency: 1,
      signal: controller.signal,
      onSession: (session) => {
        uploadId = session.uploadId;
      },
      onProgress: ({ doneBytes }) => doneBytes > 0 && controller.abort(),
    });
    await expect(stopped).rejects.toMatchObject({ code: 'Aborted' });
    const session = await storage.uploads.status({ ...target('session.png'), uploadId });
    expect(session).toMatchObject({ status: 'active', receivedChunks: 1, missing: [1, 2] });
    const record = await storage.upload(bytes, { ...options, resume: uploadId });
    expect(record.size).toBe(bytes.length);
    // Repeated, as after a lost answer.
    expect(await storage.upload(bytes, { ...options, resume: uploadId })).toEqual(record);
    const elsewhere = storage.upload(bytes, { ...options, path: 'other', resume: uploadId });
    await expect(elsewhere).rejects.toMatchObject({ code: 'InvalidArgument' });
    let cancelled = '';
    const again = storage.upload(bytes, {
      ...options,
      onSession: async (session) => {
        cancelled = session.uploadId;
        await storage.uploads.cancel({ ...target('session.png'), uploadId: cancelled });
      },
    });
    await expect(again).rejects.toThrow();
    const gone = storage.upload(bytes, { ...options, resume: cancelled });
    await expect(gone).rejects.toMatchObject({ code: 'UploadCancelled', status: 410 });
  });

  test('status() returns the figures of the service', async () => {
    const status = await storage.status();
    expect(status.files).toBeGreaterThan(0);
    expect(status.version).toMatch(/^\d/);
  });
});
