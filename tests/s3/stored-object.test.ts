// The S3 server reads metadata of files that other programs wrote.

import { expect, test } from 'vitest';
import type { FileRecord } from '../../packages/client/src/types/files.ts';
import { objectOf } from '../../packages/s3/src/stored-object.ts';

const record: FileRecord = {
  ...{ id: '1', bucketId: 'demo', path: 'a.bin', name: 'a.bin', url: '/cloud/demo/a.bin' },
  ...{ size: 1_000, contentType: 'a/b', tags: [], etag: '0'.repeat(64), version: 1 },
  ...{ createdAt: '2026-01-01T00:00:00Z', updatedAt: '2026-01-01T00:00:00Z' },
};

const ownOf = (metadata: Record<string, string>) => objectOf({ ...record, metadata }).own;

test('objectOf() reads numbers of bytes, and ignores other texts', () => {
  expect(ownOf({ 's3.size': '0', 's3.part': '400' })).toMatchObject({ size: 0, partBytes: 400 });
  for (const text of ['', ' 5', '-5', '0.5', '1e3', 'NaN', 'Infinity', '9'.repeat(16)]) {
    const own = ownOf({ 's3.size': text, 's3.part': text });
    expect([own.size, own.partBytes], text).toEqual([undefined, undefined]);
  }
  expect(ownOf({ 's3.part': '0' }).partBytes).toBeUndefined();
});
