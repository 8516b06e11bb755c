// Transfers of age files through the real service: as streams, by ranges, resumed, in batches and by
// links. These tests pass the bucket's recipients; those of end-to-end.test.ts read them from the
// service.

import { Decrypter, generateX25519Identity, identityToRecipient } from 'age-encryption';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import {
  type EndToEndFiles,
  openEndToEnd,
} from '../../packages/client/src/age/end-to-end-files.ts';
import { fileStorage } from '../../packages/client/src/files/file-storage.ts';
import { connectionOver, httpTransport } from '../../packages/client/src/http-storage.ts';
import { openNodeLink } from '../../packages/client/src/node/end-to-end.ts';
import { nodeSegmentCipher } from '../../packages/client/src/node/segment-cipher.ts';
import type { EndToEndRecord } from '../../packages/client/src/types/end-to-end.ts';
import type { DownloadOptions, UploadSession } from '../../packages/client/src/types/transfers.ts';
import { openService, type Service, sampleBytes } from '../support/service.ts';

let service: Service;
let identity: string;
let mode: EndToEndRecord;
const bytes = sampleBytes('age transfers', 5_000_000);

beforeAll(async () => {
  service = await openService();
  identity = await generateX25519Identity();
  const recipients = [await identityToRecipient(identity)];
  mode = { usesVetKeys: false, sealsNames: false, recipients, serial: '1', epochs: [] };
});
afterEach(() => void vi.restoreAllMocks());
afterAll(() => service?.stop());

function opened(identities: readonly string[], onRequest: (bytes: number) => void = () => {}) {
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const answer = await globalThis.fetch(input, init);
    const length = answer.headers.get('content-length') ?? 0;
    onRequest(init?.method === 'GET' ? Number(length) : 0);
    return answer;
  };
  const options = { url: service.base, apiKey: service.apiKey, fetch };
  const connection = connectionOver(httpTransport(options), options);
  const files = fileStorage(connection);
  const settings = { identities, cipher: nodeSegmentCipher };
  const own = openEndToEnd({ files, connection, issuer: undefined, options: settings });
  return { files, connection, own };
}

const target = (path: string) => ({ bucket: service.bucket, path: `age/${path}` });

async function download(
  { connection, own }: ReturnType<typeof opened>,
  path: string,
  options: DownloadOptions = {},
) {
  const wantsFirst = options.range === undefined;
  const opening = { ...target(path), wantsFirst };
  const file = await connection.transport.openFile(opening, undefined);
  return own.download(target(path), { file, options }, mode);
}

function upload(own: EndToEndFiles, path: string, plain: Uint8Array, options: object = {}) {
  return own.upload(plain, { ...target(path), ...options }, mode);
}

test.each([0, 1, 65_536, 5_000_000])(
  "EndToEndFiles: %i uploaded bytes are downloaded, and age's library decrypts them",
  async (length) => {
    const client = opened([identity]);
    const plain = bytes.subarray(0, length);
    const seen: number[] = [];
    const record = await upload(client.own, `${length}.txt`, plain, {
      onProgress: ({ doneBytes, totalBytes }: { doneBytes: number; totalBytes: number }) =>
        seen.push(doneBytes, totalBytes),
    });
    expect([seen.at(-2), seen.at(-1)]).toEqual([length, length]);
    expect(record.contentType).toBe('application/age');
    const came = await download(client, `${length}.txt`);
    expect([came.size, came.etag]).toEqual([length, record.etag]);
    expect(Buffer.compare(await came.bytes(), plain)).toBe(0);
    const stored = await client.files.download(target(`${length}.txt`));
    const decrypter = new Decrypter();
    decrypter.addIdentity(identity);
    expect(Buffer.compare(await decrypter.decrypt(await stored.bytes()), plain)).toBe(0);
  },
);

test('EndToEndFiles: a stream of unknown length is encrypted as it arrives', async () => {
  const client = opened([identity]);
  const stream = new Blob([bytes as BlobPart]).stream();
  await client.own.upload(stream, target('stream'), mode);
  expect(Buffer.compare(await (await download(client, 'stream')).bytes(), bytes)).toBe(0);
});

test('EndToEndFiles: a range reads only its segments and the header', async () => {
  let read = 0;
  const client = opened([identity], (length) => {
    read += length;
  });
  await upload(client.own, 'range', bytes);
  read = 0;
  const range = { start: 2_000_001, end: 2_100_001 };
  const came = await download(client, 'range', { range });
  expect([came.start, came.size]).toEqual([range.start, bytes.length]);
  const part = await new Response(came.body as BodyInit).arrayBuffer();
  const expected = bytes.subarray(range.start, range.end);
  expect(Buffer.compare(new Uint8Array(part), expected)).toBe(0);
  expect(read).toBeLessThan(300_000);
  const tail = await download(client, 'range', { range: { start: 4_999_990 } });
  expect(Buffer.compare(await tail.bytes(), bytes.subarray(-10))).toBe(0);
  const beyond = download(client, 'range', { range: { start: bytes.length } });
  await expect(beyond).rejects.toMatchObject({ code: 'InvalidRange' });
});

