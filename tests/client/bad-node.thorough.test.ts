// A node that answers queries wrongly: the client gets the right bytes in the end, or an error that
// says why not. Answers without a certificate or digest, such as a list of names, rely on one node:
// agents only detect that the node has not signed them or that they are too old.

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createStorage, type Storage } from '../../packages/client/src/storage.ts';
import { StorageError } from '../../packages/client/src/storage-error.ts';
import type { QueryFaults } from '../../packages/replica/src/network/query-faults.ts';
import { openService, type Service, sampleBytes } from '../support/service.ts';

const transports = ['HTTP', 'the actor'] as const;
type Transport = (typeof transports)[number];

const chunkBytes = 100_000;
const former = sampleBytes('former', 450_000);
const latter = sampleBytes('latter', 450_000);
const retry = { attemptsMax: 6, delayMsMin: 1, delayMsMax: 5 };
/** Number of downloads under each fault. */
const rounds = 4;

let service: Service;

beforeAll(async () => {
  service = await openService({ faults: {} });
});
afterEach(() => setFaults({}));
afterAll(() => service?.stop());

function setFaults(faults: QueryFaults): void {
  service.replica?.setFaults(faults);
}

function open(transport: Transport): Storage {
  const { base, host, canisterId, apiKey } = service;
  return transport === 'HTTP'
    ? createStorage({ url: base, apiKey, retry })
    : createStorage({ host, canisterId, apiKey, retry });
}

interface Seen {
  readonly right: number;
  /** Codes of the refusals. */
  readonly refused: readonly string[];
}

/** Any result other than the right bytes or a StorageError fails the test. */
async function readings(
  transport: Transport,
  path: string,
  meant: readonly Uint8Array[],
): Promise<Seen> {
  let right = 0;
  const refused: string[] = [];
  for (let round = 0; round < rounds; round += 1) {
    try {
      const download = await open(transport).download({ bucket: service.bucket, path });
      const bytes = await download.bytes();
      expect(meant.some((each) => Buffer.compare(each, bytes) === 0)).toBe(true);
      right += 1;
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      refused.push(error.code);
    }
  }
  return { right, refused };
}

async function put(path: string, bytes: Uint8Array): Promise<void> {
  const options = { bucket: service.bucket, path, contentType: 'a/b', chunkBytes };
  await open('HTTP').upload(bytes, options);
}

describe.each(transports)('createStorage(): over %s', (transport) => {
  const path = `bad-node/${transport}`;
  beforeAll(() => put(path, former));

  test('dropped answers are requested again', async () => {
    setFaults({ dropped: 0.2, seed: 1 });
    expect(await readings(transport, path, [former])).toEqual({ right: rounds, refused: [] });
  });

  test('a lying node is detected by certificate or digest', async () => {
    setFaults({ lies: 0.1, seed: 2 });
    const { right, refused } = await readings(transport, path, [former]);
    expect(right).toBeGreaterThan(0);
    // Over HTTP the gateway refuses uncertified answers, and the client repeats the request.
    if (transport === 'HTTP') expect(right).toBe(rounds);
    else expect(refused.length).toBeGreaterThan(0);
  });

  test('a node that always lies is never believed', async () => {
    setFaults({ lies: 1, seed: 3 });
    expect((await readings(transport, path, [former])).right).toBe(0);
  });

  test('an answer altered in transit is detected, and some downloads succeed', async () => {
    setFaults({ altered: 0.1, seed: 4 });
    expect((await readings(transport, path, [former])).right).toBeGreaterThan(0);
  });

  test('a node whose clock jumps is asked again', async () => {
    setFaults({ clockJumps: 0.3, clockJumpNs: -3_600_000_000_000n, seed: 5 });
    expect(await readings(transport, path, [former])).toEqual({ right: rounds, refused: [] });
  });

  test('a lagging node returns the former file or the new one, and no mixture', async () => {
    const replaced = `${path}-replaced`;
    await put(replaced, former);
    await readings(transport, replaced, [former]);
    await put(replaced, latter);
    setFaults({ lags: 0.5, lagNs: 60_000_000_000n, seed: 6 });
    const { right, refused } = await readings(transport, replaced, [former, latter]);
    expect(right + refused.length).toBe(rounds);
    const said = ['PreconditionFailed', 'IntegrityError', 'NoSuchFile'];
    expect(refused.filter((code) => !said.includes(code))).toEqual([]);
    setFaults({});
    expect((await readings(transport, replaced, [latter])).right).toBe(rounds);
  });
});

describe('createStorage(): queries that only their signature protects', () => {
  test('return correct lists, whatever is altered in transit', async () => {
    const { bucket } = service;
    const list = async () => {
      const names: string[] = [];
      for await (const { path } of open('the actor').list({ bucket })) names.push(path);
      return names;
    };
    const names = await list();
    setFaults({ altered: 0.3, seed: 7 });
    for (let round = 0; round < rounds; round += 1) expect(await list()).toEqual(names);
  });
});

test("createStorage(): uploads and downloads succeed while the replica's clock jumps ahead", async () => {
  service.replica?.advanceTime(600_000_000_000n);
  for (const transport of transports) {
    const path = `jumped/${transport}`;
    const storage = open(transport);
    await storage.upload(latter, { bucket: service.bucket, path, contentType: 'a/b', chunkBytes });
    expect((await readings(transport, path, [latter])).right).toBe(rounds);
  }
});
