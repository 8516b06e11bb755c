// A bulk operation writes a limited number of leaves per message, and continues in the next one.

import { beforeEach, expect, test } from 'vitest';
import { copyFile } from '../../src/domain/files/copies.ts';
import { deleteFiles } from '../../src/domain/files/file-deletion.ts';
import { createLink } from '../../src/domain/files/links.ts';
import { moveFiles } from '../../src/domain/files/prefix-moves.ts';
import { completeUpload } from '../../src/domain/uploads/upload-end.ts';
import { bulkLeavesPerMessage } from '../../src/limits.ts';
import {
  begin,
  callOf,
  createScene,
  makeKey,
  putChunks,
  type Scene,
} from '../support/domain-fixture.ts';
import { checkInvariants } from '../support/invariants.ts';

const alice = callOf('alice');
const chunkCount = 1_000;
let scene: Scene;

/** A file of many chunks, which copies share. */
beforeEach(async () => {
  scene = await createScene();
  const { stores } = scene;
  const { uploadId } = begin(stores, alice, { path: '/first', size: BigInt(chunkCount) });
  const chunks = Array.from({ length: chunkCount }, (_, index) => {
    return [index, Uint8Array.of(index)] as const;
  });
  putChunks(stores, alice, { uploadId, chunks });
  completeUpload(stores, alice, { uploadId, apiKey: undefined });
});

function copies(count: number): string[] {
  const paths = Array.from({ length: count }, (_, index) => `in/${1_000 + index}`);
  for (const path of paths) {
    const order = { bucket: 'box', from: 'first', to: { path }, conditions: {}, apiKey: undefined };
    copyFile(scene.stores, alice, order);
  }
  return paths;
}

test('moveFiles moves as much as one message may write, and the rest in further calls', () => {
  const { stores } = scene;
  const paths = copies(9);
  const apiKey = makeKey(stores, { permissions: ['read'] });
  for (const path of paths) {
    for (let count = 0; count < 12; count++) {
      createLink(stores, alice, { bucket: 'box', path, apiKey });
    }
  }
  let leaves = 0;
  Object.assign(stores.publication, {
    put: () => {
      leaves += chunkCount;
    },
    putLink: () => {
      leaves += chunkCount;
    },
  });
  const order = { bucket: 'box', fromPrefix: 'in/', toPrefix: 'out/', apiKey: undefined };
  let moved = 0;
  let calls = 0;
  for (let isDone = false; !isDone; calls++) {
    leaves = 0;
    const answer = moveFiles(stores, alice, order);
    expect(answer.moved).toBeGreaterThan(0);
    expect(answer.failed).toEqual([]);
    expect(leaves).toBeLessThan(bulkLeavesPerMessage);
    moved += answer.moved;
    isDone = answer.isDone;
  }
  expect(moved).toBe(paths.length);
  expect(calls).toBe(2);
  checkInvariants(scene.stores);
});

test('deleteFiles by a prefix deletes as much as one message may, and continues by its cursor', () => {
  const paths = copies(160);
  const told: string[] = [];
  let cursor: string | undefined;
  let calls = 0;
  do {
    const read = () => ({ prefix: 'in/', cursor });
    const { results, nextCursor } = deleteFiles(scene.stores, alice, {
      bucket: 'box',
      apiKey: undefined,
      read,
    });
    expect(results.every(({ refusal }) => refusal === undefined)).toBe(true);
    told.push(...results.map(({ path }) => path));
    cursor = nextCursor;
    calls += 1;
  } while (cursor !== undefined);
  expect(told).toEqual(paths);
  expect(calls).toBe(2);
  checkInvariants(scene.stores);
});

test('deleteFiles by paths refuses those that do not fit into one message, with SlowDown', () => {
  const remove = (wanted: readonly string[]) =>
    deleteFiles(scene.stores, alice, {
      bucket: 'box',
      apiKey: undefined,
      read: () => ({ paths: wanted }),
    }).results;
  let left: readonly string[] = copies(160);
  for (let calls = 0; left.length > 0; calls++) {
    const refused = remove(left).filter(({ refusal }) => refusal !== undefined);
    expect(refused.map(({ refusal }) => refusal?.code)).toEqual(refused.map(() => 'SlowDown'));
    expect(refused.length).toBeLessThan(left.length);
    left = refused.map(({ path }) => path);
    expect(calls).toBeLessThan(2);
  }
  checkInvariants(scene.stores);
});
