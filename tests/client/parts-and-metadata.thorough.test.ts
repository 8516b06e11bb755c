// The library's functions for the S3 server, over HTTP and the actor: metadata stored together with
// the file, also if it is known only at the end of a stream, and sessions whose parts arrive in any
// order.

import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import { createStorage, type Storage } from '../../packages/client/src/storage.ts';
import type { FileToUpload } from '../../packages/client/src/types/transfers.ts';
import type { WrittenPart } from '../../packages/client/src/uploads/uploads.ts';
import { isSentUpdate } from '../support/method-reports.ts';
import { openService, type Service, sampleBytes } from '../support/service.ts';

let service: Service;
const updates: string[] = [];

beforeAll(async () => {
  service = await openService({
    onReport: (report) => {
      // The client asks for the mode of a bucket once, with the first file.
      if (isSentUpdate(report) && report.method !== 'getBucketMode') updates.push(report.method);
    },
  });
});
afterAll(() => service?.stop());

const contentTypeOf = () => 'a/b';
const overHttp = () => {
  const { base: url, apiKey } = service;
  return createStorage({ url, apiKey, transport: 'http', contentTypeOf });
};
const overBoth = () => {
  return createStorage({ url: service.base, apiKey: service.apiKey, contentTypeOf });
};
const byActor = () => {
  const { host, canisterId, identityPem } = service;
  return createStorage({ host, canisterId, identity: identityFromPem(identityPem), contentTypeOf });
};

/** Returns the result of `work` and the number of updates that it made. */
async function counting<T>(work: () => Promise<T>): Promise<[T, number]> {
  updates.length = 0;
  const value = await work();
  return [value, updates.length];
}

async function* inPieces(bytes: Uint8Array, length = 50_000): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

/** Returns a stream, and metadata that is known only after the stream was read. */
function digested(bytes: Uint8Array) {
  const hash = createHash('md5');
  let reads = 0;
  return {
    source: (async function* () {
      for await (const piece of inPieces(bytes)) {
        hash.update(piece);
        reads += piece.length;
        yield piece;
      }
    })(),
    metadata: () => {
      expect(reads).toBe(bytes.length);
      return { md5: hash.digest('hex') };
    },
    expected: { md5: createHash('md5').update(bytes).digest('hex') },
  };
}

const chunkBytes = 65_536;

