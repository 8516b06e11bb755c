// Reads files by their records.

import { findBucket } from '../../src/domain/buckets/buckets.ts';
import {
  type FileRecord,
  readFile,
  removeFile,
  withOpenFile,
  withPublicFile,
} from '../../src/domain/files/file-records.ts';
import { withFileKey } from '../../src/domain/keys/file-keys.ts';
import type { Stores } from '../../src/domain/shared/stores.ts';
import { present } from '../../src/lib/assert.ts';

/** Returns bytes `[start, end)` of the file. */
export function readStored(
  stores: Stores,
  file: FileRecord,
  range: { readonly start: number; readonly end: number },
): Uint8Array {
  const bucket = present(findBucket(stores, file.bucketId), 'bucket of a file');
  return withFileKey(stores, { ...file, bucket }, (key) => readFile(stores, { file, key }, range));
}

export function openFile(stores: Stores, bucketId: string, path: string): FileRecord | undefined {
  const bucket = present(findBucket(stores, bucketId), 'bucket');
  return withOpenFile(stores, { bucket, path }, ({ file }) => file);
}

export function getPublicFile(stores: Stores, bucket: string, path: string): FileRecord {
  return withPublicFile(stores, { bucket, path }, ({ file }) => file);
}

export function removeStored(stores: Stores, file: FileRecord): void {
  removeFile(stores, present(findBucket(stores, file.bucketId), 'bucket of a file'), file, 0n);
}
