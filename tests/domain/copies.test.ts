// Copies, moves and changes of files: the content that they share, the keys that open it, and when
// it is erased.

import { beforeEach, describe, expect, test } from 'vitest';
import { updateBucket } from '../../src/domain/administration/bucket-administration.ts';
import { findBucket } from '../../src/domain/buckets/buckets.ts';
import { sharesOf } from '../../src/domain/contents/shared-contents.ts';
import { type CopyRequest, checkCopy, copyFile, moveFile } from '../../src/domain/files/copies.ts';
import { changeFile, type FileChange } from '../../src/domain/files/file-changes.ts';
import { entityTag, findFile } from '../../src/domain/files/file-records.ts';
import { deleteFile, readFilePart } from '../../src/domain/files/files.ts';
import { moveFiles } from '../../src/domain/files/prefix-moves.ts';
import { listVersions } from '../../src/domain/files/versions.ts';
import { finishUpload } from '../../src/domain/uploads/upload-end.ts';
import {
  begin,
  bucketChange,
  callOf,
  createScene,
  expectRefusal,
  makeKey,
  putChunks,
  putTestFile,
  type Scene,
  startNs,
  testBytes,
} from '../support/domain-fixture.ts';
import { checkInvariants } from '../support/invariants.ts';
import { openFile } from '../support/read-files.ts';

const laterNs = startNs + 1_000_000n;
const alice = callOf('alice', laterNs);

let scene: Scene;

beforeEach(async () => {
  scene = await createScene();
});

function order(change: Partial<CopyRequest> = {}): CopyRequest {
  return {
    ...{ bucket: 'box', from: 'a', to: { path: 'b' }, conditions: {}, apiKey: undefined },
    ...change,
  };
}

function read(bucket: string, path: string): Buffer {
  const part = { offset: 0n, length: 1_900_000n };
  return Buffer.from(
    readFilePart(scene.stores, alice, { bucket, path, apiKey: undefined, ...part }),
  );
}

function remove(bucket: string, path: string, apiKey?: string): void {
  deleteFile(scene.stores, alice, { bucket, path, apiKey, conditions: {} });
}

function putMany(path: string, chunks: number): Buffer {
  const pieces = Array.from({ length: chunks }, (_, index) => testBytes(100, index + 7));
  const { stores } = scene;
  const { uploadId } = begin(stores, callOf('alice'), { path, size: BigInt(100 * chunks) });
  putChunks(stores, callOf('alice'), { uploadId, chunks: [...pieces.entries()] });
  finishUpload(stores, callOf('alice'), { uploadId, apiKey: undefined });
  return Buffer.concat(pieces);
}

const metadata = {
  contentType: 'text/csv',
  tags: ['x'],
  headers: ['no-store', '', '', 'de'],
  metadata: [['by', 'me']] as const,
};

