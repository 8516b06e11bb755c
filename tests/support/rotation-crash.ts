// Kills `npm start` during writes, deletions and rotations of bucket and root keys, and checks the
// state afterwards. The canister continues with the heap of its last answer; a running derivation
// is lost.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Actor, HttpAgent } from '@icp-sdk/core/agent';
import { IDL } from '@icp-sdk/core/candid';
import { Ed25519KeyIdentity } from '@icp-sdk/core/identity';
import { expect } from 'vitest';
import { startReplica } from '../../packages/replica/src/replica.ts';
import { keySlotsOf } from './encryption-reference.ts';
import { ed25519Seed } from './owner-key.ts';
import { copyPreparedState } from './prepared-state.ts';
import { randomNumbers } from './random-numbers.ts';
import { sampleBytes, sha256Hex } from './service.ts';
import { type StartedService, startService } from './started-service.ts';

type Random = (limit: number) => number;

/** Upkeep, every ten minutes, arms a timer again that the kill has lost. */
const rotationTimeoutMs = 1_500_000;

/** Digests that a path may have; an empty text stands for no file. */
type Expected = Map<string, string[]>;

interface Rotations {
  rotateBucketKey(bucketId: string): Promise<{ ok?: null; err?: string }>;
  rotateRootKey(source: []): Promise<{ ok?: null; err?: string }>;
}

async function openRotations(service: StartedService): Promise<Rotations> {
  const { url: host, canisterId, identityPem } = service;
  const identity = Ed25519KeyIdentity.fromSecretKey(ed25519Seed(identityPem));
  const agent = await HttpAgent.create({ host, identity, shouldFetchRootKey: true, retryTimes: 0 });
  const result = IDL.Variant({ ok: IDL.Null, err: IDL.Text });
  const source = IDL.Variant({ vetkd: IDL.Text, stored: IDL.Null });
  const rotations = IDL.Service({
    rotateBucketKey: IDL.Func([IDL.Text], [result]),
    rotateRootKey: IDL.Func([IDL.Opt(source)], [result]),
  });
  return Actor.createActor<Rotations>(() => rotations, { agent, canisterId });
}

/** Returns the status, or `undefined` if the connection broke before. */
async function send(
  service: StartedService,
  request: { readonly method: string; readonly path: string; readonly bytes?: Uint8Array },
): Promise<number | undefined> {
  const { method, path, bytes } = request;
  const headers = { Authorization: `Bearer ${service.apiKey}`, 'Content-Type': 'a/b' };
  const url = `${service.url}/api/v1/bucket/demo/files/${path}`;
  try {
    const body = bytes && { body: bytes as BodyInit };
    const response = await fetch(url, { method, headers, ...body });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return undefined;
  }
}

/** Puts, replaces and deletes files until the connection breaks. */
async function write(
  service: StartedService,
  writer: { readonly name: string; readonly random: Random; readonly onAnswer: () => void },
  expected: Expected,
): Promise<void> {
  const { name, random, onAnswer } = writer;
  for (let turn = 0; ; turn++) {
    const path = `${name}-${random(6)}.bin`;
    const former = expected.get(path) ?? [''];
    const isDeletion = former.length === 1 && former[0] !== '' && random(4) === 0;
    const bytes = sampleBytes(`${path} ${turn} ${random(2 ** 30)}`, 1 + random(150_000));
    const digest = isDeletion ? '' : sha256Hex(bytes);
    expected.set(path, [...former, digest]);
    const request = isDeletion ? { method: 'DELETE', path } : { method: 'PUT', path, bytes };
    const status = await send(service, request);
    if (status === undefined) return;
    onAnswer();
    expect(status, `${request.method} ${path}`).toBeLessThan(300);
    expected.set(path, [digest]);
  }
}

/** Counts the rotations that were answered, until the connection breaks. */
async function rotate(service: StartedService, random: Random): Promise<number> {
  let count = 0;
  try {
    const rotations = await openRotations(service);
    for (;;) {
      const isRoot = random(3) === 0;
      const { err } = await (isRoot
        ? rotations.rotateRootKey([])
        : rotations.rotateBucketKey('demo'));
      expect(err ?? 'SlowDown').toMatch(/^SlowDown/);
      count += err === undefined ? 1 : 0;
    }
  } catch (error) {
    if (error instanceof Error && error.name === 'AssertionError') throw error;
    return count;
  }
}

async function checkAll(url: string, expected: Expected): Promise<void> {
  for (const [path, digests] of expected) {
    const response = await fetch(`${url}/cloud/demo/${path}`);
    const body = new Uint8Array(await response.arrayBuffer());
    expect([200, 404], path).toContain(response.status);
    const shown = response.status === 404 ? '' : sha256Hex(body);
    expect(digests, path).toContain(shown);
    expected.set(path, [shown]);
  }
}

/** A derivation whose answer the kill has lost is repeated after ten seconds. */
async function waitForRotation(url: string): Promise<void> {
  await expect
    .poll(
      async () => {
        const response = await fetch(`${url}/api/v1/status`);
        return ((await response.json()) as { encryption: { isRotating: boolean } }).encryption;
      },
      { timeout: rotationTimeoutMs },
    )
    .toMatchObject({ isRotating: false });
}

/** Each stored file, each bucket and its journal must have one key, and there must be no others. */
async function checkKeys(folder: string, service: StartedService, fileCount: number) {
  const replica = await startReplica({
    stateDir: join(folder, 'state'),
    sync: false,
    server: false,
  });
  const { bytes, read } = replica.stableMemory(service.canisterId);
  const { used } = keySlotsOf(read(0, bytes));
  await replica.stop();
  const files = used.filter(({ wrapperId }) => wrapperId > 0);
  // The journal of the bucket has a key too
  expect(files).toHaveLength(fileCount + 1);
  expect(new Set(files.map(({ wrapperId }) => wrapperId)).size).toBe(1);
  expect(used.filter(({ wrapperId }) => wrapperId < 0)).toHaveLength(1);
  const nonces = used.map((slot) => Buffer.from(slot.bytes.subarray(16, 28)).toString('hex'));
  expect(new Set(nonces).size).toBe(used.length);
}

export interface RotationCrashes {
  readonly rounds: number;
  readonly seed: number;
}

/** Kills the service `rounds` times; returns the number of answered rotations. */
export async function crashUnderRotation({ rounds, seed }: RotationCrashes): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'rotation-'));
  const random = randomNumbers(seed);
  const expected: Expected = new Map();
  await copyPreparedState(join(folder, 'state'));
  let service = await startService(folder);
  let rotated = 0;
  try {
    for (let round = 0; round < rounds; round++) {
      const started = service;
      let left = 3 + random(30);
      let reach = () => {};
      const reached = new Promise<void>((resolve) => {
        reach = resolve;
      });
      const onAnswer = () => {
        left -= 1;
        if (left === 0) reach();
      };
      const writing = ['a', 'b'].map((name) =>
        write(started, { name, random, onAnswer }, expected),
      );
      const rotating = rotate(started, random);
      await Promise.race([reached, Promise.all(writing)]);
      await started.kill();
      await Promise.all(writing);
      rotated += await rotating;
      service = await startService(folder);
      await checkAll(service.url, expected);
    }
    await waitForRotation(service.url);
    await checkAll(service.url, expected);
    await service.kill();
    const there = [...expected.values()].filter(([digest]) => digest !== '');
    expect(there.length).toBeGreaterThan(0);
    await checkKeys(folder, service, there.length);
    return rotated;
  } finally {
    await service.kill();
    await rm(folder, { recursive: true, force: true });
  }
}
