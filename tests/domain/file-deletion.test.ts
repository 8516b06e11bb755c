import { beforeEach, describe, expect, test } from 'vitest';
import { deletedFileCountMax } from '../../packages/wire/src/limits.ts';
import { getBucket } from '../../src/domain/buckets/buckets.ts';
import { type Deletion, deleteFiles } from '../../src/domain/files/file-deletion.ts';
import { entityTag, findFile } from '../../src/domain/files/file-records.ts';
import { cursorOf } from '../../src/domain/listing/cursors.ts';
import {
  callOf,
  createScene,
  expectRefusal,
  makeKey,
  putTestFile,
  type Scene,
} from '../support/domain-fixture.ts';
import { checkInvariants } from '../support/invariants.ts';

let scene: Scene;

beforeEach(async () => {
  scene = await createScene();
});

function remove(deletion: Deletion, apiKey = scene.writeKey) {
  const request = { bucket: 'box', apiKey, read: () => deletion };
  const { results, nextCursor } = deleteFiles(scene.stores, callOf('anonymous'), request);
  return { results: results.map(({ path, refusal }) => [path, refusal?.code]), nextCursor };
}

function put(...paths: readonly string[]): void {
  for (const path of paths) putTestFile(scene.stores, { path });
}

const fileCount = () => getBucket(scene.stores, 'box').fileCount;

describe('deleteFiles() by paths', () => {
  test('deletes each, and continues after one that it cannot delete', () => {
    put('a', 'b/c', 'd', 'kept');
    const { results, nextCursor } = remove({ paths: ['/a', 'none', '../x', 'b/c', 'a', 'd'] });
    expect(results).toEqual([
      ['/a', undefined],
      ['none', 'NoSuchFile'],
      ['../x', 'InvalidPath'],
      ['b/c', undefined],
      ['a', 'NoSuchFile'],
      ['d', undefined],
    ]);
    expect(nextCursor).toBeUndefined();
    expect(fileCount()).toBe(1);
    checkInvariants(scene.stores);
  });

  test('deletes a file with ifMatch only while it has that entity tag', () => {
    put('a');
    const tag = entityTag(findFile(scene.stores, 'box', 'a') ?? expect.fail('no file'));
    for (const ifMatch of ['"other"', `W/${tag}`]) {
      expect(remove({ paths: ['a'], ifMatch }).results).toEqual([['a', 'PreconditionFailed']]);
    }
    expect(remove({ paths: ['none'], ifMatch: tag }).results).toEqual([['none', 'NoSuchFile']]);
    expect(fileCount()).toBe(1);
    expect(remove({ paths: ['a'], ifMatch: `"other", ${tag}` }).results).toEqual([
      ['a', undefined],
    ]);
    expect(fileCount()).toBe(0);
  });

  test('accepts an empty list', () => {
    expect(remove({ paths: [] })).toEqual({ results: [], nextCursor: undefined });
  });
});

describe('deleteFiles() by prefix', () => {
  test('deletes all files whose paths begin with it, in the order of paths', () => {
    put('a', 'ab', 'a/2', 'a/1', 'b');
    expect(remove({ prefix: 'a/' }).results.map(([path]) => path)).toEqual(['a/1', 'a/2']);
    expect(remove({ prefix: 'a' }).results.map(([path]) => path)).toEqual(['a', 'ab']);
    expect(remove({ prefix: 'none' })).toEqual({ results: [], nextCursor: undefined });
    expect(fileCount()).toBe(1);
    checkInvariants(scene.stores);
  });

  test('empties the bucket if the prefix is empty, and no other bucket', () => {
    put('a', 'ä/b', '\u{1f600}');
    putTestFile(scene.stores, { bucket: 'other', path: 'a' });
    expect(remove({ prefix: '' }).results).toHaveLength(3);
    expect(fileCount()).toBe(0);
    expect(getBucket(scene.stores, 'other').fileCount).toBe(1);
    checkInvariants(scene.stores);
  });

  test('returns a cursor until no file is left, and skips files stored before the cursor meanwhile', () => {
    const count = deletedFileCountMax + 1;
    put(...Array.from({ length: count }, (_, index) => `x/${10_000 + index}`), 'y');
    const first = remove({ prefix: 'x/' });
    expect(first.results).toHaveLength(deletedFileCountMax);
    const last = `x/${10_000 + deletedFileCountMax - 1}`;
    expect(first.nextCursor).toBe(cursorOf(Buffer.from(last)));
    put('x/0');
    const second = remove({ prefix: 'x/', cursor: first.nextCursor });
    expect(second).toEqual({
      results: [[`x/${10_000 + count - 1}`, undefined]],
      nextCursor: undefined,
    });
    expect(fileCount()).toBe(2);
  });

  test('reports no more names than fit into a response', () => {
    const long = (index: number) => `${1_000 + index}`.padEnd(1_000, 'x');
    put(...Array.from({ length: 530 }, (_, index) => long(index)));
    const { results, nextCursor } = remove({ prefix: '' });
    expect(results).toHaveLength(524);
    expect(nextCursor).toBe(cursorOf(Buffer.from(long(523))));
    expect(remove({ prefix: '', cursor: nextCursor }).results).toHaveLength(6);
  });

  test('refuses a prefix that is longer than any path', () => {
    put('a');
    const prefix = 'ä'.repeat(1_000);
    expectRefusal(scene.stores, 'InvalidPath', () => remove({ prefix }));
  });
});

describe('deleteFiles() refuses', () => {
  test.each<[string, Deletion]>([
    ['neither paths nor a prefix', {}],
    ['both paths and a prefix', { paths: ['a'], prefix: '' }],
    ['ifMatch with two paths', { paths: ['a', 'b'], ifMatch: '*' }],
    ['ifMatch with a prefix', { prefix: 'a', ifMatch: '*' }],
    ['a cursor with paths', { paths: ['a'], cursor: 'a' }],
    ['1,001 paths', { paths: Array(1_001).fill('a') }],
    ['a cursor longer than any path', { prefix: '', cursor: 'a'.repeat(1_025) }],
  ])('%s', (_, deletion) => {
    put('a');
    expectRefusal(scene.stores, 'InvalidArgument', () => remove(deletion));
  });

  test('callers without the right to delete, before anything is read', () => {
    const { stores } = scene;
    const read = () => expect.fail('the paths are read');
    for (const permissions of [['read'], ['write']]) {
      const apiKey = makeKey(stores, { permissions });
      const request = { bucket: 'box', apiKey, read };
      expectRefusal(stores, 'AccessDenied', () =>
        deleteFiles(stores, callOf('anonymous'), request),
      );
    }
  });
});