/** Uploads the bytes until 1.5 MB have arrived, and returns the session. */
async function stoppedUpload(own: EndToEndFiles, path: string): Promise<UploadSession> {
  const stopper = new AbortController();
  let session: UploadSession | undefined;
  const options = {
    chunkBytes: 500_000,
    concurrency: 1,
    signal: stopper.signal,
    onSession: (begun: UploadSession) => {
      session = begun;
    },
    onProgress: ({ doneBytes }: { doneBytes: number }) => {
      if (doneBytes > 1_500_000) stopper.abort();
    },
  };
  await expect(upload(own, path, bytes, options)).rejects.toThrow();
  return session as UploadSession;
}

test('EndToEndFiles: a stopped upload continues with the same bytes, if the identity is available', async () => {
  const client = opened([identity]);
  const { uploadId: resume, ageHeader } = await stoppedUpload(client.own, 'resumed');
  const other = opened([await generateX25519Identity()]);
  const refused = upload(other.own, 'resumed', bytes, { resume, ageHeader });
  await expect(refused).rejects.toMatchObject({ code: 'NoIdentity' });
  const bare = upload(client.own, 'resumed', bytes, { resume });
  await expect(bare).rejects.toMatchObject({ code: 'InvalidArgument' });
  let resumed = 0;
  await upload(client.own, 'resumed', bytes, {
    resume,
    ageHeader,
    onProgress: ({ resumedBytes }: { resumedBytes: number }) => {
      resumed = resumedBytes;
    },
  });
  expect(resumed).toBeGreaterThan(1_000_000);
  expect(Buffer.compare(await (await download(client, 'resumed')).bytes(), bytes)).toBe(0);
});

/** Sets this client's clock to a time after the last chunk of an upload. */
async function setClock(client: ReturnType<typeof opened>, uploadId: string, seconds: number) {
  const { updatedAt } = await client.files.uploads.status({ ...target(''), uploadId });
  vi.spyOn(Date, 'now').mockReturnValue(Date.parse(updatedAt) + seconds * 1_000);
}

test('EndToEndFiles: a resumed upload starts again if the recipients have changed', async () => {
  const client = opened([identity]);
  const { uploadId: resume, ageHeader } = await stoppedUpload(client.own, 'changed');
  await setClock(client, resume, 121);
  const later = await generateX25519Identity();
  const changed = { ...mode, recipients: [await identityToRecipient(later)] };
  const sessions: UploadSession[] = [];
  const onSession = (session: UploadSession) => void sessions.push(session);
  const options = { ...target('changed'), resume, ageHeader, onSession };
  await client.own.upload(bytes, options, changed);
  expect(sessions).toHaveLength(1);
  expect(sessions[0]?.uploadId).not.toBe(resume);
  const open = await client.files.uploads.list(target(''));
  expect(open.map(({ path }) => path)).not.toContain('age/changed');
  await expect(download(client, 'changed')).rejects.toMatchObject({ code: 'NoIdentity' });
  const came = await download(opened([later]), 'changed');
  expect(Buffer.compare(await came.bytes(), bytes)).toBe(0);
});

test('EndToEndFiles: an upload that another client may be sending is not cancelled', async () => {
  const client = opened([identity]);
  const { uploadId: resume, ageHeader } = await stoppedUpload(client.own, 'shared');
  await setClock(client, resume, 119);
  const [header] = `${ageHeader}`.split('.');
  await upload(client.own, 'shared', bytes, { resume, ageHeader: header });
  vi.restoreAllMocks();
  await upload(client.own, 'shared', bytes, { resume, ageHeader });
  const { status } = await client.files.uploads.status({ ...target('shared'), uploadId: resume });
  expect(status).toBe('completed');
});

test('EndToEndFiles: a resumed upload does not wait for its cancellation after an abort', async () => {
  const client = opened([identity]);
  const { uploadId: resume, ageHeader } = await stoppedUpload(client.own, 'aborted');
  const stopper = new AbortController();
  const { uploads } = client.files;
  let isAborted: boolean | undefined;
  const status = vi.spyOn(uploads, 'status').mockImplementation(async ({ signal }) => {
    stopper.abort();
    isAborted = signal?.aborted;
    throw signal?.reason;
  });
  const [header] = `${ageHeader}`.split('.');
  const options = { resume, ageHeader: header, signal: stopper.signal };
  await expect(upload(client.own, 'aborted', bytes, options)).rejects.toMatchObject({
    code: 'Aborted',
  });
  expect(status).toHaveBeenCalledOnce();
  expect(isAborted).toBe(true);
});

