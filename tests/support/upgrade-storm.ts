// Upgrades the service at random moments during uploads over HTTP, chunked sessions and key
// rotations, half of the time twice in a row, so that answers to calls of a former instance reach a
// later one. Checks the results of clients that retry, and that no message traps.

import { expect } from 'vitest';
import { upgradedWords } from '../../packages/client/src/actor/transient-reject.ts';
import {
  decodeAnswer,
  encodeUpdateRequest,
} from '../../packages/replica/src/gateway/candid-messages.ts';
import { createInProcessCalls } from '../../packages/replica/src/in-process-calls.ts';
import { RejectError } from '../../packages/replica/src/reject-error.ts';
import { keySlotsOf } from './encryption-reference.ts';
import { type KeyNetwork, networkWithKey } from './key-network.ts';
import { randomNumbers } from './random-numbers.ts';
import { sampleBytes, sha256Hex } from './service.ts';

type Random = (limit: number) => number;

/** SHA-256 of the file at each path after its last answered upload. */
type Expected = Map<string, string>;

interface Storm {
  readonly network: KeyNetwork;
  readonly random: Random;
  readonly apiKey: string;
  readonly expected: Expected;
  readonly counts: StormCounts;
  isOver: boolean;
}

export interface StormCounts {
  upgrades: number;
  puts: number;
  sessions: number;
  rotations: number;
  /** Calls that were rejected because the canister was upgraded while they waited. */
  rejections: number;
}

const chunkBytes = 65_536;
const attemptsMax = 1_000;

const turn = () => new Promise((resolve) => setImmediate(resolve));

async function turns(count: number): Promise<void> {
  for (let done = 0; done < count; done++) await turn();
}

/** Retries as a client does: only if the response asks for it. */
async function persist<T>(storm: Storm, attempt: () => Promise<T | undefined>): Promise<T> {
  for (let count = 0; count < attemptsMax; count++) {
    try {
      const result = await attempt();
      if (result !== undefined) return result;
    } catch (error) {
      if (!(error instanceof RejectError)) throw error;
      expect(error.message).toBe(upgradedWords);
      storm.counts.rejections += 1;
    }
    await turns(20);
  }
  return expect.fail('all attempts failed');
}

async function putOverHttp(storm: Storm, path: string, bytes: Uint8Array): Promise<void> {
  const { network, apiKey } = storm;
  const calls = createInProcessCalls(network.engine);
  const headers: [string, string][] = [
    ['authorization', `Bearer ${apiKey}`],
    ['content-type', 'a/b'],
  ];
  const url = `/api/v1/bucket/photos/files/${path}`;
  const argument = encodeUpdateRequest({ method: 'PUT', url, headers, body: bytes });
  const status = await persist(storm, async () => {
    const reply = await calls.call(network.canisterId(), 'http_request_update', argument);
    const { status } = decodeAnswer(reply);
    return status === 503 ? undefined : status;
  });
  expect([200, 201, 204], path).toContain(status);
}

async function ask(storm: Storm, method: string, ...values: unknown[]): Promise<unknown> {
  const { ok, err } = await persist(storm, async () => {
    const result = await storm.network.call(method, ...values);
    return result.err?.startsWith('ServiceUnavailable') ? undefined : result;
  });
  expect(err).toBeUndefined();
  return ok;
}

async function putInChunks(storm: Storm, path: string, bytes: Uint8Array): Promise<void> {
  const none = { tags: [], sha256: [], headers: [], ifMatch: [], ifNoneMatch: [], apiKey: [] };
  const id = await ask(storm, 'beginFileUploadWith', {
    ...none,
    bucketId: 'photos',
    path,
    contentType: ['a/b'],
    size: BigInt(bytes.length),
    chunkSize: [BigInt(chunkBytes)],
  });
  for (let index = 0; index * chunkBytes < bytes.length; index++) {
    const chunk = bytes.slice(index * chunkBytes, (index + 1) * chunkBytes);
    await ask(storm, 'uploadFileChunkIndexed', id, BigInt(index), chunk);
  }
  await ask(storm, 'completeFileUpload', id, []);
}

