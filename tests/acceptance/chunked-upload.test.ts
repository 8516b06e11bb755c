// Chunked uploads by actor methods, with both official agents as the clients.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AgentName, openActor } from '../support/actors.ts';
import type { UploadActor } from '../support/candid-interface.ts';
import { openService, type Service, sampleBytes, sha256Hex } from '../support/service.ts';

let service: Service;

beforeAll(async () => {
  service = await openService();
});

afterAll(() => service?.stop());

/**
 * Returns the chunks of the bytes with their indexes, neither in ascending nor in descending order.
 */
function shuffledChunks(
  bytes: Uint8Array,
  chunkSize: number,
): [index: number, bytes: Uint8Array][] {
  const count = Math.ceil(bytes.length / chunkSize);
  // A step that is coprime with the count, so that every index occurs once.
  const step = count % 7 === 0 ? 11 : 7;
  return Array.from({ length: count }, (_, turn) => {
    const index = (turn * step + 3) % count;
    return [index, bytes.subarray(index * chunkSize, (index + 1) * chunkSize)];
  });
}

async function uploadInParallel(
  actor: UploadActor,
  file: { readonly path: string; readonly bytes: Uint8Array; readonly chunkSize: number },
): Promise<void> {
  const { path, bytes, chunkSize } = file;
  const size = BigInt(bytes.length);
  const begun = await actor.beginFileUpload(service.bucket, path, 'video/mp4', size, [
    service.apiKey,
  ]);
  const uploadId = begun.ok ?? expect.fail(begun.err);
  const results = await Promise.all(
    shuffledChunks(bytes, chunkSize).map(([index, chunk]) =>
      actor.uploadFileChunkIndexed(uploadId, BigInt(index), chunk),
    ),
  );
  expect(results.map(({ err }) => err).filter((err) => err !== undefined)).toEqual([]);
  const state = await actor.getUpload(uploadId);
  expect(state.ok).toMatchObject({ status: 'ready', missing: [], uploadedSize: size });
  const completed = await actor.completeFileUpload(uploadId, []);
  expect(completed.ok).toMatch(/^[0-9a-f]{16}$/);
  expect(await actor.completeFileUpload(uploadId, [service.apiKey])).toEqual(completed);
}

describe.each<[AgentName, number, number]>([
  ['@dfinity/agent', 1_850_000, 20_000_000],
  ['@icp-sdk/core', 700_000, 8_000_000],
])('a large file uploaded with %s in chunks of %i bytes, %i in all', (agent, chunkSize, size) => {
  const bytes = sampleBytes(agent, size);

  test('is identical when downloaded by one plain GET through the gateway', async () => {
    // Without an identity: an API key suffices.
    const actor = await openActor(service, { agent, asOwner: false });
    const path = `/videos/${chunkSize}.mp4`;
    await uploadInParallel(actor, { path, bytes, chunkSize });
    const response = await fetch(`${service.base}/cloud/${service.bucket}${path}`);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('video/mp4');
    expect(response.headers.get('content-length')).toBe(String(size));
    expect(response.headers.get('etag')).toMatch(/^"[0-9a-f]{64}-\d+"$/);
    const body = new Uint8Array(await response.arrayBuffer());
    expect(sha256Hex(body)).toBe(sha256Hex(bytes));
  });

  test('answers a range with exactly the requested bytes', async () => {
    const url = `${service.base}/cloud/${service.bucket}/videos/${chunkSize}.mp4`;
    const start = chunkSize - 10;
    const response = await fetch(url, { headers: { Range: `bytes=${start}-${start + 9}` } });
    expect(response.status).toBe(206);
    expect(response.headers.get('content-range')).toBe(`bytes ${start}-${start + 9}/${size}`);
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(bytes.slice(start, start + 10));
  });
});

