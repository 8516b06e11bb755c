// A network that loses, delays, repeats and refuses messages, and callers that stop: the whole file
// arrives.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createStorage } from '../../packages/client/src/storage.ts';
import { openService, type Service, sampleBytes } from '../support/service.ts';
import {
  networkSeed,
  transferOverLossyNetwork,
  uploadWithInterruptions,
} from './lossy-transfers.ts';
import { noFaults, startProxy } from './unreliable-proxy.ts';

let service: Service;

beforeAll(async () => {
  service = await openService();
});
afterAll(() => service?.stop());

const sizeBytes = 6_000_000;

describe.each(['HTTP', 'the actor', 'both'] as const)(
  `createStorage(): over %s, seed ${networkSeed}`,
  (transport) => {
    test('6 MB are uploaded and downloaded intact, with eight chunks in parallel', async () => {
      await transferOverLossyNetwork({ service, transport, sizeBytes, chunkBytes: 250_000 });
    });

    test('a stream of unknown size is uploaded intact', async () => {
      const open = { isOpenEnded: true, sizeBytes: 2_500_000, chunkBytes: 100_000 };
      await transferOverLossyNetwork({ service, transport, ...open });
    });

    test('an upload stopped ten times continues, and sends no accepted chunk again', async () => {
      const chunkBytes = 65_536;
      await uploadWithInterruptions({
        service,
        transport,
        sizeBytes: 100 * chunkBytes,
        chunkBytes,
      });
    });
  },
);

describe('createStorage(): without any response', () => {
  test('an upload fails with NetworkError after the last attempt', async () => {
    const proxy = await startProxy(service.host);
    proxy.faults = { ...noFaults, loseRequest: 1 };
    const retry = { attemptsMax: 3, delayMsMin: 1 };
    const storage = createStorage({ url: proxy.url, apiKey: service.apiKey, retry });
    const upload = storage.upload(sampleBytes('lost', 10), {
      bucket: service.bucket,
      path: 'lost',
      contentType: 'a/b',
    });
    await expect(upload).rejects.toMatchObject({ code: 'NetworkError', isRetryable: true });
    expect(proxy.counts.lostRequests).toBe(3);
    await proxy.stop();
  });

  test('a request ends at its time limit', async () => {
    const proxy = await startProxy(service.host, () => 1);
    proxy.faults = { ...noFaults, delayMsMax: 2_000 };
    const storage = createStorage({ url: proxy.url, timeoutMs: 50, retry: { attemptsMax: 1 } });
    await expect(storage.status()).rejects.toMatchObject({ code: 'Timeout', isRetryable: true });
    await proxy.stop();
  });
});
