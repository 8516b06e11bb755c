// Files through a slow line, in small: bench/client-line.ts has them in full.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createNodeStorage } from '../../packages/client/src/node/storage.ts';
import type { Progress, UploadSession } from '../../packages/client/src/types/transfers.ts';
import { openService, type Service, sampleBytes, sha256Hex } from '../support/service.ts';
import { openSlowLine, type SlowLine } from '../support/slow-line.ts';

let service: Service;
let line: SlowLine;

/** The whole file takes 8 s of it, which is too long for one request. */
const slowBytesPerSecond = 40_000;
let bytesPerSecond: number;

beforeAll(async () => {
  service = await openService();
  const port = Number(new URL(service.host).port);
  line = await openSlowLine(port, { rate: () => bytesPerSecond, latencyMs: 30 });
});
afterAll(async () => {
  await line?.stop();
  await service?.stop();
});

describe.each(['HTTP', 'the actor'] as const)('over %s', (transport) => {
  test('an upload chooses chunks that the line takes in time, in both directions', async () => {
    bytesPerSecond = slowBytesPerSecond;
    const url = `http://127.0.0.1:${line.port}`;
    const { apiKey, bucket, canisterId } = service;
    const way = transport === 'HTTP' ? { url } : { host: url, canisterId };
    const storage = createNodeStorage({ ...way, apiKey });
    const bytes = sampleBytes(transport, 320_000);
    const name = { bucket, path: `slow/${transport}` };
    const sessions: UploadSession[] = [];
    const progress: Progress[] = [];
    const record = await storage.upload(bytes, {
      ...name,
      contentType: 'a/b',
      onSession: (session) => void sessions.push(session),
      onProgress: (one) => progress.push(one),
    });
    expect(record.size).toBe(bytes.length);
    expect(sessions.length).toBe(1);
    expect(sessions[0]?.chunkSize).toBeLessThan(320_000);
    // S3 parts are laid out by it.
    expect(await storage.uploads.longestChunkBytes()).toBeLessThan(524_288);
    expect(progress.at(-1)).toMatchObject({ doneBytes: 320_000, movedBytes: 320_000 });
    expect(progress.some(({ doneBytes, movedBytes }) => movedBytes > doneBytes)).toBe(true);
    bytesPerSecond *= 10;
    const received: number[] = [];
    const download = await storage.download(name, {
      onProgress: ({ movedBytes }) => received.push(movedBytes),
    });
    expect(sha256Hex(await download.bytes())).toBe(sha256Hex(bytes));
    expect(received.at(-1)).toBe(bytes.length);
  }, 120_000);

  test('an upload begins anew when the line has become too slow for its chunks', async () => {
    const url = `http://127.0.0.1:${line.port}`;
    const { apiKey, bucket, canisterId, host } = service;
    const wayBy = (address: string) =>
      transport === 'HTTP' ? { url: address } : { host: address, canisterId };
    const fast = createNodeStorage({ ...wayBy(host), apiKey });
    const bytes = sampleBytes('resumed', 1_900_000);
    const name = { bucket, path: `resumed/${transport}` };
    const chunkBytes = 1_900_000;
    const former = await fast.uploads.begin({ ...name, size: bytes.length, chunkBytes });
    // It would take 95 s of the line, above the 60 s of the gateway.
    bytesPerSecond = 20_000;
    const sessions: UploadSession[] = [];
    const slow = createNodeStorage({ ...wayBy(url), apiKey });
    const options = { ...name, contentType: 'a/b', resume: former.uploadId };
    const record = await slow.upload(bytes, {
      ...options,
      onSession(session) {
        sessions.push(session);
        bytesPerSecond = 20_000_000;
      },
    });
    expect(record.size).toBe(bytes.length);
    expect(sessions.length).toBe(1);
    expect(sessions[0]?.uploadId).not.toBe(former.uploadId);
    expect(sessions[0]?.chunkSize).toBeLessThan(chunkBytes / 2);
    const left = await fast.uploads.list({ bucket });
    expect(left.map(({ uploadId }) => uploadId)).not.toContain(former.uploadId);
  }, 120_000);

  test('an upload goes on with its chunks on a line that takes them in time', async () => {
    bytesPerSecond = 20_000_000;
    const url = `http://127.0.0.1:${line.port}`;
    const { apiKey, bucket, canisterId } = service;
    const way = transport === 'HTTP' ? { url } : { host: url, canisterId };
    const storage = createNodeStorage({ ...way, apiKey });
    const bytes = sampleBytes('kept', 1_900_000);
    const name = { bucket, path: `kept/${transport}` };
    const chunkBytes = 1_000_000;
    const former = await storage.uploads.begin({ ...name, size: bytes.length, chunkBytes });
    const sessions: UploadSession[] = [];
    await storage.upload(bytes, {
      ...name,
      resume: former.uploadId,
      onSession: (session) => void sessions.push(session),
    });
    expect(sessions.map(({ uploadId }) => uploadId)).toEqual([former.uploadId]);
  });

  test('measuring the line costs the service no update', async () => {
    const { apiKey, canisterId, host, replica } = service;
    const way = transport === 'HTTP' ? { url: host } : { host, canisterId };
    const { transportOf } = await import('../../packages/client/src/storage.ts');
    const { probe } = transportOf({ ...way, apiKey });
    const before = replica?.reports.length ?? 0;
    await probe(65_536);
    await probe(8_192);
    const kinds = replica?.reports.slice(before).map(({ kind }) => kind);
    expect(kinds?.filter((kind) => kind !== 'query')).toEqual([]);
  });
});
