// Transfers whose connections are refused for a while, on a virtual clock with the shortest delays
// between attempts.

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createStorage } from '../../packages/client/src/storage.ts';
import { sampleBytes, sha256Hex } from '../support/service.ts';

const outageMs = 20_000;
const chunkBytes = 1_000_000;
const bytes = sampleBytes('refused', 3 * chunkBytes);
/** The entity tag of several chunks: the digest of their digests, and their number. */
const digests = [0, 1, 2].map((index) => sha256Hex(chunkAt(index)));
const etag = `${sha256Hex(Buffer.from(digests.join(''), 'hex'))}-3`;
const file = { bucket: 'b', path: 'p' };

function chunkAt(index: number): Uint8Array {
  return bytes.subarray(index * chunkBytes, (index + 1) * chunkBytes);
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] });
  vi.spyOn(Math, 'random').mockReturnValue(0);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** Returns a fetch that fails for 20 s, beginning with the second request that `isData` matches. */
function refusing(answer: typeof fetch, isData: (url: string, init?: RequestInit) => boolean) {
  let dataRequests = 0;
  let untilMs: number | undefined;
  const counts = { refused: 0 };
  const refusingFetch: typeof fetch = async (input, init) => {
    if (isData(String(input), init) && ++dataRequests === 2) untilMs = Date.now() + outageMs;
    if (untilMs === undefined || Date.now() >= untilMs) return answer(input, init);
    counts.refused++;
    throw new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } });
  };
  return { fetch: refusingFetch, counts };
}

/** Advances the clock until the transfer has ended. Digests are computed in real time. */
async function settled<T>(transfer: Promise<T>): Promise<T> {
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  transfer.then(end, end);
  while (!isOver) {
    await vi.advanceTimersByTimeAsync(100);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return transfer;
}

test('createStorage(): upload continues after 20 s of refused connections', async () => {
  const session = { uploadId: 'u', chunkSize: chunkBytes, chunkCount: 3, receivedChunks: 0 };
  const { fetch, counts } = refusing(
    async (input, init) => {
      const url = String(input);
      if (url.endsWith('/start')) return Response.json({ ...session, missing: [0, 1, 2] });
      if (url.endsWith('/complete')) return Response.json({ etag });
      return Response.json({ sha256: sha256Hex(init?.body as Uint8Array) });
    },
    (url) => url.includes('/chunk/'),
  );
  const storage = createStorage({ url: 'http://x', fetch });
  const options = { ...file, resume: undefined, chunkBytes, contentType: 'a/b' };
  const stored = await settled(storage.upload(bytes, options));
  expect(stored.etag).toBe(etag);
  expect(counts.refused).toBeGreaterThanOrEqual(8);
});

test('createStorage(): download continues after 20 s of refused connections', async () => {
  const { fetch, counts } = refusing(
    async (_, init) => {
      const range = new Headers(init?.headers).get('range') ?? '';
      const [, first = '0', last = ''] = /bytes=(\d+)-(\d*)/.exec(range) ?? [];
      const end = Math.min(Number(last || bytes.length - 1), Number(first) + chunkBytes - 1);
      const headers = {
        ETag: `"${etag}"`,
        'Content-Type': 'a/b',
        'Content-Range': `bytes ${first}-${end}/${bytes.length}`,
        'X-Chunk-Size': String(chunkBytes),
      };
      const body = bytes.slice(Number(first), end + 1);
      return new Response(body as BodyInit, { status: 206, headers });
    },
    () => true,
  );
  const storage = createStorage({ url: 'http://x', fetch });
  const received = settled(storage.download(file).then((opened) => opened.bytes()));
  expect(sha256Hex(await received)).toBe(sha256Hex(bytes));
  expect(counts.refused).toBeGreaterThanOrEqual(8);
});