describe('copyFile(): a copy', () => {
  test('has the bytes and all metadata of the file, and a history of its own', () => {
    const { stores } = scene;
    const { file } = putTestFile(stores, { path: '/a', metadata });
    const { file: copy, isNew } = copyFile(stores, alice, order());
    expect(isNew).toBe(true);
    expect(copy).toMatchObject({ ...metadata, path: 'b', version: 1, contentId: file.contentId });
    expect([copy.createdAtNs, copy.updatedAtNs]).toEqual([laterNs, laterNs]);
    expect([copy.id, copy.keySlot]).not.toContain(file.id);
    expect(copy.keySlot).not.toBe(file.keySlot);
    expect(entityTag(copy)).toBe(entityTag(file));
    expect(read('box', 'b')).toEqual(read('box', 'a'));
    expect(openFile(stores, 'box', 'b')).toEqual(copy);
    expect(sharesOf(stores, file.contentId)).toBe(2);
    checkInvariants(stores);
  });

  test("in another bucket is encrypted under that bucket's key, and survives the deletion of its source", () => {
    const { stores } = scene;
    const bytes = putMany('a', 3);
    copyFile(stores, alice, order({ to: { bucket: 'other', path: 'dir/c' } }));
    remove('box', 'a');
    expect(read('other', 'dir/c')).toEqual(bytes);
    expect(findBucket(stores, 'other')).toMatchObject({ fileCount: 1, byteCount: 300 });
    expect(findBucket(stores, 'box')).toMatchObject({ fileCount: 0, byteCount: 0 });
    checkInvariants(stores);
    remove('other', 'dir/c');
    expect(stores.chunks.entries()).toEqual([]);
    expect(stores.blobs.bytesInUse()).toBe(0);
    checkInvariants(stores);
  });

  test('of a copy can replace the original without loss', () => {
    const { stores } = scene;
    const bytes = putMany('a', 2);
    copyFile(stores, alice, order());
    copyFile(stores, alice, order({ from: 'b', to: { path: 'c' } }));
    expect(copyFile(stores, alice, order({ from: 'c', to: { path: 'a' } })).isNew).toBe(false);
    expect(findFile(stores, 'box', 'a')?.version).toBe(2);
    for (const path of ['a', 'b', 'c']) expect(read('box', path)).toEqual(bytes);
    checkInvariants(stores);
    for (const path of ['a', 'b', 'c']) remove('box', path);
    expect(stores.blobs.bytesInUse()).toBe(0);
  });

  test('checks the conditions on the target path', () => {
    const { stores } = scene;
    putTestFile(stores, { path: '/a' });
    const { file } = putTestFile(stores, { path: '/b', bytes: testBytes(9, 9) });
    const refused = (conditions: CopyRequest['conditions']) =>
      expectRefusal(stores, 'PreconditionFailed', () =>
        copyFile(stores, alice, order({ conditions })),
      );
    refused({ ifNoneMatch: '*' });
    refused({ ifMatch: '"other"' });
    expect(copyFile(stores, alice, order({ conditions: { ifMatch: entityTag(file) } })).isNew).toBe(
      false,
    );
    checkInvariants(stores);
  });

  test("applies the fields of the request instead of the source's", () => {
    const { stores } = scene;
    putTestFile(stores, { path: '/a', metadata });
    const { file } = copyFile(stores, alice, order({ contentType: 'text/html', tags: [] }));
    expect(file).toMatchObject({ ...metadata, contentType: 'text/html', tags: [] });
    const notes = { headers: [['cache-control', 'x']], metadata: [['of', 'it']] } as const;
    const { file: noted } = copyFile(stores, alice, order({ to: { path: 'c' }, ...notes }));
    expect(noted).toMatchObject({ contentType: 'text/csv', tags: ['x'], metadata: [['of', 'it']] });
    expect(noted.headers).toEqual(['x', '', '', '']);
    expect(openFile(stores, 'box', 'c')).toEqual(noted);
    const wrong = order({ to: { path: 'd' }, contentType: 'html' });
    expectRefusal(stores, 'InvalidContentType', () => copyFile(stores, alice, wrong));
    const moved = order({ to: { path: 'e' }, metadata: [] });
    expect(moveFile(stores, alice, moved).file.metadata).toEqual([]);
    checkInvariants(stores);
  });

  test('may be of the current or a former version, also over the file itself', () => {
    const { stores } = scene;
    updateBucket(stores, alice, bucketChange({ keepVersionsDays: 3n }));
    const contents = [1, 2, 3].map((seed) => testBytes(50, seed));
    for (const bytes of contents) putTestFile(stores, { path: '/a', bytes });
    for (const [index, bytes] of contents.entries()) {
      const { file } = copyFile(stores, alice, order({ version: index + 1 }));
      expect(file.version).toBe(index + 1);
      expect(read('box', 'b')).toEqual(Buffer.from(bytes));
    }
    const { file, isNew } = copyFile(stores, alice, order({ version: 1, to: { path: 'a' } }));
    expect([file.version, isNew]).toEqual([4, false]);
    expect(read('box', 'a')).toEqual(Buffer.from(contents[0] ?? []));
    const { bucket } = order();
    const page = listVersions(stores, alice, { bucket, path: 'a', apiKey: undefined });
    expect(page.items.map(({ file: { version } }) => version)).toEqual([1, 2, 3]);
    checkInvariants(stores);
    const itself = order({ version: 4, to: { path: 'a' } });
    expectRefusal(stores, 'InvalidArgument', () => copyFile(stores, alice, itself));
    for (const version of [5, 0]) {
      expectRefusal(stores, 'NoSuchFile', () => copyFile(stores, alice, order({ version })));
    }
    const moved = order({ version: 1 });
    expectRefusal(stores, 'InvalidArgument', () => moveFile(stores, alice, moved));
    // In a public bucket, everyone may read files and nothing else
    const bob = callOf('bob', laterNs);
    const { principal } = bob.caller;
    const member = bucketChange({ bucket: 'other', addMembers: [{ principal, role: 'writer' }] });
    updateBucket(stores, alice, member);
    const to = { bucket: 'other', path: 'a' };
    expectRefusal(stores, 'AccessDenied', () => copyFile(stores, bob, order({ to, version: 1 })));
    expect(copyFile(stores, bob, order({ to })).isNew).toBe(true);
  });

  test('is refused if the source does not match ifSourceMatch', () => {
    const { stores } = scene;
    const { file } = putTestFile(stores, { path: '/a' });
    const other = order({ ifSourceMatch: '"other"' });
    expectRefusal(stores, 'PreconditionFailed', () => copyFile(stores, alice, other));
    const known = order({ ifSourceMatch: entityTag(file) });
    expect(copyFile(stores, alice, known).isNew).toBe(true);
  });

  test('is refused before anything is written', () => {
    const { stores } = scene;
    putTestFile(stores, { path: '/a' });
    const refused = (code: Parameters<typeof expectRefusal>[1], change: Partial<CopyRequest>) =>
      expectRefusal(stores, code, () => copyFile(stores, alice, order(change)));
    refused('NoSuchFile', { from: 'none' });
    refused('InvalidPath', { to: { path: 'x//y' } });
    refused('InvalidPath', { from: '' });
    refused('InvalidArgument', { to: { path: '/a' } });
    refused('NoSuchBucket', { to: { bucket: 'none', path: 'b' } });
    const box = findBucket(stores, 'box');
    updateBucket(stores, alice, bucketChange({ quotaFiles: BigInt(box?.fileCount ?? 0) }));
    refused('QuotaExceeded', {});
  });

  test('requires the right to read the source and to write the target', () => {
    const { stores } = scene;
    const box = bucketChange({ isPublic: false });
    updateBucket(stores, alice, box);
    updateBucket(stores, alice, { ...box, bucket: 'other' });
    putTestFile(stores, { path: '/a' });
    const both = ['box', 'other'];
    const to = { bucket: 'other', path: 'c' };
    const refused = (key: Parameters<typeof makeKey>[1], code: 'AccessDenied') => {
      const apiKey = makeKey(stores, key);
      expectRefusal(stores, code, () => copyFile(stores, callOf('bob'), order({ to, apiKey })));
    };
    refused({ permissions: ['read'], buckets: both }, 'AccessDenied');
    refused({ permissions: ['write'], buckets: both }, 'AccessDenied');
    refused({ permissions: ['read', 'write'], buckets: ['box'] }, 'AccessDenied');
    refused({ permissions: ['read', 'write'], buckets: ['other'] }, 'AccessDenied');
    const apiKey = makeKey(stores, { permissions: ['read', 'write'], buckets: both });
    copyFile(stores, callOf('bob'), order({ to, apiKey }));
    expectRefusal(stores, 'AccessDenied', () =>
      checkCopy(stores, callOf('bob'), 'move', order({ to, apiKey })),
    );
    expectRefusal(stores, 'NoSuchBucket', () => copyFile(stores, callOf('bob'), order()));
  });
});

