// Completion moves no bytes, so it stays cheap with thousands of chunks; timers free their space in
// bounded steps.

import { readFile } from 'node:fs/promises';
import { IDL } from '@dfinity/candid';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Replica, startReplica } from '../../packages/replica/src/replica.ts';
import { buildCanister } from '../../scripts/build.ts';
import { createDemoKey, newIdentity, principalOf } from '../../scripts/local-service.ts';
import { settings } from '../support/key-network.ts';

/**
 * Enough for two pages of digests. The largest file, of 10,000 chunks, takes 1.1 G instructions.
 */
const chunkCount = 2_100;
const instructionsMaxPerChunk = 150_000;
const TextResult = IDL.Variant({ ok: IDL.Text, err: IDL.Text });
const optionalText = IDL.Opt(IDL.Text);
const chunkTypes = [IDL.Text, IDL.Nat, IDL.Vec(IDL.Nat8)];

let replica: Replica;
let canisterId: string;
let apiKey: string;

beforeAll(async () => {
  const { wasmPath } = await buildCanister({ force: false });
  replica = await startReplica({ server: false });
  const identity = newIdentity();
  const controllers = [principalOf(identity)];
  canisterId = (await replica.createCanister({ controllers })).toText();
  const wasm = new Uint8Array(await readFile(wasmPath));
  await replica.install(canisterId, wasm, settings({ stored: null }));
  apiKey = await createDemoKey(replica, canisterId, identity);
});

afterAll(() => replica?.stop());

async function callForText(method: string, types: IDL.Type[], values: unknown[]) {
  const reply = await replica.call(canisterId, method, IDL.encode(types, values));
  const [result] = IDL.decode([TextResult], reply) as unknown as [{ ok?: string; err?: string }];
  return result.ok ?? expect.fail(result.err);
}

async function uploadChunks(path: string): Promise<string> {
  const uploadId = await callForText(
    'beginFileUpload',
    [IDL.Text, IDL.Text, IDL.Text, IDL.Nat, optionalText],
    ['demo', path, 'a/b', BigInt(chunkCount), [apiKey]],
  );
  for (let index = 0; index < chunkCount; index++) {
    await sendChunk(uploadId, index, Uint8Array.of(index));
  }
  return uploadId;
}

/** Instructions of the last message to that method: a timer may have run since. */
function instructionsOf(name: string): bigint {
  const last = replica.reports.findLast(({ method }) => method === name);
  return last?.instructions ?? expect.fail('no message');
}

/** Returns the instructions used. */
async function sendChunk(uploadId: string, index: number, bytes: Uint8Array): Promise<bigint> {
  const argument = IDL.encode(chunkTypes, [uploadId, index, bytes]);
  await replica.call(canisterId, 'uploadFileChunkIndexed', argument);
  return instructionsOf('uploadFileChunkIndexed');
}

const Beginning = IDL.Record({
  bucketId: IDL.Text,
  path: IDL.Text,
  contentType: optionalText,
  apiKey: optionalText,
});

/** Begins an upload of unknown size. */
function beginOpen(path: string): Promise<string> {
  const beginning = { bucketId: 'demo', path, contentType: ['a/b'], apiKey: [apiKey] };
  return callForText('beginFileUploadWith', [Beginning], [beginning]);
}

test('a file is completed with 150,000 instructions per chunk', async () => {
  const uploadId = await uploadChunks('/many.bin');
  await callForText('completeFileUpload', [IDL.Text, optionalText], [uploadId, []]);
  expect(instructionsOf('completeFileUpload')).toBeLessThanOrEqual(
    BigInt(chunkCount * instructionsMaxPerChunk),
  );
});

test('deleteFile releases the space of the file in bounded messages', async () => {
  const last = replica.lastMessage() ?? expect.fail('no message');
  const argument = IDL.encode([IDL.Text, IDL.Text, optionalText], ['demo', '/many.bin', [apiKey]]);
  await replica.call(canisterId, 'deleteFile', argument);
  const since = () => replica.reports.slice(replica.reports.indexOf(last) + 1);
  const steps = () => since().filter(({ instructions }) => instructions > 5_000_000n);
  // All chunks in steps of 32: one step in the deletion itself, the others by timer.
  await expect.poll(() => steps().length).toBeGreaterThanOrEqual(31);
  for (const { instructions } of steps()) {
    expect(instructions).toBeLessThanOrEqual(100_000_000n);
  }
});

test('a chunk of an upload of unknown size takes at most 175 M instructions, also the 10,000th', async () => {
  const uploadId = await beginOpen('/open.bin');
  for (const index of [0, 1, 9_999, 32, 2_048]) {
    const bytes = new Uint8Array(1_900_000).fill(index);
    // 169 to 170 M: 87 a byte, and 5 M a message, which vary with the identifiers.
    expect(await sendChunk(uploadId, index, bytes)).toBeLessThanOrEqual(175_000_000n);
  }
});

test('a completion that is refused for an uneven chunk takes at most 20 M instructions', async () => {
  const uploadId = await beginOpen('/uneven.bin');
  for (let index = 0; index < 200; index++) {
    await sendChunk(uploadId, index, new Uint8Array(index === 150 ? 1 : 2));
  }
  const argument = IDL.encode([IDL.Text, optionalText], [uploadId, []]);
  const reply = await replica.call(canisterId, 'completeFileUpload', argument);
  const [{ err = '' }] = IDL.decode([TextResult], reply) as unknown as [{ err?: string }];
  expect(err).toMatch(/^ChunkSizeMismatch: /);
  expect(instructionsOf('completeFileUpload')).toBeLessThanOrEqual(20_000_000n);
});
