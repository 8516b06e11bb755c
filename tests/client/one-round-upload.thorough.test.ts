// Uploads in one round: which uploads take it, and what happens to lost answers and forged ones.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { lazyTransport } from '../../packages/client/src/actor/lazy-transport.ts';
import type { UploadInput } from '../../packages/client/src/bytes/upload-source.ts';
import type { Connection } from '../../packages/client/src/connection/connection.ts';
import { createLine } from '../../packages/client/src/connection/transfer-window.ts';
import type { Transport } from '../../packages/client/src/connection/transport.ts';
import { StorageError } from '../../packages/client/src/storage-error.ts';
import type { FileRecord } from '../../packages/client/src/types/files.ts';
import type { UploadOptions } from '../../packages/client/src/types/transfers.ts';
import { uploadFile } from '../../packages/client/src/uploads/upload.ts';
import { openService, type Service, sampleBytes, sha256Hex } from '../support/service.ts';

const bytes = sampleBytes('one round', 5_000_000);
const threeChunks = ['uploadChunk', 'uploadChunk', 'uploadChunk'];
const inSession = ['startUpload', 'putChunk', 'putChunk', 'putChunk', 'completeUpload'];
const retryPolicy = { attemptsMax: 5, delayMsMin: 1, delayMsMax: 5, stoppedMsMax: 0 };

let service: Service;
beforeAll(async () => {
  service = await openService();
});
afterAll(() => service?.stop());

interface Opened {
  readonly connection: Connection;
  /** Names of the operations that were called. */
  readonly called: string[];
}

/** Opens a connection whose line has this rate, with some operations of the transport replaced. */
function open(
  bytesPerSecond: number,
  change: (real: Transport) => Partial<Transport> = () => ({}),
) {
  const { host, canisterId, apiKey } = service;
  const line = createLine();
  line.up.note(bytesPerSecond, 1_000);
  const caller = { apiKey, identity: undefined, fetchRootKey: true };
  const real = lazyTransport({
    ...{ host, canisterId, ...caller, retryPolicy, line, timeoutMs: 60_000 },
    fetch: globalThis.fetch,
  });
  const called: string[] = [];
  const transport = new Proxy(
    { ...real, ...change(real) },
    {
      get(target, name) {
        const member = Reflect.get(target, name);
        if (typeof member !== 'function' || name === 'status') return member;
        return (...values: unknown[]) => {
          called.push(String(name));
          return member(...values);
        };
      },
    },
  );
  const connection = { transport, retryPolicy, contentTypeOf: () => 'video/mp4' };
  return { connection, called } satisfies Opened;
}

let count = 0;
async function upload(
  { connection }: Opened,
  options: Partial<UploadOptions> = {},
  input: UploadInput = bytes,
): Promise<FileRecord> {
  const path = `one-round/${count++}`;
  const record = await uploadFile(connection, input, { bucket: service.bucket, path, ...options });
  const response = await fetch(`${service.base}/cloud/${service.bucket}/${record.path}`);
  expect(sha256Hex(new Uint8Array(await response.arrayBuffer()))).toBe(sha256Hex(bytes));
  expect(response.headers.get('etag')).toBe(`"${record.etag}"`);
  return record;
}

