// The merged kernel under the network's meter: published vectors through a canister on the local
// replica, and the cost of the operations.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { measureKernel, recordKernelCalls } from '../../bench/kernel-costs.ts';
import { openRelay, type Relay } from '../../bench/kernel-relay.ts';
import { type Replica, startReplica } from '../../packages/replica/src/replica.ts';
import { sealInPlace } from '../../src/crypto/aead.ts';
import { sha256 } from '../../src/crypto/hash.ts';
import { fromHex, readVectors } from '../support/vectors.ts';

let replica: Replica;
let relay: Relay;

beforeAll(async () => {
  replica = await startReplica({ server: false });
  relay = await openRelay(replica);
});

afterAll(() => replica?.stop());

test('mergeKernel(): the merged kernel computes the published digests on the replica', async () => {
  const { cases } = readVectors<{ cases: { message: string; times: number; digest: string }[] }>(
    'sha256.json',
  );
  for (const { message, times, digest } of cases) {
    const calls = recordKernelCalls(() => sha256(fromHex(message.repeat(times))));
    const { buffers } = await relay.send(calls);
    expect(buffers.at(-1)).toEqual(fromHex(digest));
  }
});

test('mergeKernel(): the merged kernel computes the published ciphertexts and tags on the replica', async () => {
  const { aead } = readVectors<{ aead: Record<string, string>[] }>('rfc8439.json');
  for (const vector of aead) {
    const part = (name: string) => fromHex(vector[name] ?? '');
    const data = part('plaintext');
    const [key, nonce, associatedData] = [part('key'), part('nonce'), part('associatedData')];
    const calls = recordKernelCalls(() => sealInPlace({ key, nonce, associatedData, data }));
    const { buffers } = await relay.send(calls);
    expect(buffers.slice(-2)).toEqual([part('ciphertext'), part('tag')]);
  }
});

test('mergeKernel(): sealing takes at most 28 instructions per byte, SHA-256 at most 85', async () => {
  for (const { operation, instructionsPerByte } of await measureKernel()) {
    expect(instructionsPerByte).toBeGreaterThan(1);
    expect(instructionsPerByte).toBeLessThanOrEqual(operation === 'seal' ? 28 : 85);
  }
});
