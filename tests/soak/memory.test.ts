// The replica's memory stays small during the upload of a gigabyte, at rest, and during the
// download.

import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openActor } from '../support/actors.ts';
import { sampleBytes } from '../support/service.ts';
import { type StartedService, startService } from '../support/started-service.ts';

const chunkBytes = 1_900_000;
const chunkCount = 540; // 1.026 GB
const residentBytesMax = 400e6;

let folder: string;
let service: StartedService;
const residentBytes: Record<string, number> = {};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'soak-'));
  service = await startService(folder);
});

afterAll(async () => {
  console.log(residentBytes);
  await service?.kill();
  await rm(folder, { recursive: true, force: true });
});

async function noteMemory(when: string): Promise<void> {
  const status = await readFile(`/proc/${service.processId}/status`, 'utf8');
  residentBytes[when] = 1_024 * Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]);
}

/** Returns a chunk that differs from all others, quickly. */
function chunkOf(template: Uint8Array, index: number): Uint8Array {
  const chunk = template.slice();
  new DataView(chunk.buffer).setUint32(0, index);
  return chunk;
}

test('an upload of 1 GB in parallel chunks and its download by one GET need little memory', async () => {
  const { url: host, apiKey, bucket } = service;
  const actor = await openActor({ ...service, host }, { agent: '@icp-sdk/core', asOwner: false });
  const template = sampleBytes('soak', chunkBytes);
  const size = BigInt(chunkBytes * chunkCount);
  const begun = await actor.beginFileUpload(bucket, '/big.bin', 'a/b', size, [apiKey]);
  const uploadId = begun.ok ?? expect.fail(begun.err);
  await noteMemory('before');
  let next = 0;
  const send = async () => {
    for (let index = next++; index < chunkCount; index = next++) {
      const chunk = chunkOf(template, index);
      const sent = await actor.uploadFileChunkIndexed(uploadId, BigInt(index), chunk);
      expect(sent.err).toBeUndefined();
    }
  };
  await Promise.all([send(), send(), send(), send()]);
  await noteMemory('uploaded');
  expect(await actor.completeFileUpload(uploadId, [apiKey])).toHaveProperty('ok');

  const expected = createHash('sha256');
  for (let index = 0; index < chunkCount; index++) {
    expected.update(chunkOf(template, index));
  }
  const actual = createHash('sha256');
  const response = await fetch(`${host}/cloud/${bucket}/big.bin`);
  expect(response.headers.get('content-length')).toBe(String(size));
  for await (const piece of Readable.fromWeb(response.body as ReadableStream)) {
    actual.update(piece);
  }
  await noteMemory('downloaded');
  expect(actual.digest('hex')).toBe(expected.digest('hex'));
  for (const [when, bytes] of Object.entries(residentBytes)) {
    expect(bytes, when).toBeLessThanOrEqual(residentBytesMax);
  }
}, 900_000);
