// Kills `npm start` under writes repeatedly: afterwards everything acknowledged is present and
// complete.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { copyPreparedState } from '../support/prepared-state.ts';
import { randomNumbers } from '../support/random-numbers.ts';
import { seedOr } from '../support/seed.ts';
import { sampleBytes, sha256Hex } from '../support/service.ts';
import { type StartedService, startService } from '../support/started-service.ts';

const rounds = Number(process.env.EFS_CRASH_ROUNDS ?? 2);
const writers = 3;
const random = randomNumbers(seedOr(20_261_122));

let folder: string;
let service: StartedService | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'crash-'));
});

afterEach(async () => {
  await service?.kill();
  await rm(folder, { recursive: true, force: true });
});

/** The digests that each path may have; an empty text stands for a missing file. */
type Expected = Map<string, string[]>;

interface Target {
  readonly url: string;
  readonly apiKey: string;
  onAnswer(): void;
}

/** Counts answers; `reached` resolves at the number after which the process is killed. */
function createCount(awaited: number) {
  let count = 0;
  let reach = () => {};
  const reached = new Promise<void>((resolve) => {
    reach = resolve;
  });
  const onAnswer = () => {
    count += 1;
    if (count === awaited) reach();
  };
  return { onAnswer, reached };
}

/**
 * Puts, copies and moves files until the connection breaks; notes the contents that each path may
 * then have.
 */
async function write(service: Target, name: string, expected: Expected): Promise<void> {
  for (let turn = 0; ; turn++) {
    // Few names, so that kills interrupt replacements too.
    const path = `${name}-${turn % 4}.bin`;
    const bytes = sampleBytes(`${path} ${turn}`, 1 + ((turn * 77_777) % 400_000));
    const former = expected.get(path) ?? [''];
    expected.set(path, [...former, sha256Hex(bytes)]);
    const status = await put(service, path, bytes);
    if (status === undefined) {
      return;
    }
    expect(status).toBeLessThan(300);
    expected.set(path, [sha256Hex(bytes)]);
    const operation = (['copy', 'move', undefined] as const)[turn % 3];
    const order = { operation, from: path, to: `${name}-${operation}.bin` };
    if (operation !== undefined && !(await place(service, order, expected))) return;
  }
}

/**
 * Copies or moves a file onto a path, replacing its file; returns false if the connection broke.
 */
async function place(
  service: Target,
  order: { operation: 'copy' | 'move' | undefined; from: string; to: string },
  expected: Expected,
): Promise<boolean> {
  const { operation, from, to } = order;
  const [digest = ''] = expected.get(from) ?? [];
  const left = operation === 'move' ? '' : digest;
  expected.set(to, [...(expected.get(to) ?? ['']), digest]);
  expected.set(from, [digest, left]);
  const body = JSON.stringify({ from, to: { path: to } });
  const url = `${service.url}/api/v1/bucket/demo/${operation}`;
  const status = await send(url, { method: 'POST', body }, service);
  if (status === undefined) return false;
  expect(status).toBeLessThan(300);
  expected.set(to, [digest]);
  expected.set(from, [left]);
  return true;
}

/** Returns the status, or `undefined` if the connection broke before it. */
async function put(service: Target, path: string, bytes: Uint8Array): Promise<number | undefined> {
  const url = `${service.url}/api/v1/bucket/demo/files/${path}`;
  return send(url, { method: 'PUT', body: bytes as BodyInit }, service);
}

async function send(
  url: string,
  request: RequestInit,
  { apiKey, onAnswer }: Target,
): Promise<number | undefined> {
  try {
    const headers = { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'a/b' };
    const response = await fetch(url, { ...request, headers });
    response.body?.cancel().catch(() => {});
    onAnswer();
    return response.status;
  } catch {
    return undefined;
  }
}

async function checkAll(url: string, expected: Expected): Promise<void> {
  for (const [path, digests] of expected) {
    const response = await fetch(`${url}/cloud/demo/${path}`);
    const body = new Uint8Array(await response.arrayBuffer());
    expect(digests, path).toContain(response.status === 404 ? '' : sha256Hex(body));
  }
}

test(`kill -9 during writes, ${rounds} times, loses nothing that was answered`, async () => {
  const expected: Expected = new Map();
  await copyPreparedState(join(folder, 'state'));
  for (let round = 0; round < rounds; round++) {
    const started = await startService(folder);
    service = started;
    await checkAll(started.url, expected);
    const { onAnswer, reached } = createCount(3 + random(20));
    const writing = Array.from({ length: writers }, (_, writer) =>
      write({ ...started, onAnswer }, `${round}-${writer}`, expected),
    );
    await Promise.race([reached, Promise.all(writing)]);
    await started.kill();
    await Promise.all(writing);
  }
  const answered = [...expected.values()].filter((digests) => !digests.includes(''));
  expect(answered.length).toBeGreaterThan(rounds);
  service = await startService(folder);
  await checkAll(service.url, expected);
}, 1_800_000);