async function write(storm: Storm, name: string): Promise<void> {
  const { random, expected, counts } = storm;
  for (let count = 0; !storm.isOver; count++) {
    const path = `${name}-${random(5)}.bin`;
    const isChunked = random(3) === 0;
    const size = isChunked ? 1 + random(4 * chunkBytes) : 1 + random(30_000);
    const bytes = sampleBytes(`${path} ${count} ${random(2 ** 30)}`, size);
    await (isChunked ? putInChunks : putOverHttp)(storm, path, bytes);
    counts[isChunked ? 'sessions' : 'puts'] += 1;
    expected.set(path, sha256Hex(bytes));
    await turns(random(8));
  }
}

async function rotate(storm: Storm): Promise<void> {
  const { network, random, counts } = storm;
  while (!storm.isOver) {
    const { err } = await persist(storm, async () => {
      const isRoot = random(2) === 0;
      const result = await (isRoot
        ? network.call('rotateRootKey', [])
        : network.call('rotateBucketKey', 'photos'));
      return result.err?.startsWith('ServiceUnavailable') ? undefined : result;
    });
    expect(err ?? 'SlowDown').toMatch(/^SlowDown/);
    counts.rotations += err === undefined ? 1 : 0;
    await turns(20 + random(40));
  }
}

async function upgradeOften(storm: Storm, rounds: number): Promise<void> {
  const { network, random, counts } = storm;
  // A loaded machine may need more upgrades until each kind of call has met one.
  const isMissing = () => Object.values(counts).includes(0) && counts.upgrades < 20 * rounds;
  while (counts.upgrades < rounds || isMissing()) {
    // Waits long enough for files to be stored, or only briefly after the previous upgrade.
    const isTwo = counts.upgrades > 0 && random(2) === 0;
    for (let left = random(isTwo ? 4 : 40); left > 0; left--) {
      network.nowNs += 50_000_000n;
      void network.engine.tick();
      await turn();
    }
    await network.upgrade();
    counts.upgrades += 1;
  }
}

async function settle(storm: Storm): Promise<void> {
  for (let left = 0; left < 200; left++) {
    await storm.network.wait(1);
    if (!(await storm.network.status()).isRotating) return;
  }
  expect.fail('the rotation does not end');
}

async function checkFiles({ network, expected }: Storm): Promise<void> {
  for (const [path, digest] of expected) {
    const { ok } = await network.call('readFile', 'photos', path, 0n, 2n ** 20n, []);
    expect(sha256Hex(ok as Uint8Array), path).toBe(digest);
  }
  const { used } = keySlotsOf(new Uint8Array(network.stableMemory()));
  const files = used.filter(({ wrapperId }) => wrapperId > 0);
  // The journal of the bucket has a key too
  expect(files).toHaveLength(expected.size + 1);
  expect(new Set(files.map(({ wrapperId }) => wrapperId)).size).toBe(1);
}

/** Returns counts of events; throws if a client saw a wrong answer or a message trapped. */
export async function upgradeUnderCalls(options: {
  readonly upgrades: number;
  readonly seed: number;
}): Promise<StormCounts> {
  const network = await networkWithKey();
  const request = { name: 'k', buckets: ['photos'], permissions: ['write'], expiresAt: [] };
  const { ok } = await network.call('createApiKey', request);
  const storm: Storm = {
    network,
    random: randomNumbers(options.seed),
    apiKey: (ok as { secret: string }).secret,
    expected: new Map(),
    counts: { upgrades: 0, puts: 0, sessions: 0, rotations: 0, rejections: 0 },
    isOver: false,
  };
  const clients = ['a', 'b', 'c', 'd'].map((name) => write(storm, name));
  const work = Promise.all([...clients, rotate(storm)]);
  const upgrading = upgradeOften(storm, options.upgrades);
  await Promise.race([upgrading, work]);
  storm.isOver = true;
  await work;
  await upgrading;
  await settle(storm);
  await checkFiles(storm);
  const failed = network.reports.filter(({ error }) => error !== undefined);
  expect(failed.map(({ kind, method, error }) => `${kind} ${method}: ${error}`)).toEqual([]);
  expect(network.prints.join('\n')).not.toMatch(/panick|trap/i);
  return storm.counts;
}
