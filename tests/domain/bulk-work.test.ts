// A bulk operation writes a limited number of leaves per message, and continues in the next one.

import { beforeEach, describe, expect, test } from 'vitest';
import { copyFile } from '../../src/domain/files/copies.ts';
import { deleteFiles } from '../../src/domain/files/file-deletion.ts';
import { createLink } from '../../src/domain/files/links.ts';
import { moveFiles } from '../../src/domain/files/prefix-moves.ts';
import { noStoredHeaders } from '../../src/domain/shared/stored-headers.ts';
import { uploadBatch } from '../../src/domain/uploads/batch-upload.ts';
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

/** Stores a file of many chunks, which copies share. */
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

describe('uploadBatch', () => {
  const upload = (paths: readonly string[]) => {
    const sent = {
      metadata: { contentType: 'a/b', tags: [], headers: noStoredHeaders, metadata: [] },
    };
    const readFiles = () =>
      paths.map((path) => ({ path, read: () => ({ ...sent, bytes: Uint8Array.of(1) }) }));
    return uploadBatch(scene.stores, alice, { bucket: 'box', apiKey: undefined, readFiles });
  };
  const refusedAs = (results: ReturnType<typeof upload>, code: string) =>
    results.filter(({ refusal }) => refusal?.code === code).map(({ path }) => path);

  test('refuses files with SlowDown that replace more than one message may remove', () => {
    const paths = copies(20);
    for (const path of paths) {
      for (let count = 0; count < 12; count++) {
        createLink(scene.stores, alice, { bucket: 'box', path, apiKey: undefined });
      }
    }
    const results = upload(['in/new', ...paths, 'in/newer']);
    const later = refusedAs(results, 'SlowDown');
    const others = refusedAs(results, 'NotStored');
    // 13 times 1,000 leaves, at six tenths of a written one, and 12 links of 18.
    expect(others).toEqual(['in/new', ...paths.slice(0, 12), 'in/newer']);
    expect(later).toEqual(paths.slice(12));
    expect(refusedAs(upload(others), 'NotStored')).toEqual([]);
    expect(upload(later).map(({ stored }) => stored?.isNew)).toEqual(later.map(() => false));
    checkInvariants(scene.stores);
  });
});
