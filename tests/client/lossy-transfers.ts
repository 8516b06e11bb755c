// Transfers of any size over an unreliable network: 2.5 to 6.6 MB each in the tests, 200 MB each in
// the soak test.

import { expect } from 'vitest';
import { createStorage, type Storage } from '../../packages/client/src/storage.ts';
import { isStorageError } from '../../packages/client/src/storage-error.ts';
import { randomNumbers } from '../support/random-numbers.ts';
import { seedOr } from '../support/seed.ts';
import { type Service, sampleBytes, sha256Hex } from '../support/service.ts';
import { noFaults, startProxy, type UnreliableProxy } from './unreliable-proxy.ts';

/** Seed of the faults, which the titles of the tests contain. */
export const networkSeed = seedOr(20_261_121);

export interface Transfer {
  readonly service: Service;
  readonly transport: 'HTTP' | 'the actor' | 'both';
  readonly sizeBytes: number;
  readonly chunkBytes: number;
  /** Whether the bytes are uploaded as a stream of undeclared size. */
  readonly isOpenEnded?: boolean;
}

const retry = { attemptsMax: 30, delayMsMin: 10, delayMsMax: 200 };
const faults = {
  loseRequest: 0.1,
  loseAnswer: 0.1,
  sendTwice: 0.15,
  refuse: 0.1,
  delayMsMax: 60,
};

async function withProxy(
  service: Service,
  use: (proxy: UnreliableProxy, random: (limit: number) => number) => Promise<void>,
): Promise<void> {
  const random = randomNumbers(networkSeed);
  const proxy = await startProxy(service.host, () => random(1_000_000) / 1_000_000);
  try {
    await use(proxy, random);
  } finally {
    await proxy.stop();
  }
}

function open(proxy: UnreliableProxy, { service, transport }: Transfer): Storage {
  const { apiKey, canisterId } = service;
  const { url } = proxy;
  const common = { apiKey, retry, timeoutMs: 20_000 };
  if (transport === 'the actor') return createStorage({ host: url, canisterId, ...common });
  return createStorage({ url, ...(transport === 'HTTP' && { transport: 'http' }), ...common });
}

async function digestOf(body: ReadableStream<Uint8Array>): Promise<string> {
  return sha256Hex(new Uint8Array(await new Response(body as BodyInit).arrayBuffer()));
}

export async function transferOverLossyNetwork(transfer: Transfer): Promise<void> {
  const { service, transport, sizeBytes, chunkBytes } = transfer;
  const bytes = sampleBytes(`lossy ${transport}`, sizeBytes);
  const name = { bucket: service.bucket, path: `lossy/${transport}` };
  await withProxy(service, async (proxy) => {
    proxy.faults = faults;
    const storage = open(proxy, transfer);
    const options = { ...name, contentType: 'a/b', concurrency: 8, chunkBytes };
    const stream = new Blob([bytes as BlobPart]).stream() as ReadableStream<Uint8Array>;
    const record = await storage.upload(transfer.isOpenEnded ? stream : bytes, options);
    const download = await storage.download(name, { concurrency: 8, chunkBytes });
    expect(await digestOf(download.body)).toBe(sha256Hex(bytes));
    // The network has produced all faults.
    for (const [fault, count] of Object.entries(proxy.counts)) {
      expect(count, fault).toBeGreaterThan(0);
    }
    // The stored file is right, read without the proxy.
    const direct = createStorage({ url: service.base, apiKey: service.apiKey });
    const stored = await direct.download(name);
    expect(stored.etag).toBe(record.etag);
    expect(await digestOf(stored.body)).toBe(sha256Hex(bytes));
  });
}

/** Stops the upload ten times, after numbers of chunks that depend on the seed. */
export async function uploadWithInterruptions(transfer: Transfer): Promise<void> {
  const { service, transport, sizeBytes, chunkBytes } = transfer;
  const bytes = sampleBytes(`interrupted ${transport}`, sizeBytes);
  const chunkCount = Math.ceil(sizeBytes / chunkBytes);
  const name = { bucket: service.bucket, path: `interrupted/${transport}` };
  const interruptions = 10;
  const concurrency = 8;
  await withProxy(service, async (proxy, random) => {
    proxy.faults = { ...noFaults, delayMsMax: 20 };
    const storage = open(proxy, transfer);
    let uploadId: string | undefined;
    for (let round = 0; round < interruptions; round++) {
      const controller = new AbortController();
      // The chunks before the abort and those in transfer are less than a tenth of all, so that
      // some are left for each round.
      let left = random(Math.floor(chunkCount / interruptions) - concurrency);
      const stopped = storage.upload(bytes, {
        ...name,
        contentType: 'a/b',
        chunkBytes,
        concurrency,
        resume: uploadId,
        signal: controller.signal,
        onSession: (session) => {
          uploadId = session.uploadId;
        },
        onProgress: ({ doneBytes, resumedBytes }) => {
          if (doneBytes > resumedBytes && left-- === 0) controller.abort();
        },
      });
      const error = await stopped.then(
        () => expect.fail('the upload was not stopped'),
        (reason: unknown) => reason,
      );
      expect(isStorageError(error, 'Aborted'), String(error)).toBe(true);
      await proxy.idle();
    }
    const resume = uploadId;
    const record = await storage.upload(bytes, { ...name, contentType: 'a/b', resume });
    expect(record.size).toBe(sizeBytes);
    if (transport !== 'the actor') {
      expect([...proxy.accepted.values()]).toEqual(Array.from({ length: chunkCount }, () => 1));
    }
    const download = await storage.download(name, { chunkBytes });
    expect(await digestOf(download.body)).toBe(sha256Hex(bytes));
  });
}