describe.each([
  ['HTTP', overHttp],
  ['both', overBoth],
  ['the actor', byActor],
])('Storage.uploads: over %s', (name, open) => {
  const prefix = `parts ${name}/`;
  let storage: Storage;
  beforeAll(() => {
    storage = open();
  });
  const target = (path: string) => ({ bucket: service.bucket, path: prefix + path });
  const read = async (path: string) => (await storage.download(target(path))).bytes();

  test('a small file with metadata and headers takes one update', async () => {
    const metadata = { by: 'Zoë 😀\u2028"', 'x.y-z_0': '' };
    const headers = { 'Cache-Control': 'no-cache' };
    for (const options of [{ metadata }, { metadata, headers }]) {
      const [record, count] = await counting(() =>
        storage.upload(sampleBytes('noted', 500), { ...target('noted'), ...options }),
      );
      expect([record.metadata, count]).toEqual([metadata, 1]);
      expect(await storage.stat(target('noted'))).toMatchObject({ metadata });
    }
  });

  test('many small files with metadata are uploaded together, as many as a call accepts', async () => {
    const files: FileToUpload[] = Array.from({ length: 60 }, (_, index) => ({
      path: `${prefix}many/${index}`,
      source: sampleBytes(`${index}`, 20),
      metadata:
        index % 2 === 0
          ? Object.fromEntries(Array.from({ length: 32 }, (_, at) => [`n${at}`, `${index}`]))
          : async () => ({ late: `${index}` }),
    }));
    const [stored, count] = await counting(async () => {
      const found = [];
      for await (const one of storage.uploadAll(files, { bucket: service.bucket })) found.push(one);
      return found;
    });
    expect(count).toBeLessThanOrEqual(2);
    const records = new Map(stored.map(({ path, file }) => [path, file?.metadata]));
    expect(records.get(`${prefix}many/2`)).toMatchObject({ n0: '2', n31: '2' });
    expect(records.get(`${prefix}many/3`)).toEqual({ late: '3' });
    expect(records.size).toBe(60);
  });

  test.each([
    ['small', 5_000, {}, 1],
    ['large', 200_000, { chunkBytes, size: 200_000 }, 6],
    ['of unknown size', 2_000_001, {}, 4],
  ])(
    'metadata of a stream, %s, is requested after the stream was read',
    async (label, size, told, most) => {
      const bytes = sampleBytes(label, size);
      const { source, metadata, expected } = digested(bytes);
      const options = { ...target(label), ...told, metadata };
      const [record, count] = await counting(() => storage.upload(source, options));
      expect(record).toMatchObject({ size, metadata: expected });
      expect(count).toBeLessThanOrEqual(most);
    },
  );

  test.each([100, 2_000_001])(
    'if the metadata function throws, nothing of a stream of %i bytes is stored',
    async (size) => {
      const metadata = async () => {
        throw new Error('the digest is not the expected one');
      };
      const source = inPieces(sampleBytes('none', size));
      const upload = storage.upload(source, { ...target('none'), metadata });
      await expect(upload).rejects.toThrow('the digest is not the expected one');
      await expect(storage.stat(target('none'))).rejects.toMatchObject({ code: 'NoSuchFile' });
      // An interrupted stream of unknown size cannot be resumed, so its upload is removed.
      const { bucket } = service;
      const open = (await storage.uploads.list({ bucket })).map(({ path }) => path);
      expect(open).not.toContain(`${prefix}none`);
    },
  );

  test('parts arrive in any order, concurrently, and repeatedly, and form a file when all are stored', async () => {
    const bytes = sampleBytes('parts', 7 * chunkBytes + 100);
    const begun = { ...target('parts.bin'), metadata: { by: 'me', at: 'begin' } };
    const session = await storage.uploads.begin({ ...begun, chunkBytes, contentType: 'x/y' });
    const { uploadId } = session;
    expect(session).toMatchObject({ isSizeKnown: false, chunkSize: chunkBytes });
    const at = { ...target('parts.bin'), uploadId };
    const write = (start: number, end: number, change = {}) => {
      const source = inPieces(bytes.subarray(start * chunkBytes, end * chunkBytes));
      return storage.uploads.write({ ...at, offset: start * chunkBytes, source, ...change });
    };
    // A later write at the same offset replaces this part.
    await write(2, 4, { source: sampleBytes('other', 2 * chunkBytes), chunkBytes });
    const parts: WrittenPart[] = await Promise.all([write(4, 8), write(2, 4), write(0, 2)]);
    expect(await storage.uploads.status(at)).toMatchObject({ receivedChunks: 8, missing: [] });
    expect(parts[0]).toMatchObject({ offset: 4 * chunkBytes, size: 3 * chunkBytes + 100 });

    const wrong = parts.slice(1);
    await expect(storage.uploads.complete({ ...at, parts: wrong.slice(0, 1) })).rejects.toThrow(
      'The parts must be results of write() that follow one another from offset 0.',
    );
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const refused = { ...at, sha256: '00'.repeat(32) };
    await expect(storage.uploads.complete(refused)).rejects.toMatchObject({ code: 'BadDigest' });
    const absent = { ...at, ifMatch: '*' };
    await expect(storage.uploads.complete(absent)).rejects.toMatchObject({
      code: 'PreconditionFailed',
    });
    const metadata = { at: 'end', digest: 'ü' };
    const told = { ...at, parts, metadata, sha256, ifNoneMatch: '*' };
    const record = await storage.uploads.complete(told);
    const noted = { by: 'me', ...metadata };
    expect(record).toMatchObject({ size: bytes.length, contentType: 'x/y', metadata: noted });
    expect(await storage.uploads.complete(told)).toEqual(record);
    expect(Buffer.compare(await read('parts.bin'), bytes)).toBe(0);
  });

  test('parts that differ from the received bytes fail at completion, which stores nothing', async () => {
    const { uploadId } = await storage.uploads.begin({ ...target('changed'), chunkBytes });
    const at = { ...target('changed'), uploadId };
    const part = await storage.uploads.write({ ...at, offset: 0, source: sampleBytes('a', 100) });
    await storage.uploads.write({ ...at, offset: 0, source: sampleBytes('b', 100) });
    const completing = storage.uploads.complete({ ...at, parts: [part] });
    await expect(completing).rejects.toMatchObject({ code: 'BadDigest' });
    await expect(storage.stat(at)).rejects.toMatchObject({ code: 'NoSuchFile' });
  });

  test('a completed upload is resumed only while its file is stored', async () => {
    const file = { ...target('resumed'), contentType: 'a/b', chunkBytes: 1_000_000 };
    const bytes = sampleBytes('resumed', 2_100_000);
    let resume = '';
    const onSession = ({ uploadId }: { readonly uploadId: string }) => {
      resume = uploadId;
    };
    const stored = await storage.upload(bytes, { ...file, onSession });
    expect(await storage.upload(bytes, { ...file, resume })).toEqual(stored);
    await storage.upload(sampleBytes('other', 10), { ...target('resumed'), contentType: 'a/b' });
    const again = storage.upload(bytes, { ...file, resume });
    await expect(again).rejects.toMatchObject({ code: 'NoSuchUpload' });
  });

  test('a part must begin where a chunk begins', async () => {
    const { uploadId } = await storage.uploads.begin({ ...target('odd'), chunkBytes });
    const at = { ...target('odd'), uploadId };
    for (const offset of [1, chunkBytes - 1, -chunkBytes, Number.NaN]) {
      const write = storage.uploads.write({ ...at, offset, source: new Uint8Array(1) });
      await expect(write).rejects.toThrow('offset must be a multiple of 65536');
    }
    await storage.uploads.cancel(at);
    const late = storage.uploads.write({ ...at, offset: 0, chunkBytes, source: new Uint8Array(1) });
    await expect(late).rejects.toMatchObject({ code: 'UploadCancelled' });
  });

  test('listFolder() begins after the path startAfter', async () => {
    for (const path of ['l/a', 'l/b/1', 'l/b/2', 'l/c']) {
      await storage.upload(new Uint8Array(0), target(path));
    }
    const list = async (startAfter: string, delimiter?: '/') => {
      const wanted = { bucket: service.bucket, prefix: `${prefix}l/`, delimiter };
      const page = await storage.listFolder({ ...wanted, startAfter: prefix + startAfter });
      return [...page.folders, ...page.items].map(({ path }) => path.slice(prefix.length));
    };
    expect(await list('l/a')).toEqual(['l/b/1', 'l/b/2', 'l/c']);
    expect(await list('l/b/1', '/')).toEqual(['l/c']);
  });
});

test('Storage.uploads: an end-to-end bucket accepts only whole files, with metadata computed while reading', async () => {
  const storage = byActor();
  const bucket = 'sealed';
  await storage.buckets.create(bucket, { endToEnd: { sealsNames: true } });
  const name = { bucket, path: 'a/b' };
  await expect(storage.uploads.begin(name)).rejects.toMatchObject({ code: 'Unsupported' });
  const part = { ...name, uploadId: '00', offset: 0, source: new Uint8Array(1) };
  await expect(storage.uploads.write(part)).rejects.toThrow('cannot be uploaded in parts');
  const list = storage.listFolder({ bucket, startAfter: 'a' });
  await expect(list).rejects.toThrow('continue by the cursor');
  for (const size of [1_000, 2_000_001]) {
    const { source, metadata, expected } = digested(sampleBytes('sealed', size));
    const record = await storage.upload(source, { ...name, metadata });
    expect(record.metadata).toEqual(expected);
  }
});