test('EndToEndFiles: a resumed download verifies the bytes received before', async () => {
  const client = opened([identity]);
  const { etag } = await upload(client.own, 'gone-on', bytes, { chunkBytes: 300_000 });
  for (const length of [10, 2_345_678, bytes.length]) {
    const received = bytes.subarray(0, length);
    const came = await download(client, 'gone-on', { resume: { etag, received } });
    expect(came.start).toBeLessThanOrEqual(length);
    expect(came.start).toBeGreaterThan(length - 500_000);
    expect(Buffer.compare(await came.bytes(), bytes.subarray(came.start))).toBe(0);
  }
  const received = bytes.slice(0, 2_000_000);
  received[5] = 1 + (received[5] ?? 0);
  const altered = await download(client, 'gone-on', { resume: { etag, received } });
  await expect(altered.bytes()).rejects.toMatchObject({ code: 'IntegrityError' });
});

test('EndToEndFiles: a replaced file is decrypted with its own header', async () => {
  const client = opened([identity]);
  for (const plain of [bytes.subarray(0, 200_000), bytes.subarray(7, 300_000)]) {
    await upload(client.own, 'replaced', plain);
    expect(Buffer.compare(await (await download(client, 'replaced')).bytes(), plain)).toBe(0);
    const range = await download(client, 'replaced', { range: { start: 70_000, end: 70_009 } });
    expect(Buffer.from(await range.bytes())).toEqual(Buffer.from(plain.slice(70_000, 70_009)));
  }
});

test('EndToEndFiles: many small files are uploaded together, each with its own header', async () => {
  const client = opened([identity]);
  const files = Array.from({ length: 20 }, (_, index) => ({
    path: `age/small/${index}.txt`,
    source: bytes.subarray(0, 1_000 + index),
  }));
  const bucket = { id: service.bucket, mode };
  const sealed = await Promise.all(files.map((file) => client.own.sealed(file, bucket)));
  const ended = [];
  const all = sealed.map(({ file }) => file);
  for await (const one of client.files.uploadAll(all, { bucket: service.bucket })) {
    ended.push(one);
  }
  expect(ended.filter(({ error }) => error)).toEqual([]);
  expect(ended).toHaveLength(20);
  const came = await download(client, 'small/9.txt');
  expect(Buffer.compare(await came.bytes(), bytes.subarray(0, 1_009))).toBe(0);
  expect(new Set(ended.map(({ file }) => file?.etag)).size).toBe(20);
});

test("EndToEndFiles: a link's fragment decrypts its file and no other", async () => {
  const client = opened([identity]);
  await upload(client.own, 'linked.txt', bytes);
  await upload(client.own, 'other.txt', bytes);
  const asked: string[] = [];
  const fetch: typeof globalThis.fetch = (input, init) => {
    asked.push(String(input));
    return globalThis.fetch(input, init);
  };
  const linkTo = async (path: string) => {
    const plain = await client.files.links.create(target(path));
    return client.own.openingLink(target(path), plain, mode);
  };
  const { url } = await linkTo('linked.txt');
  const [address = '', fragment = ''] = url.split('#');
  expect(fragment).toMatch(/^AQ?[\w-]{22,23}$/);
  const came = await openNodeLink(url, { fetch });
  expect(Buffer.compare(await came.bytes(), bytes)).toBe(0);
  expect(asked.join()).not.toContain(fragment);
  const part = await openNodeLink(url, { range: { start: 10, end: 20 } });
  expect(Buffer.compare(await part.bytes(), bytes.subarray(10, 20))).toBe(0);
  const other = await linkTo('other.txt');
  const crossed = openNodeLink(`${other.url.split('#')[0]}#${fragment}`);
  await expect(crossed).rejects.toMatchObject({ code: 'IntegrityError' });
  const cut = openNodeLink(`${address}#${fragment.slice(0, -2)}`);
  await expect(cut).rejects.toMatchObject({ code: 'InvalidArgument' });
});

test('EndToEndFiles: a download without an identity reports that none is configured', async () => {
  const client = opened([]);
  await upload(client.own, 'closed', bytes.subarray(0, 100));
  await expect(download(client, 'closed')).rejects.toMatchObject({
    code: 'NoIdentity',
    message: expect.stringContaining('No identity is configured'),
  });
});
