// What certification's operations cost in the linked kernel, by the network's meter.

import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { recordGateCalls } from '../../bench/kernel-costs.ts';
import { openRelay, type Relay } from '../../bench/kernel-relay.ts';
import { type Replica, startReplica } from '../../replica/replica.ts';
import { base64Bytes } from '../../src/crypto/base64.ts';
import { installUtf8Encoder } from '../../src/lib/text.ts';
import { type LabelPath, openLabelTree } from '../../src/storage/label-tree.ts';
import { partLeaves } from '../../src/storage/part-leaves.ts';

const labels = 8_000;
const batch = 2_000;
const tree = openLabelTree(5, 0);
const subtree = Uint8Array.of(0x81, 0);

let replica: Replica;
let relay: Relay;

beforeAll(async () => {
  installUtf8Encoder((text) => new TextEncoder().encode(text));
  replica = await startReplica({ server: false });
  relay = await openRelay(replica);
  for (let start = 0; start < labels; start += batch) {
    await cost(() => {
      for (let at = start; at < start + batch; at++) tree.set(fileAt(at), digest(`${at}`));
    });
  }
});

afterAll(() => replica?.stop());

async function cost(operation: () => unknown): Promise<number> {
  return (await relay.send(recordGateCalls(operation))).instructions;
}

function fileAt(number: number): LabelPath {
  const name = String((number * 7_919) % labels).padStart(6, '0');
  return { text: `http_expr\0cloud\0demo\0file-${name}.txt\0<$>` };
}

const digest = (text: string) => new Uint8Array(createHash('sha256').update(text).digest());

function pairs(count: number): Uint8Array {
  return Buffer.concat(Array.from({ length: 2 * count }, (_, at) => digest(`${at}`)));
}

test('a change among thousands of labels takes at most 500,000 instructions', async () => {
  expect(await cost(() => tree.set(fileAt(5), digest('x')))).toBeLessThan(500_000);
  expect(
    await cost(() => tree.set({ text: 'http_expr\0cloud\0demo\0new' }, digest('x'))),
  ).toBeLessThan(500_000);
  expect(await cost(() => tree.remove(fileAt(6)))).toBeLessThan(500_000);
});

test('a witness takes at most 100,000', async () => {
  expect(await cost(() => tree.witness(fileAt(7), subtree))).toBeLessThan(100_000);
  const missing = { text: 'http_expr\0cloud\0demo\0missing\0<$>' };
  await cost(() => tree.set({ text: 'http_expr\0<*>' }, digest('x')));
  const fallback = () => tree.fallbackWitness(missing, { depth: 1, subtree });
  expect(await cost(fallback)).toBeLessThan(150_000);
  expect(await cost(() => tree.wildcardDepth(missing))).toBeLessThan(100_000);
});

test('leaves of 1,000 parts take at most 40,000 a part to put, and 150,000 to make', async () => {
  const place = { ...fileAt(8), hashes: [digest('expression')] };
  expect(await cost(() => tree.setLeaves(place, pairs(1_000)))).toBeLessThan(40_000_000);
  const parts = {
    pairs: pairs(14),
    contentRangeName: digest('content-range'),
    requestPairs: new Uint8Array(96),
    digests: new Uint8Array(32_000),
    partSize: 1_900_000,
    totalSize: 1_900_000_000,
  };
  expect(await cost(() => partLeaves(parts))).toBeLessThan(150_000_000);
});

test('Base64 takes at most 5 instructions a byte', async () => {
  expect(await cost(() => base64Bytes(new Uint8Array(500_000)))).toBeLessThan(5 * 500_000);
});
