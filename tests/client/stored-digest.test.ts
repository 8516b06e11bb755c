// An upload ends with a check that the stored file's entity tag matches the bytes that were read.
// Answers to single chunks come from one node, so they prove nothing. A session is
// completed only with the entity tag of all its chunks.

import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createHttpStorage } from '../../packages/client/src/http-storage.ts';
import { openService, type Service, sampleBytes } from '../support/service.ts';

let service: Service;
beforeAll(async () => {
  service = await openService();
});
afterAll(() => service?.stop());

const digestHeaders = ['content-digest', 'repr-digest'];

/**
 * Flips a bit of one request's body in transit, and makes the answer report the digest of the sent
 * bytes, as a malicious node would.
 */
function lyingFetch(urlPart: string): { readonly fetch: typeof fetch; lies(): number } {
  let lies = 0;
  return {
    lies: () => lies,
    fetch: async (input, init) => {
      const body = init?.body;
      if (!String(input).includes(urlPart) || !(body instanceof Uint8Array)) {
        return fetch(input, init);
      }
      lies += 1;
      const altered = new Uint8Array(body);
      altered[1_000] = (altered[1_000] ?? 0) ^ 1;
      const headers = new Headers(init?.headers);
      for (const name of digestHeaders) headers.delete(name);
      const answer = await fetch(input, { ...init, headers, body: altered });
      const sha256 = createHash('sha256').update(body).digest('hex');
      return Response.json({ ...(await answer.json()), sha256 }, { status: answer.status });
    },
  };
}

test.each([
  ['in chunks', 2_100_000, '/chunk/1', 'BadDigest'],
  ['in one request', 100_000, '/files/', 'IntegrityError'],
])(
  'createHttpStorage(): a file uploaded %s is refused if other bytes are received',
  async (how, size, part, code) => {
    const { base: url, apiKey, bucket } = service;
    const network = lyingFetch(part);
    const storage = createHttpStorage({ url, apiKey, fetch: network.fetch });
    const file = { bucket, path: `lied about ${how}`, contentType: 'a/b', chunkBytes: 1_000_000 };
    const uploading = storage.upload(sampleBytes(how, size), file);
    await expect(uploading).rejects.toMatchObject({ code });
    expect(network.lies()).toBe(1);
    // The completion of a session names the entity tag, so the service stores no other bytes.
    if (code === 'BadDigest') await expect(storage.stat(file)).rejects.toThrow('does not exist');
  },
);

test('createHttpStorage(): a stream is not stored without the chunks that a node drops', async () => {
  const { base: url, apiKey, bucket } = service;
  let dropped = 0;
  const storage = createHttpStorage({
    url,
    apiKey,
    fetch: async (input, init) => {
      if (!String(input).includes('/chunk/2')) return fetch(input, init);
      dropped += 1;
      const sha256 = createHash('sha256')
        .update(init?.body as Uint8Array)
        .digest('hex');
      return Response.json({ sha256 });
    },
  });
  const source = new Blob([sampleBytes('stream', 2_500_000) as BlobPart]).stream();
  const file = { bucket, path: 'dropped', contentType: 'a/b', chunkBytes: 1_000_000 };
  await expect(storage.upload(source, file)).rejects.toMatchObject({ code: 'BadDigest' });
  expect(dropped).toBe(1);
  await expect(storage.stat(file)).rejects.toMatchObject({ code: 'NoSuchFile' });
});
