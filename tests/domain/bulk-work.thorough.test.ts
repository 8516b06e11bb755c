// A bulk operation writes a limited number of leaves per message, and continues in the next one.

import { beforeEach, describe, expect, test, vi } from 'vitest';
import { updateBucket } from '../../src/domain/administration/bucket-administration.ts';
import { copyFile } from '../../src/domain/files/copies.ts';
import { deleteFiles } from '../../src/domain/files/file-deletion.ts';
import { createLink } from '../../src/domain/files/links.ts';
import { moveFiles } from '../../src/domain/files/prefix-moves.ts';
import { eraseVersions } from '../../src/domain/files/version-erasure.ts';
import { noStoredHeaders } from '../../src/domain/shared/stored-headers.ts';
import { uploadBatch } from '../../src/domain/uploads/batch-upload.ts';
import { completeUpload } from '../../src/domain/uploads/upload-end.ts';
import { bulkLeavesPerMessage, reclaimedChunksPerMessage } from '../../src/limits.ts';
import {
  begin,
  bucketChange,
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

function upload(paths: readonly string[]) {
  const sent = {
    metadata: { contentType: 'a/b', tags: [], headers: noStoredHeaders, metadata: [] },
  };
  const readFiles = () =>
    paths.map((path) => ({ path, read: () => ({ ...sent, bytes: Uint8Array.of(1) }) }));
  return uploadBatch(scene.stores, alice, { bucket: 'box', apiKey: undefined, readFiles });
}

function refusedAs(results: ReturnType<typeof upload>, code: string): string[] {
  return results.filter(({ refusal }) => refusal?.code === code).map(({ path }) => path);
}

describe('uploadBatch', () => {
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

describe('files that share no chunks', () => {
  const fileCount = 140;
  // Freeing a chunk takes as long as writing 23 leaves.
  const freedMax = bulkLeavesPerMessage / 23;
  let paths: readonly string[];

  beforeEach(() => {
    const { stores } = scene;
    paths = Array.from({ length: fileCount }, (_, index) => `own/${1_000 + index}`);
    const size = BigInt(reclaimedChunksPerMessage);
    for (const path of paths) {
      const { uploadId } = begin(stores, alice, { path: `/${path}`, size });
      const chunks = Array.from({ length: reclaimedChunksPerMessage }, (_, index) => {
        return [index, Uint8Array.of(index)] as const;
      });
      putChunks(stores, alice, { uploadId, chunks });
      completeUpload(stores, alice, { uploadId, apiKey: undefined });
    }
  });

  /** The first byte of the keys of chunks. */
  const chunkKind = 2;

  /** Makes calls until one returns true, and returns their number. */
  function callsOf(act: () => boolean): number {
    const freed = vi.spyOn(scene.stores.records, 'delete');
    const freedChunks = () => freed.mock.calls.filter(([key]) => key[0] === chunkKind).length;
    for (let calls = 1; ; calls++) {
      freed.mockClear();
      const isDone = act();
      expect(freedChunks()).toBeGreaterThan(0);
      expect(freedChunks()).toBeLessThan(freedMax);
      if (!isDone) continue;
      freed.mockRestore();
      checkInvariants(scene.stores);
      return calls;
    }
  }

  test('deleteFiles frees as many chunks as one message may', () => {
    let cursor: string | undefined;
    const calls = callsOf(() => {
      const request = {
        bucket: 'box',
        apiKey: undefined,
        read: () => ({ prefix: 'own/', cursor }),
      };
      cursor = deleteFiles(scene.stores, alice, request).nextCursor;
      return cursor === undefined;
    });
    expect(calls).toBe(2);
  });

  test('moveFiles frees as many chunks of replaced files as one message may', () => {
    upload(paths.map((path) => path.replace('own/', 'new/')));
    const order = { bucket: 'box', fromPrefix: 'new/', toPrefix: 'own/', apiKey: undefined };
    expect(callsOf(() => moveFiles(scene.stores, alice, order).isDone)).toBe(2);
  });

  test('uploadBatch frees as many chunks of replaced files as one message may', () => {
    const later = refusedAs(upload(paths), 'SlowDown');
    // 132 times 19 leaves that are removed, and 32 chunks
    expect(later).toEqual(paths.slice(132));
    const groups = [later, paths.slice(0, 132)];
    const calls = callsOf(() => {
      expect(refusedAs(upload(groups.pop() ?? []), 'NotStored')).toEqual([]);
      return groups.length === 0;
    });
    expect(calls).toBe(2);
  });

  test('eraseVersions frees as many chunks as one message may', () => {
    updateBucket(scene.stores, alice, bucketChange({ keepVersionsDays: 1n }));
    const request = { bucket: 'box', apiKey: undefined, read: () => ({ prefix: 'own/' }) };
    const { results, nextCursor } = deleteFiles(scene.stores, alice, request);
    expect([results.length, nextCursor], 'a retired file frees none').toEqual([
      fileCount,
      undefined,
    ]);
    let erased = 0;
    const calls = callsOf(() => {
      const order = { bucket: 'box', prefix: 'own/', apiKey: undefined };
      const answer = eraseVersions(scene.stores, alice, order);
      erased += answer.erased;
      return answer.isDone;
    });
    expect([calls, erased]).toEqual([2, fileCount]);
  });
});
