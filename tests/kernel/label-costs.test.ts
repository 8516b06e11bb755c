// Measures the instructions of certification in the merged kernel, with the network's meter.

import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { recordKernelCalls } from '../../bench/kernel-costs.ts';
import { openRelay, type Relay } from '../../bench/kernel-relay.ts';
import { type Replica, startReplica } from '../../packages/replica/src/replica.ts';
import { certificateHeader } from '../../src/certification/certificate-header.ts';
import { openFileLeaves } from '../../src/certification/file-leaves.ts';
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
  return (await relay.send(recordKernelCalls(operation))).instructions;
}

function fileAt(number: number): LabelPath {
  const name = String((number * 7_919) % labels).padStart(6, '0');
  return { text: `http_expr\0cloud\0demo\0file-${name}.txt\0<$>` };
}

const digest = (text: string) => new Uint8Array(createHash('sha256').update(text).digest());

function pairs(count: number): Uint8Array {
  return Buffer.concat(Array.from({ length: 2 * count }, (_, at) => digest(`${at}`)));
}

test('recordKernelCalls(): a change among thousands of labels takes at most 500,000 instructions', async () => {
  expect(await cost(() => tree.set(fileAt(5), digest('x')))).toBeLessThan(500_000);
  expect(
    await cost(() => tree.set({ text: 'http_expr\0cloud\0demo\0new' }, digest('x'))),
  ).toBeLessThan(500_000);
  expect(await cost(() => tree.remove(fileAt(6)))).toBeLessThan(500_000);
});

test('recordKernelCalls(): a witness takes at most 100,000 instructions, and one for a wildcard 150,000', async () => {
  expect(await cost(() => tree.witness(fileAt(7), subtree))).toBeLessThan(100_000);
  const missing = { text: 'http_expr\0cloud\0demo\0missing\0<$>' };
  await cost(() => tree.set({ text: 'http_expr\0<*>' }, digest('x')));
  const fallback = () => tree.fallbackWitness(missing, { depth: 1, subtree });
  expect(await cost(fallback)).toBeLessThan(150_000);
  expect(await cost(() => tree.wildcardDepth(missing))).toBeLessThan(100_000);
});

test('recordKernelCalls(): leaves of 1,000 parts take at most 40,000 per part to store, and 150,000 to compute', async () => {
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

test('recordKernelCalls(): each of 10,000 leaves of a level takes at most 60,000 to store, and 15,000 to remove', async () => {
  const place = { ...fileAt(9), hashes: [digest('expression')] };
  const put = await cost(() => tree.setLeaves(place, pairs(10_000)));
  const removed = await cost(() => tree.remove(place));
  expect(put).toBeLessThan(600_000_000);
  expect(removed).toBeLessThan(150_000_000);
});

test('recordKernelCalls(): the leaves of a file take at most 500,000 instructions, and so does the tree of an answer', async () => {
  const constants = Buffer.concat(Array.from({ length: 29 }, (_, at) => digest(`${at}`)));
  const leaves = openFileLeaves(() => constants);
  const etag = `"${'07'.repeat(32)}-1"`;
  const file = {
    etag,
    validators: [
      ['ETag', etag] as const,
      ['Last-Modified', 'Fri, 02 Jan 2026 03:04:05 GMT'] as const,
    ],
    headers: Array.from({ length: 6 }, (_, at) => [`X-Header-${at}`, 'x'.repeat(40)] as const),
    size: 1_000,
    partSize: 1_900_000,
    partCount: 1,
    isJoined: true,
    partDigest: () => digest('body'),
  };
  expect(await cost(() => leaves.hash(file))).toBeLessThan(500_000);
  expect(await cost(() => leaves.tree(file, { row: 'plain', method: 'GET' }))).toBeLessThan(
    500_000,
  );
});

test('recordKernelCalls(): Base64 takes at most 5 instructions per byte', async () => {
  const header = () =>
    certificateHeader({ certificate: new Uint8Array(500_000), witness: subtree, path: 'a' });
  expect(await cost(header)).toBeLessThan(5 * 500_000);
});