describe('moveFile(): a move', () => {
  test('keeps id and time of creation, and leaves nothing at the source', () => {
    const { stores } = scene;
    const bytes = putMany('a', 3);
    const before = findFile(stores, 'box', 'a');
    const { file } = moveFile(stores, alice, order({ to: { path: 'dir/b' } }));
    expect(file).toMatchObject({ id: before?.id, createdAtNs: startNs, updatedAtNs: laterNs });
    expect(findFile(stores, 'box', 'a')).toBeUndefined();
    expect(read('box', 'dir/b')).toEqual(bytes);
    expect(sharesOf(stores, file.contentId)).toBe(1);
    expect(findBucket(stores, 'box')).toMatchObject({ fileCount: 1, byteCount: 300 });
    checkInvariants(stores);
  });

  test('goes to another bucket, and replaces existing files', () => {
    const { stores } = scene;
    const bytes = putMany('a', 2);
    putTestFile(stores, { bucket: 'other', path: '/a' });
    const { isNew } = moveFile(stores, alice, order({ to: { bucket: 'other', path: 'a' } }));
    expect([isNew, findFile(stores, 'box', 'a')]).toEqual([false, undefined]);
    expect(read('other', 'a')).toEqual(bytes);
    checkInvariants(stores);
  });

  test('fits into a full bucket', () => {
    const { stores } = scene;
    putTestFile(stores, { path: '/a' });
    const { byteCount = 0, overheadBytes = 0 } = findBucket(stores, 'box') ?? {};
    const quotaBytes = BigInt(byteCount + overheadBytes);
    updateBucket(stores, alice, bucketChange({ quotaBytes, quotaFiles: 1n }));
    moveFile(stores, alice, order());
    expectRefusal(stores, 'QuotaExceeded', () =>
      copyFile(stores, alice, order({ from: 'b', to: { path: 'a' } })),
    );
    checkInvariants(stores);
  });
});