describe('upload()', () => {
  test('takes one round on a fast line', async () => {
    const opened = open(5_000_000);
    const sessions: string[] = [];
    const onSession = ({ uploadId }: { readonly uploadId: string }) => void sessions.push(uploadId);
    const record = await upload(opened, { tags: ['t'], metadata: { by: 'me' }, onSession });
    expect(record).toMatchObject({ tags: ['t'], metadata: { by: 'me' }, contentType: 'video/mp4' });
    expect(opened.called).toEqual(threeChunks);
    expect(sessions.length).toBe(1);
  });

  test.each<[string, number, Partial<UploadOptions>, string[]]>([
    ['a slow line', 200_000, { chunkBytes: 1_900_000 }, inSession],
    ['metadata that is computed at the end', 5_000_000, { metadata: () => ({}) }, inSession],
    ['many chunks', 5_000_000, { chunkBytes: 150_000 }, []],
  ])('begins a session first with %s', async (_name, rate, options, called) => {
    const opened = open(rate);
    await upload(opened, options);
    expect(opened.called[0]).toBe('startUpload');
    if (called.length > 0) expect(opened.called).toEqual(called);
  });

  test('begins a session first for a stream, which cannot be read again', async () => {
    const opened = open(5_000_000);
    const stream = () => new Blob([bytes.slice()]).stream();
    await upload(opened, { size: bytes.length }, stream());
    await upload(opened, {}, stream());
    expect(opened.called).not.toContain('uploadChunk');
  });

  test.each([
    ['Unsupported', 'Unsupported'],
    ['Rejected', 'Rejected'],
  ])('begins a session if the service refuses with %s', async (_name, code) => {
    const opened = open(5_000_000, (real) => ({
      async uploadChunk() {
        throw new StorageError(code, 'There is no such method.');
      },
      status: async (...asked) => ({ ...(await real.status(...asked)), version: '0.1.0' }),
    }));
    await upload(opened);
    expect(opened.called).toContain('completeUpload');
  });

  test('sends chunks whose answers are lost again, and stores one file', async () => {
    let calls = 0;
    const opened = open(5_000_000, (real) => ({
      async uploadChunk(...sent) {
        const answer = await real.uploadChunk(...sent);
        calls += 1;
        if (calls <= 4) throw new StorageError('NetworkError', 'lost', { isRetryable: true });
        return answer;
      },
    }));
    const { version } = await upload(opened, { ifNoneMatch: '*' });
    expect(version).toBe(1);
    expect(opened.called.length).toBe(7);
  });

  test('completes the upload if no answer had the file', async () => {
    const opened = open(5_000_000, (real) => ({
      uploadChunk: (chunk, signal) => real.uploadChunk({ ...chunk, etag: undefined }, signal),
    }));
    await upload(opened);
    expect(opened.called).toEqual([...threeChunks, 'completeUpload']);
  });

  test('fails if the stored file is not the one that was read', async () => {
    const opened = open(5_000_000, (real) => ({
      async uploadChunk(...sent) {
        const answer = await real.uploadChunk(...sent);
        return 'uploadId' in answer ? answer : { ...answer, etag: 'ab'.repeat(32) };
      },
    }));
    await expect(upload(opened)).rejects.toMatchObject({ code: 'IntegrityError' });
  });

  test('sends the last chunk once the caller has the session', async () => {
    const events: string[] = [];
    const opened = open(5_000_000, (real) => ({
      uploadChunk(chunk, signal) {
        events.push(`chunk ${chunk.index}`);
        return real.uploadChunk(chunk, signal);
      },
    }));
    await upload(opened, {
      async onSession() {
        await new Promise((resolve) => setTimeout(resolve, 20));
        events.push('session');
      },
    });
    // The first two chunks are sent side by side
    expect(events.slice(0, 2).sort()).toEqual(['chunk 0', 'chunk 1']);
    expect(events.slice(2)).toEqual(['session', 'chunk 2']);
  });

  test('needs a signed answer for the session, and for no later chunk', async () => {
    const needed: boolean[] = [];
    const opened = open(5_000_000, (real) => ({
      uploadChunk: (chunk, signal) =>
        real.uploadChunk(
          {
            ...chunk,
            needsSession() {
              needed.push(chunk.needsSession());
              return chunk.needsSession();
            },
          },
          signal,
        ),
    }));
    await upload(opened, { concurrency: 1 });
    expect(needed).toEqual([true, false]);
  });

  test('cancels an upload that is stopped before its id is known', async () => {
    const stop = new AbortController();
    const opened = open(5_000_000, (real) => ({
      async uploadChunk(chunk, signal) {
        const answer = await real.uploadChunk(chunk, undefined);
        stop.abort();
        signal?.throwIfAborted();
        return answer;
      },
    }));
    const stopped = upload(opened, { path: 'one-round/stopped', signal: stop.signal });
    await expect(stopped).rejects.toMatchObject({ code: 'Aborted' });
    const { transport } = opened.connection;
    await expect.poll(() => opened.called.at(-1)).toBe('cancelUpload');
    await expect
      .poll(async () => (await transport.listUploads(service.bucket, undefined)).length)
      .toBe(0);
  });

  test('stops at a refusal', async () => {
    const opened = open(5_000_000);
    const { path } = await upload(opened);
    const again = upload(opened, { path, ifNoneMatch: '*' });
    await expect(again).rejects.toMatchObject({ code: 'PreconditionFailed' });
    const { transport } = opened.connection;
    const uploads = await transport.listUploads(service.bucket, undefined);
    expect(uploads.filter((one) => one.path === path)).toEqual([]);
  });
});