describe('an upload session', () => {
  let actor: UploadActor;
  const key = () => [service.apiKey] as [string];

  beforeAll(async () => {
    actor = await openActor(service, { agent: '@icp-sdk/core', asOwner: false });
  });

  async function begin(path: string, size: number): Promise<string> {
    const size64 = BigInt(size);
    const begun = await actor.beginFileUpload(service.bucket, path, 'text/plain', size64, key());
    return begun.ok ?? expect.fail(begun.err);
  }

  test('accepts an empty file without a chunk', async () => {
    const uploadId = await begin('/empty.txt', 0);
    expect(await actor.completeFileUpload(uploadId, key())).toHaveProperty('ok');
    const response = await fetch(`${service.base}/cloud/${service.bucket}/empty.txt`);
    expect(response.status).toBe(200);
    expect(await response.text()).toBe('');
  });

  test('applies every field of its start to the file', async () => {
    const request = {
      bucketId: service.bucket,
      path: '/all/fields.html',
      contentType: [] as [],
      size: 2n,
      tags: [['one', 'two']] as [string[]],
      sha256: [sha256Hex(Buffer.from('ok'))] as [string],
      chunkSize: [65_536n] as [bigint],
      headers: [[['Content-Language', 'de']]] as [[string, string][]],
      ifMatch: [] as [],
      ifNoneMatch: ['*'] as [string],
      apiKey: key(),
    };
    const begun = await actor.beginFileUploadWith(request);
    const uploadId = begun.ok ?? expect.fail(begun.err);
    const refused = await actor.uploadFileChunkIndexed(uploadId, 0n, Buffer.from('o'));
    expect(refused.err).toMatch(/^ChunkSizeMismatch: /);
    await actor.uploadFileChunkIndexed(uploadId, 0n, Buffer.from('no'));
    expect((await actor.completeFileUpload(uploadId, [])).err).toMatch(/^BadDigest: /);
    await actor.uploadFileChunkIndexed(uploadId, 0n, Buffer.from('ok'));
    expect(await actor.completeFileUpload(uploadId, [])).toHaveProperty('ok');
    expect((await actor.beginFileUploadWith(request)).err).toMatch(/^PreconditionFailed: /);
    const response = await fetch(`${service.base}/cloud/${service.bucket}/all/fields.html`);
    expect(response.headers.get('content-type')).toBe('text/html');
    expect(response.headers.get('content-language')).toBe('de');
  });

  test('stays open after a failed completion, and getUpload lists the missing chunks', async () => {
    const uploadId = await begin('/holes.txt', 6);
    await actor.uploadFileChunkIndexed(uploadId, 0n, Buffer.from('ab'));
    await actor.uploadFileChunkIndexed(uploadId, 2n, Buffer.from('ef'));
    expect((await actor.completeFileUpload(uploadId, key())).err).toMatch(/^UploadIncomplete: /);
    expect((await actor.getUpload(uploadId)).ok?.missing).toEqual([1n]);
    await actor.uploadFileChunkIndexed(uploadId, 1n, Buffer.from('cd'));
    expect(await actor.completeFileUpload(uploadId, key())).toHaveProperty('ok');
    const response = await fetch(`${service.base}/cloud/${service.bucket}/holes.txt`);
    expect(await response.text()).toBe('abcdef');
  });

  test('stores the last of several chunks with the same index', async () => {
    const uploadId = await begin('/resent.txt', 2);
    expect(await actor.uploadFileChunkIndexed(uploadId, 0n, Buffer.from('x'))).toEqual({ ok: 1n });
    expect(await actor.uploadFileChunkIndexed(uploadId, 0n, Buffer.from('ok'))).toEqual({ ok: 2n });
    await actor.completeFileUpload(uploadId, key());
    const response = await fetch(`${service.base}/cloud/${service.bucket}/resent.txt`);
    expect(await response.text()).toBe('ok');
  });

  test('refuses chunks after it is cancelled, and can be cancelled again', async () => {
    const uploadId = await begin('/cancelled.txt', 2);
    expect(await actor.cancelUpload(uploadId)).toEqual({ ok: null });
    expect(await actor.cancelUpload(uploadId)).toEqual({ ok: null });
    const chunk = await actor.uploadFileChunkIndexed(uploadId, 0n, Buffer.from('ab'));
    expect(chunk.err).toMatch(/^UploadCancelled: /);
    const response = await fetch(`${service.base}/cloud/${service.bucket}/cancelled.txt`);
    expect(response.status).toBe(404);
  });

  test('that a principal began refuses other principals', async () => {
    const owner = await openActor(service, { agent: '@dfinity/agent', asOwner: true });
    const begun = await owner.beginFileUpload(service.bucket, '/mine.txt', 'text/plain', 2n, []);
    const uploadId = begun.ok ?? expect.fail(begun.err);
    const refused = await actor.uploadFileChunkIndexed(uploadId, 0n, Buffer.from('no'));
    expect(refused.err).toMatch(/^AccessDenied: /);
    await owner.uploadFileChunkIndexed(uploadId, 0n, Buffer.from('ok'));
    expect(await owner.completeFileUpload(uploadId, [])).toHaveProperty('ok');
  });

  test.each([
    [
      'an unknown upload id',
      () => actor.uploadFileChunkIndexed('00', 0n, Buffer.from('a')),
      'NoSuchUpload',
    ],
    [
      'no API key',
      () => actor.beginFileUpload(service.bucket, '/a', 'a/b', 1n, []),
      'AccessDenied',
    ],
    [
      'a wrong API key',
      () => actor.beginFileUpload(service.bucket, '/a', 'a/b', 1n, ['efs_x']),
      'InvalidApiKey',
    ],
    [
      'a path with ..',
      () => actor.beginFileUpload(service.bucket, '/a/../b', 'a/b', 1n, key()),
      'InvalidPath',
    ],
    [
      'no content type',
      () => actor.beginFileUpload(service.bucket, '/a', '', 1n, key()),
      'MissingContentType',
    ],
    [
      'a bad content type',
      () => actor.beginFileUpload(service.bucket, '/a', 'x', 1n, key()),
      'InvalidContentType',
    ],
    [
      'a size of 20 GB',
      () => actor.beginFileUpload(service.bucket, '/a', 'a/b', 20_000_000_000n, key()),
      'EntityTooLarge',
    ],
    [
      'a bad bucket id',
      () => actor.beginFileUpload('a-', '/a', 'a/b', 1n, key()),
      'InvalidBucketId',
    ],
  ])('refuses a call with %s', async (_, call, code) => {
    const { err = '' } = await call();
    expect(err).toMatch(new RegExp(`^${code}: .{10,}`));
  });
});
