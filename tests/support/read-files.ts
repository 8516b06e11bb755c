// Reads files by their records.

import { expect } from 'vitest';
import { findBucket } from '../../src/domain/buckets/buckets.ts';
import {
  type FileRecord,
  readFile,
  removeFile,
  withOpenFile,
  withPublicFile,
} from '../../src/domain/files/file-records.ts';
import { listJson } from '../../src/domain/files/json-list.ts';
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

/** Returns the records of a list's JSON. */
export function recordsOf(json: readonly Uint8Array[]): { path: string }[] {
  const texts = json.map((part) => Buffer.from(part).toString());
  return JSON.parse(`[${texts.join()}]`) as { path: string }[];
}

/** Returns the JSON of each file; all of them together must be the same, with commas between. */
export function readFilesJson(
  stores: Stores,
  bucketId: string,
  paths: readonly Uint8Array[],
): Uint8Array[] {
  const read = (some: readonly Uint8Array[]) =>
    listJson(stores, { bucketId, paths: some, limit: 1e6 }).json;
  const each = paths.flatMap((path) => read([path]));
  expect(Buffer.from(joined(read(paths))).toString()).toBe(joined(each).toString());
  return each;
}

function joined(parts: readonly Uint8Array[]): Buffer {
  return Buffer.concat(parts.flatMap((part, index) => (index === 0 ? [part] : [comma, part])));
}

const comma = Buffer.from(',');
