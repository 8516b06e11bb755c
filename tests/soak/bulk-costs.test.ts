// The cost of one message of each bulk operation, on the canister's Wasm, for files of 1,000 chunks
// with 12 links each. A message may cost 100,000 leaves (src/limits.ts, bulkLeavesPerMessage):
// moveFiles moves 7 of 14 files (93,072 leaves), deleteFiles deletes all 14 (10,304), and
// uploadFiles replaces 12 (96,192). The network allows a message 40 G instructions.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { MessageReport } from '../../packages/replica/src/core.ts';
import { type Person, personInside } from '../support/people.ts';
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
  owner = personInside(service, 'owner');
  await owner.get('createBucket', bucketId, []);
  const size = [BigInt(chunkCount)];
  const begun = await owner.get('beginFileUploadWith', { bucketId, path: 'first', size });
  const { uploadId } = begun as { readonly uploadId: string };
  for (let index = 0; index < chunkCount; index++) {
    await owner.get('uploadFileChunkIndexed', uploadId, BigInt(index), Uint8Array.of(index));
  }
  await owner.get('completeFileUploadWith', { uploadId });
});
afterAll(() => service?.stop());

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