describe('moveFiles(): a move of a prefix', () => {
  const prefixes = { bucket: 'box', fromPrefix: 'in/', toPrefix: 'out/2026/', apiKey: undefined };

  test('moves all files that begin with it, and no others', () => {
    const { stores } = scene;
    for (const path of ['in/a', 'in/b/c', 'inside', 'z']) putTestFile(stores, { path: `/${path}` });
    expect(moveFiles(stores, alice, prefixes)).toEqual({ moved: 2, isDone: true, failed: [] });
    const paths = stores.files.entries().map(([key]) => Buffer.from(key).toString().split('\0')[1]);
    expect(paths).toEqual(['inside', 'out/2026/a', 'out/2026/b/c', 'z']);
    expect(moveFiles(stores, alice, prefixes)).toEqual({ moved: 0, isDone: true, failed: [] });
    checkInvariants(stores);
  });

  test('continues in another call after 1,000 files', () => {
    const { stores } = scene;
    for (let index = 0; index < 1_001; index++) {
      putTestFile(stores, { path: `/in/${index}`, bytes: new Uint8Array(0) });
    }
    const { nextCursor: cursor, ...first } = moveFiles(stores, alice, prefixes);
    expect(first).toEqual({ moved: 1_000, isDone: false, failed: [] });
    const last = moveFiles(stores, alice, { ...prefixes, cursor });
    expect(last).toEqual({ moved: 1, isDone: true, nextCursor: undefined, failed: [] });
    checkInvariants(stores);
  });

  test('leaves damaged files in place and reports them', () => {
    const { stores } = scene;
    for (const path of ['in/a', 'in/b']) putTestFile(stores, { path: `/${path}` });
    const key = Buffer.from('box\0in/a');
    const record = stores.files.get(key) ?? expect.fail('no record');
    record[record.length - 1] = (record.at(-1) ?? 0) ^ 1;
    stores.files.set(key, record);
    const { failed, ...rest } = moveFiles(stores, alice, prefixes);
    expect(rest).toEqual({ moved: 1, isDone: true });
    expect(failed.map(({ path, error }) => [path, error.code])).toEqual([
      ['in/a', 'IntegrityError'],
    ]);
  });

  test('moves the other files if a path is not possible under the new prefix', () => {
    const { stores } = scene;
    const long = `in/${'x'.repeat(1_017)}`;
    for (const path of ['in/a', long, 'in/z']) putTestFile(stores, { path: `/${path}` });
    const { failed, ...rest } = moveFiles(stores, alice, prefixes);
    expect(rest).toEqual({ moved: 2, isDone: true });
    expect(failed.map(({ path, error }) => [path, error.code])).toEqual([[long, 'InvalidPath']]);
    // The name of the file that is the prefix would end in a slash
    const { failed: named, ...others } = moveFiles(stores, alice, {
      ...prefixes,
      fromPrefix: 'out/2026/a',
      toPrefix: 'docs/',
    });
    expect([others, named.length]).toEqual([{ moved: 0, isDone: true }, 1]);
    checkInvariants(stores);
  });

  test('continues with a cursor behind 1,000 files that fail', () => {
    const { stores } = scene;
    for (let index = 0; index < 1_000; index++) {
      const path = `/in/${'x'.repeat(1_015)}${1_000 + index}`;
      putTestFile(stores, { path, bytes: new Uint8Array(0) });
    }
    putTestFile(stores, { path: '/in/z' });
    const { failed, nextCursor, ...rest } = moveFiles(stores, alice, prefixes);
    expect([rest, failed.length]).toEqual([{ moved: 0, isDone: false }, 1_000]);
    const last = moveFiles(stores, alice, { ...prefixes, cursor: nextCursor });
    expect(last).toEqual({ moved: 1, isDone: true, nextCursor: undefined, failed: [] });
    const bad = { ...prefixes, cursor: 'in/z' };
    expectRefusal(stores, 'InvalidArgument', () => moveFiles(stores, alice, bad));
    checkInvariants(stores);
  });

  test('is refused if one prefix begins with the other, and without every permission', () => {
    const { stores } = scene;
    putTestFile(stores, { path: '/in/a' });
    for (const toPrefix of ['in/', 'in/b/', 'i', '']) {
      const overlap = { ...prefixes, toPrefix };
      expectRefusal(stores, 'InvalidArgument', () => moveFiles(stores, alice, overlap));
    }
    const bad = { ...prefixes, toPrefix: '../' };
    expectRefusal(stores, 'InvalidPath', () => moveFiles(stores, alice, bad));
    const apiKey = makeKey(stores, { permissions: ['read', 'write'] });
    expectRefusal(stores, 'AccessDenied', () => moveFiles(stores, alice, { ...prefixes, apiKey }));
  });
});

