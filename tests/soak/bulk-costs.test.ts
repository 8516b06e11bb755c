// The cost of one message of each bulk operation, on the canister's Wasm, for files of 1,000 chunks
// with 12 links each. A message may cost 100,000 leaves (src/limits.ts, bulkLeavesPerMessage):
// moveFiles moves 7 of 14 files (93,072 leaves), deleteFiles deletes all 14 (10,304), and
// uploadFiles replaces 12 (96,192). The network allows a message 40 G instructions. Copies share
// their chunks, so the messages above free none; files of 32 full chunks of their own show what
// freeing them costs, for as many files as the upload takes a few minutes.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { MessageReport } from '../../packages/replica/src/core.ts';
import { chunkBytesMax } from '../../packages/wire/src/limits.ts';
import { bulkLeavesPerMessage, reclaimedChunksPerMessage } from '../../src/limits.ts';
import { type Person, personOf } from '../support/people.ts';
import { openService, type Service } from '../support/service.ts';

const bucketId = 'bulk';
const chunkCount = 1_000;
const linkCount = 12;
const fileCount = 14;
const instructionsMax = 20e9;

const reports: MessageReport[] = [];
let service: Service;
let owner: Person;

beforeAll(async () => {
  service = await openService({ onReport: (report) => void reports.push(report) });
  owner = personOf(service, 'owner');
  await owner.get('createBucket', bucketId, []);
  await upload('first', chunkCount, Uint8Array.of(1));
});
afterAll(() => service?.stop());

/** Returns the id of an upload that has all its chunks. */
async function send(path: string, count: number, chunk: Uint8Array): Promise<string> {
  const size = [BigInt(count * chunk.length)];
  const uploadId = await owner.get<string>('beginFileUploadWith', { bucketId, path, size });
  for (let index = 0; index < count; index++) {
    await owner.get('uploadFileChunkIndexed', uploadId, BigInt(index), chunk);
  }
  return uploadId;
}

async function upload(path: string, count: number, chunk: Uint8Array): Promise<void> {
  await owner.get('completeFileUploadWith', { uploadId: await send(path, count, chunk) });
}

/** Makes copies, which share the chunks, with links. */
async function copies(prefix: string): Promise<string[]> {
  const paths = Array.from({ length: fileCount }, (_, index) => `${prefix}${1_000 + index}`);
  for (const path of paths) {
    await owner.get('copyFile', { bucketId, from: 'first', to: path });
    for (let count = 0; count < linkCount; count++) {
      await owner.get('createLink', { bucketId, path });
    }
  }
  return paths;
}

/** Returns the instructions of the last update by that method. */
function lastCost(name: string): number {
  const last = reports.findLast(({ kind, method }) => kind === 'update' && method === name);
  const instructions = Number(last?.instructions ?? expect.fail('no update'));
  console.log(`${name}: ${(instructions / 1e9).toFixed(1)} G instructions`);
  return instructions;
}

describe('one message costs less than half of what the network allows', () => {
  test('moveFiles', async () => {
    await copies('move/');
    const request = { bucketId, fromPrefix: 'move/', toPrefix: 'moved/' };
    const answer = await owner.get('moveFiles', request);
    const { moved, isDone } = answer as { readonly moved: bigint; readonly isDone: boolean };
    expect(moved).toBeGreaterThan(0n);
    expect(isDone).toBe(false);
    expect(lastCost('moveFiles')).toBeLessThan(instructionsMax);
  });

  test('deleteFiles', async () => {
    await copies('delete/');
    await owner.get('deleteFiles', { bucketId, prefix: ['delete/'] });
    expect(lastCost('deleteFiles')).toBeLessThan(instructionsMax);
  });

  test('uploadFiles over other files', async () => {
    const paths = await copies('replace/');
    const files = paths.slice(0, 12).map((path) => ({ path, bytes: Uint8Array.of(1) }));
    const answer = await owner.get('uploadFiles', { bucketId, files });
    expect(answer).toEqual(files.map(() => ({ ok: expect.anything() })));
    expect(lastCost('uploadFiles')).toBeLessThan(instructionsMax);
  });
});

describe('one unit of work costs half of its part of a message, also when full chunks are freed', () => {
  const fullCount = 3;
  const unitInstructionsMax = instructionsMax / bulkLeavesPerMessage;
  const freedLeaves = 23 * reclaimedChunksPerMessage;
  const removedLeaves = 0.6 * reclaimedChunksPerMessage;

  async function fullFiles(prefix: string): Promise<string[]> {
    const paths = Array.from({ length: fullCount }, (_, index) => `${prefix}${index}`);
    const chunk = new Uint8Array(chunkBytesMax).fill(7);
    for (const path of paths) await upload(path, reclaimedChunksPerMessage, chunk);
    return paths;
  }

  function costMax(leavesPerFile: number): number {
    return fullCount * leavesPerFile * unitInstructionsMax;
  }

  test('deleteFiles', async () => {
    await fullFiles('full/');
    await owner.get('deleteFiles', { bucketId, prefix: ['full/'] });
    expect(lastCost('deleteFiles')).toBeLessThan(costMax(40 + removedLeaves + freedLeaves));
  });

  test('moveFiles over other files', async () => {
    await fullFiles('target/');
    for (let index = 0; index < fullCount; index++)
      await upload(`one/${index}`, 1, Uint8Array.of(1));
    const request = { bucketId, fromPrefix: 'one/', toPrefix: 'target/' };
    const answer = await owner.get('moveFiles', request);
    expect(answer).toMatchObject({ moved: BigInt(fullCount), isDone: true });
    const leaves = 80 + 1 + reclaimedChunksPerMessage + freedLeaves;
    expect(lastCost('moveFiles')).toBeLessThan(costMax(leaves));
  });

  test('uploadFiles over other files', async () => {
    const paths = await fullFiles('old/');
    const files = paths.map((path) => ({ path, bytes: Uint8Array.of(1) }));
    await owner.get('uploadFiles', { bucketId, files });
    // A new file costs as much as a moved one, and is limited by the number of files
    expect(lastCost('uploadFiles')).toBeLessThan(costMax(80 + removedLeaves + freedLeaves));
  });

  test('eraseVersions', async () => {
    await fullFiles('former/');
    await owner.get('updateBucket', { bucketId, keepVersionsDays: [1n] });
    await owner.get('deleteFiles', { bucketId, prefix: ['former/'] });
    const answer = await owner.get('eraseVersions', { bucketId, prefix: ['former/'] });
    expect(answer).toMatchObject({ erased: BigInt(fullCount), isDone: true });
    expect(lastCost('eraseVersions')).toBeLessThan(costMax(40 + freedLeaves));
  });

  test('completeFileUploadWith with a SHA-256', async () => {
    const uploadId = await send('hashed', chunkCount, Uint8Array.of(1));
    const sha256 = ['ab'.repeat(32)];
    const { err } = await owner.ask('completeFileUploadWith', { uploadId, sha256 });
    expect(err).toMatch(/^BadDigest/);
    const leaves = 5 * chunkCount;
    expect(lastCost('completeFileUploadWith')).toBeLessThan(leaves * unitInstructionsMax);
  });
});
