// Completion moves no bytes: with thousands of chunks it stays cheap, and so does
// giving them back, which happens in bounded steps by itself.

import { readFile } from 'node:fs/promises';
import { IDL } from '@dfinity/candid';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Replica, startReplica } from '../../replica/replica.ts';
import { buildCanister } from '../../scripts/build.ts';
import { createDemoKey, newIdentity, principalOf } from '../../scripts/local-service.ts';
import { settings } from '../support/key-network.ts';

/** As many as take two pages of digests. The most that a file can have, 10,000, take 1.1 G. */
const chunkCount = 2_100;
const instructionsMaxPerChunk = 150_000;
const TextResult = IDL.Variant({ ok: IDL.Text, err: IDL.Text });
const optionalText = IDL.Opt(IDL.Text);

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
  const types = [IDL.Text, IDL.Nat, IDL.Vec(IDL.Nat8)];
  for (let index = 0; index < chunkCount; index++) {
    const argument = IDL.encode(types, [uploadId, index, Uint8Array.of(index)]);
    await replica.call(canisterId, 'uploadFileChunkIndexed', argument);
  }
  return uploadId;
}

test('a file is completed within 150,000 instructions for each of its chunks', async () => {
  const uploadId = await uploadChunks('/many.bin');
  await callForText('completeFileUpload', [IDL.Text, optionalText], [uploadId, []]);
  const { method, instructions } = replica.lastMessage() ?? expect.fail('no message');
  expect(method).toBe('completeFileUpload');
  expect(instructions).toBeLessThanOrEqual(BigInt(chunkCount * instructionsMaxPerChunk));
}, 120_000);

test('its space is given back after deletion, no message taking more than a bounded step', async () => {
  const last = replica.lastMessage() ?? expect.fail('no message');
  const argument = IDL.encode([IDL.Text, IDL.Text, optionalText], ['demo', '/many.bin', [apiKey]]);
  await replica.call(canisterId, 'deleteFile', argument);
  const since = () => replica.reports.slice(replica.reports.indexOf(last) + 1);
  const steps = () => since().filter(({ instructions }) => instructions > 5_000_000n);
  // All chunks in steps of 32: one with the deletion itself, the others by the timer.
  await expect.poll(() => steps().length, { timeout: 20_000 }).toBeGreaterThanOrEqual(31);
  for (const { instructions } of steps()) {
    expect(instructions).toBeLessThanOrEqual(100_000_000n);
  }
}, 60_000);