describe('changeFile(): a change', () => {
  function change(fields: Partial<FileChange>): FileChange {
    return { bucket: 'box', path: 'a', conditions: {}, apiKey: undefined, ...fields };
  }

  test('replaces the fields that it names, and keeps the others and the bytes', () => {
    const { stores } = scene;
    const bytes = putMany('a', 3);
    const before = findFile(stores, 'box', 'a') ?? expect.fail('no file');
    const { file: noted } = changeFile(
      stores,
      alice,
      change({
        metadata: [
          ['by', 'bob'],
          ['n', '1'],
        ],
      }),
    );
    expect(noted).toMatchObject({ version: 2, contentType: 'video/mp4', updatedAtNs: laterNs });
    expect(noted.metadata).toEqual([
      ['by', 'bob'],
      ['n', '1'],
    ]);
    const { file: typed } = changeFile(stores, alice, change({ contentType: 'a/b', tags: ['t'] }));
    expect(typed).toMatchObject({ metadata: noted.metadata, contentType: 'a/b', tags: ['t'] });
    const headers = [['cache-control', 'no-store']] as const;
    expect(changeFile(stores, alice, change({ headers })).file.headers[0]).toBe('no-store');
    expect(changeFile(stores, alice, change({ headers: [] })).file.headers[0]).toBe('');
    const { contentId, keySlot } = findFile(stores, 'box', 'a') ?? expect.fail('no file');
    expect([contentId, keySlot]).toEqual([before.contentId, before.keySlot]);
    expect(read('box', 'a')).toEqual(bytes);
    expect(openFile(stores, 'box', 'a')?.tags).toEqual(['t']);
    checkInvariants(stores);
  });

  test.each<[Parameters<typeof expectRefusal>[1], Partial<FileChange>]>([
    ['InvalidArgument', {}],
    ['InvalidContentType', { contentType: 'x' }],
    ['InvalidArgument', { tags: ['a,b'] }],
    ['InvalidArgument', { headers: [['x-y', 'z']] }],
    ['InvalidArgument', { metadata: [['a b', 'c']] }],
    [
      'InvalidArgument',
      {
        metadata: [
          ['a', 'c'],
          ['a', 'd'],
        ],
      },
    ],
    ['InvalidArgument', { metadata: [['a', 'x\0y']] }],
    ['InvalidArgument', { metadata: [['a', 'x'.repeat(2_048)]] }],
    ['InvalidArgument', { metadata: Array.from({ length: 33 }, (_, n) => [`n${n}`, ''] as const) }],
    ['NoSuchFile', { path: 'none', tags: [] }],
    ['PreconditionFailed', { tags: [], conditions: { ifMatch: '"other"' } }],
  ])('is refused with %s for %o', (code, fields) => {
    putTestFile(scene.stores, { path: '/a' });
    expectRefusal(scene.stores, code, () => changeFile(scene.stores, alice, change(fields)));
  });

  test('requires the right to write', () => {
    const { stores } = scene;
    putTestFile(stores, { path: '/a' });
    const { readKey: apiKey } = scene;
    const request = change({ tags: ['x'], apiKey });
    expectRefusal(stores, 'AccessDenied', () => changeFile(stores, alice, request));
  });
});
