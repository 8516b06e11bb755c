// Moves into and out of end-to-end buckets, with a storage in memory.

import { beforeEach, expect, test } from 'vitest';
import type { Storage } from '../../packages/client/src/storage.ts';
import { StorageError } from '../../packages/client/src/storage-error.ts';
import type { FileName } from '../../packages/client/src/types/files.ts';
import { carryFile, moveFile } from '../../packages/efs/src/transfers/sealed-copies.ts';

const from = { bucket: 'plain', path: 'report' };
const to = { bucket: 'safe', path: 'report' };
const { signal } = new AbortController();

interface Stored {
  readonly version: number;
  readonly etag: string;
}

const first: Stored = { version: 7, etag: 'first' };
const second: Stored = { version: 8, etag: 'second' };
/** The stored source, and the answer of a query. */
let source: Stored | undefined;
let answered: Stored;
/** The versions that the first downloads return in place of `answered`. */
let downloaded: Stored[];
/** Runs after the copy has been uploaded. */
let afterUpload: () => void;
let uploads: number;
let stats: number;
/** The condition under which the copy was removed. */
let removedCopy: string | undefined;

const storage = {
  async stat() {
    stats += 1;
    return { ...answered, contentType: 'text/plain' };
  },
  async download() {
    const { etag } = downloaded.shift() ?? answered;
    return { body: new Blob(['x']).stream(), size: 1, etag };
  },
  async upload() {
    uploads += 1;
    afterUpload();
    return { etag: 'copy' };
  },
  async remove({ bucket }: FileName, { ifMatch }: { readonly ifMatch?: string }) {
    if (bucket === to.bucket) {
      removedCopy = ifMatch;
      return;
    }
    if (ifMatch !== undefined && ifMatch !== `"${source?.etag}"`) {
      throw new StorageError('PreconditionFailed', 'It differs.', { status: 412 });
    }
    source = undefined;
  },
} as unknown as Storage;

const move = () => moveFile(storage, { from, to, signal });
const changed = { code: 'PreconditionFailed', message: expect.stringContaining('was changed') };

beforeEach(() => {
  source = first;
  answered = first;
  downloaded = [];
  afterUpload = () => {};
  uploads = 0;
  stats = 0;
  removedCopy = undefined;
});

test('moveFile() deletes a source that nobody has replaced', async () => {
  await move();
  expect(source).toBeUndefined();
});

test('moveFile() copies and deletes the version that replaced the source during the copy', async () => {
  afterUpload = () => {
    source = second;
    answered = second;
  };
  await move();
  expect([source, uploads, stats]).toEqual([undefined, 2, 3]);
});

test('moveFile() copies no version that a node returns in place of the newest', async () => {
  source = second;
  answered = second;
  downloaded = [first];
  await move();
  expect([source, uploads]).toEqual([undefined, 1]);
});

test('moveFile() deletes nothing if nodes return only another version', async () => {
  downloaded = [second, second, second];
  await expect(move()).rejects.toMatchObject(changed);
  expect([source, uploads, removedCopy]).toEqual([first, 0, undefined]);
});

test('carryFile() leaves no copy of a source that is replaced during each copy', async () => {
  afterUpload = () => {
    answered = { version: answered.version + 1, etag: `later ${uploads}` };
  };
  await expect(carryFile(storage, { from, to, signal })).rejects.toMatchObject(changed);
  expect([uploads, removedCopy]).toEqual([3, '"copy"']);
});

test('moveFile() keeps a version that no query returns before the deletion', async () => {
  afterUpload = () => {
    source = second;
  };
  await expect(move()).rejects.toMatchObject(changed);
  expect(source).toBe(second);
});
