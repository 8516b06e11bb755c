// Small transfers over a slow line; bench/client-line.ts measures large ones.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Transport } from '../../packages/client/src/connection/transport.ts';
import { endToEnd } from '../../packages/client/src/end-to-end.ts';
import { connectionOver } from '../../packages/client/src/http-storage.ts';
import { createNodeStorage } from '../../packages/client/src/node/storage.ts';
import { transportOf } from '../../packages/client/src/storage.ts';
import type { Progress, UploadSession } from '../../packages/client/src/types/transfers.ts';
import { onlyOnOurReplica } from '../support/network/elsewhere.ts';
import { openService, type Service, sampleBytes, sha256Hex } from '../support/service.ts';
import { openSlowLine, type SlowLine } from '../support/slow-line.ts';

let service: Service;
/** Lines to the HTTP gateway of the canister and to the agent endpoints. */
const lines = new Map<string, SlowLine>();

/** The whole file takes 30 s, which is too long for one request. */
const slowBytesPerSecond = 40_000;
const fileBytes = 1_200_000;
let bytesPerSecond: number;

beforeAll(async () => {
  service = await openService();
  for (const [transport, url] of [
    ['HTTP', service.base],
    ['the actor', service.host],
  ] as const) {
    const port = Number(new URL(url).port);
    const line = await openSlowLine(port, { rate: () => bytesPerSecond, latencyMs: 30 });
    lines.set(transport, line);
  }
});
afterAll(async () => {
  await Promise.all([...lines.values()].map((line) => line.stop()));
  await service?.stop();
});

describe.each(['HTTP', 'the actor'] as const)('createNodeStorage(): over %s', (transport) => {
  test('an upload and a download choose chunks that the line transfers in time', async () => {
    bytesPerSecond = slowBytesPerSecond;
    const url = `http://127.0.0.1:${lines.get(transport)?.port}`;
    const { apiKey, bucket, canisterId } = service;
    const way = transport === 'HTTP' ? { url } : { host: url, canisterId };
    const storage = createNodeStorage({ ...way, apiKey });
    const bytes = sampleBytes(transport, fileBytes);
    const name = { bucket, path: `slow/${transport}` };
    const sessions: UploadSession[] = [];
    const progress: Progress[] = [];
    const record = await storage.upload(bytes, {
      ...name,
      contentType: 'a/b',
      async onSession(session) {
        sessions.push(session);
        // The layout of S3 parts depends on this length.
        expect(await storage.uploads.longestChunkBytes()).toBeLessThan(fileBytes);
        bytesPerSecond *= 10;
      },
      onProgress: (one) => progress.push(one),
    });
    expect(record.size).toBe(bytes.length);
    expect(sessions.length).toBe(1);
    expect(sessions[0]?.chunkSize).toBeLessThan(fileBytes / 2);
    expect(progress.at(-1)).toMatchObject({ doneBytes: fileBytes, movedBytes: fileBytes });
    expect(progress.some(({ doneBytes, movedBytes }) => movedBytes > doneBytes)).toBe(true);
    const received: number[] = [];
    const download = await storage.download(name, {
      onProgress: ({ movedBytes }) => received.push(movedBytes),
    });
    expect(sha256Hex(await download.bytes())).toBe(sha256Hex(bytes));
    expect(received.at(-1)).toBe(bytes.length);
  });

  test('an upload starts over when the line has become too slow for its chunks', async () => {
    const url = `http://127.0.0.1:${lines.get(transport)?.port}`;
    const { apiKey, bucket, canisterId, host } = service;
    const wayBy = (address: string) =>
      transport === 'HTTP' ? { url: address } : { host: address, canisterId };
    const fast = createNodeStorage({ ...wayBy(host), apiKey });
    const bytes = sampleBytes('resumed', 1_900_000);
    const name = { bucket, path: `resumed/${transport}` };
    const chunkBytes = 1_900_000;
    const former = await fast.uploads.begin({ ...name, size: bytes.length, chunkBytes });
    // A chunk would take 190 s, more than the gateway's limit of 60 s. The two probes take 7.4 s; if
    // the short one is late, the client estimates the fifth of that, and a chunk still takes 49 s,
    // more than it accepts.
    bytesPerSecond = 10_000;
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
  });

  test('an upload continues with its chunk size if the line transfers such chunks in time', async () => {
    bytesPerSecond = 20_000_000;
    const url = `http://127.0.0.1:${lines.get(transport)?.port}`;
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

  test('upload() measures the line while it asks for the mode, then begins one session', async () => {
    bytesPerSecond = slowBytesPerSecond;
    const { apiKey, bucket, canisterId } = service;
    const url = `http://127.0.0.1:${lines.get(transport)?.port}`;
    const options = { ...(transport === 'HTTP' ? { url } : { host: url, canisterId }), apiKey };
    const real = transportOf(options);
    const events: string[] = [];
    let begin = () => {};
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const watched: Transport = {
      ...real,
      async probe(bytes) {
        begin();
        await real.probe(bytes);
        events.push('probe');
      },
      async getEndToEnd(...asked) {
        await begun;
        return real.getEndToEnd(...asked);
      },
      async startUpload(...asked) {
        events.push('session');
        bytesPerSecond = 20_000_000;
        return real.startUpload(...asked);
      },
    };
    const { files } = endToEnd()(connectionOver(watched, options));
    await files.upload(sampleBytes('mode', 2_000_000), { bucket, path: `mode/${transport}` });
    // A low rate is measured twice.
    expect(events).toEqual(['probe', 'probe', 'probe', 'probe', 'session']);
  });

  test('measuring the line takes no update of the service', async ({ skip }) => {
    onlyOnOurReplica('it reports the messages that a canister runs')({ skip });
    const { apiKey, base, canisterId, host, replica } = service;
    const way = transport === 'HTTP' ? { url: base } : { host, canisterId };
    const { probe } = transportOf({ ...way, apiKey });
    const before = replica?.reports.length ?? 0;
    await probe(65_536);
    await probe(8_192);
    const kinds = replica?.reports.slice(before).map(({ kind }) => kind);
    expect(kinds?.filter((kind) => kind !== 'query')).toEqual([]);
  });
});
